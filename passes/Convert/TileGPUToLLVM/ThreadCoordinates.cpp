// Linear layouts evaluated at run time, as few shifts and masks of the thread's number as possible.
//
//   coordinate(register, thread) = base(thread) ^ offset(register)
//
//   base     XOR of the images of the bits that are set in the thread's number: computed once for
//            each dimension, a mask and a shift for all bits that move by the same distance
//   offset   the same of the register's number: a constant of the program
//
// Where the two have no bit in common, ^ is +, and an access holds the constant as an immediate.
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"
#include "dialect/AttributeNames.h"
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <map>

using namespace mlir;

namespace tile::gpu {

/// True where code must not be hoisted out of a branch.
static bool isRare(OpBuilder &builder) {
  for (Operation *op = builder.getInsertionBlock()->getParentOp(); op; op = op->getParentOp())
    if (op->hasAttr(rareName))
      return true;
  return false;
}

int64_t getTeamThreads(OpBuilder &builder) {
  Block *block = builder.getInsertionBlock();
  for (Region *region = block->getParent(); region;) {
    Operation *op = region->getParentOp();
    auto branch = dyn_cast_or_null<scf::IfOp>(op);
    if (auto teams = branch ? branch->getAttrOfType<IntegerAttr>(teamsName) : IntegerAttr())
      return region == &branch.getThenRegion() ? getConsumerThreads(op) / teams.getInt() : 0;
    region = op ? op->getParentRegion() : nullptr;
  }
  return 0;
}

Value getBlockThread(OpBuilder &builder, Location loc) {
  if (isRare(builder)) // opaque, so that LLVM keeps in the branch what follows from it
    return inlinePTX(builder, loc, builder.getI32Type(), {}, "mov.u32 $0, %tid.x;", "=r");
  return NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
}

Value getTeam(OpBuilder &builder, Location loc) {
  int64_t threads = getTeamThreads(builder);
  if (!threads)
    return {};
  return arith::ShRUIOp::create(builder, loc, getBlockThread(builder, loc),
                                constantI32(builder, loc, llvm::Log2_64(threads)));
}

Value getThreadId(OpBuilder &builder, Location loc) {
  Value thread = getBlockThread(builder, loc);
  int64_t threads = getTeamThreads(builder);
  return threads
             ? arith::AndIOp::create(builder, loc, thread, constantI32(builder, loc, threads - 1))
                   .getResult()
             : thread;
}

Value constantI32(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}

Value equals(OpBuilder &builder, Location loc, Value value, int64_t constant) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value,
                               constantI32(builder, loc, constant));
}

/// Bits that move by one distance share a mask and a shift. An image of several bits, as a
/// swizzle's, belongs to several distances.
///
///   images of bits 0, 1, 2: 8, 16, 1
///   distance 3     (index & 3) << 3
///   distance -2    (index & 4) >> 2
Value applyLinear(OpBuilder &builder, Location loc, Value index, ArrayRef<uint32_t> images) {
  // By shift distance: the bits of the index that move so far. A bit with several bits in its image
  // moves several times.
  // Ordered by distance, so that the code does not depend on addresses of the compiler's memory.
  std::map<int, uint32_t> moves;
  for (unsigned from = 0; from < images.size(); ++from)
    for (unsigned to = 0; to < 32; ++to)
      if (images[from] >> to & 1)
        moves[int(to) - int(from)] |= 1u << from;

  Value sum;
  uint32_t occupied = 0;
  for (auto [distance, bits] : moves) {
    Value term = arith::AndIOp::create(builder, loc, index, constantI32(builder, loc, bits));
    uint32_t reached = distance >= 0 ? bits << distance : bits >> -distance;
    if (distance > 0)
      term = arith::ShLIOp::create(builder, loc, term, constantI32(builder, loc, distance));
    else if (distance < 0)
      term = arith::ShRUIOp::create(builder, loc, term, constantI32(builder, loc, -distance));
    // Or where no bit meets another: LLVM knows then that low bits are zero.
    if (!sum)
      sum = term;
    else if (occupied & reached)
      sum = arith::XOrIOp::create(builder, loc, sum, term);
    else
      sum = arith::OrIOp::create(builder, loc, sum, term);
    occupied |= reached;
  }
  return sum ? sum : constantI32(builder, loc, 0);
}

