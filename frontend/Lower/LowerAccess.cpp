// Subscripts: accesses of tensors, sub-views, parts of tiles, elements of tuples.
//
//   x[i, block(j, 64)]    evalView -> makeAccess -> emitLoad      a subscript for each dimension
//   x[i], x[2..8, :]      evalSubview                             fewer, or slices: a view
//   t[0, :, None]         evalTileSubscript                       parts of a value
//   f[3]                  evalSubscript                           compile-time arguments
//
// An access has for each dimension (AccessSpec): start, size (-1: one position, dropped from the
// shape; -2: a tile of positions), step, perhaps an end before the extent, and whether all
// positions exist. in_bounds is false here: a pass proves it later.
#include "frontend/Lower/Lowering.h"
#include "frontend/Sema/AccessRules.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tile;
using ast::BinaryOp;

SemValue Accesses::evalSubscript(const ast::SubscriptExpr &expr) {
  SemValue base = expressions.eval(*expr.base);
  if (conversions.refuseNone(base, expr.base->range))
    return SemValue::error();
  switch (base.kind) {
  case SemValue::Kind::Error:
    return base;
  case SemValue::Kind::View:
    return evalView(base, expr);
  case SemValue::Kind::Data:
    if (SemValue element = tables.evalTableElement(base, expr);
        element.kind != SemValue::Kind::Void)
      return element;
    return evalTileSubscript(base, expr);
  case SemValue::Kind::Tuple:
  case SemValue::Kind::List:
    return evalTupleElement(base, expr);
  case SemValue::Kind::Function: {
    FunctionValue function = *base.function;
    if (!function.decl ||
        function.decl->statics.size() < function.statics.size() + expr.subscripts.size()) {
      here.error(
          diag::argumentCount, expr.bracketRange, function.name(),
          (function.decl ? std::to_string(function.decl->statics.size()) : std::string("no")) +
              " compile-time arguments",
          expr.subscripts.size());
      return SemValue::error();
    }
    for (const ast::Subscript &subscript : expr.subscripts) {
      if (subscript.kind != ast::Subscript::index) {
        here.error(diag::wrongOperand, subscript.range, "a compile-time argument", "a value",
                   "a slice");
        return SemValue::error();
      }
      SemValue value = expressions.eval(*subscript.value);
      if (value.isError())
        return value;
      if (!value.isConstant()) {
        here.error(diag::notConstant, subscript.range, "an argument in square brackets",
                   describe(value));
        return SemValue::error();
      }
      function.statics.push_back(std::move(value));
    }
    return SemValue::of(std::move(function));
  }
  default:
    here.error(diag::wrongOperand, expr.base->range, "a subscript",
               "a tensor, tile, tuple or function", describe(base));
    return SemValue::error();
  }
}

SemValue Accesses::evalTupleElement(const SemValue &base, const ast::SubscriptExpr &expr) {
  if (expr.subscripts.size() != 1 || expr.subscripts[0].kind != ast::Subscript::index) {
    here.error(diag::wrongOperand, expr.bracketRange, "a tuple", "one compile-time integer",
               "another subscript");
    return SemValue::error();
  }
  std::optional<int64_t> index = expressions.evalPosition(base, *expr.subscripts[0].value);
  if (!index)
    return SemValue::error();
  if (*index < 0 || *index >= int64_t(base.elements->size())) {
    here.error(diag::badPosition, expr.bracketRange, *index,
               "the " + std::to_string(base.elements->size()) + " elements of the tuple");
    return SemValue::error();
  }
  return (*base.elements)[*index];
}

bool Accesses::isFullAccess(const ViewValue &view, const ast::SubscriptExpr &expr) {
  return expr.subscripts.size() == view.shape.size() &&
         llvm::all_of(expr.subscripts, [](const ast::Subscript &subscript) {
           return subscript.kind != ast::Subscript::slice;
         });
}

SemValue Accesses::evalView(const SemValue &base, const ast::SubscriptExpr &expr) {
  const ViewValue &view = *base.view;
  if (expr.subscripts.size() > view.shape.size()) {
    here.error(diag::subscriptCount, expr.bracketRange, describe(base),
               std::to_string(view.shape.size()) +
                   (view.shape.size() == 1 ? " subscript" : " subscripts"),
               expr.subscripts.size());
    return SemValue::error();
  }
  // Decided by the form alone, not by the values: a view and a load differ in type.
  if (!isFullAccess(view, expr))
    return evalSubview(base, expr);
  std::optional<AccessSpec> access = makeAccess(base, expr);
  return access ? emitLoad(*access, {}, {}, {}) : SemValue::error();
}

