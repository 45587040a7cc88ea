// Statements: declarations, assignments and stores. LowerControl.cpp and LowerLoop.cpp have the
// others.
#include "frontend/Lower/Lowering.h"

using namespace mlir;
using namespace tile;

Flow Statements::lowerStatement(const ast::Stmt &stmt, const FlowNeeds &needs) {
  if (diagnostics.limitReached()) // nobody would see what else is wrong
    return {};
  // A probe without a name is a stop of the debugger before the statement.
  debugCalls.probe("", SemValue::error(), stmt.range);
  switch (stmt.kind) {
  case ast::Stmt::Kind::Let:
    lowerLet(cast<ast::LetStmt>(stmt));
    return {};
  case ast::Stmt::Kind::Expression:
    (void)expressions.eval(*cast<ast::ExprStmt>(stmt).value);
    return {};
  case ast::Stmt::Kind::Assign:
    lowerAssign(cast<ast::AssignStmt>(stmt));
    return {};
  case ast::Stmt::Kind::If:
    return control.lowerIf(cast<ast::IfStmt>(stmt), needs);
  case ast::Stmt::Kind::For:
    return loops.lowerFor(cast<ast::ForStmt>(stmt));
  case ast::Stmt::Kind::While:
    return loops.lowerWhile(cast<ast::WhileStmt>(stmt));
  case ast::Stmt::Kind::Return: {
    Flow flow = Flow::leaving(&Flow::returns);
    auto &returns = cast<ast::ReturnStmt>(stmt);
    if (returns.value && here.calls.empty()) {
      here.error(diag::badReturn, returns.value->range, "a kernel returns no value")
          .note(
              "declare an `out` parameter, as in `z: out f32[N]`, and store to it, `z[n] = ...;`");
      return flow;
    }
    flow.value = returns.value ? expressions.eval(*returns.value) : SemValue::ofVoid();
    flow.valueRange = returns.value ? returns.value->range : stmt.range;
    return flow;
  }
  case ast::Stmt::Kind::Jump: // break, continue
    return Flow::leaving(cast<ast::JumpStmt>(stmt).isBreak ? &Flow::breaks : &Flow::continues);
  }
}

//===--- Declarations and assignments -------------------------------------===//

void Statements::lowerLet(const ast::LetStmt &stmt) {
  SemValue value = expressions.eval(*stmt.value);
  if (stmt.type)
    value = expressions.convertToDeclared(value, *stmt.type, stmt.value->range);
  if (value.kind == SemValue::Kind::Void) {
    here.error(diag::wrongOperand, stmt.value->range, "a declaration", "a value", describe(value));
    value = SemValue::error();
  }
  std::vector<SemValue> values = {value};
  if (stmt.pattern.isTuple) {
    values.assign(stmt.pattern.names.size(), SemValue::error());
    if (value.isTuple() && value.elements->size() == values.size())
      values = *value.elements;
    else if (!value.isError())
      here.error(diag::patternCount, stmt.pattern.range, stmt.pattern.names.size(), describe(value))
          .secondary(stmt.value->range, "this is " + describe(value));
  }
  for (auto [name, each] : llvm::zip(stmt.pattern.names, values)) {
    if (stmt.isVar && each.kind == SemValue::Kind::List)
      each = tables.listToTile(each, std::nullopt, stmt.value->range);
    if (stmt.isVar && !each.isError()) {
      if (!each.isNumeric()) {
        here.error(diag::wrongOperand, stmt.value->range, "a `var`", "a number or tile",
                   describe(each))
            .note(each.isTuple() ? "name its members, `var (a, b) = ...`, or use `let` where it is "
                                   "not assigned again"
                                 : "use `let` instead");
        each = SemValue::error();
      } else {
        each = conversions.toData(each, stmt.value->range);
      }
    }
    here.declare(name, each, stmt.isVar);
    if (Binding *binding = stmt.pattern.isTuple ? nullptr : here.findLocal(name.text)) {
      // For messages and fix-its alone: the text from which the variable began, and the three
      // letters of `let` or `var` that a fix-it replaces.
      binding->initial = stmt.value.get();
      binding->keyword = {stmt.range.file, stmt.range.begin, stmt.range.begin + 3};
    }
  }
}

