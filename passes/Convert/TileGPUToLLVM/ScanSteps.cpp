// Totals of blocks of neighbours along the axis, between registers and across warps.
#include "passes/Convert/TileGPUToLLVM/ScanSteps.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

ScanSteps::ScanSteps(Operation *op, Block &body, bool isReverse, ConversionPatternRewriter &b,
                     const LinearLayout &layout, ValueRange sources)
    : op(op), body(body), isReverse(isReverse), b(b), loc(op->getLoc()), layout(layout),
      totals(sources), kept(allRegisters()) {}

/// The body is emitted anew for each join, on vectors of as many elements as there are registers
/// to join. Values from outside are scalars and are spread.
State ScanSteps::combine(const State &left, const State &right) {
  int64_t width = cast<VectorType>(left[0].getType()).getNumElements();
  IRMapping mapping;
  for (auto [i, value] : llvm::enumerate(llvm::concat<const Value>(left, right)))
    mapping.map(body.getArgument(i), value);
  auto vectorOf = [&](Value value) -> Value {
    Value mapped = mapping.lookupOrNull(value);
    if (!mapped) // from outside
      mapped = b.getRemappedValue(value);
    if (!isa<VectorType>(mapped.getType()))
      mapped =
          vector::BroadcastOp::create(b, loc, VectorType::get(width, mapped.getType()), mapped);
    return mapped;
  };
  for (Operation &inner : body.without_terminator()) {
    // Constants stay scalars till an operation wants them, when vectorOf spreads them.
    if (isa<arith::ConstantOp>(inner)) {
      b.clone(inner, mapping);
      continue;
    }
    SmallVector<Value> operands = llvm::map_to_vector(inner.getOperands(), vectorOf);
    OperationState state(inner.getLoc(), inner.getName(), operands,
                         {VectorType::get(width, inner.getResult(0).getType())}, inner.getAttrs());
    state.propertiesAttr = inner.getPropertiesAsAttribute();
    mapping.map(inner.getResult(0), fold(b.create(state)));
  }
  return State(llvm::map_range(body.getTerminator()->getOperands(), vectorOf));
}

/// Constants of constants: what marks and counts elements that all exist. Lanes need not ask each
/// other for them.
Value ScanSteps::fold(Operation *op) {
  SmallVector<Value, 1> folded;
  if (succeeded(b.tryFold(op, folded)) && !folded.empty() && matchPattern(folded[0], m_Constant()))
    return folded[0];
  return op->getResult(0);
}

State ScanSteps::take(const State &state, ArrayRef<int64_t> registers) {
  return State(llvm::map_range(state, [&](Value v) { return takeElements(b, loc, v, registers); }));
}

State ScanSteps::select(Value condition, const State &yes, const State &no) {
  State result;
  for (auto [x, y] : llvm::zip(yes, no))
    result.push_back(x == y ? x : arith::SelectOp::create(b, loc, condition, x, y).getResult());
  return result;
}

SmallVector<int64_t> ScanSteps::totalOf(ArrayRef<int64_t> registers) const {
  return llvm::map_to_vector(registers, [&](int64_t r) {
    return int64_t(llvm::find(kept, r & ~collapsed) - kept.begin());
  });
}

SmallVector<int64_t> ScanSteps::allRegisters() const {
  return llvm::to_vector(llvm::seq<int64_t>(0, layout.getNumRegisters()));
}

void ScanSteps::joinTotals(unsigned registerBit) {
  int64_t mask = int64_t(1) << registerBit;
  SmallVector<int64_t> low, high, left;
  for (auto [i, r] : llvm::enumerate(kept)) {
    ((r & mask) ? high : low).push_back(i);
    if (!(r & mask))
      left.push_back(r);
  }
  totals = combine(take(totals, low), take(totals, high));
  kept = left;
  collapsed |= mask;
}