mlir::Value Accesses::toPosition(const SemValue &value, Location location) {
  return value.isInt() ? emitter.constantIndex(value.getInt(), location) : ssaOf(value);
}

/// Positions out of bounds are no error: they leave a view without elements, whose loads give
/// padding and whose stores do nothing.
SemValue Accesses::evalSubview(const SemValue &base, const ast::SubscriptExpr &expr) {
  const ViewValue &view = *base.view;
  Location location = emitter.loc(expr.range);
  SmallVector<mlir::Value> indices, lows, highs;
  SmallVector<int32_t> kinds;
  ViewValue part;
  part.dtype = view.dtype;
  part.param = view.param;
  part.mayBeEmptied = view.mayBeEmptied;
  for (size_t d = 0; d < view.shape.size(); ++d) {
    const ast::Subscript *subscript = d < expr.subscripts.size() ? &expr.subscripts[d] : nullptr;
    if (!subscript || subscript->kind == ast::Subscript::all) {
      kinds.push_back(int32_t(SubscriptKind::All));
      part.shape.push_back(view.shape[d]);
      part.limits.push_back(view.limits[d]);
      part.windows.push_back(view.windows[d]);
      continue;
    }
    if (subscript->kind == ast::Subscript::newAxis) {
      here.error(diag::wrongOperand, subscript->range, "a view", "an integer, ':' or lo..hi",
                 "None");
      return SemValue::error();
    }
    if (subscript->kind == ast::Subscript::slice) {
      mlir::Value low = conversions.toIndex(expressions.eval(*subscript->lo), subscript->lo->range,
                                            "the start of a window");
      mlir::Value high = conversions.toIndex(expressions.eval(*subscript->hi), subscript->hi->range,
                                             "the end of a window");
      if (!low || !high)
        return SemValue::error();
      kinds.push_back(int32_t(SubscriptKind::Slice));
      lows.push_back(low);
      highs.push_back(high);
      // Clamped at run time, so neither its extent nor a limit other than the parent's extent is
      // known.
      part.shape.push_back(ShapedType::kDynamic);
      part.limits.push_back({});
      part.windows.push_back(std::make_shared<const Window>(
          Window{low, high, view.shape[d], view.limits[d], view.windows[d]}));
      continue;
    }
    SemValue index = expressions.eval(*subscript->value);
    if (index.isRange()) {
      here.error(diag::wrongOperand, subscript->range, "a sub-view", "integers, ':' and lo..hi",
                 describe(index))
          .note("an access with ranges needs one subscript for each of the " +
                Twine(view.shape.size()) +
                " dimensions, none of them lo..hi; positions lo..lo + 16 are at(lo, 16)");
      return SemValue::error();
    }
    if (index.isData() && index.rank() > 0) {
      here.error(diag::wrongOperand, subscript->range, "a sub-view", "integers, ':' and lo..hi",
                 describe(index))
          .note("a tensor has no addresses to compute with: each of its " +
                Twine(view.shape.size()) +
                " dimensions takes a subscript of its own, as in x[block(i, 32), block(j, 32)]; "
                "single elements are gather(x[rows, columns])");
      return SemValue::error();
    }
    foreign.warnOfNegative(*subscript);
    mlir::Value position = conversions.toIndex(index, subscript->range, "a sub-view's subscript");
    if (!position)
      return SemValue::error();
    kinds.push_back(int32_t(SubscriptKind::Index));
    indices.push_back(position);
    // The extents of such a view are its own, not those of the tensor: see extentOf.
    part.mayBeEmptied = true;
  }
  // An index out of bounds empties the view: the type must not promise static extents, although ':'
  // still means them.
  SmallVector<int64_t> typeShape(part.shape.begin(), part.shape.end());
  if (!indices.empty())
    typeShape.assign(part.shape.size(), ShapedType::kDynamic);
  auto type = ViewType::get(context, typeShape, toType(view.dtype, context));
  part.ssa = SubviewOp::create(builder, location, type, view.ssa, indices, lows, highs,
                               builder.getDenseI32ArrayAttr(kinds));
  return ofView(std::move(part));
}