Value gatherBits(OpBuilder &b, Location loc, Value index, ArrayRef<unsigned> bits) {
  SmallVector<uint32_t> images;
  for (auto [to, from] : llvm::enumerate(bits)) {
    images.resize(std::max<size_t>(images.size(), from + 1), 0);
    images[from] = 1u << to;
  }
  return applyLinear(b, loc, index, images);
}

Value spreadBits(OpBuilder &b, Location loc, Value index, ArrayRef<unsigned> bits) {
  SmallVector<uint32_t> images =
      llvm::map_to_vector(bits, [](unsigned bit) { return uint32_t(1) << bit; });
  return applyLinear(b, loc, index, images);
}

/// Asked for once for each use; LLVM's common subexpressions are found later.
Value ThreadNumber::getBase(OpBuilder &builder, Location loc) const {
  if (!mask)
    return constantI32(builder, loc, 0);
  return applyLinear(builder, loc, getThreadId(builder, loc), threads);
}

uint32_t ThreadNumber::getOffset(unsigned reg) const {
  uint32_t offset = 0;
  for (unsigned bit = 0; bit < registers.size(); ++bit)
    if (reg >> bit & 1)
      offset ^= registers[bit];
  return offset;
}

bool ThreadNumber::isDisjoint() const {
  for (uint32_t image : registers)
    if (image & mask)
      return false;
  return true;
}

Value combineOffset(OpBuilder &builder, Location loc, Value base, uint32_t mask, uint32_t offset) {
  if (uint32_t flipped = offset & mask)
    base = arith::XOrIOp::create(builder, loc, base, constantI32(builder, loc, flipped));
  // Neither overflow can happen: bits of offset and base are disjoint.
  if (uint32_t added = offset & ~mask)
    base =
        arith::AddIOp::create(builder, loc, base, constantI32(builder, loc, added),
                              arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw);
  return base;
}

ThreadCoordinates::ThreadCoordinates(OpBuilder &builder, Location loc, const LinearLayout &layout)
    : numRegisters(layout.getNumRegisters()) {
  for (unsigned dim = 0; dim < layout.getRank(); ++dim) {
    SmallVector<uint32_t> registers, threads;
    for (const Coord &basis : layout.getBases(InDim::Register))
      registers.push_back(basis[dim]);
    for (InDim in : {InDim::Lane, InDim::Warp})
      for (const Coord &basis : layout.getBases(in))
        threads.push_back(basis[dim]);
    numbers.emplace_back(registers, threads);
    bases.push_back(numbers.back().getBase(builder, loc));
  }
}

Value ThreadCoordinates::get(OpBuilder &builder, Location loc, unsigned reg, unsigned dim) const {
  return combineOffset(builder, loc, bases[dim], numbers[dim].getMask(),
                       numbers[dim].getOffset(reg));
}

Value ThreadCoordinates::getVector(OpBuilder &builder, Location loc, unsigned dim) const {
  SmallVector<int32_t> offsets;
  for (unsigned reg = 0; reg < numRegisters; ++reg)
    offsets.push_back(numbers[dim].getOffset(reg));
  auto type = VectorType::get(numRegisters, builder.getI32Type());
  Value constants = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(offsets)));
  Value base = vector::BroadcastOp::create(builder, loc, type, bases[dim]);
  // Or-disjoint vectors let LLVM fold the constants into addresses.
  if (isDisjoint(dim))
    return arith::OrIOp::create(builder, loc, base, constants);
  return arith::XOrIOp::create(builder, loc, base, constants);
}

} // namespace tile::gpu
