// Which of a kernel's names an item of --arg or --variant means, and what it may say of it.
//
//   item            of a compile-time parameter   of a tensor            of a scalar or dimension
//   NAME=V          a define                      -                      a fact: NAME == V
//   NAME=LO..=HI    -                             -                      a fact
//   NAME%D          -                             -                      a fact
//   align(NAME)=B   -                             a fact                 -
//   NAME=f16[64,*]  -                             defines and facts for the names in its type
#include "frontend/Sema/MatchItems.h"

#include "frontend/Diag/Suggest.h"
#include "frontend/Sema/DTypes.h"
#include "frontend/Sema/Words.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tile {

namespace {

/// One kernel's names, by what they are.
struct Names {
  const ast::KernelDecl &kernel;
  explicit Names(const ast::KernelDecl &kernel) : kernel(kernel) {}

  const ast::StaticParam *findStatic(StringRef name) const {
    for (const ast::StaticParam &param : kernel.statics)
      if (param.name.text == name)
        return &param;
    return nullptr;
  }
  const ast::Param *findParam(StringRef name) const {
    for (const ast::Param &param : kernel.params)
      if (param.name.text == name)
        return &param;
    return nullptr;
  }
  static void collect(const ast::Expr &expr, std::vector<std::string> &out) {
    if (auto *name = dyn_cast<ast::NameExpr>(&expr)) {
      out.push_back(name->text);
    } else if (auto *binary = dyn_cast<ast::BinaryExpr>(&expr)) {
      collect(*binary->lhs, out);
      collect(*binary->rhs, out);
    }
  }
  /// Dimensions and strides, with what tensors' shapes use of constants: harmless, those are never
  /// fixed.
  std::vector<std::string> sizes() const {
    std::vector<std::string> names;
    for (const ast::Param &param : kernel.params) {
      for (const ast::ExprPtr &dim : param.type.dims)
        collect(*dim, names);
      for (const ast::Stride &stride : param.type.strides)
        if (stride.value)
          collect(*stride.value, names);
    }
    return names;
  }
};

/// Matches one kernel's items.
class Matcher {
public:
  Matcher(const ast::KernelDecl &kernel, DiagnosticEngine &diagnostics, MatchedItems &matched)
      : names(kernel), sizes(names.sizes()), diagnostics(diagnostics), matched(matched) {}

  /// True where the item's name is one of this kernel.
  bool knows(const ArgItem &item) const {
    return names.findStatic(item.name) || names.findParam(item.name) ||
           is_contained(sizes, item.name);
  }
  bool match(const ArgItem &item);

private:
  bool fail(const ArgItem &item, const Twine &message, Range where = Range()) {
    DiagnosticBuilder report =
        diagnostics.report(diag::badArgument, Range(), item.text, message.str());
    if (where.isValid())
      report.note(where, "declared here");
    return false;
  }
  bool define(const ArgItem &item, const std::string &name, const std::string &value);
  bool fix(const ArgItem &item, const std::string &name, const std::string &value);
  bool matchTensor(const ArgItem &item, const ast::Param &param);
  bool matchDim(const ArgItem &item, const ast::Expr &declared, const std::string &given,
                Range where);

  Names names;
  std::vector<std::string> sizes;
  DiagnosticEngine &diagnostics;
  MatchedItems &matched;
};

} // namespace

bool Matcher::define(const ArgItem &item, const std::string &name, const std::string &value) {
  for (const auto &[known, other] : matched.defines)
    if (known == name && other != value)
      return fail(item, "'" + name + "' is " + other + " already", names.findStatic(name)->range);
  matched.defines.emplace_back(name, value);
  return true;
}

/// NAME = a whole number, for a dimension, stride or scalar.
bool Matcher::fix(const ArgItem &item, const std::string &name, const std::string &value) {
  ArgItem fact = item;
  fact.kind = ArgItem::Kind::Value;
  fact.name = name;
  fact.value = value;
  if (StringRef(value).getAsInteger(0, fact.number))
    return fail(item, "only whole numbers can be fixed outside of the source; make '" + name +
                          "' a compile-time parameter to fix others");
  fact.text = name + " == " + value;
  matched.facts.push_back(std::move(fact));
  return true;
}