/// The extent of a window, whether or not its elements exist.
static mlir::Value emitWindowExtent(OpBuilder &b, Location location, const Window &window) {
  auto min = [&](mlir::Value x, mlir::Value y) {
    return b.createOrFold<arith::MinSIOp>(location, x, y);
  };
  auto max = [&](mlir::Value x, mlir::Value y) {
    return b.createOrFold<arith::MaxSIOp>(location, x, y);
  };
  mlir::Value zero = arith::ConstantIndexOp::create(b, location, 0), whole = window.limit;
  if (!ShapedType::isDynamic(window.extent))
    whole = arith::ConstantIndexOp::create(b, location, window.extent);
  else if (!whole)
    whole = emitWindowExtent(b, location, *window.parent);
  mlir::Value low = min(max(window.low, zero), whole), high = min(max(window.high, low), whole);
  return b.createOrFold<arith::SubIOp>(location, high, low);
}

/// Of a view that may have been emptied the extent is computed from its windows: `x[i].shape` is
/// that of the tensor even where i does not exist, so that it is one value for all programs.
SemValue Accesses::extentOf(const ViewValue &view, unsigned dim, Location location) {
  if (!ShapedType::isDynamic(view.shape[dim]))
    return SemValue::ofInt(view.shape[dim]);
  if (!view.mayBeEmptied)
    return ofData(builder.createOrFold<ExtentOp>(location, builder.getIndexType(), view.ssa,
                                                 builder.getI64IntegerAttr(dim)),
                  DType::Index);
  return ofData(view.limits[dim] ? view.limits[dim]
                                 : emitWindowExtent(builder, location, *view.windows[dim]),
                DType::Index);
}

/// Do two index values agree wherever both are defined? Compares pure computations by structure.
/// A false answer costs an end that says nothing new; a true one must be right. The depth bounds
/// the time of trees that share their parts.
static bool sameValue(mlir::Value a, mlir::Value b, int depth = 6) {
  if (a == b)
    return true;
  if (!a || !b || depth == 0)
    return false;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (!x || !y || x->getName() != y->getName() || x->getNumOperands() != y->getNumOperands() ||
      x->getNumRegions() || x->getNumResults() != 1 ||
      x->getAttrDictionary() != y->getAttrDictionary() || !isMemoryEffectFree(x) ||
      x->getPropertiesAsAttribute() != y->getPropertiesAsAttribute())
    return false;
  for (auto [p, q] : llvm::zip(x->getOperands(), y->getOperands()))
    if (!sameValue(p, q, depth - 1))
      return false;
  return true;
}

bool Accesses::addRangeFix(DiagnosticBuilder &report, const ast::Expr &subscript) {
  const ast::Expr *expr = &subscript;
  if (auto *name = dyn_cast<ast::NameExpr>(expr))
    if (Binding *local = here.findLocal(name->text); local && local->initial)
      expr = local->initial;
  auto sizeOf = [&](const ast::Expr &part) { // of `iota(B)`
    auto *call = dyn_cast<ast::CallExpr>(&part);
    auto *callee = call ? dyn_cast<ast::NameExpr>(call->callee.get()) : nullptr;
    bool isIota = callee && callee->text == "iota" && call->arguments.size() == 1;
    return isIota ? sources.text(call->arguments[0].value->range) : StringRef();
  };
  auto *sum = dyn_cast<ast::BinaryExpr>(expr);
  StringRef size = sizeOf(*expr);
  std::string range = "block(0, " + size.str() + ")";
  if (size.empty()) {
    if (!sum || sum->op != BinaryOp::add)
      return false;
    bool isLast = !sizeOf(*sum->rhs).empty();
    const ast::Expr &start = isLast ? *sum->lhs : *sum->rhs;
    size = sizeOf(isLast ? *sum->rhs : *sum->lhs);
    if (size.empty())
      return false;
    // i * B + iota(B), or any other start.
    auto *product = dyn_cast<ast::BinaryExpr>(&start);
    bool scales = product && product->op == BinaryOp::mul;
    std::string end = ", " + size.str() + ")";
    if (scales && sources.text(product->rhs->range) == size)
      range = "block(" + sources.text(product->lhs->range).str() + end;
    else if (scales && sources.text(product->lhs->range) == size)
      range = "block(" + sources.text(product->rhs->range).str() + end;
    else
      range = "at(" + sources.text(start.range).str() + end;
  }
  report
      .note("positions in a row are a range, which loads and stores take without an index for each")
      .fixIt(expr->range, range, "write the range");
  return true;
}

