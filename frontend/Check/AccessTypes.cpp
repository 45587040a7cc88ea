// Accesses, as LowerAccess.cpp and LowerIndexed.cpp emit them.
#include "frontend/Check/AccessTypes.h"
#include "frontend/Check/BodyChecker.h"
#include "frontend/Sema/AccessRules.h"

using namespace tile;
using llvm::ArrayRef;
using llvm::dyn_cast;
using llvm::StringRef;
using Form = ast::Subscript;

bool AccessTypes::isFull(const SemValue &view, const ast::SubscriptExpr &expr) {
  return expr.subscripts.size() == view.extents.size() &&
         llvm::all_of(expr.subscripts, [](const Form &each) { return each.kind != Form::slice; });
}

SemValue AccessTypes::evalSubscript(const ast::SubscriptExpr &expr) {
  SemValue base = body.eval(*expr.base);
  if (body.operands.refuseNone(base, expr.base->range))
    return SemValue::error();
  switch (base.kind) {
  case SemValue::Kind::Error:
    return base;
  case SemValue::Kind::View:
    return evalView(base, expr);
  case SemValue::Kind::Data:
    return evalTilePart(base, expr);
  case SemValue::Kind::Tuple:
  case SemValue::Kind::List:
    return evalTupleElement(base, expr);
  case SemValue::Kind::Function:
    return evalFunction(base, expr);
  default:
    return body.undecided();
  }
}

SemValue AccessTypes::evalFunction(const SemValue &base, const ast::SubscriptExpr &expr) {
  FunctionValue function = *base.function;
  if (!function.decl ||
      function.decl->statics.size() < function.statics.size() + expr.subscripts.size())
    return body.undecided();
  for (const Form &subscript : expr.subscripts) {
    if (subscript.kind != Form::index)
      return body.undecided();
    SemValue value = body.eval(*subscript.value);
    if (value.isError())
      return value;
    if (!value.isConstant())
      return body.undecided();
    function.statics.push_back(std::move(value));
  }
  return SemValue::of(std::move(function));
}

SemValue AccessTypes::evalTupleElement(const SemValue &base, const ast::SubscriptExpr &expr) {
  if (expr.subscripts.size() != 1 || expr.subscripts[0].kind != Form::index)
    return body.undecided();
  std::optional<int64_t> index = body.evalPosition(base, *expr.subscripts[0].value);
  if (!index)
    return SemValue::error();
  if (*index < 0 || *index >= int64_t(base.elements->size()))
    return body.undecided();
  return (*base.elements)[*index];
}

//===--- Tensors ----------------------------------------------------------===//

SemValue AccessTypes::evalView(const SemValue &base, const ast::SubscriptExpr &expr) {
  if (expr.subscripts.size() > base.extents.size())
    return body.undecided();
  if (!isFull(base, expr))
    return evalSubview(base, expr);
  std::optional<AccessType> access = makeAccess(base, expr);
  return access ? load(*access, /*hasPadding=*/false) : SemValue::error();
}

SemValue AccessTypes::evalSubview(const SemValue &base, const ast::SubscriptExpr &expr) {
  Shape shape;
  for (size_t d = 0; d < base.extents.size(); ++d) {
    const Form *subscript = d < expr.subscripts.size() ? &expr.subscripts[d] : nullptr;
    if (!subscript || subscript->kind == Form::all) {
      shape.push_back(base.extents[d]);
    } else if (subscript->kind == Form::slice) {
      bool hasLow = body.operands.isIndex(body.eval(*subscript->lo), subscript->lo->range,
                                          "the start of a window"),
           hasHigh = body.operands.isIndex(body.eval(*subscript->hi), subscript->hi->range,
                                           "the end of a window");
      if (!hasLow || !hasHigh)
        return SemValue::error();
      shape.push_back(unknownExtent);
    } else if (subscript->kind == Form::newAxis) {
      return body.undecided();
    } else {
      SemValue index = body.eval(*subscript->value);
      if (index.isRange() || (index.isData() && index.rank() > 0))
        return body.undecided();
      if (!body.operands.isIndex(index, subscript->range, "a sub-view's subscript"))
        return SemValue::error();
      body.foreign.warnOfNegative(*subscript);
    }
  }
  return body.view(base.dtype, shape, base.param, /*isPart=*/true);
}

