// Vector stores and loads, ldmatrix and stmatrix, at addresses that are linear over F2 in the
// thread's number.
//
//   address(register, thread) = base + (part(thread) ^ flipped) + added
//
//   part      XOR of the images of the thread's bits: with swizzles no sum
//   flipped   the bits of the register's offset that `part` may have, too: a pointer for each value
//   added     the others: an immediate of the access
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"
#include "dialect/TileGPU/WordReads.h"
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tile::gpu {

/// Vectors in shared memory have elements that LLVM can load and store: whole bytes.
Value toStoredVector(OpBuilder &builder, Location loc, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  Type stored = getStoredType(type.getElementType());
  auto storedType = type.clone(stored);
  if (stored == type.getElementType())
    return vector;
  if (type.getElementType().isIndex())
    return arith::IndexCastOp::create(builder, loc, storedType, vector);
  if (type.getElementType().isInteger(1) || isNibble(type.getElementType()))
    return arith::ExtUIOp::create(builder, loc, storedType, vector);
  return arith::BitcastOp::create(builder, loc, storedType, vector);
}

Value fromStoredVector(OpBuilder &builder, Location loc, Value vector, Type elementType) {
  auto type = cast<VectorType>(vector.getType()).clone(elementType);
  if (vector.getType() == type)
    return vector;
  if (elementType.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, vector);
  if (elementType.isInteger(1)) {
    // Not a truncation: a copy brings the caller's byte, which may be any number.
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(vector.getType()));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, vector, zero);
  }
  if (isNibble(elementType))
    return arith::TruncIOp::create(builder, loc, type, vector);
  return arith::BitcastOp::create(builder, loc, type, vector);
}

/// Registers may repeat and be left out.
Value takeElements(OpBuilder &builder, Location loc, Value vector, ArrayRef<int64_t> registers) {
  bool identity = int64_t(registers.size()) == cast<VectorType>(vector.getType()).getNumElements();
  for (auto [i, reg] : llvm::enumerate(registers))
    identity &= int64_t(i) == reg;
  if (identity)
    return vector;
  SplatElementsAttr splat;
  if (matchPattern(vector, m_Constant(&splat)))
    return arith::ConstantOp::create(
        builder, loc, splat.resizeSplat(VectorType::get(registers.size(), splat.getElementType())));
  return vector::ShuffleOp::create(builder, loc, vector, vector, registers);
}

/// By halves, so that LLVM sees a tree of log2(n) shuffles that undo what was packed, and not a
/// chain of n inserts, each of them of the whole vector.
Value joinPieces(OpBuilder &builder, Location loc, ArrayRef<Value> pieces) {
  SmallVector<Value> level(pieces);
  auto getLength = [](Value piece) { return cast<VectorType>(piece.getType()).getNumElements(); };
  while (level.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2) {
      auto both =
          llvm::to_vector(llvm::seq<int64_t>(0, getLength(level[i]) + getLength(level[i + 1])));
      next.push_back(vector::ShuffleOp::create(builder, loc, level[i], level[i + 1], both));
    }
    if (level.size() % 2)
      next.push_back(level.back());
    level = std::move(next);
  }
  return level[0];
}

/// positions[i] says where element i of all pieces in a row belongs.
Value joinPieces(OpBuilder &builder, Location loc, ArrayRef<Value> pieces,
                 ArrayRef<unsigned> positions) {
  SmallVector<int64_t> sources(positions.size(), 0);
  for (auto [source, position] : llvm::enumerate(positions))
    sources[position] = source;
  return takeElements(builder, loc, joinPieces(builder, loc, pieces), sources);
}

//===--- Addresses --------------------------------------------------------===//

SharedAddresses::SharedAddresses(OpBuilder &builder, Location loc, Value base,
                                 ArrayRef<uint32_t> threadImages, const ExtraOffset &extra,
                                 bool recomputes)
    : builder(builder), loc(loc), base(base), constant(extra.constant) {
  ThreadNumber number({}, threadImages);
  part = number.getBase(builder, loc);
  mask = number.getMask();
  // Behind a statement with side effects nothing knows that it is the same each time.
  // The opaque statement makes LLVM compute the thread's part again where it is needed, instead of
  // keeping one register for it through a whole loop.
  if (recomputes)
    part = inlinePTX(builder, loc, builder.getI32Type(), {part}, "mov.b32 $0, $1;", "=r,r");
  if (!extra.index)
    return;
  Value moved = applyLinear(builder, loc, extra.index, extra.images);
  part = arith::XOrIOp::create(builder, loc, part, moved);
  for (uint32_t image : extra.images)
    mask |= image;
}