/// `*` and the declared name itself say nothing, and fit each extent.
bool Matcher::matchDim(const ArgItem &item, const ast::Expr &declared, const std::string &given,
                       Range where) {
  auto *name = dyn_cast<ast::NameExpr>(&declared);
  int64_t number, other;
  bool isNumber = !StringRef(given).getAsInteger(0, number);
  if (given == "*" || (name && name->text == given))
    return true;
  if (name && isNumber)
    return names.findStatic(name->text) ? define(item, name->text, given)
                                        : fix(item, name->text, given);
  auto *literal = dyn_cast<ast::IntLiteral>(&declared);
  if (literal && isNumber) {
    other = int64_t(literal->value);
    return other == number || fail(item, "the extent is declared as " + Twine(other), where);
  }
  if (isNumber)
    return fail(item, "an extent that is computed cannot be fixed here; fix the names in it",
                where);
  return name ? fail(item,
                     "expected " + name->text + ", a number or * for an extent, found '" + given +
                         "'",
                     where)
              : true;
}

bool Matcher::matchTensor(const ArgItem &item, const ast::Param &param) {
  if (param.access == ast::Access::none)
    return fail(item, "'" + item.name + "' is a scalar, not a tensor", param.range);
  const std::string &declared = param.type.name.text;
  if (names.findStatic(declared)) {
    if (item.value != declared && !define(item, declared, item.value))
      return false;
  } else if (item.value != declared) {
    return fail(item, "'" + item.name + "' is declared as " + declared, param.type.range);
  }
  if (item.dims.size() != param.type.dims.size())
    return fail(item,
                "'" + item.name + "' has rank " + Twine(param.type.dims.size()) + ", found " +
                    Twine(item.dims.size()) + " extents",
                param.type.range);
  for (size_t i = 0; i < item.dims.size(); ++i)
    if (!matchDim(item, *param.type.dims[i], item.dims[i], param.type.range))
      return false;
  return true;
}

bool Matcher::match(const ArgItem &item) {
  const ast::StaticParam *compileTime = names.findStatic(item.name);
  const ast::Param *param = names.findParam(item.name);
  if (compileTime) {
    if (item.kind != ArgItem::Kind::Value)
      return fail(item,
                  "'" + item.name + "' is a compile-time parameter, which takes one value: " +
                      item.name + "=VALUE",
                  compileTime->range);
    return define(item, item.name, item.value);
  }
  bool isTensor = param && param->access != ast::Access::none;
  if (isTensor != (item.kind == ArgItem::Kind::Align || item.kind == ArgItem::Kind::Tensor))
    return fail(item,
                isTensor ? "'" + item.name + "' is a tensor; expected " + item.name +
                               "=DTYPE[DIM,...] or align(" + item.name + ")=BYTES"
                         : "'" + item.name + "' is no tensor",
                param ? param->range : Range());
  if (item.kind == ArgItem::Kind::Tensor)
    return matchTensor(item, *param);
  if (param && !isTensor) {
    std::optional<DType> dtype = findDtype(param->type.name.text);
    if (dtype && !isInteger(*dtype))
      return fail(item,
                  "'" + item.name + "' is a scalar of " + param->type.name.text +
                      "; only integers can be bounded or fixed outside of the source",
                  param->range);
  }
  if (item.kind == ArgItem::Kind::Value)
    return fix(item, item.name, item.value);
  matched.facts.push_back(item);
  return true;
}

bool matchItems(const ast::KernelDecl &kernel, const std::vector<ArgItem> &items,
                DiagnosticEngine &diagnostics, MatchedItems &matched,
                std::map<std::string, bool> &used) {
  Matcher matcher(kernel, diagnostics, matched);
  std::map<std::string, const ArgItem *> ranged;
  bool good = true;
  for (const ArgItem &item : items) {
    // A file's kernels share the items: a name must be one of some kernel, not of all.
    bool &known = used[item.name];
    if (!matcher.knows(item))
      continue;
    known = true;
    bool isRange = item.kind == ArgItem::Kind::Range || item.kind == ArgItem::Kind::Value;
    if (isRange && !ranged.emplace(item.name, &item).second) {
      diagnostics.report(diag::badArgument, Range(), item.text,
                         "'" + item.name + "' is given already, by " + ranged[item.name]->text);
      good = false;
      continue;
    }
    good &= matcher.match(item);
  }
  return good;
}

std::vector<std::string> itemNames(const ast::KernelDecl &kernel) {
  std::vector<std::string> all = Names(kernel).sizes();
  for (const ast::StaticParam &param : kernel.statics)
    all.push_back(param.name.text);
  for (const ast::Param &param : kernel.params)
    all.push_back(param.name.text);
  std::vector<std::string> distinct;
  for (std::string &name : all)
    if (!is_contained(distinct, name))
      distinct.push_back(std::move(name));
  return distinct;
}

} // namespace tile