std::optional<AccessType> AccessTypes::makeAccess(const SemValue &view,
                                                  const ast::SubscriptExpr &expr, bool takesTiles) {
  auto undecided = [&] {
    (void)body.undecided();
    return std::nullopt;
  };
  ++body.effects;
  AccessType access{view, {}, expr.range};
  std::vector<Arg> tiles;
  size_t jointAt = 0;
  for (size_t d = 0; d < expr.subscripts.size(); ++d) {
    const Form &subscript = expr.subscripts[d];
    if (subscript.kind == Form::newAxis)
      return undecided();
    if (subscript.kind == Form::all) {
      if (view.extents[d] == unknownExtent)
        return undecided();
      access.shape.push_back(view.extents[d]);
      continue;
    }
    SemValue value = body.eval(*subscript.value);
    if (value.isError())
      return std::nullopt;
    if (value.isRange()) {
      access.shape.push_back(value.range->size);
    } else if (value.isData() && value.rank() > 0) {
      if (!isInteger(value.dtype) || !takesTiles)
        return undecided();
      if (tiles.empty())
        jointAt = access.shape.size();
      tiles.push_back({value, subscript.range, ""});
    } else if (!body.operands.isIndex(value, subscript.range, "an access's subscript")) {
      return std::nullopt;
    } else {
      body.foreign.warnOfNegative(subscript);
    }
  }
  if (!tiles.empty()) {
    for (Arg &tile : tiles) {
      if (tile.value.dtype == DType::U64)
        return undecided();
      tile.value = body.data(DType::Index, tile.value.shape());
    }
    if (!body.unifyShapes(tiles, expr.range))
      return std::nullopt;
    access.shape = gatheredShape(access.shape, jointAt, tiles[0].value.shape());
  }
  if (!body.operands.checkShape(access.shape, expr.range))
    return std::nullopt;
  return access;
}

SemValue AccessTypes::load(const AccessType &access, bool hasPadding) {
  if (body.operands.refuseLoad(access.view.param, access.range))
    return SemValue::error();
  SemValue result = body.data(access.view.dtype, access.shape);
  result.isZeroPadded = !hasPadding;
  return result;
}

bool AccessTypes::checkWritable(const AccessType &access) {
  const ast::Param *param = access.view.param;
  if (param)
    body.facts.written.insert(param);
  return !body.operands.refuseStore(param, access.range);
}

bool AccessTypes::checkStored(const AccessType &access, const Arg &value) {
  DType dtype = access.view.dtype;
  bool isStored = isStorable(value.value, dtype);
  if (isStored && !body.becomes(value.value, dtype, value.range))
    return false;
  if (isStored && fitsAccess(value.value.shape(), access.shape))
    return true;
  body.operands.reportStore(value, dtype, access.shape, access.range);
  return false;
}

bool AccessTypes::store(const AccessType &access, const Arg &value) {
  return !value.value.isError() && checkWritable(access) && checkStored(access, value);
}

//===--- Calls ------------------------------------------------------------===//

SemValue AccessTypes::atomic(const Builtin &builtin, const AccessType &access, ArrayRef<Arg> args) {
  if (!checkWritable(access))
    return SemValue::error();
  const ast::Param *param = access.view.param;
  bool isUnfilled = param && param->access == ast::Access::out && !param->defaultValue;
  if (isUnfilled || neededByAtomic(builtin.name, access.view.dtype))
    return body.undecided();
  std::vector<const Arg *> values;
  for (const Arg &arg : args.drop_front()) {
    if ((arg.name == "order" && !findWord(arg.value, memoryOrders)) ||
        (arg.name == "scope" && !findWord(arg.value, memoryScopes)))
      return body.undecided();
    if (arg.name.empty())
      values.push_back(&arg);
  }
  for (const Arg *value : llvm::reverse(values))
    if (!checkStored(access, *value))
      return SemValue::error();
  return body.data(access.view.dtype, access.shape);
}

