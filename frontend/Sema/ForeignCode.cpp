// What is right in another language and reaches the checks: methods, prefixes of modules, loops
// over range(), assignments without a declaration. Each becomes a fix-it where one text is right.
//
// A fix-it replaces text by text, so it has to keep its meaning among its neighbours: operands get
// brackets where an operator may stand beside them (operand()). Where more than one text could be
// meant there is a note. Each report* function returns true once it has reported; the caller then
// gives an error value.
#include "frontend/Sema/ForeignCode.h"
#include "frontend/Ast/Walk.h"
#include "frontend/Diag/Aliases.h"
#include "frontend/Diag/Suggest.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tile;

/// Does the text read as one operand whatever stands around it: `x[m, n]`, `f(x).T`, 0.5?
static bool isOperand(StringRef text) {
  int depth = 0;
  for (char c : text) {
    if (c == '(' || c == '[')
      ++depth;
    else if (c == ')' || c == ']')
      --depth;
    else if (depth == 0 && !llvm::isAlnum(c) && c != '_' && c != '.')
      return false;
  }
  return !text.empty();
}

static std::string operand(StringRef text) {
  return isOperand(text) ? text.str() : "(" + text.str() + ")";
}

std::string ForeignCode::textOf(const ast::Expr &expr) const {
  return sources.text(expr.range).str();
}

//===--- Prefixes of modules ----------------------------------------------===//

bool ForeignCode::isForeignMember(const ast::MemberExpr &expr) {
  const ast::Expr *root = expr.base.get();
  while (auto *member = dyn_cast<ast::MemberExpr>(root))
    root = member->base.get();
  auto *name = dyn_cast<ast::NameExpr>(root);
  return name && isForeignModule(name->text) && !here.findLocal(name->text) &&
         !here.scope->names.count(name->text);
}

SemValue ForeignCode::reportPrefixed(const ast::MemberExpr &expr, const ast::CallExpr *call) {
  const std::string &member = expr.member.text;
  DiagnosticBuilder report = here.error(diag::unknownName, expr.range, textOf(expr));
  bool mayBeAxis = call && (member == "max" || member == "min") && call->arguments.size() == 2 &&
                   isa<ast::IntLiteral>(*call->arguments[1].value);
  if (mayBeAxis) {
    report.note("built-in functions have no prefix; `" + member + "(x, axis: 1)` goes along an " +
                "axis, `" + member + "(x, y)` compares element by element");
    return SemValue::error();
  }
  addPrefixHint(report, expr.range, member, here.visibleNames());
  return SemValue::error();
}

//===--- Methods ----------------------------------------------------------===//

std::string ForeignCode::dtypeWord(StringRef text) {
  text = text.trim('"');
  text = text.substr(text.rfind('.') + 1);
  if (Binding *local = here.findLocal(text); local && local->value.isDtype())
    return text.str();
  if (isDtypeWord(text))
    return text.str();
  const Alias *alias = findAlias(text);
  return alias && isDtypeWord(alias->replacement) ? alias->replacement.str() : "";
}

/// `x[:, None]` of unsqueeze(1).
static std::string withNewAxis(StringRef object, int64_t axis, int64_t rank) {
  if (axis < 0)
    axis += rank + 1;
  if (axis < 0 || axis > rank)
    return "";
  std::string subscripts;
  for (int64_t i = 0; i <= rank; ++i)
    subscripts += std::string(i ? ", " : "") + (i == axis ? "None" : ":");
  return object.str() + "[" + subscripts + "]";
}