std::pair<Value, uint32_t> SharedAddresses::split(uint32_t offset) {
  offset ^= constant;
  // The XORed part first, the rest as a constant that the access can hold.
  // Split by bits and not by size: bits of the offset that `mask` has must be XORed, as the sum
  // would carry; all others are added, where a constant is free.
  uint32_t flipped = offset & mask, added = offset & ~mask;
  // A swizzle has few distinct values of these bits: so few pointers serve a tile's accesses.
  Value &pointer = pointers[flipped];
  if (!pointer) {
    Value index = combineOffset(builder, loc, part, mask, flipped);
    pointer = LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base,
                                  ArrayRef<LLVM::GEPArg>{index});
  }
  return {pointer, added};
}

Value SharedAddresses::get(uint32_t offset) {
  auto [pointer, added] = split(offset);
  if (!added)
    return pointer;
  return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{int32_t(added)});
}

//===--- Stores and loads -------------------------------------------------===//

/// stmatrix and ldmatrix move 8x8 matrices of 16-bit elements: each lane gives the address of one
/// row (16 bytes), and gets or gives two neighbours of a row.
///
///   matrix     lane 4 g + t holds row g, columns 2 t and 2 t + 1: one 32-bit word
///   addresses  lanes 0 .. 7 of matrix 0, 8 .. 15 of matrix 1, ..
static void storeMatrices(OpBuilder &builder, Location loc, Value stored, const MatrixLoads &plan,
                          Value base, bool recomputes) {
  SharedAddresses addresses(builder, loc, base, plan.addressImages, {}, recomputes);
  for (const MatrixLoads::Load &load : plan.loads) {
    size_t perMatrix = load.registers.size() / plan.matrices;
    SmallVector<Value> words;
    for (unsigned matrix = 0; matrix < plan.matrices; ++matrix) {
      SmallVector<int64_t> registers(
          ArrayRef<unsigned>(load.registers).slice(matrix * perMatrix, perMatrix));
      // Two elements of 16 bits, or four of 8, in a word: a matrix's.
      words.push_back(LLVM::BitcastOp::create(builder, loc, builder.getI32Type(),
                                              takeElements(builder, loc, stored, registers)));
    }
    NVVM::StMatrixOp::create(builder, loc, addresses.get(load.offset), words,
                             plan.transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
                             NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8),
                             NVVM::LdStMatrixEltType::B16);
  }
}

void storeTile(OpBuilder &builder, Location loc, Value vector, const LinearLayout &layout,
               const SharedLayout &shared, Value base, bool matrices, bool recomputes) {
  // Bytes and 64-bit numbers: stored types never have fewer than 8 bits.
  Value stored = toStoredVector(builder, loc, vector);
  if (matrices)
    if (auto plan = getMatrixLoads(layout, shared))
      return storeMatrices(builder, loc, stored, *plan, base, recomputes);
  SharedAccess access(layout, shared);
  SharedAddresses addresses(builder, loc, base, access.getThreadImages(), {}, recomputes);
  unsigned bytes = access.getVectorSize() * shared.getElementBytes();
  // Distinct: of registers that hold one element the first is stored. A race between threads that
  // hold it too is harmless, since they write the same.
  for (ArrayRef<unsigned> registers : access.getAccesses(/*distinct=*/true)) {
    Value value = registers.size() == 1
                      ? vector::ExtractOp::create(builder, loc, stored,
                                                  ArrayRef<int64_t>{int64_t(registers[0])})
                            .getResult()
                      : takeElements(builder, loc, stored,
                                     SmallVector<int64_t>(registers.begin(), registers.end()));
    LLVM::StoreOp::create(builder, loc, value, addresses.get(access.getOffset(registers[0])),
                          bytes);
  }
}

static Value loadMatrices(OpBuilder &builder, Location loc, Type stored, const MatrixLoads &plan,
                          unsigned perResult, Value base, const ExtraOffset &extra,
                          bool recomputes) {
  SharedAddresses addresses(builder, loc, base, plan.addressImages, extra, recomputes);
  Type word = builder.getI32Type();
  Type result = plan.matrices == 1
                    ? word
                    : Type(LLVM::LLVMStructType::getLiteral(
                          builder.getContext(), SmallVector<Type>(plan.matrices, word)));
  auto pieceType = VectorType::get(perResult, stored);
  SmallVector<Value> pieces;
  SmallVector<unsigned> positions;
  for (const MatrixLoads::Load &load : plan.loads) {
    Value loaded = NVVM::LdMatrixOp::create(
        builder, loc, result, addresses.get(load.offset), plan.matrices,
        plan.transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
        NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8), NVVM::LdStMatrixEltType::B16);
    for (unsigned matrix = 0; matrix < plan.matrices; ++matrix) {
      Value bits = plan.matrices == 1
                       ? loaded
                       : LLVM::ExtractValueOp::create(builder, loc, loaded, matrix).getResult();
      pieces.push_back(LLVM::BitcastOp::create(builder, loc, pieceType, bits));
    }
    positions.append(load.registers);
  }
  return joinPieces(builder, loc, pieces, positions);
}

