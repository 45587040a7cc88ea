// The AST as an indented tree.
#include "frontend/Ast/Printer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace tile;
using namespace tile::ast;

namespace {
/// A child's role ("lo", "step") stands before its kind.
class Printer {
public:
  Printer(const SourceManager &sources, llvm::raw_ostream &os) : sources(sources), os(os) {}

  void decl(const Decl &decl);

private:
  /// Prints a node's line; what is printed while the result lives is its content.
  struct Level {
    unsigned &depth;
    explicit Level(unsigned &depth) : depth(depth) { ++depth; }
    Level(const Level &) = delete;
    ~Level() { --depth; }
  };
  Level node(Range range, llvm::StringRef role, const llvm::Twine &text);

  void doc(llvm::StringRef text);
  void statics(const std::vector<StaticParam> &params);
  void param(const Param &param);
  void type(const TypeSpec &type, llvm::StringRef role = "");
  void set(const ValueSet &set);
  void clause(const Clause &clause);
  void contracts(const std::vector<Contract> &contracts);
  void tuneItem(const TuneItem &item);
  void attributes(const std::vector<Attribute> &attributes);
  void block(const Block &block, llvm::StringRef role);
  void stmt(const Stmt &stmt);
  void expr(const ExprPtr &expr, llvm::StringRef role = "");
  void exprs(const std::vector<ExprPtr> &list, llvm::StringRef role = "");
  void subscript(const Subscript &subscript);
  void arguments(const std::vector<Argument> &arguments);

  const SourceManager &sources;
  llvm::raw_ostream &os;
  unsigned depth = 0;
};
} // namespace

/// Text between double quotes, with the escapes of the language.
static std::string quoted(llvm::StringRef text) {
  std::string out = "\"";
  for (unsigned char c : text)
    if (c == '"' || c == '\\')
      out += {'\\', char(c)};
    else if (c < 0x20 || c == 0x7f)
      out += "\\x" + llvm::utohexstr(c, /*LowerCase=*/true, 2);
    else
      out += char(c);
  return out + "\"";
}

static std::string joined(const Pattern &pattern) {
  std::string out;
  for (const Ident &name : pattern.names)
    out += (out.empty() ? "" : ", ") + name.text;
  return pattern.isTuple ? "(" + out + ")" : out;
}

Printer::Level Printer::node(Range range, llvm::StringRef role, const llvm::Twine &text) {
  LineColumn begin = sources.begin(range), end = sources.end(range);
  os.indent(2 * depth);
  if (!role.empty())
    os << role << ": ";
  os << text << " <" << begin.line << ":" << begin.column << "-" << end.line << ":" << end.column
     << ">\n";
  return Level(depth);
}

void Printer::doc(llvm::StringRef text) {
  if (!text.empty())
    os.indent(2 * depth) << "doc: " << quoted(text) << "\n";
}

void Printer::decl(const Decl &decl) {
  if (auto *import = llvm::dyn_cast<ImportDecl>(&decl)) {
    Level level = node(decl.range, "",
                       "Import " + quoted(import->path) +
                           (import->hasAlias() ? " as " + import->name.text : std::string()));
    doc(decl.doc);
  } else if (auto *constant = llvm::dyn_cast<ConstDecl>(&decl)) {
    Level level = node(decl.range, "", "Const " + decl.name.text);
    doc(decl.doc);
    if (constant->type)
      type(*constant->type);
    expr(constant->value);
  } else if (auto *fn = llvm::dyn_cast<FnDecl>(&decl)) {
    Level level = node(decl.range, "", "Fn " + decl.name.text);
    doc(decl.doc);
    statics(fn->statics);
    for (const FnParam &param : fn->params) {
      Level level = node(param.range, "", "FnParam " + param.name.text);
      if (param.type)
        type(*param.type);
      expr(param.defaultValue, "default");
    }
    block(fn->body, "body");
  } else if (auto *kernel = llvm::dyn_cast<KernelDecl>(&decl)) {
    Level level = node(decl.range, "", "Kernel " + decl.name.text);
    doc(decl.doc);
    statics(kernel->statics);
    for (const Param &entry : kernel->params)
      param(entry);
    for (const ClausePtr &entry : kernel->clauses)
      clause(*entry);
    block(kernel->body, "body");
  }
}

void Printer::statics(const std::vector<StaticParam> &params) {
  for (const StaticParam &param : params) {
    Level level = node(param.range, "", "StaticParam " + param.name.text + ": " + param.type.text);
    doc(param.doc);
    if (param.set)
      set(*param.set);
    expr(param.defaultValue, "default");
  }
}