/// Empty where no single text is right. Arguments `dim` and `keepdim` are spelled `axis` and
/// `keep`.
std::string ForeignCode::rewriteMethod(const ast::CallExpr &call, const ast::MemberExpr &callee,
                                       const SemValue &base) {
  StringRef name = callee.member.text;
  std::string x = textOf(*callee.base);
  std::vector<std::string> args;
  for (const ast::Argument &argument : call.arguments) {
    if (argument.name && argument.name->text != "axis" && argument.name->text != "keep" &&
        argument.name->text != "dim" && argument.name->text != "keepdim" &&
        argument.name->text != "keepdims")
      return "";
    StringRef shown = !argument.name                  ? ""
                      : argument.name->text == "dim"  ? "axis: "
                      : argument.name->text[0] == 'k' ? "keep: "
                                                      : "axis: ";
    args.push_back(shown.str() + textOf(*argument.value));
  }
  auto all = [&] { return llvm::join(args, ", "); };
  auto isInt = [&](size_t i) {
    int64_t value;
    return i < args.size() && !StringRef(args[i]).getAsInteger(10, value);
  };
  int64_t rank = base.isView() ? int64_t(base.extents.size()) : base.rank();
  if (name == "size" && args.size() == 1 && isInt(0) && args[0][0] != '-')
    return x + ".shape[" + args[0] + "]";
  if (name == "contiguous" || name == "clone" || name == "detach" || name == "cuda" ||
      name == "cpu")
    return x;
  if ((name == "transpose" || name == "swapaxes" || name == "t" || name == "permute") &&
      rank == 2 &&
      (args.empty() || all() == "0, 1" || all() == "1, 0" || all() == "-1, -2" ||
       all() == "-2, -1")) {
    bool keeps = name == "permute" && all() == "0, 1";
    return keeps ? x : x + ".T";
  }
  if (!base.isData()) // a tensor is loaded first
    return "";
  static const std::pair<StringRef, StringRef> casts[] = {{"float", "f32"},     {"half", "f16"},
                                                          {"bfloat16", "bf16"}, {"double", "f64"},
                                                          {"int", "i32"},       {"long", "i64"}};
  for (auto [method, dtype] : casts)
    if (name == method && args.empty())
      return x + " as " + dtype.str();
  bool converts = name == "to" || name == "astype" || name == "cast" || name == "type";
  if (converts && args.size() == 1) {
    std::string dtype = dtypeWord(args[0]);
    return dtype.empty() || dtype == "bool" ? "" : x + " as " + dtype;
  }
  if ((name == "view" || name == "reshape") && !args.empty()) {
    StringRef shape = args.size() == 1 ? StringRef(args[0]).trim("()[]") : StringRef();
    std::string extents = args.size() == 1 ? shape.str() : all();
    return StringRef(extents).contains('-') ? "" : "reshape(" + x + ", [" + extents + "])";
  }
  int64_t axis;
  if (name == "unsqueeze" && args.size() == 1 && !StringRef(args[0]).getAsInteger(10, axis))
    return withNewAxis(x, axis, rank);
  if (name == "masked_fill" && args.size() == 2)
    return "where(" + all() + ", " + x + ")";
  if (name == "where" && args.size() == 2)
    return "where(" + args[0] + ", " + x + ", " + args[1] + ")";
  if ((name == "clamp_min" || name == "clamp_max") && args.size() == 1)
    return std::string(name == "clamp_min" ? "max(" : "min(") + x + ", " + args[0] + ")";
  static const std::pair<StringRef, StringRef> operators[] = {
      {"add", "+"}, {"sub", "-"}, {"mul", "*"}};
  for (auto [method, sign] : operators)
    if (name == method && args.size() == 1)
      return "(" + x + " " + sign.str() + " " + operand(args[0]) + ")";
  // A built-in function of that name, or of the name that it has here.
  std::string function = name.str();
  if (const Alias *alias = findAlias(name); alias && !alias->replacement.empty())
    function = alias->replacement.str();
  const Builtin *builtin = findBuiltin(function);
  if (!builtin)
    return "";
  using Family = Builtin::Family;
  bool hasAxis = llvm::any_of(builtin->named, [](StringRef each) { return each == "axis"; });
  bool isPlain = builtin->family == Family::Unary || builtin->family == Family::Binary ||
                 builtin->family == Family::Element || builtin->family == Family::Reduce ||
                 builtin->family == Family::MinMax || function == "cumsum" ||
                 function == "cumprod" || function == "flip" || function == "dot";
  if (!isPlain || function == "round" || function == "where")
    return "";
  if (builtin->family == Family::MinMax && isInt(0)) // an axis elsewhere, an operand in Rust
    return "";
  if (hasAxis && builtin->family != Family::MinMax && args.size() == 1 && isInt(0))
    args[0] = "axis: " + args[0];
  return function + "(" + x + (args.empty() ? "" : ", ") + all() + ")";
}