std::optional<AccessSpec> Accesses::makeAccess(const SemValue &base, const ast::SubscriptExpr &expr,
                                               bool takesTiles) {
  AccessSpec access;
  SmallVector<Arg> tiles;
  size_t jointAt = 0;
  access.keepAlive = base.view;
  access.view = base.view.get();
  access.range = expr.range;
  const ViewValue &view = *base.view;
  Location location = emitter.loc(expr.range);
  for (auto [d, subscript] : llvm::enumerate(expr.subscripts)) {
    // All lists of the access have an entry for each subscript, `ends` one for each that has an
    // end.
    access.inBounds.push_back(false);
    if (subscript.kind == ast::Subscript::newAxis) {
      here.error(diag::wrongOperand, subscript.range, "an access",
                 "an integer, an index range or ':'", "None")
          .note("load first, then add a dimension: x[m][:, None]");
      return std::nullopt;
    }
    if (subscript.kind == ast::Subscript::all) {
      if (ShapedType::isDynamic(view.shape[d])) {
        here.error(diag::colonNeedsExtent, subscript.range)
            .note("take a part with `block(i, B)`, or go through all of it with `for n in "
                  "blocks(N, B)`");
        return std::nullopt;
      }
      access.starts.push_back(emitter.constantIndex(0, location));
      access.sizes.push_back(view.shape[d]);
      access.steps.push_back(1);
      access.hasEnd.push_back(false);
      access.shape.push_back(view.shape[d]);
      continue;
    }
    SemValue value = expressions.eval(*subscript.value);
    if (value.isError())
      return std::nullopt;
    if (value.isRange()) {
      const RangeValue &range = *value.range;
      access.starts.push_back(toPosition(range.start, location));
      access.sizes.push_back(range.size);
      access.steps.push_back(range.step);
      access.shape.push_back(range.size);
      // An end at the extent says nothing that the extent does not.
      bool bounds = false;
      if (range.end) {
        mlir::Value end = toPosition(*range.end, location);
        bounds = !sameValue(end, view.limits[d]);
        if (bounds)
          access.ends.push_back(end);
      }
      access.hasEnd.push_back(bounds);
      continue;
    }
    if (value.isData() && value.rank() > 0) {
      if (!isInteger(value.dtype) || !takesTiles) {
        if (isInteger(value.dtype)) {
          DiagnosticBuilder report = here.error(diag::indexTile, subscript.range);
          report.secondary(expr.base->range, describe(base));
          if (!addRangeFix(report, *subscript.value))
            report.note("read with `gather(x[...])`, write with `scatter(x[...], v)`");
        } else
          here.error(diag::wrongOperand, subscript.range, "an access",
                     "an integer, an index range or ':'", describe(value));
        return std::nullopt;
      }
      if (tiles.empty())
        jointAt = access.shape.size();
      tiles.push_back({value, subscript.range, ""});
      access.starts.push_back(emitter.constantIndex(0, location));
      access.sizes.push_back(-2);
      access.steps.push_back(1);
      access.hasEnd.push_back(false);
      continue;
    }
    foreign.warnOfNegative(subscript);
    mlir::Value position = conversions.toIndex(value, subscript.range, "an access's subscript");
    if (!position)
      return std::nullopt;
    access.starts.push_back(position);
    access.sizes.push_back(-1);
    access.steps.push_back(1);
    access.hasEnd.push_back(false);
  }
  if (!joinPositions(access, tiles, jointAt) || !conversions.checkShape(access.shape, expr.range))
    return std::nullopt;
  return access;
}