void Printer::param(const Param &param) {
  static const char *const words[] = {"", " in", " out", " inout"};
  Level level = node(param.range, "", "Param " + param.name.text + words[size_t(param.access)]);
  doc(param.doc);
  type(param.type);
  expr(param.count, "count");
  expr(param.defaultValue, param.access == Access::none ? "default" : "fill");
  expr(param.condition, "if");
}

void Printer::type(const TypeSpec &type, llvm::StringRef role) {
  Level level = node(type.range, role, "Type " + type.name.text + (type.hasShape ? "[]" : ""));
  exprs(type.dims, "dim");
  for (const Stride &stride : type.strides)
    if (stride.value)
      expr(stride.value, "stride");
    else
      node(stride.range, "stride", "*");
}

void Printer::set(const ValueSet &set) {
  if (set.kind == ValueSet::list) {
    Level level = node(set.range, "", "Set");
    exprs(set.values);
    return;
  }
  Level level = node(set.range, "", set.inclusive ? "Interval ..=" : "Interval ..");
  expr(set.lo, "lo");
  expr(set.hi, "hi");
  expr(set.step, "step");
}

void Printer::contracts(const std::vector<Contract> &contracts) {
  for (const Contract &contract : contracts) {
    Level level = node(contract.range, "", "Contract");
    expr(contract.value);
    if (contract.set)
      set(*contract.set);
    expr(contract.hint, "opt");
  }
}

void Printer::clause(const Clause &clause) {
  static const char *const words[] = {"Where", "Specialize", "Grid", "With", "Tune"};
  Level level = node(clause.range, "", words[size_t(clause.kind)]);
  if (auto *where = llvm::dyn_cast<WhereClause>(&clause)) {
    contracts(where->contracts);
  } else if (auto *specialize = llvm::dyn_cast<SpecializeClause>(&clause)) {
    contracts(specialize->contracts);
  } else if (auto *grid = llvm::dyn_cast<GridClause>(&clause)) {
    for (const GridAxis &axis : grid->axes) {
      Level level = node(axis.range, "", "Axis " + axis.name.text);
      expr(axis.extent);
    }
  } else if (auto *with = llvm::dyn_cast<WithClause>(&clause)) {
    attributes(with->attributes);
  } else if (auto *tune = llvm::dyn_cast<TuneClause>(&clause)) {
    for (const TuneItem &item : tune->items)
      tuneItem(item);
  }
}

void Printer::tuneItem(const TuneItem &item) {
  static const char *const words[] = {"Candidates", "Where", "Key", "Config"};
  Level level =
      node(item.range, "",
           words[size_t(item.kind)] + (item.name ? " " + item.name->text : std::string()));
  if (item.set)
    set(*item.set);
  expr(item.condition);
  exprs(item.keys);
  for (const TuneItem::Setting &setting : item.settings) {
    Level level = node(setting.range, "", "Setting " + setting.name.text);
    expr(setting.value);
  }
}

void Printer::attributes(const std::vector<Attribute> &attributes) {
  for (const Attribute &attribute : attributes) {
    Level level = node(attribute.range, "", "Attribute " + attribute.name.text);
    arguments(attribute.arguments);
  }
}

void Printer::block(const Block &block, llvm::StringRef role) {
  Level level = node(block.range, role, "Block");
  for (const StmtPtr &entry : block.statements)
    stmt(*entry);
}

void Printer::stmt(const Stmt &stmt) {
  if (auto *let = llvm::dyn_cast<LetStmt>(&stmt)) {
    Level level = node(stmt.range, "", (let->isVar ? "Var " : "Let ") + joined(let->pattern));
    if (let->type)
      type(*let->type);
    expr(let->value);
  } else if (auto *call = llvm::dyn_cast<ExprStmt>(&stmt)) {
    Level level = node(stmt.range, "", "ExprStmt");
    expr(call->value);
  } else if (auto *assign = llvm::dyn_cast<AssignStmt>(&stmt)) {
    Level level = node(stmt.range, "",
                       "Assign " + (assign->op ? spelling(*assign->op) : llvm::StringRef()) + "=");
    expr(assign->target, "target");
    expr(assign->value, "value");
  } else if (auto *branch = llvm::dyn_cast<IfStmt>(&stmt)) {
    Level level = node(stmt.range, "", branch->isConst ? "ConstIf" : "If");
    expr(branch->condition, "condition");
    block(branch->thenBlock, "then");
    if (branch->elseBlock)
      block(*branch->elseBlock, "else");
  } else if (auto *loop = llvm::dyn_cast<ForStmt>(&stmt)) {
    llvm::StringRef bounds = loop->over ? "" : loop->inclusive ? " ..=" : " ..";
    Level level =
        node(stmt.range, "", (loop->isConst ? "ConstFor " : "For ") + loop->variable.text + bounds);
    expr(loop->over, "over");
    expr(loop->lo, "lo");
    expr(loop->hi, "hi");
    expr(loop->step, "step");
    attributes(loop->attributes);
    block(loop->body, "body");
  } else if (auto *loop = llvm::dyn_cast<WhileStmt>(&stmt)) {
    Level level = node(stmt.range, "", "While");
    expr(loop->condition, "condition");
    attributes(loop->attributes);
    block(loop->body, "body");
  } else if (auto *ret = llvm::dyn_cast<ReturnStmt>(&stmt)) {
    Level level = node(stmt.range, "", "Return");
    expr(ret->value);
  } else if (auto *jump = llvm::dyn_cast<JumpStmt>(&stmt)) {
    node(stmt.range, "", jump->isBreak ? "Break" : "Continue");
  }
}