void Statements::assignName(const ast::Expr &target, SemValue value, Range range) {
  const std::string &name = cast<ast::NameExpr>(target).text;
  if (name == "_")
    return;
  Binding *variable = here.findLocal(name);
  if (!variable) {
    // A name of the file, a parameter or a built-in cannot be assigned to; any other name was meant
    // to be declared here, and gets a fix-it with `let` or `var`.
    bool isKnown = here.scope->names.count(name) || here.params.count(name) || findBuiltin(name) ||
                   findDtype(name) || name == "inf" || name == "nan" ||
                   (here.frames.size() == 1 && here.dropped.count(name));
    if (!isKnown)
      return foreign.declareAssigned(cast<ast::NameExpr>(target), value, [&](const SemValue &each) {
        return conversions.toData(each, target.range);
      });
    if (here.scope->names.count(name))
      here.error(diag::notAVariable, target.range, name)
          .note(here.scope->names.at(name)->name.range, "defined here");
    else if (!expressions.evalName(name, target.range).isError())
      here.error(diag::notAVariable, target.range, name);
    return;
  }
  if (!variable->isVar) {
    if (variable->value.isError())
      return;
    DiagnosticBuilder report = here.error(diag::notAVariable, target.range, name);
    report.note(variable->declared, "declared here, not as a `var`");
    if (sources.text(variable->keyword) == "let" && variable->value.isNumeric())
      report.fixIt(variable->keyword, "var", "a name that changes is declared by `var`");
    return;
  }
  // After an error the variable keeps its value, so that what follows is still checked.
  const SemValue &old = variable->value;
  if (value.kind == SemValue::Kind::List)
    value = tables.listToTile(value, old.dtype, range);
  if (value.isError() || old.isError())
    return;
  auto mismatch = [&] {
    DiagnosticBuilder report =
        here.error(diag::variableType, range, name, describe(old), describe(value));
    report.note(variable->declared, "'" + name + "' is declared here");
    if (value.isData() && value.dtype != old.dtype)
      report.note("convert the value with `as " + dtypeSpelling(old.dtype) + "`");
    else if (value.isData() && old.isData() && old.rank() == 0 && value.rank() > 0)
      report.note("begin it as a tile: `full(" + dtypeSpelling(old.dtype) + ", " +
                  describeShape(value.shape()) + ", ...)`");
  };
  // The dtype and the shape of a variable never change, since a loop carries it as one SSA value: a
  // scalar is broadcast to the variable's shape, and only an integer that fits in 64 bits widens to
  // an index.
  bool indexFits = value.isData() && old.dtype == DType::Index && widensToIndex(value.dtype);
  if (!value.isNumeric() || (value.isData() && value.dtype != old.dtype && !indexFits) ||
      (value.isData() && value.rank() > 0 && value.shape() != old.shape()))
    return mismatch();
  mlir::Value converted = conversions.toDtype(value, old.dtype, range);
  if (!converted)
    return;
  variable->value =
      ofData(emitter.emitBroadcast(converted, old.shape(), emitter.loc(range)), old.dtype);
  debugCalls.probe(name, variable->value, range);
}

