// The signature of one instance: parameters, named dimensions, strides, grid.
//
//   x: in f32[N, 2 * M, K + 1; S, 1]
//             |    |      |    +-- named stride: an entry of dims, at most 2^40
//             |    +------+------- binding forms: M and K follow from the extents
//             +------------------- bare name: binds N
//
// `read` goes in this order: parameters that exist, scalars, names (bare names first, so that `N`
// binds and `N + 1` checks), types, dims. dimOrder is the order of the ABI: by first occurrence.
#include "frontend/Sema/Signature.h"
#include "frontend/Ast/Walk.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Sema/Limits.h"

using namespace llvm;
using namespace tile;
using LaunchExpr = runtime::Expr;

/// One unknown, and an operation that can be undone: a sum, a difference with the name first, a
/// product with a factor of at least 1.
const ast::NameExpr *Signature::boundByForm(const ast::Expr &expr) {
  auto *binary = dyn_cast<ast::BinaryExpr>(&expr);
  if (!binary)
    return nullptr;
  auto *left = dyn_cast<ast::NameExpr>(binary->lhs.get()),
       *right = dyn_cast<ast::NameExpr>(binary->rhs.get());
  bool isLeft = left && here.isFreeName(*left), isRight = right && here.isFreeName(*right);
  if (!isLeft && !isRight)
    return nullptr;
  bool isProduct = binary->op == ast::BinaryOp::mul;
  bool binds =
      binary->op == ast::BinaryOp::add || isProduct || (binary->op == ast::BinaryOp::sub && isLeft);
  // The rest is a number of this instance: what is known at launch only leaves two unknowns.
  const ast::Expr &rest = isLeft ? *binary->rhs : *binary->lhs;
  std::vector<const ast::NameExpr *> names;
  collectNames(rest, names);
  if (!binds || llvm::any_of(names, [&](const ast::NameExpr *name) {
        return !here.findLocal(name->text) && !here.scope->names.count(name->text);
      }))
    return nullptr;
  if (isProduct) { // of 0 * N nothing follows for N
    SemValue factor = evaluator.eval(rest);
    if (!factor.isInt() || factor.getInt() < 1)
      return nullptr;
  }
  return isLeft ? left : right;
}

/// Finds the named dimensions: first bare names, then the binding forms; then named strides.
void Signature::collectDimensions() {
  auto isFree = [&](const ast::NameExpr &name) { return here.isFreeName(name); };
  auto add = [&](const ast::NameExpr &name, LaunchName::Kind kind) {
    here.launchNames[name.text] = {kind, name.range};
    dimOrder.push_back(name.text);
  };
  for (const ast::Param &param : kernel.params)
    if (param.access != ast::Access::none && here.params.count(param.name.text))
      for (const ast::ExprPtr &dim : param.type.dims)
        if (auto *name = dyn_cast<ast::NameExpr>(dim.get()); name && isFree(*name))
          add(*name, LaunchName::Dim);
  for (const ast::Param &param : kernel.params)
    if (param.access != ast::Access::none && here.params.count(param.name.text))
      for (const ast::ExprPtr &dim : param.type.dims)
        if (const ast::NameExpr *name = boundByForm(*dim))
          add(*name, LaunchName::Dim);
  for (const ast::Param &param : kernel.params)
    if (param.access != ast::Access::none && here.params.count(param.name.text))
      for (const ast::Stride &stride : param.type.strides)
        if (auto *name = stride.value ? dyn_cast<ast::NameExpr>(stride.value.get()) : nullptr;
            name && isFree(*name))
          add(*name, LaunchName::Stride);
}

std::optional<int64_t> Signature::readCount(const ast::Param &param) {
  constexpr int64_t maxCount = 64; // a GPU takes 4 KiB of arguments
  std::optional<int64_t> count =
      evaluator.evalInt(*param.count, "the length of an array of tensors");
  if (count && (*count < 1 || *count > maxCount)) {
    here.error(diag::badParameter, param.count->range,
               "an array holds 1 to " + std::to_string(maxCount) + " tensors, found " +
                   std::to_string(*count));
    return std::nullopt;
  }
  return count;
}

const ast::Param &Signature::declOf(const runtime::Param &param) const {
  return *here.params.at(param.name.substr(0, param.name.find('[')));
}