/// Which bytes of a piece, of 1 to 16, are not 0: tests of a word's bits, without a register for
/// each byte.
static Value testBytes(OpBuilder &builder, Location loc, Value piece) {
  constexpr int64_t bytesOfWord = 4, bitsOfByte = 8;
  int64_t count = cast<VectorType>(piece.getType()).getNumElements();
  int64_t bytes = std::min(count, bytesOfWord);
  Type word = builder.getIntegerType(bytes * bitsOfByte);
  Value words =
      vector::BitCastOp::create(builder, loc, VectorType::get(count / bytes, word), piece);
  SmallVector<Value> tests;
  for (int64_t i = 0; i < count; ++i) {
    Value held = vector::ExtractOp::create(builder, loc, words, ArrayRef<int64_t>{i / bytes});
    Value mask = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(word, int64_t(0xff) << (i % bytes * bitsOfByte)));
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(word));
    tests.push_back(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                          arith::AndIOp::create(builder, loc, held, mask), zero));
  }
  return vector::FromElementsOp::create(builder, loc, VectorType::get(count, builder.getI1Type()),
                                        tests);
}

static Value permuteBytes(OpBuilder &builder, Location loc, Value a, Value b, Value selector) {
  return LLVM::CallIntrinsicOp::create(builder, loc, builder.getI32Type(),
                                       builder.getStringAttr("llvm.nvvm.prmt"),
                                       ValueRange{a, b, selector})
      .getResult(0);
}

/// The thread's own byte of each word, in the words' order: `vector` holds all bytes of them.
static Value keepOwnBytes(OpBuilder &builder, Location loc, Value vector, const WordReads &reads) {
  int64_t count = cast<VectorType>(vector.getType()).getNumElements() / 4;
  Type word = builder.getI32Type();
  Value words = vector::BitCastOp::create(builder, loc, VectorType::get(count, word), vector);
  auto getWord = [&](int64_t i) -> Value {
    return vector::ExtractOp::create(builder, loc, words, ArrayRef<int64_t>{i});
  };
  // Byte 4 + k of a permutation is byte k of its second word.
  Value byte = ThreadNumber({}, reads.threadImages).getBase(builder, loc),
        twice = arith::MulIOp::create(builder, loc, byte, constantI32(builder, loc, 0x11)),
        own = arith::AddIOp::create(builder, loc, twice, constantI32(builder, loc, 0x40)),
        halves = constantI32(builder, loc, 0x5410);
  SmallVector<Value> kept;
  for (int64_t i = 0; i < count; i += 4) {
    Value low = permuteBytes(builder, loc, getWord(i), getWord(i + 1), own),
          high = permuteBytes(builder, loc, getWord(i + 2), getWord(i + 3), own);
    kept.push_back(permuteBytes(builder, loc, low, high, halves));
  }
  Value joined =
      vector::FromElementsOp::create(builder, loc, VectorType::get(count / 4, word), kept);
  return vector::BitCastOp::create(builder, loc, VectorType::get(count, builder.getI8Type()),
                                   joined);
}

Value loadTile(OpBuilder &builder, Location loc, Type elementType, const LinearLayout &layout,
               const SharedLayout &shared, Value base, bool matrices, const ExtraOffset &extra,
               bool recomputes) {
  Type stored = getStoredType(elementType);
  if (matrices)
    if (auto plan = getMatrixLoads(layout, shared)) {
      Value vector = loadMatrices(builder, loc, stored, *plan, 4 / shared.getElementBytes(), base,
                                  extra, recomputes);
      return fromStoredVector(builder, loc, vector, elementType);
    }
  if (auto reads = getWordReads(layout, shared); reads && stored.isInteger(8)) {
    Value whole =
        loadTile(builder, loc, stored, reads->layout, shared, base, matrices, extra, recomputes);
    return fromStoredVector(builder, loc, keepOwnBytes(builder, loc, whole, *reads), elementType);
  }

  SharedAccess access(layout, shared);
  SharedAddresses addresses(builder, loc, base, access.getThreadImages(), extra, recomputes);
  auto pieceType = VectorType::get(access.getVectorSize(), stored);
  // The alignment is that of the whole piece: SharedAccess has chosen the width by it.
  unsigned bytes = access.getVectorSize() * shared.getElementBytes();
  SmallVector<Value> pieces;
  SmallVector<unsigned> positions;
  for (ArrayRef<unsigned> registers : access.getAccesses(/*distinct=*/false)) {
    Value pointer = addresses.get(access.getOffset(registers[0]));
    Value piece = LLVM::LoadOp::create(builder, loc, pieceType, pointer, bytes);
    pieces.push_back(elementType.isInteger(1) ? testBytes(builder, loc, piece) : piece);
    positions.append(registers.begin(), registers.end());
  }
  if (elementType.isInteger(1))
    return joinPieces(builder, loc, pieces, positions);
  return fromStoredVector(builder, loc, joinPieces(builder, loc, pieces, positions), elementType);
}

} // namespace tile::gpu