std::optional<AccessSpec> Accesses::evalAccessArgument(const ast::Expr &expr, StringRef function,
                                                       bool takesTiles) {
  auto *subscript = dyn_cast<ast::SubscriptExpr>(&expr);
  if (foreign.reportPointerSum(expr, function))
    return std::nullopt;
  SemValue base = expressions.eval(subscript ? *subscript->base : expr);
  if (base.isError())
    return std::nullopt;
  if (!subscript || !base.isView()) {
    DiagnosticBuilder report = here.error(diag::needsAccess, expr.range, function);
    bool isVector = base.isView() && base.view->shape.size() <= 1;
    if (isVector && isa<ast::NameExpr>(expr))
      report.fixIt(expr.range.atEnd(), base.view->shape.empty() ? "[]" : "[0]", "name the element");
    else if (base.isView())
      report.note("give it a subscript for each of its " + Twine(base.view->shape.size()) +
                  " dimensions");
    else
      report.note("this is " + describe(base) + ", a value, which lies in no memory");
    return std::nullopt;
  }
  if (!isFullAccess(*base.view, *subscript)) {
    if (subscript->subscripts.size() > base.view->shape.size())
      here.error(diag::subscriptCount, subscript->bracketRange, describe(base),
                 std::to_string(base.view->shape.size()) + " subscripts",
                 subscript->subscripts.size());
    else
      here.error(diag::needsAccess, expr.range, function)
          .note("the tensor has " + Twine(base.view->shape.size()) +
                " dimensions; this makes a sub-view");
    return std::nullopt;
  }
  return makeAccess(base, *subscript, takesTiles);
}

Type Accesses::accessType(const AccessSpec &access, DType dtype) {
  Type element = toType(dtype, context);
  return access.shape.empty() ? element : RankedTensorType::get(access.shape, element);
}

/// The padding is zero unless the program names another.
SemValue Accesses::emitLoad(const AccessSpec &access, mlir::Value pad, mlir::Value mask,
                            StringAttr cache) {
  const ViewValue &view = *access.view;
  if (operands.refuseLoad(view.param, access.range))
    return SemValue::error();
  Location location = emitter.loc(access.range);
  if (!pad)
    pad = emitter.constantLike(toType(view.dtype, context), 0, location);
  if (!access.positions.empty())
    return ofData(
        GatherOp::create(
            builder, location, accessType(access, view.dtype), view.ssa, access.starts, access.ends,
            builder.getDenseI64ArrayAttr(access.sizes), builder.getDenseI64ArrayAttr(access.steps),
            builder.getDenseBoolArrayAttr(access.hasEnd),
            builder.getDenseBoolArrayAttr(access.inBounds), access.positions, pad, mask, cache),
        view.dtype);
  return ofData(LoadOp::create(builder, location, accessType(access, view.dtype), view.ssa,
                               access.starts, access.ends,
                               builder.getDenseI64ArrayAttr(access.sizes),
                               builder.getDenseI64ArrayAttr(access.steps),
                               builder.getDenseBoolArrayAttr(access.hasEnd),
                               builder.getDenseBoolArrayAttr(access.inBounds), pad, mask, cache),
                view.dtype);
}

/// Notes the tensor as written even if it must not be: no second report says that it never is.
bool Accesses::checkWritable(const AccessSpec &access) {
  const ViewValue &view = *access.view;
  if (view.param)
    written.insert(view.param);
  return !operands.refuseStore(view.param, access.range);
}

/// The value in the tensor's dtype and the access's shape. Conversions are written out by the
/// author, but for numbers without a dtype; scalars and extents of 1 are repeated.
mlir::Value Accesses::valueToStore(const AccessSpec &access, const Arg &value) {
  const ViewValue &view = *access.view;
  auto mismatch = [&]() -> mlir::Value {
    operands.reportStore(value, view.dtype, access.shape, access.range);
    return {};
  };
  if (!isStorable(value.value, view.dtype))
    return mismatch();
  mlir::Value stored = conversions.toDtype(value.value, view.dtype, value.range);
  if (!stored)
    return {};
  bool fits = fitsAccess(value.value.shape(), access.shape);
  return fits ? emitter.emitBroadcast(stored, access.shape, emitter.loc(access.range)) : mismatch();
}

bool Accesses::emitStore(const AccessSpec &access, const Arg &value, mlir::Value mask,
                         StringAttr cache) {
  if (value.value.isError() || !checkWritable(access))
    return false;
  mlir::Value stored = valueToStore(access, value);
  if (!stored)
    return false;
  Location location = emitter.loc(access.range);
  mlir::Value view = access.view->ssa;
  auto sizes = builder.getDenseI64ArrayAttr(access.sizes),
       steps = builder.getDenseI64ArrayAttr(access.steps);
  auto hasEnd = builder.getDenseBoolArrayAttr(access.hasEnd),
       inBounds = builder.getDenseBoolArrayAttr(access.inBounds);
  if (access.positions.empty())
    StoreOp::create(builder, location, stored, view, access.starts, access.ends, sizes, steps,
                    hasEnd, inBounds, mask, cache);
  else
    ScatterOp::create(builder, location, stored, view, access.starts, access.ends, sizes, steps,
                      hasEnd, inBounds, access.positions, mask, cache);
  return true;
}