std::optional<Value> ScanSteps::getScratch(Value stored, int64_t count) {
  std::optional<int64_t> offset = getSharedOffset(op);
  if (!offset)
    return std::nullopt;
  Value base = getSharedPointer(b, loc, *offset + used);
  unsigned bits = cast<VectorType>(stored.getType()).getElementType().getIntOrFloatBitWidth();
  used += getScanArrayBytes(count, bits / 8);
  return base;
}

/// Totals lie at [warp][register][lane]; all read those of the warps that differ from theirs along
/// the axis, in the axis's order.
///
///   scratch of a tile   | warp 0: register 0 of lanes 0 .. 31 | register 1 .. | warp 1 .. |
///   then                the same of the next tile
///
/// A warp's 32 lanes are neighbours, so that stores and loads meet no bank twice. The barrier
/// ahead of these stores is tile-gpu-insert-barriers' work.
FailureOr<ScanSteps::Earlier> ScanSteps::joinWarps(const ScanStep &step, bool wantsEarlier) {
  Value lane = getLane(b, loc), warp = getWarp(b, loc);
  int64_t registers = step.registers;
  SmallVector<Value> bases;
  SmallVector<Type> types;
  State stored;
  for (Value total : totals) {
    stored.push_back(toStoredVector(b, loc, total));
    types.push_back(cast<VectorType>(stored.back().getType()).getElementType());
    auto base = getScratch(stored.back(), int64_t(layout.getNumWarps()) * registers * 32);
    if (!base)
      return op->emitError("internal: a scan across warps has no shared memory");
    bases.push_back(*base);
  }
  auto pointerTo = [&](unsigned i, Value ofWarp, int64_t reg) -> Value {
    Value row = arith::MulIOp::create(b, loc, ofWarp, constantI32(b, loc, registers));
    row = arith::AddIOp::create(b, loc, row, constantI32(b, loc, reg));
    Value slot = arith::AddIOp::create(
        b, loc, arith::MulIOp::create(b, loc, row, constantI32(b, loc, 32)), lane);
    return LLVM::GEPOp::create(b, loc, bases[i].getType(), types[i], bases[i],
                               ArrayRef<LLVM::GEPArg>{slot});
  };
  for (unsigned i = 0; i < stored.size(); ++i)
    for (int64_t r = 0; r < registers; ++r)
      LLVM::StoreOp::create(b, loc,
                            vector::ExtractOp::create(b, loc, stored[i], ArrayRef<int64_t>{r}),
                            pointerTo(i, warp, r));
  BarrierOp::create(b, loc);

  // This warp's place along the axis; `others` names the group of warps that scan together.
  Value place = gatherBits(b, loc, warp, step.bits);
  unsigned mask = 0;
  for (unsigned bit : step.bits)
    mask |= 1u << bit;
  Value others = arith::AndIOp::create(b, loc, warp, constantI32(b, loc, ~mask));
  unsigned count = 1u << step.bits.size();
  State total, before; // of all warps so far, and of those that come first
  // n goes along the scan. Warp n's own totals are not in `before`, which holds all those with a
  // smaller n.
  for (unsigned n = 0; n < count; ++n) {
    unsigned at = isReverse ? count - 1 - n : n, spread = 0;
    for (auto [i, bit] : llvm::enumerate(step.bits))
      spread |= ((at >> i) & 1) << bit;
    if (n && wantsEarlier)
      before = n == 1 ? total : select(equals(b, loc, place, at), total, before);
    Value from = arith::OrIOp::create(b, loc, others, constantI32(b, loc, spread));
    State part;
    for (unsigned i = 0; i < totals.size(); ++i) {
      auto type = cast<VectorType>(totals[i].getType());
      SmallVector<Value> loaded;
      for (int64_t r = 0; r < registers; ++r)
        loaded.push_back(LLVM::LoadOp::create(b, loc, types[i], pointerTo(i, from, r)));
      Value vector = vector::FromElementsOp::create(b, loc, type.clone(types[i]), loaded);
      part.push_back(fromStoredVector(b, loc, vector, type.getElementType()));
    }
    total = n ? combineAlong(total, part) : part;
  }
  totals = total;
  return Earlier{before, equals(b, loc, place, isReverse ? count - 1 : 0)};
}