bool Signature::readTensor(const ast::Param &param, runtime::Param &out) {
  std::optional<DType> dtype = evaluator.resolveDtype(param.type.name);
  if (!dtype)
    return false;
  if (*dtype == DType::Index) {
    here.error(diag::badParameter, param.type.range,
               "index cannot be stored in memory; use i64 or i32");
    return false;
  }
  if (isNibble(*dtype) && param.access != ast::Access::in) {
    here.error(diag::badParameter, param.type.range,
               "a tensor of " + dtypeSpelling(*dtype).str() +
                   " can only be `in`: two elements share a byte; use i8 or u8");
    return false;
  }
  if (isNibble(*dtype) && param.type.dims.empty()) {
    here.error(diag::badParameter, param.type.range,
               "a tensor of " + dtypeSpelling(*dtype).str() +
                   " has a dimension along which pairs share bytes");
    return false;
  }
  out.kind = runtime::Param::Kind::Tensor;
  out.dtype = toRuntime(*dtype);
  out.access = param.access == ast::Access::in    ? runtime::Access::In
               : param.access == ast::Access::out ? runtime::Access::Out
                                                  : runtime::Access::InOut;
  if (!param.type.hasShape) {
    here.error(diag::badParameter, param.type.range,
               "a tensor parameter has dimensions: " + param.type.name.text + "[M, N], or " +
                   param.type.name.text + "[] for one element");
    return false;
  }
  if (param.type.dims.size() > 5) {
    here.error(diag::rankTooHigh, param.type.range, param.type.dims.size())
        .note("two that lie behind each other can be one, as [B * C, N]; `view` looks at a vector "
              "under up to 4 extents");
    return false;
  }
  for (const ast::ExprPtr &dim : param.type.dims) {
    // Names that nothing binds are reported here, where they stand.
    std::vector<const ast::NameExpr *> names;
    collectNames(*dim, names);
    for (const ast::NameExpr *name : names)
      if (!here.findLocal(name->text) && !here.launchNames.count(name->text) &&
          !here.scope->names.count(name->text)) {
        here.error(diag::unboundDimension, name->range, name->text)
            .note("a dimension of a tensor binds it where it is `" + name->text + "`, `" +
                  name->text + " + c`, `" + name->text + " - c` or `c * " + name->text +
                  "`, c a compile-time integer (positive in a product); or declare a scalar "
                  "parameter `" +
                  name->text + ": i64`");
        return false;
      }
    std::optional<LaunchExpr> extent = launchExprs.convert(*dim);
    if (!extent)
      return false;
    if (extent->isInteger() && extent->getInteger() < 0) {
      here.error(diag::badParameter, dim->range,
                 "an extent cannot be negative, found " + std::to_string(extent->getInteger()));
      return false;
    }
    out.dims.push_back(*extent);
  }
  if (!param.type.strides.empty()) {
    if (param.type.strides.size() != param.type.dims.size()) {
      here.error(diag::strideCount, param.type.range, param.type.dims.size(),
                 param.type.strides.size());
      return false;
    }
    out.strides.emplace();
    for (const ast::Stride &stride : param.type.strides) {
      if (!stride.value) {
        out.strides->push_back(std::nullopt);
        continue;
      }
      std::optional<LaunchExpr> value = launchExprs.convert(*stride.value);
      if (!value)
        return false;
      bool isBad =
          value->isInteger() && (value->getInteger() < 0 ||
                                 (value->getInteger() == 0 && param.access != ast::Access::in));
      if (isBad) {
        here.error(diag::badParameter, stride.range,
                   "strides are positive, or 0 on an `in` tensor");
        return false;
      }
      out.strides->push_back(*value);
    }
    const std::optional<LaunchExpr> &last = out.strides->back();
    if (isNibble(*dtype) && !(last && last->isInteger() && last->getInteger() == 1)) {
      here.error(diag::badParameter, param.type.strides.back().range,
                 "the last stride of a tensor of " + dtypeSpelling(*dtype).str() +
                     " is 1: neighbours along it share a byte");
      return false;
    }
  }
  if (param.defaultValue) {
    if (param.access == ast::Access::in) {
      here.error(diag::badParameter, param.defaultValue->range,
                 "only `out` and `inout` tensors can be filled before the launch");
      return false;
    }
    SemValue value = evaluator.eval(*param.defaultValue);
    if (value.isError())
      return false;
    out.fill = evaluator.toConstant(value, *dtype, param.defaultValue->range);
    if (!out.fill)
      return false;
  }
  return true;
}