bool ForeignCode::reportMethod(const ast::CallExpr &call, const ast::MemberExpr &callee) {
  auto *name = dyn_cast<ast::NameExpr>(callee.base.get());
  if (here.findImport(*callee.base) || (name && name->text == "target"))
    return false;
  // Evaluated for its kind alone: of data the call is an error in each case, and no kernel keeps
  // the code that was emitted here.
  SemValue base = evaluator.eval(*callee.base);
  if (base.isError())
    return true;
  if (!base.isData() && !base.isView())
    return false;
  const std::string &member = callee.member.text;
  std::string text = rewriteMethod(call, callee, base);
  if (member == "T" || member == "shape" || member == "dtype") {
    here.error(diag::notAFunction, callee.range, "'." + member + "'")
        .fixIt(call.parenRange, "", "it is written without brackets");
    return true;
  }
  bool isInPlace = StringRef(member).ends_with("_") && member.size() > 1;
  if (text.empty() && !isInPlace)
    return false;
  DiagnosticBuilder report =
      here.error(diag::unknownMember, callee.member.range, describe(base), member);
  if (text.empty()) {
    std::string plain = member.substr(0, member.size() - 1);
    static const std::pair<StringRef, StringRef> operators[] = {
        {"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"div", "/"}};
    std::string value = plain + "(" + textOf(*callee.base) + ")";
    for (auto [method, sign] : operators)
      if (plain == method && call.arguments.size() == 1)
        value = textOf(*callee.base) + " " + sign.str() + " " +
                operand(textOf(*call.arguments[0].value));
    report.note("a tile never changes: name the result, `let w = " + value +
                ";`, or declare `var " + textOf(*callee.base) + "` and assign it");
    return true;
  }
  // A suffix behind the call binds to the whole of what stands for it.
  StringRef rest = sources.text(call.range.file).drop_front(call.range.end);
  if (!isOperand(text) && !StringRef(text).starts_with("(") &&
      (rest.starts_with(".") || rest.starts_with("[") || rest.starts_with("(")))
    text = "(" + text + ")";
  bool isCast = StringRef(text).contains(" as ") && !StringRef(text).contains(',');
  report.fixIt(call.range, text,
               isCast               ? "convert with `as`"
               : text.back() == ')' ? "functions take what they work on as an argument"
                                    : "write `" + text + "`");
  return true;
}

//===--- Loops ------------------------------------------------------------===//

void ForeignCode::reportUncallable(const ast::CallExpr &call, const SemValue &callee) {
  DiagnosticBuilder report = here.error(diag::notAFunction, call.callee->range, describe(callee));
  if (callee.isDtype() && call.arguments.size() == 1 && !call.arguments[0].name)
    report.fixIt(call.range,
                 operand(textOf(*call.arguments[0].value)) + " as " + textOf(*call.callee),
                 "convert with `as`");
  auto *name = dyn_cast<ast::NameExpr>(call.callee.get());
  const Binding *local = name ? here.findLocal(name->text) : nullptr;
  if (local && findBuiltin(name->text))
    report.note(local->declared,
                "this hides the built-in '" + name->text + "': give it another name");
}

void ForeignCode::warnOfNegative(const ast::Subscript &subscript) {
  auto *minus = dyn_cast<ast::UnaryExpr>(subscript.value.get());
  if (!minus || minus->op != ast::UnaryOp::neg || !isa<ast::IntLiteral>(*minus->operand))
    return;
  here.diagnostics.report(diag::neverThere, subscript.range, sources.text(subscript.range))
      .note("positions count from the start; the last one of a dimension N is N - 1");
}

bool ForeignCode::reportRangeLoop(const ast::ForStmt &stmt) {
  auto *call = dyn_cast_or_null<ast::CallExpr>(stmt.over.get());
  if (!call)
    return false;
  StringRef word;
  if (auto *name = dyn_cast<ast::NameExpr>(call->callee.get()))
    word = name->text;
  else if (auto *member = dyn_cast<ast::MemberExpr>(call->callee.get());
           member && isForeignMember(*member))
    word = member->member.text;
  bool isRange = word == "range" || word == "arange", isStatic = word == "static_range";
  if ((!isRange && !isStatic) || here.findLocal(word) || here.scope->names.count(word.str()))
    return false;
  DiagnosticBuilder report =
      here.error(diag::unknownName, call->callee->range, textOf(*call->callee));
  size_t count = call->arguments.size();
  bool isPlain = count >= 1 && count <= 3;
  for (const ast::Argument &argument : call->arguments)
    isPlain = isPlain && !argument.name;
  std::string step = count == 3 ? textOf(*call->arguments[2].value) : "";
  if (!isPlain || StringRef(step).starts_with("-")) {
    report.note(findAlias(word)->note);
    return true;
  }
  auto at = [&](size_t i) { return textOf(*call->arguments[i].value); };
  std::string interval = (count == 1 ? "0" : at(0)) + ".." + at(count == 1 ? 0 : 1) +
                         (step.empty() ? "" : " step " + step);
  if (isStatic && !stmt.isConst) {
    Range head = {stmt.range.file, stmt.range.begin, call->range.end};
    report.fixIt(head, "const for " + stmt.variable.text + " in " + interval,
                 "a loop that is written out when the kernel is compiled");
  } else {
    report.fixIt(call->range, interval, "`lo..hi` counts, without hi");
  }
  if (!step.empty())
    report.note("`for k in blocks(N, B)` takes whole blocks of positions: x[k] loads one");
  return true;
}

//===--- Accesses ---------------------------------------------------------===//

std::string ForeignCode::operandText(Range range) const { return operand(sources.text(range)); }

bool ForeignCode::reportPointerSum(const ast::Expr &expr, StringRef function) {
  auto *sum = dyn_cast<ast::BinaryExpr>(&expr);
  auto *tensor = sum ? dyn_cast<ast::NameExpr>(sum->lhs.get()) : nullptr;
  Binding *local = tensor ? here.findLocal(tensor->text) : nullptr;
  if (!local || !local->value.isView() || sum->op != ast::BinaryOp::add)
    return false;
  DiagnosticBuilder report = here.error(diag::needsAccess, expr.range, function);
  if (local->value.extents.size() == 1)
    report.fixIt(expr.range, tensor->text + "[" + textOf(*sum->rhs) + "]",
                 "a tensor takes positions in brackets");
  else
    report.note("a tensor has no addresses to compute with: each of its " +
                Twine(local->value.extents.size()) +
                " dimensions takes a subscript of its own, as in x[block(i, 32), block(j, 32)]");
  return true;
}

bool ForeignCode::reportOpenExtent(const Arg &arg, ArrayRef<int64_t> shape) {
  if (arg.value.kind != SemValue::Kind::List)
    return false;
  int64_t elements = 1, known = 1;
  for (int64_t extent : shape)
    elements *= extent;
  unsigned open = 0;
  for (const SemValue &element : *arg.value.elements) {
    if (!element.isInt())
      return false;
    bool isOpen = element.getInt() == -1;
    open += isOpen;
    if (!isOpen && (element.getInt() < 1 || element.getInt() > elements))
      return false;
    known *= isOpen ? 1 : element.getInt();
    if (known > elements)
      return false;
  }
  if (open != 1 || elements % known != 0)
    return false;
  std::string text;
  for (const SemValue &element : *arg.value.elements)
    text += (text.empty() ? "[" : ", ") +
            std::to_string(element.getInt() == -1 ? elements / known : element.getInt());
  here.error(diag::emptyTile, arg.range, -1)
      .fixIt(arg.range, text + "]", "every extent is written out");
  return true;
}

/// `block(i, B)` or `at(lo, B)` of `lo .. lo + B`; empty where the length does not show.
static std::string rangeOf(StringRef lo, StringRef hi) {
  auto squeeze = [](StringRef text) {
    std::string out;
    llvm::copy_if(text, std::back_inserter(out), [](char c) { return !llvm::isSpace(c); });
    return out;
  };
  std::string start = squeeze(lo), end = squeeze(hi);
  StringRef size = end, index = start;
  if (!size.consume_front(start + "+") || !isOperand(size))
    return "";
  bool isBlock =
      (index.consume_back(("*" + size).str()) || index.consume_front((size + "*").str())) &&
      isOperand(index);
  return isBlock ? ("block(" + index + ", " + size + ")").str()
                 : ("at(" + lo + ", " + size + ")").str();
}

void ForeignCode::addViewHint(DiagnosticBuilder &report, Range range) {
  Binding *local = here.findLocal(sources.text(range));
  auto *view = local ? dyn_cast_or_null<ast::SubscriptExpr>(local->initial) : nullptr;
  for (const ast::Subscript &subscript :
       view ? ArrayRef(view->subscripts) : ArrayRef<ast::Subscript>()) {
    if (subscript.kind != ast::Subscript::slice)
      continue;
    report.note(view->range, "lo..hi takes a view, of which nothing is loaded; a range, block(i, "
                             "16) or at(lo, 16), loads a tile");
    std::string written =
        rangeOf(sources.text(subscript.lo->range), sources.text(subscript.hi->range));
    if (!written.empty())
      report.fixIt(subscript.range, written, "write the range");
    return;
  }
  report.note("a view is loaded by an access with one subscript for each dimension");
}

//===--- Declarations and accumulators ------------------------------------===//

void ForeignCode::declareAssigned(const ast::NameExpr &target, const SemValue &value,
                                  llvm::function_ref<SemValue(const SemValue &)> toData) {
  const std::string &name = target.text;
  // `let` where one assignment is all, else `var`: the fix must compile.
  // Is it assigned again?
  unsigned times = 0;
  bool isChanged = false;
  const ast::Block &body = here.calls.empty() ? kernel.body : here.calls.back().function->body;
  ast::walk(body, [&](const ast::Stmt &stmt) {
    auto *assign = dyn_cast<ast::AssignStmt>(&stmt);
    auto *other = assign ? dyn_cast<ast::NameExpr>(assign->target.get()) : nullptr;
    if (other && other->text == name) {
      ++times;
      isChanged |= assign->op.has_value();
    }
  });
  bool isVar = times > 1 || isChanged;
  std::vector<std::string> vars;
  for (const Scope &scope : here.frames.back())
    for (const auto &[each, binding] : scope)
      if (binding.isVar)
        vars.push_back(each);
  DiagnosticBuilder report = here.error(diag::unknownName, target.range, name);
  if (auto gone = here.ended.find(name); gone != here.ended.end()) {
    report.note(gone->second, "this '" + name +
                                  "' ended with its block: declare a `var` before the block, and "
                                  "assign it there");
    return;
  }
  if (std::string near = suggest(name, vars); !near.empty()) {
    report.fixIt(target.range, near, "did you mean '" + near + "'?");
    return;
  }
  const char *word = isVar ? "var" : "let";
  report.fixIt(target.range.atBegin(), std::string(word) + " ",
               std::string("a name is declared by `") + word + "`");
  // What follows is checked as if it were.
  SemValue kept = value;
  if (isVar)
    kept = value.isNumeric() && !value.isError() ? toData(value) : SemValue::error();
  Binding &binding = here.frames.back().back()[name];
  binding.value = std::move(kept);
  binding.isVar = isVar;
  binding.declared = target.range;
}

void ForeignCode::addTileStoreFix(DiagnosticBuilder &report, const ast::AssignStmt &stmt,
                                  const ast::SubscriptExpr &access, const SemValue &base) {
  auto *name = dyn_cast<ast::NameExpr>(access.base.get());
  bool isOne = base.isData() && name && access.subscripts.size() == 1 && !stmt.op &&
               access.subscripts[0].kind == ast::Subscript::index;
  SemValue position = isOne ? evaluator.eval(*access.subscripts[0].value) : SemValue();
  std::string value = textOf(*stmt.value);
  if (position.isData() && position.dtype == DType::Bool && position.shape() == base.shape())
    report.fixIt({stmt.range.file, stmt.target->range.begin, stmt.value->range.end},
                 name->text + " = where(" + textOf(*access.subscripts[0].value) + ", " + value +
                     ", " + name->text + ")",
                 "a tile never changes: build a new one");
  else if (isOne && base.rank() == 1)
    report.note("a tile never changes: build a new one, `" + name->text + " = where(iota(" +
                Twine(base.shape()[0]) + ") == " + textOf(*access.subscripts[0].value) + ", " +
                value + ", " + name->text + ");`");
  else
    report.note("a tile never changes: build a new one, for instance with `where`");
}

/// By the text: operands have ranges, but no way to the statement around them.
bool ForeignCode::isAssigned(Range range) const {
  StringRef rest = sources.text(range.file).drop_front(range.end).ltrim();
  return rest.size() > 1 && StringRef("+-*/").contains(rest[0]) && rest[1] == '=';
}

void ForeignCode::addAccumulatorFix(DiagnosticBuilder &report, const Arg &arg, DType wanted) {
  std::string name = sources.text(arg.range).str(), dtype = dtypeSpelling(wanted).str();
  Binding *variable = here.findLocal(name);
  if (!variable) {
    report.note("convert the value with `as " + dtypeSpelling(arg.value.dtype) + "`");
    return;
  }
  report.note(variable->declared, "'" + name + "' began as " + dtypeSpelling(arg.value.dtype));
  auto *call = dyn_cast_or_null<ast::CallExpr>(variable->initial);
  auto *callee = call ? dyn_cast<ast::NameExpr>(call->callee.get()) : nullptr;
  bool isFill = callee && (callee->text == "zeros" || callee->text == "full");
  if (isFill && !call->arguments.empty())
    report.fixIt(call->arguments[0].value->range, dtype,
                 "sum up in " + dtype + ", and round once at the end");
  else
    report.note("declare it in " + dtype + ", and round once at the end");
}

void ForeignCode::addConversion(DiagnosticBuilder &report, Range range, DType dtype) {
  StringRef text = sources.text(range);
  std::string converted = operand(text) + " as " + dtypeSpelling(dtype).str();
  if (text.contains('\n') || text.empty())
    report.note("convert with `as " + dtypeSpelling(dtype) + "`");
  else
    report.fixIt(range, converted, "convert it with `as`");
}
