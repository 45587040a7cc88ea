// Tiles of positions in accesses, and atomics.
//
//   x[rows, cols], tiles [16] and [16]   one joint shape: element k is x[rows[k], cols[k]]
//   x[rows, block(j, 64)], a tile [16]   [16, 64]: the joint shape stands where the first tile does
#include "frontend/Lower/Lowering.h"
#include "frontend/Sema/AccessRules.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tile;

bool Accesses::joinPositions(AccessSpec &access, MutableArrayRef<Arg> tiles, size_t at) {
  if (tiles.empty())
    return true;
  for (Arg &tile : tiles) {
    if (tile.value.dtype == DType::U64) {
      here.error(diag::wrongOperand, tile.range, "an access",
                 "a tile of integers that widen to index", describe(tile.value))
          .note("u64 does not widen to index, which has a sign: convert it with `as index`");
      return false;
    }
    tile.value = ofData(emitter.emitCast(ssaOf(tile.value), tile.value.dtype, DType::Index,
                                         emitter.loc(tile.range)),
                        DType::Index);
  }
  if (tiles.size() > 1 && !conversions.unifyShapes(tiles, access.range))
    return false;
  // The joint shape among the ranges, then each tile repeated along these.
  SmallVector<int64_t> unit(tiles[0].value.shape());
  unit.append(access.shape.size() - at, 1);
  access.shape = gatheredShape(access.shape, at, tiles[0].value.shape());
  Location location = emitter.loc(access.range);
  if (!conversions.checkShape(access.shape, access.range))
    return false;
  for (const Arg &tile : tiles)
    access.positions.push_back(emitter.emitBroadcast(
        emitter.emitReshape(ssaOf(tile.value), unit, location), access.shape, location));
  return true;
}

/// An `out` tensor holds nothing before the launch but its fill value, so an atomic operation on
/// one needs such a value. The result is the element before the operation.
SemValue Accesses::emitAtomic(const Builtin &builtin, const AccessSpec &access, ArrayRef<Arg> args,
                              mlir::Value mask) {
  const ViewValue &view = *access.view;
  StringRef name = builtin.name;
  if (!checkWritable(access))
    return SemValue::error();
  if (view.param && view.param->access == ast::Access::out && !view.param->defaultValue) {
    here.error(diag::atomicUnfilled, access.range, view.param->name.text)
        .note(view.param->name.range, "declared here: `" + view.param->name.text +
                                          ": out ... = 0` has the launch fill it, an `inout` "
                                          "tensor has what the caller put there");
    return SemValue::error();
  }
  bool isUnsignedInt = isUnsigned(view.dtype);
  AtomicKind kind =
      llvm::StringSwitch<AtomicKind>(name)
          .Case("atomic_add", AtomicKind::Add)
          .Case("atomic_max", isUnsignedInt ? AtomicKind::MaxUnsigned : AtomicKind::Max)
          .Case("atomic_min", isUnsignedInt ? AtomicKind::MinUnsigned : AtomicKind::Min)
          .Case("atomic_and", AtomicKind::And)
          .Case("atomic_or", AtomicKind::Or)
          .Case("atomic_xor", AtomicKind::Xor)
          .Case("atomic_xchg", AtomicKind::Exchange)
          .Default(AtomicKind::CompareExchange);
  if (const char *needs = neededByAtomic(name, view.dtype)) {
    here.error(diag::atomicDtype, access.range, name, needs, dtypeSpelling(view.dtype));
    return SemValue::error();
  }
  MemoryOrder order = MemoryOrder::Relaxed;
  MemoryScope scope = MemoryScope::GPU;
  SmallVector<const Arg *> values;
  for (const Arg &arg : args.drop_front()) {
    if (arg.name == "order") {
      std::optional<size_t> word = findWord(arg.value, memoryOrders);
      if (!word) {
        here.error(diag::wrongOperand, arg.range,
                   "order:", "\"relaxed\", \"acquire\", \"release\" or \"acq_rel\"",
                   describe(arg.value));
        return SemValue::error();
      }
      order = MemoryOrder(*word);
    } else if (arg.name == "scope") {
      std::optional<size_t> word = findWord(arg.value, memoryScopes);
      if (!word) {
        here.error(diag::wrongOperand, arg.range, "scope:", "\"gpu\" or \"system\"",
                   describe(arg.value));
        return SemValue::error();
      }
      scope = MemoryScope(*word);
    } else if (arg.name.empty()) {
      values.push_back(&arg);
    }
  }
  mlir::Value value = valueToStore(access, *values.back()), expected;
  if (value && values.size() == 2)
    expected = valueToStore(access, *values.front());
  if (!value || (values.size() == 2 && !expected))
    return SemValue::error();
  return ofData(
      AtomicOp::create(
          builder, emitter.loc(access.range), accessType(access, view.dtype), kind, order, scope,
          value, view.ssa, access.starts, access.ends, builder.getDenseI64ArrayAttr(access.sizes),
          builder.getDenseI64ArrayAttr(access.steps), builder.getDenseBoolArrayAttr(access.hasEnd),
          builder.getDenseBoolArrayAttr(access.inBounds), access.positions, expected, mask),
      view.dtype);
}
