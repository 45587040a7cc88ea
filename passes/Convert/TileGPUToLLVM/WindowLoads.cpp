// See the header.
//
//   windows       |       w0        |       w1        |    16 aligned bytes each
//   a piece            | e0 e1 .. e7 ..  |                 both, shifted by r bytes
//                 <-r->
//
// Whole words move by selections, the rest by funnel shifts. The second window's line is in the
// cache, as the first ones of other lanes. Without branches, so that all pieces are on their way at
// once; the caller sees to it that both windows lie in the tensor.
#include "passes/Convert/TileGPUToLLVM/WindowLoads.h"
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"
#include "passes/Convert/TileGPUToLLVM/Pieces.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

WindowShift tile::gpu::makeWindowShift(OpBuilder &b, Location loc, unsigned bits, unsigned words,
                                       Value skipped) {
  WindowShift shift;
  auto masked = [&](int64_t mask) -> Value {
    return arith::AndIOp::create(b, loc, skipped, constantI32(b, loc, mask));
  };
  for (unsigned half = words / 2; half; half /= 2)
    shift.halves.push_back(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, masked(4 * half),
                                                 constantI32(b, loc, 0)));
  if (bits < 32)
    shift.bits = arith::ShLIOp::create(b, loc, masked(3), constantI32(b, loc, 3));
  return shift;
}

namespace {

/// The statement's text and operands.
struct Text {
  unsigned results;
  std::string code, constraints;
  SmallVector<Value> operands;

  explicit Text(unsigned results) : results(results) {
    for (unsigned i = 0; i < results; ++i) // early: results are written while operands are needed
      constraints += i ? ",=&r" : "=&r";
  }
  std::string take(Value operand, const char *constraint) {
    constraints += std::string(",") + constraint;
    operands.push_back(operand);
    return "$" + std::to_string(results + operands.size() - 1);
  }
};

} // namespace

static std::string word(unsigned number) { return "x" + std::to_string(number); }

Value tile::gpu::loadFromWindows(OpBuilder &b, Location loc, VectorType type, Value pointer,
                                 const WindowShift &shift, Value exists, bool readOnly,
                                 std::optional<StringRef> cache, uint32_t fill) {
  unsigned bits = type.getElementTypeBitWidth(), words = type.getNumElements() * bits / 32,
           bytes = 4 * words;
  Text text(words);
  std::string address = text.take(pointer, "l"),
              guard = exists ? "@" + text.take(exists, "b") + " " : "", policy;
  std::string &code = text.code;
  code = "{ .reg .b32 x<" + std::to_string(2 * words) + ">; ";
  SmallVector<std::string> halves;
  std::string rest;
  for (Value half : shift.halves)
    halves.push_back(text.take(half, "b"));
  if (shift.bits)
    rest = text.take(shift.bits, "r");
  if (cache == StringRef("keep"))
    policy = ", " + text.take(createCachePolicy(b, loc, *cache), "l");
  std::string instruction = std::string("ld.global.") + (readOnly ? "nc." : "") +
                            cachePriority(cache) + (policy.empty() ? "" : "L2::cache_hint.") +
                            (words == 1   ? "b32 "
                             : words == 2 ? "v2.b32 "
                                          : "v4.b32 ");
  for (unsigned w = 0; exists && w < 2 * words; ++w)
    code += "mov.b32 " + word(w) + ", " + std::to_string(fill) + "; ";
  for (unsigned window : {0u, 1u}) {
    std::string list;
    for (unsigned w = 0; w < words; ++w)
      list += (w ? ", " : "") + word(window * words + w);
    code += guard + instruction + (words > 1 ? "{" + list + "}" : list) + ", [" + address + "+" +
            std::to_string(window * bytes) + "]" + policy + "; ";
  }
  unsigned count = 2 * words, half = words / 2;
  for (const std::string &moves : halves) {
    count -= half;
    for (unsigned w = 0; w < count; ++w)
      code += "selp.b32 " + word(w) + ", " + word(w + half) + ", " + word(w) + ", " + moves + "; ";
    half /= 2;
  }
  for (unsigned w = 0; w < words; ++w)
    code += rest.empty() ? "mov.b32 $" + std::to_string(w) + ", " + word(w) + "; "
                         : "shf.r.wrap.b32 $" + std::to_string(w) + ", " + word(w) + ", " +
                               word(w + 1) + ", " + rest + "; ";
  if (!readOnly)
    text.constraints += ",~{memory}";
  SmallVector<Type> types(words, b.getI32Type());
  Type result =
      words == 1 ? types[0] : Type(LLVM::LLVMStructType::getLiteral(b.getContext(), types));
  Value all =
      LLVM::InlineAsmOp::create(b, loc, result, text.operands, code + "}", text.constraints,
                                /*has_side_effects=*/!readOnly, /*is_align_stack=*/false,
                                LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
          .getResult(0);
  SmallVector<Value> found;
  for (unsigned w = 0; w < words; ++w)
    found.push_back(words == 1 ? all : Value(LLVM::ExtractValueOp::create(b, loc, all, w)));
  return vector::BitCastOp::create(
      b, loc, type,
      vector::FromElementsOp::create(b, loc, VectorType::get(words, b.getI32Type()), found));
}
