// Pieces of 1 to 16 bytes of global memory, predicated, each one instruction of PTX; and elements
// as they are stored.
#include "passes/Convert/TileGPUToLLVM/Pieces.h"
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

Type tile::gpu::getStoredType(Type element) {
  OpBuilder builder(element.getContext());
  if (element.isInteger(1) || isNibble(element) ||
      (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8))
    return builder.getI8Type();
  if (element.isIndex())
    return builder.getI64Type();
  return element;
}

/// How inline PTX sees a piece of `bytes` bytes: words of b32, or one b16, or one byte in a b16.
/// Elements of f32 are words as they are, so that LLVM has no casts of each.
static void describePiece(OpBuilder &builder, unsigned bytes, Type element, Type &word,
                          unsigned &count, const char *&constraint, std::string &ptx) {
  if (bytes >= 4) {
    word = element.isF32() ? element : builder.getI32Type();
    count = bytes / 4;
    constraint = element.isF32() ? "f" : "r";
    ptx = count == 1 ? "b32" : count == 2 ? "v2.b32" : "v4.b32";
    return;
  }
  word = builder.getI16Type();
  count = 1;
  constraint = "h";
  ptx = bytes == 2 ? "b16" : "u8";
}

/// The vector's bits as elements of another type, if it is another.
static Value asVector(OpBuilder &builder, Location loc, VectorType type, Value vector) {
  return vector.getType() == type ? vector : vector::BitCastOp::create(builder, loc, type, vector);
}

/// `{$0, $1}` for registers first .. first+count-1, or `$0` alone.
static std::string operandList(unsigned first, unsigned count) {
  std::string text = count > 1 ? "{" : "";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text + (count > 1 ? "}" : "");
}

std::string tile::gpu::cachePriority(std::optional<StringRef> cache) {
  if (!cache)
    return "";
  return *cache == "stream" ? "L1::no_allocate." : "L1::evict_last.";
}

/// Takes the second-level cache's policy for what `cache:` asks, if it asks for one, as a last
/// operand: the instruction's last part. Reads and writes share the memory better where both are
/// kept there: rows that are read and written move 2 to 9 percent more bytes a second on an H200,
/// whether or not anybody reads them again (docs/notes/Memory.md).
static std::string cachePolicy(OpBuilder &builder, Location loc, std::optional<StringRef> cache,
                               SmallVectorImpl<Value> &operands, std::string &constraints,
                               unsigned results) {
  if (cache != StringRef("keep"))
    return "";
  operands.push_back(createCachePolicy(builder, loc, *cache));
  constraints += ",l";
  return ", $" + std::to_string(results + operands.size() - 1);
}