void Statements::lowerAssign(const ast::AssignStmt &stmt) {
  if (auto *access = dyn_cast<ast::SubscriptExpr>(stmt.target.get())) {
    SemValue base = expressions.eval(*access->base);
    if (base.isError() || conversions.refuseNone(base, access->base->range)) {
      // For its diagnostics: the right side may have mistakes of its own.
      (void)expressions.eval(*stmt.value);
      return;
    }
    if (!base.isView()) {
      DiagnosticBuilder report = here.error(diag::wrongOperand, access->base->range, "a store",
                                            "a tensor", describe(base));
      foreign.addTileStoreFix(report, stmt, *access, base);
      return;
    }
    if (stmt.op) {
      std::string target = foreign.textOf(*access);
      here.error(diag::wrongOperand, stmt.opRange, ("'" + ast::spelling(*stmt.op) + "='").str(),
                 "a `var`", "an access")
          .fixIt({stmt.range.file, stmt.target->range.begin, stmt.value->range.end},
                 target + " = " + target + " " + ast::spelling(*stmt.op) + " " +
                     foreign.operandText(stmt.value->range),
                 "memory is read and written by an access each");
      return;
    }
    Arg value = {expressions.eval(*stmt.value), stmt.value->range, ""};
    if (value.value.isError() && !accesses.isFullAccess(*base.view, *access))
      return; // the same mistake on both sides
    std::optional<AccessSpec> spec;
    if (accesses.isFullAccess(*base.view, *access)) {
      spec = accesses.makeAccess(base, *access);
    } else {
      DiagnosticBuilder report = here.error(diag::needsAccess, access->range, "=");
      report.note("the tensor has " + Twine(base.view->shape.size()) +
                  " dimensions; a store needs a subscript for each, y[row, column], not an "
                  "address that is computed from them");
      if (llvm::any_of(access->subscripts, [](const ast::Subscript &subscript) {
            return subscript.kind == ast::Subscript::slice;
          }))
        report.note("lo..hi makes a view; positions lo..lo + 16 of a tile are at(lo, 16)");
    }
    if (spec)
      accesses.emitStore(*spec, value, {}, {});
    return;
  }
  SemValue value = expressions.eval(*stmt.value);
  if (auto *tuple = dyn_cast<ast::TupleExpr>(stmt.target.get())) {
    if (stmt.op) {
      here.error(diag::wrongOperand, stmt.opRange, ("'" + ast::spelling(*stmt.op) + "='").str(),
                 "one `var`", "a tuple");
      return;
    }
    if (!value.isError() &&
        (!value.isTuple() || value.elements->size() != tuple->elements.size())) {
      here.error(diag::patternCount, stmt.target->range, tuple->elements.size(), describe(value))
          .secondary(stmt.value->range, "this is " + describe(value));
      return;
    }
    for (auto [i, element] : llvm::enumerate(tuple->elements))
      assignName(*element, value.isError() ? value : (*value.elements)[i], stmt.value->range);
    return;
  }
  if (stmt.op && !value.isError())
    value = expressions.binary(*stmt.op, expressions.eval(*stmt.target), value, stmt.target->range,
                               stmt.value->range, stmt.range, stmt.opRange);
  assignName(*stmt.target, value, stmt.op ? stmt.range : stmt.value->range);
}

//===--- Variables that a region assigns ----------------------------------===//

namespace {
/// Collects the names that statements assign and do not declare themselves.
struct AssignedNames {
  std::vector<std::string> names; // in order of first assignment
  std::vector<std::set<std::string>> declared;

  void add(const ast::Expr &target) {
    if (auto *tuple = dyn_cast<ast::TupleExpr>(&target)) {
      for (const ast::ExprPtr &element : tuple->elements)
        add(*element);
      return;
    }
    auto *name = dyn_cast<ast::NameExpr>(&target);
    if (!name || llvm::is_contained(names, name->text))
      return;
    for (const auto &scope : declared)
      if (scope.count(name->text))
        return;
    names.push_back(name->text);
  }

  void visit(const ast::Block &block) {
    declared.emplace_back();
    for (const ast::StmtPtr &stmt : block.statements)
      visit(*stmt);
    declared.pop_back();
  }

  void visit(const ast::Stmt &stmt) {
    if (auto *let = dyn_cast<ast::LetStmt>(&stmt)) {
      for (const ast::Ident &name : let->pattern.names)
        declared.back().insert(name.text);
    } else if (auto *assign = dyn_cast<ast::AssignStmt>(&stmt)) {
      add(*assign->target);
    } else if (auto *branch = dyn_cast<ast::IfStmt>(&stmt)) {
      visit(branch->thenBlock);
      if (branch->elseBlock)
        visit(*branch->elseBlock);
    } else if (auto *loop = dyn_cast<ast::ForStmt>(&stmt)) {
      visit(loop->body);
    } else if (auto *loop = dyn_cast<ast::WhileStmt>(&stmt)) {
      visit(loop->body);
    }
  }
};
} // namespace

std::vector<Binding *> Statements::assignedVars(ArrayRef<const ast::Block *> blocks) {
  AssignedNames assigned;
  for (const ast::Block *block : blocks)
    assigned.visit(*block);
  return varsNamed(assigned.names);
}

std::vector<Binding *> Statements::assignedVars(ArrayRef<ast::StmtPtr> statements) {
  AssignedNames assigned;
  assigned.declared.emplace_back();
  for (const ast::StmtPtr &stmt : statements)
    assigned.visit(*stmt);
  return varsNamed(assigned.names);
}

/// Bindings by name in the frame of now; the pointers last until a scope ends. Without a name that
/// is no `var`, and without a `var` that an error has left without a value: neither can become a
/// result of a region.
std::vector<Binding *> Statements::varsNamed(const std::vector<std::string> &names) {
  std::vector<Binding *> vars;
  for (const std::string &name : names)
    if (Binding *binding = here.findLocal(name);
        binding && binding->isVar && binding->value.isData())
      vars.push_back(binding);
  return vars;
}