/// How a kernel's body uses a tensor: "in", "out" or "inout".
/// For a fix-it only: a guess from the body. A tensor that is stored to and named otherwise is
/// `inout`.
static std::string accessOf(const ast::Block &body, StringRef name) {
  auto isOf = [&](const ast::Expr &expr) {
    const ast::Expr *base = &expr;
    while (auto *subscript = dyn_cast<ast::SubscriptExpr>(base))
      base = subscript->base.get();
    auto *root = dyn_cast<ast::NameExpr>(base);
    return base != &expr && root && root->text == name;
  };
  unsigned named = 0, stored = 0;
  bool isChanged = false;
  ast::walk(body, [&](const ast::Stmt &stmt) {
    auto *assign = dyn_cast<ast::AssignStmt>(&stmt);
    if (!assign || !isOf(*assign->target))
      return;
    ++stored;
    isChanged |= assign->op.has_value();
  });
  ast::walk(body, [&](const ast::Expr &expr) {
    if (auto *use = dyn_cast<ast::NameExpr>(&expr))
      named += use->text == name;
    auto *call = dyn_cast<ast::CallExpr>(&expr);
    auto *callee = call ? dyn_cast<ast::NameExpr>(call->callee.get()) : nullptr;
    if (!callee || call->arguments.empty() || !isOf(*call->arguments[0].value))
      return;
    stored += callee->text == "store" || callee->text == "scatter";
    isChanged |= StringRef(callee->text).starts_with("atomic_");
  });
  bool isRead = isChanged || named > stored;
  return isChanged || (stored && isRead) ? "inout" : stored ? "out" : "in";
}

bool Signature::readScalar(const ast::Param &param, runtime::Param &out) {
  out.kind = runtime::Param::Kind::Scalar;
  if (param.type.hasShape || param.count) {
    std::string access = accessOf(kernel.body, param.name.text);
    here.error(diag::badParameter, param.type.range,
               "a tensor parameter says how it is used: `in`, `out` or `inout` before its type")
        .fixIt(param.type.range.atBegin(), access + " ", "insert `" + access + "`");
    return false;
  }
  std::optional<DType> dtype = evaluator.resolveDtype(param.type.name);
  if (!dtype)
    return false;
  if (*dtype == DType::Index) {
    here.error(diag::badParameter, param.type.range,
               "a scalar parameter cannot be index; use i64 or i32, which widen to it");
    return false;
  }
  if (isStorage(*dtype)) {
    here.error(diag::badParameter, param.type.range,
               "a scalar parameter cannot be " + dtypeSpelling(*dtype).str() +
                   ", which only tensors hold; use " + (isFloat8(*dtype) ? "f32" : "i32"));
    return false;
  }
  out.dtype = toRuntime(*dtype);
  if (param.defaultValue) {
    SemValue value = evaluator.eval(*param.defaultValue);
    if (value.isError())
      return false;
    out.defaultValue = evaluator.toConstant(value, *dtype, param.defaultValue->range);
    if (!out.defaultValue)
      return false;
  }
  return true;
}