void Printer::exprs(const std::vector<ExprPtr> &list, llvm::StringRef role) {
  for (const ExprPtr &entry : list)
    expr(entry, role);
}

void Printer::subscript(const Subscript &subscript) {
  switch (subscript.kind) {
  case Subscript::all:
    node(subscript.range, "at", "all");
    return;
  case Subscript::newAxis:
    node(subscript.range, "at", "None");
    return;
  case Subscript::index:
    expr(subscript.value, "at");
    return;
  case Subscript::slice: {
    Level level = node(subscript.range, "at", "Slice");
    expr(subscript.lo, "lo");
    expr(subscript.hi, "hi");
    return;
  }
  }
}

void Printer::arguments(const std::vector<Argument> &arguments) {
  for (const Argument &argument : arguments)
    expr(argument.value, argument.name ? llvm::StringRef(argument.name->text) : "arg");
}

/// Prints an expression; nothing for null.
void Printer::expr(const ExprPtr &entry, llvm::StringRef role) {
  if (!entry)
    return;
  const Expr &e = *entry;
  switch (e.kind) {
  case Expr::Kind::IntLiteral:
    node(e.range, role, "Int " + llvm::Twine(llvm::cast<IntLiteral>(e).value));
    return;
  case Expr::Kind::FloatLiteral:
    node(e.range, role, "Float " + llvm::cast<FloatLiteral>(e).text);
    return;
  case Expr::Kind::StringLiteral:
    node(e.range, role, "String " + quoted(llvm::cast<StringLiteral>(e).value));
    return;
  case Expr::Kind::NoneLiteral:
    node(e.range, role, "None");
    return;
  case Expr::Kind::BoolLiteral:
    node(e.range, role, llvm::cast<BoolLiteral>(e).value ? "Bool true" : "Bool false");
    return;
  case Expr::Kind::Name:
    node(e.range, role, "Name " + llvm::cast<NameExpr>(e).text);
    return;
  case Expr::Kind::Unary: {
    auto &unary = llvm::cast<UnaryExpr>(e);
    Level level = node(e.range, role, "Unary " + spelling(unary.op));
    expr(unary.operand);
    return;
  }
  case Expr::Kind::Binary: {
    auto &binary = llvm::cast<BinaryExpr>(e);
    Level level = node(e.range, role, "Binary " + spelling(binary.op));
    expr(binary.lhs);
    expr(binary.rhs);
    return;
  }
  case Expr::Kind::Cast: {
    auto &cast = llvm::cast<CastExpr>(e);
    Level level =
        node(e.range, role,
             "Cast " + cast.target.text + (cast.member ? "." + cast.member->text : std::string()));
    expr(cast.operand);
    return;
  }
  case Expr::Kind::Subscript: {
    auto &access = llvm::cast<SubscriptExpr>(e);
    Level level = node(e.range, role, "Subscript");
    expr(access.base, "base");
    for (const Subscript &next : access.subscripts)
      subscript(next);
    return;
  }
  case Expr::Kind::Call: {
    auto &call = llvm::cast<CallExpr>(e);
    Level level = node(e.range, role, "Call");
    expr(call.callee, "callee");
    arguments(call.arguments);
    return;
  }
  case Expr::Kind::Member: {
    auto &member = llvm::cast<MemberExpr>(e);
    Level level = node(e.range, role, "Member " + member.member.text);
    expr(member.base);
    return;
  }
  case Expr::Kind::Tuple: {
    Level level = node(e.range, role, "Tuple");
    exprs(llvm::cast<TupleExpr>(e).elements);
    return;
  }
  case Expr::Kind::List: {
    Level level = node(e.range, role, "List");
    exprs(llvm::cast<ListExpr>(e).elements);
    return;
  }
  }
}

void ast::print(const Program &program, const SourceManager &sources, llvm::raw_ostream &os) {
  Printer printer(sources, os);
  for (const DeclPtr &decl : program.decls)
    printer.decl(*decl);
}
