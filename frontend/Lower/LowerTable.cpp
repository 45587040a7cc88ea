// Constant tiles: lists of numbers, and what is read from them at positions of the run.
//
// A constant tile is a LookupOp at the positions 0, 1, 2, ..., reshaped:
//   iota(n) -> lookup [c0, c1, ..., cn-1] -> reshape [2, n / 2]
//
// getTable recognizes exactly this chain. Then `take(table, i)` is one lookup at `i`, and an access
// with numbers, `table[1, 0]`, is one constant; the tile itself becomes dead code. A tile of one
// number everywhere is a splat constant, and not such a chain.
#include "frontend/Lower/Lowering.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;

/// Shape of a list whose elements are numbers, or lists of one shape. False if it has none.
static bool listShape(const SemValue &list, SmallVectorImpl<int64_t> &shape) {
  if (list.kind != SemValue::Kind::List)
    return list.isNumber() || (list.isData() && list.rank() == 0);
  SmallVector<int64_t> first;
  for (auto [i, element] : llvm::enumerate(*list.elements)) {
    SmallVector<int64_t> inner;
    if (!listShape(element, inner) || (i > 0 && inner != first))
      return false;
    first = inner;
  }
  shape.push_back(list.elements->size());
  shape.append(first);
  return true;
}

/// The elements of nested lists in row-major order.
static void flatten(const SemValue &list, SmallVectorImpl<SemValue> &out) {
  if (list.kind != SemValue::Kind::List)
    return out.push_back(list);
  for (const SemValue &element : *list.elements)
    flatten(element, out);
}

SemValue Tables::listToTile(const SemValue &list, std::optional<DType> dtype, Range range) {
  SmallVector<int64_t> shape;
  if (!listShape(list, shape)) {
    here.error(diag::wrongOperand, range, "a constant tile", "numbers in lists of equal length",
               describe(list));
    return SemValue::error();
  }
  if (!conversions.checkShape(shape, range))
    return SemValue::error();
  SmallVector<SemValue> numbers;
  flatten(list, numbers);
  if (!dtype) {
    // Where nothing else says the dtype: that of an element that has one, else f32 for any float,
    // bool, or index.
    const SemValue *typed =
        llvm::find_if(numbers, [](const SemValue &each) { return each.isData(); });
    bool anyFloat =
        llvm::any_of(numbers, [](const SemValue &each) { return each.isFloatNumber(); });
    dtype = typed != numbers.end()           ? typed->dtype
            : anyFloat                       ? DType::F32
            : numbers.front().isBoolNumber() ? DType::Bool
                                             : DType::Index;
  }
  if (isStorage(*dtype)) {
    here.error(diag::wrongOperand, range, "a constant tile", "a dtype that computes",
               dtypeSpelling(*dtype));
    return SemValue::error();
  }
  SmallVector<Attribute> elements;
  for (const SemValue &number : numbers) {
    mlir::Value value = conversions.toDtype(number, *dtype, range);
    if (!value)
      return SemValue::error();
    Attribute attr;
    // A scalar of the run can be an element of a list, never of a table.
    if (!matchPattern(value, m_Constant(&attr))) {
      here.error(diag::notConstant, range, "an element of a constant tile", describe(number));
      return SemValue::error();
    }
    elements.push_back(attr);
  }
  Location location = emitter.loc(range);
  Type element = toType(*dtype, context);
  auto table =
      DenseElementsAttr::get(RankedTensorType::get({int64_t(elements.size())}, element), elements);
  auto type = RankedTensorType::get(shape, element);
  if (table.isSplat())
    return ofData(
        emitter.constant(DenseElementsAttr::get(type, table.getSplatValue<Attribute>()), location),
        *dtype);
  auto line = RankedTensorType::get({int64_t(elements.size())}, builder.getIndexType());
  mlir::Value position = IotaOp::create(builder, location, line, emitter.constantIndex(0, location),
                                        builder.getI64IntegerAttr(1));
  mlir::Value tile = LookupOp::create(builder, location, table.getType(), position, table);
  return ofData(emitter.emitReshape(tile, shape, location), *dtype);
}

/// A list among the operands of one operation takes the dtype of the first operand that has one:
/// `x * [1, 2]` works for every dtype of `x` that computes. False after a report.
bool Tables::listsToTiles(MutableArrayRef<Arg> args) {
  const Arg *typed = llvm::find_if(args, [](const Arg &arg) { return arg.value.isData(); });
  std::optional<DType> dtype = typed != args.end() && !isStorage(typed->value.dtype)
                                   ? std::optional(typed->value.dtype)
                                   : std::nullopt;
  for (Arg &arg : args)
    if (arg.value.kind == SemValue::Kind::List) {
      arg.value = listToTile(arg.value, dtype, arg.range);
      if (arg.value.isError())
        return false;
    }
  return true;
}

/// The table behind a constant tile as listToTile makes it; null for other tiles.
static DenseElementsAttr getTable(mlir::Value tile) {
  while (auto reshape = tile.getDefiningOp<ReshapeOp>())
    tile = reshape.getSource();
  auto lookup = tile.getDefiningOp<LookupOp>();
  auto iota = lookup ? lookup.getPosition().getDefiningOp<IotaOp>() : IotaOp();
  bool whole = iota && iota.getStep() == 1 && matchPattern(iota.getStart(), m_Zero()) &&
               iota.getType() == RankedTensorType::get(lookup.getTable().getShapedType().getShape(),
                                                       iota.getType().getElementType());
  return whole ? cast<DenseElementsAttr>(lookup.getTable()) : DenseElementsAttr();
}

mlir::Value Tables::emitTableLookup(const SemValue &tile, mlir::Value position, Location location) {
  DenseElementsAttr table = tile.rank() == 1 ? getTable(ssaOf(tile)) : DenseElementsAttr();
  if (!table)
    return {};
  Type result = table.getElementType();
  if (auto shaped = dyn_cast<RankedTensorType>(position.getType()))
    result = RankedTensorType::get(shaped.getShape(), result);
  return LookupOp::create(builder, location, result, position, table);
}

SemValue Tables::evalTableElement(const SemValue &tile, const ast::SubscriptExpr &expr) {
  DenseElementsAttr table = getTable(ssaOf(tile));
  ArrayRef<int64_t> shape = tile.shape();
  if (!table || expr.subscripts.size() != shape.size())
    return SemValue::ofVoid();
  int64_t number = 0;
  for (auto [subscript, extent] : llvm::zip(expr.subscripts, shape)) {
    if (subscript.kind != ast::Subscript::index)
      return SemValue::ofVoid();
    SemValue at = expressions.eval(*subscript.value);
    if (at.isError())
      return at;
    // Void says to the caller: no constant; the general access is lowered, and reports a position
    // that is outside.
    if (!at.isInt() || at.getInt() < 0 || at.getInt() >= extent)
      return SemValue::ofVoid();
    number = number * extent + at.getInt();
  }
  return ofData(emitter.constant(cast<TypedAttr>(table.getValues<Attribute>()[number]),
                                 emitter.loc(expr.range)),
                tile.dtype);
}