bool Signature::read(runtime::Kernel &record) {
  unsigned errors = here.reported;
  if (kernel.params.size() > limits::parameters) {
    here.error(diag::tooLarge, kernel.params[limits::parameters].range,
               "the parameters of kernel '" + kernel.name.text + "'", limits::parameters,
               kernel.params.size())
        .note("pass tensors of one shape as one tensor with one more dimension");
    return false;
  }
  // A parameter whose condition is false takes the names that only it binds along (`dropped`): a
  // use of one of those is an error that says so.
  // Which parameters exist.
  std::map<std::string, Range> declared;
  for (const ast::Param &param : kernel.params) {
    auto [earlier, isNew] = declared.emplace(param.name.text, param.name.range);
    if (!isNew || here.findLocal(param.name.text)) {
      DiagnosticBuilder report = here.error(diag::redefinition, param.name.range, param.name.text);
      report.note(isNew ? here.findLocal(param.name.text)->declared : earlier->second,
                  "first defined here");
      continue;
    }
    if (param.condition) {
      std::optional<bool> exists =
          evaluator.evalConstBool(*param.condition, "the condition of a parameter");
      if (!exists)
        continue;
      if (!*exists) {
        here.dropped[param.name.text] = param.condition->range;
        for (const ast::ExprPtr &dim : param.type.dims)
          if (auto *name = dyn_cast<ast::NameExpr>(dim.get());
              name && !here.findLocal(name->text) && !here.scope->names.count(name->text))
            here.dropped.emplace(name->text,
                                 param.condition->range); // unless another parameter binds it
        continue;
      }
    }
    if (auto global = here.scope->names.find(param.name.text); global != here.scope->names.end()) {
      here.error(diag::redefinition, param.name.range, param.name.text)
          .note(global->second->name.range, "first defined here");
      continue;
    }
    here.params[param.name.text] = &param;
  }
  if (here.reported != errors)
    return false;
  // Scalars may stand in contracts, integral ones in dimensions and grid too.
  for (const ast::Param &param : kernel.params)
    if (param.access == ast::Access::none && here.params.count(param.name.text) &&
        !param.type.hasShape) {
      Binding *kind = here.findLocal(param.type.name.text);
      std::optional<DType> dtype = kind && kind->value.isDtype() ? std::optional(kind->value.dtype)
                                                                 : findDtype(param.type.name.text);
      if (dtype && !isStorage(*dtype) && *dtype != DType::Index)
        here.launchNames[param.name.text] = {LaunchName::Scalar, param.name.range, *dtype};
    }
  collectDimensions();
  for (const auto &[name, launch] : here.launchNames)
    here.dropped.erase(name);
  for (const auto &[name, launch] : here.launchNames)
    if (auto clash = declared.find(name);
        clash != declared.end() && launch.kind != LaunchName::Scalar)
      here.error(diag::redefinition, launch.declared, name)
          .note(clash->second, "this parameter has the same name");
  for (const ast::Param &param : kernel.params) {
    if (!here.params.count(param.name.text))
      continue;
    runtime::Param out;
    out.name = param.name.text;
    out.line = sources.begin(param.range).line;
    bool isTensor = param.access != ast::Access::none;
    std::optional<int64_t> count = isTensor && param.count ? readCount(param) : 1;
    if (!count || !(isTensor ? readTensor(param, out) : readScalar(param, out)))
      continue;
    // An array is as many parameters: xs[0], xs[1] ….
    for (int64_t i = 0; i < *count; ++i) {
      if (param.count)
        out.name = param.name.text + "[" + std::to_string(i) + "]";
      record.params.push_back(out);
    }
  }
  if (here.reported == errors && record.params.size() > limits::parameters)
    here.error(diag::tooLarge, kernel.name.range,
               "the parameters of kernel '" + kernel.name.text + "'", limits::parameters,
               record.params.size())
        .note("each tensor of an array counts; pass tensors of one shape as one tensor with one "
              "more dimension");
  if (here.reported != errors)
    return false;
  for (const std::string &name : dimOrder) {
    runtime::Dim dim;
    dim.name = name;
    dim.line = sources.begin(here.launchNames[name].declared).line;
    if (here.launchNames[name].kind == LaunchName::Stride)
      dim.max = int64_t(1) << 40;
    record.dims.push_back(std::move(dim));
  }
  // Strides that nothing names.
  for (const runtime::Param &param : record.params)
    for (size_t axis = 0; param.strides && axis < param.strides->size(); ++axis)
      if (!(*param.strides)[axis]) {
        runtime::Dim dim;
        dim.name = param.name + ".stride." + std::to_string(axis);
        dim.max = int64_t(1) << 40;
        dim.line = param.line;
        record.dims.push_back(std::move(dim));
      }
  return true;
}

bool Signature::readGrid(runtime::Kernel &record) {
  unsigned errors = here.reported;
  if (auto *grid = kernel.clause<ast::GridClause>())
    for (const ast::GridAxis &axis : grid->axes) {
      std::vector<const ast::NameExpr *> names;
      collectNames(*axis.extent, names);
      bool unknown = false;
      for (const ast::NameExpr *name : names) {
        if (unknown || here.launchNames.count(name->text))
          continue;
        bool isNowhere = here.isFreeName(*name) && !here.dropped.count(name->text) &&
                         !here.params.count(name->text) && !findBuiltin(name->text) &&
                         !findDtype(name->text);
        if (isNowhere) {
          DiagnosticBuilder report = here.error(diag::unboundDimension, name->range, name->text);
          report.note(
              "a dimension is bound by a tensor that has it; else declare a scalar parameter `" +
              name->text + ": i64`");
          std::vector<std::string> known;
          for (const auto &[each, launch] : here.launchNames)
            known.push_back(each);
          addSuggestion(report, name->range, name->text, known);
        }
        unknown = isNowhere || evaluator.evalName(name->text, name->range).isError(); // reported
      }
      if (unknown)
        continue;
      if (std::optional<LaunchExpr> extent = launchExprs.convert(*axis.extent))
        record.grid.push_back(*extent);
    }
  // Sizes have a range even if no contract gives one: bounds of positions follow from it.
  // An integral scalar that shapes tensors or grid is a size.
  std::set<std::string> sizes;
  for (const LaunchExpr &extent : record.grid)
    collectNames(extent, sizes);
  for (const runtime::Param &param : record.params)
    for (const LaunchExpr &dim : param.dims)
      collectNames(dim, sizes);
  for (runtime::Param &param : record.params)
    if (param.kind == runtime::Param::Kind::Scalar && sizes.count(param.name) && !param.min) {
      param.min = 0;
      param.max = int64_t(1) << 30;
    }
  return here.reported == errors;
}