SemValue Accesses::evalTileSubscript(const SemValue &base, const ast::SubscriptExpr &expr) {
  ArrayRef<int64_t> shape = base.shape();
  for (const ast::Subscript &subscript : expr.subscripts) { // NumPy's word for None
    StringRef word = subscript.value ? sources.text(subscript.value->range) : StringRef();
    if ((word != "newaxis" && word != "np.newaxis" && word != "numpy.newaxis") ||
        here.findLocal("newaxis"))
      continue;
    here.error(diag::unknownName, subscript.range, word)
        .fixIt(subscript.range, "None", "a new dimension is written None");
    return SemValue::error();
  }
  size_t used = llvm::count_if(
      expr.subscripts, [](const ast::Subscript &s) { return s.kind != ast::Subscript::newAxis; });
  if (used > shape.size()) {
    here.error(diag::subscriptCount, expr.bracketRange, describe(base),
               std::to_string(shape.size()) + " subscripts", used);
    return SemValue::error();
  }
  // First cut (only where something is cut), then insert or drop dimensions of extent 1.
  SmallVector<int64_t> offsets, sizes, result;
  bool cuts = false;
  size_t dim = 0;
  for (const ast::Subscript &subscript : expr.subscripts) {
    if (subscript.kind == ast::Subscript::newAxis) {
      result.push_back(1);
      continue;
    }
    int64_t extent = shape[dim++];
    TileCut cut{0, extent, subscript.kind != ast::Subscript::index};
    auto &[low, high, keeps] = cut;
    if (subscript.kind == ast::Subscript::index) {
      SemValue value = expressions.eval(*subscript.value);
      if (value.isData()) {
        here.error(diag::notConstant, subscript.range, "a tile's subscript", describe(value))
            .note("read at a position of the run with take(t, i, axis: 0)");
        return SemValue::error();
      }
      std::optional<int64_t> index =
          expressions.constInt(value, subscript.range, "a tile's subscript");
      if (!index)
        return SemValue::error();
      low = *index;
      high = low + 1;
    } else if (subscript.kind == ast::Subscript::slice) {
      std::optional<int64_t> lo = expressions.evalInt(*subscript.lo, "a tile's slice"),
                             hi = expressions.evalInt(*subscript.hi, "a tile's slice");
      if (!lo || !hi)
        return SemValue::error();
      low = *lo;
      high = *hi;
    }
    if (!cut.isIn(extent)) {
      DiagnosticBuilder report =
          here.error(diag::badPosition, subscript.range,
                     std::to_string(low) + (keeps ? ".." + std::to_string(high) : ""),
                     "0.." + std::to_string(extent));
      report.secondary(expr.base->range, describe(base));
      if (!keeps && low < 0 && low >= -extent)
        report.fixIt(subscript.range, std::to_string(low + extent),
                     "positions count from the start");
      else if (keeps && low <= 0 && high <= 0 && low >= -extent)
        report.note("positions count from the start; the extent is " + Twine(extent));
      return SemValue::error();
    }
    cuts = cuts || low != 0 || high != extent;
    offsets.push_back(low);
    sizes.push_back(high - low);
    if (keeps)
      result.push_back(high - low);
  }
  for (; dim < shape.size(); ++dim) {
    offsets.push_back(0);
    sizes.push_back(shape[dim]);
    result.push_back(shape[dim]);
  }
  Location location = emitter.loc(expr.range);
  mlir::Value part = ssaOf(base);
  if (cuts) {
    SmallVector<OpFoldResult> offsetAttrs, sizeAttrs, strideAttrs;
    for (auto [offset, size] : llvm::zip(offsets, sizes)) {
      offsetAttrs.push_back(builder.getIndexAttr(offset));
      sizeAttrs.push_back(builder.getIndexAttr(size));
      strideAttrs.push_back(builder.getIndexAttr(1));
    }
    part = builder.createOrFold<tensor::ExtractSliceOp>(location, part, offsetAttrs, sizeAttrs,
                                                        strideAttrs);
  }
  if (!conversions.checkShape(result, expr.range))
    return SemValue::error();
  return ofData(emitter.emitReshape(part, result, location), base.dtype);
}