bool AccessTypes::checkArguments(const AccessType &access, ArrayRef<Arg> args) {
  auto undecided = [&] { return !body.undecided().isError(); };
  for (const Arg &arg : args) {
    if (arg.name == "pad") {
      if (arg.value.rank() != 0)
        return undecided();
      if (!body.becomes(arg.value, access.view.dtype, arg.range))
        return false;
    } else if (arg.name == "mask") {
      bool isBool =
          arg.value.isBoolNumber() || (arg.value.isData() && arg.value.dtype == DType::Bool);
      if (!isBool || !fitsAccess(arg.value.shape(), access.shape))
        return undecided();
    } else if (arg.name == "cache" && !findWord(arg.value, cacheHints)) {
      return undecided();
    }
  }
  return true;
}

SemValue AccessTypes::callAccess(const Builtin &builtin, const ast::CallExpr &expr) {
  if (expr.arguments.empty() || expr.arguments[0].name)
    return body.undecided();
  StringRef name = builtin.name;
  bool isAtomic = name.starts_with("atomic_");
  auto *target = dyn_cast<ast::SubscriptExpr>(expr.arguments[0].value.get());
  if (!target)
    return body.undecided();
  SemValue base = body.eval(*target->base);
  if (base.isError())
    return base;
  if (!base.isView() || !isFull(base, *target))
    return body.undecided();
  std::optional<AccessType> access =
      makeAccess(base, *target, isAtomic || name == "gather" || name == "scatter");
  if (!access)
    return SemValue::error();
  std::vector<Arg> args = {{SemValue::ofVoid(), target->range, ""}};
  for (const ast::Argument &argument : llvm::drop_begin(expr.arguments)) {
    args.push_back({body.eval(*argument.value), argument.value->range,
                    argument.name ? argument.name->text : ""});
    if (args.back().value.isError())
      return SemValue::error();
  }
  if (!body.checkBuiltinArguments(builtin, args, expr.range) || !checkArguments(*access, args))
    return SemValue::error();
  if (isAtomic)
    return atomic(builtin, *access, args);
  if (name == "load" || name == "gather")
    return load(*access, findNamed(args, "pad"));
  if (name == "store" || name == "scatter")
    return store(*access, args[1]) ? SemValue::ofVoid() : SemValue::error();
  return body.data(DType::Bool, access->shape); // inside
}

//===--- Parts of tiles ---------------------------------------------------===//

SemValue AccessTypes::evalTilePart(const SemValue &base, const ast::SubscriptExpr &expr) {
  ArrayRef<int64_t> shape = base.shape();
  size_t used = 0;
  for (const Form &subscript : expr.subscripts) {
    used += subscript.kind != Form::newAxis;
    auto *name = llvm::dyn_cast_or_null<ast::NameExpr>(subscript.value.get());
    auto *member = llvm::dyn_cast_or_null<ast::MemberExpr>(subscript.value.get());
    bool isPrefixed = member && body.foreign.isForeignMember(*member); // np.newaxis
    if (isPrefixed || (name && name->text == "newaxis" && !here.findLocal("newaxis")))
      return body.undecided();
  }
  if (used > shape.size())
    return body.undecided();
  Shape result;
  size_t dim = 0;
  for (const Form &subscript : expr.subscripts) {
    if (subscript.kind == Form::newAxis) {
      result.push_back(1);
      continue;
    }
    int64_t extent = shape[dim++];
    TileCut cut{0, extent, subscript.kind != Form::index};
    if (!cut.keeps) {
      SemValue value = body.eval(*subscript.value);
      if (value.isData())
        return body.undecided();
      std::optional<int64_t> index = body.constInt(value, subscript.range, "a tile's subscript");
      if (!index)
        return SemValue::error();
      cut.low = *index;
      cut.high = *index + 1;
    } else if (subscript.kind == Form::slice) {
      std::optional<int64_t> low = body.evalInt(*subscript.lo, "a tile's slice"),
                             high = body.evalInt(*subscript.hi, "a tile's slice");
      if (!low || !high)
        return SemValue::error();
      cut.low = *low;
      cut.high = *high;
    }
    if (!cut.isIn(extent))
      return body.undecided();
    if (cut.keeps)
      result.push_back(cut.high - cut.low);
  }
  result.append(shape.begin() + dim, shape.end());
  return body.operands.checkShape(result, expr.range) ? body.dataLike(base, base.dtype, result)
                                                      : SemValue::error();
}