/// The piece is one instruction, whatever the element type: PTX moves words. Where the predicate is
/// false the registers keep what the moves ahead gave them, so that padding costs no selection.
Value tile::gpu::loadPiece(OpBuilder &builder, Location loc, VectorType type, Value pointer,
                           Value predicate, bool readOnly, std::optional<StringRef> cache,
                           uint32_t fill) {
  unsigned bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  Type word;
  unsigned count;
  const char *constraint;
  std::string ptx;
  describePiece(builder, bytes, type.getElementType(), word, count, constraint, ptx);
  std::string code, constraints;
  for (unsigned i = 0; i < count; ++i) {
    // Outputs are written before the address is read; they cannot share a register, since one has
    // 64 bits and the others 32 or 16.
    code += std::string(bytes >= 4 ? "mov.b32 $" : "mov.b16 $") + std::to_string(i) + ", " +
            std::to_string(bytes >= 4 ? fill : fill & 0xffff) + "; ";
    constraints += std::string("=") + constraint + ",";
  }
  if (!predicate)
    code.clear();
  else
    code += "@$" + std::to_string(count + 1) + " ";
  constraints += "l";
  SmallVector<Value> operands{pointer};
  if (predicate) {
    constraints += ",b";
    operands.push_back(predicate);
  }
  std::string policy = cachePolicy(builder, loc, cache, operands, constraints, count);
  // .nc: the read-only path, for tensors that nothing writes during the launch.
  code += std::string("ld.global.") + (readOnly ? "nc." : "") + cachePriority(cache) +
          (policy.empty() ? "" : "L2::cache_hint.") + ptx + " " + operandList(0, count) + ", [$" +
          std::to_string(count) + "]" + policy + ";";
  // A read-only load orders nothing and may be moved and repeated; other loads keep their place
  // among stores.
  if (!readOnly)
    constraints += ",~{memory}";
  SmallVector<Type> words(count, word);
  Type result =
      count == 1 ? word : Type(LLVM::LLVMStructType::getLiteral(builder.getContext(), words));
  Value loaded = LLVM::InlineAsmOp::create(builder, loc, result, operands, code, constraints,
                                           /*has_side_effects=*/!readOnly,
                                           /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                           LLVM::AsmDialectAttr(), ArrayAttr())
                     .getResult(0);
  // PTX has no 8-bit registers: a byte comes in a 16-bit one.
  if (bytes == 1) {
    Value byte = arith::TruncIOp::create(builder, loc, builder.getI8Type(), loaded);
    return LLVM::BitcastOp::create(
        builder, loc, type,
        vector::BroadcastOp::create(builder, loc, VectorType::get(1, builder.getI8Type()), byte));
  }
  VectorType wordsType = VectorType::get(count, word);
  Value packed;
  if (count == 1) {
    packed = vector::BroadcastOp::create(builder, loc, wordsType, loaded);
  } else {
    SmallVector<Value> elements;
    for (unsigned i = 0; i < count; ++i)
      elements.push_back(LLVM::ExtractValueOp::create(builder, loc, loaded, i));
    packed = vector::FromElementsOp::create(builder, loc, wordsType, elements);
  }
  return asVector(builder, loc, type, packed);
}

void tile::gpu::storePiece(OpBuilder &builder, Location loc, Value value, Value pointer,
                           Value predicate, std::optional<StringRef> cache) {
  auto type = cast<VectorType>(value.getType());
  unsigned bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  Type word;
  unsigned count;
  const char *constraint;
  std::string ptx;
  describePiece(builder, bytes, type.getElementType(), word, count, constraint, ptx);
  SmallVector<Value> operands;
  std::string constraints;
  if (bytes == 1) {
    Value byte = vector::ExtractOp::create(builder, loc, value, ArrayRef<int64_t>{0});
    operands.push_back(arith::ExtUIOp::create(builder, loc, word, byte));
    constraints = "h,";
  } else {
    Value packed = asVector(builder, loc, VectorType::get(count, word), value);
    for (unsigned i = 0; i < count; ++i) {
      operands.push_back(
          vector::ExtractOp::create(builder, loc, packed, ArrayRef<int64_t>{int64_t(i)}));
      constraints += std::string(constraint) + ",";
    }
  }
  operands.push_back(pointer);
  constraints += "l";
  std::string code;
  if (predicate) {
    operands.push_back(predicate);
    constraints += ",b";
    code = "@$" + std::to_string(count + 1) + " ";
  }
  std::string policy = cachePolicy(builder, loc, cache, operands, constraints, 0);
  // Operand numbers: words first, then the address, then predicate and policy.
  code += "st.global." + cachePriority(cache) + (policy.empty() ? "" : "L2::cache_hint.") + ptx +
          " [$" + std::to_string(count) + "], " + operandList(0, count) + policy + ";";
  inlinePTX(builder, loc, {}, operands, code, constraints + ",~{memory}");
}

Value tile::gpu::toStored(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<VectorType>(value.getType());
  auto stored = VectorType::get(type.getShape(), getStoredType(type.getElementType()));
  if (type.getElementType().isInteger(1))
    return arith::ExtUIOp::create(builder, loc, stored, value);
  if (type.getElementType().isIndex())
    return arith::IndexCastOp::create(builder, loc, stored, value);
  return stored == type ? value : Value(arith::BitcastOp::create(builder, loc, stored, value));
}
/// Not a truncation: the caller's byte for a bool may be any number.
Value tile::gpu::fromStored(OpBuilder &builder, Location loc, Value value, VectorType type) {
  if (type.getElementType().isInteger(1)) {
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(value.getType()));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value, zero);
  }
  if (type.getElementType().isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value);
  return value.getType() == type ? value
                                 : Value(arith::BitcastOp::create(builder, loc, type, value));
}
