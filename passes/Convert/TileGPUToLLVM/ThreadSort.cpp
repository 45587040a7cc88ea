// Writes a phase of a sorting network as PTX.
//
//   v<i>    the elements; a<i> their places in shared memory, where they come from there
//   n<i>    operands; conditions are named c<i>
//   t, p    of one comparison
//   E<i>    behind what is not always done
//
// Elements change in place, since branches meet; registers that are no more than copies are the
// assembler's to remove.
#include "passes/Convert/TileGPUToLLVM/ThreadSort.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tile::gpu;

static std::string name(const char *prefix, size_t number) {
  return prefix + std::to_string(number);
}

/// Of a register for values of the type.
static std::string getRegister(Type type) {
  return type.isInteger(1) ? ".pred " : ".b" + std::to_string(type.getIntOrFloatBitWidth()) + " ";
}

ThreadSort::ThreadSort(Type type, unsigned count)
    : type(type), bits(std::max(type.getIntOrFloatBitWidth(), 32u)), left(count, true),
      head("{ .reg .b" + std::to_string(bits) + name(" v<", count) + ">, t; .reg .pred p;\n") {}

std::string ThreadSort::take(Value operand) {
  std::string own = name(operand.getType().isInteger(1) ? "c" : "n", operands.size());
  head += ".reg " + getRegister(operand.getType()) + own + "; ";
  operands.push_back({operand, own});
  return own;
}

void ThreadSort::take(OpBuilder &builder, Location loc, ArrayRef<Value> values) {
  Type wide = builder.getIntegerType(bits);
  for (auto [i, value] : llvm::enumerate(values))
    operands.push_back(
        {wide == type ? value : Value(arith::ExtSIOp::create(builder, loc, wide, value)),
         name("v", i)});
}

void ThreadSort::takeFrom(Value base, Value offset, ArrayRef<Value> images) {
  isInMemory = true;
  head += ".reg .b32 a<" + std::to_string(left.size()) + ">;\n";
  body += "mov.b32 a0, " + take(offset) + ";\n";
  for (auto [bit, image] : llvm::enumerate(images)) {
    std::string moves = take(image);
    for (unsigned i = 0; i < 1u << bit; ++i)
      body += name("xor.b32 a", i | 1u << bit) + name(", a", i) + ", " + moves + ";\n";
  }
  std::string from = take(base);
  for (unsigned i = 0; i < left.size(); ++i)
    body += name("add.s32 a", i) + name(", a", i) + ", " + from + ";\n";
  for (unsigned i = 0; i < left.size(); ++i)
    body += "ld.shared.s" + std::to_string(type.getIntOrFloatBitWidth()) + name(" v", i) +
            name(", [a", i) + "];\n";
}

void ThreadSort::putInOrder(unsigned x, unsigned y, bool reverses, StringRef down) {
  std::string a = name("v", x), b = name("v", y), s = ".s" + std::to_string(bits) + " ",
              untyped = ".b" + std::to_string(bits) + " ";
  if (down.empty()) {
    body += (reverses ? "max" : "min") + s + "t, " + a + ", " + b + "; " +
            (reverses ? "min" : "max") + s + b + ", " + a + ", " + b + "; ";
  } else {
    // Equal elements may change places where it goes downwards, which changes nothing: they have
    // equal bits.
    std::string select = "selp" + untyped;
    body += std::string("setp.") + (reverses ? "lt" : "gt") + s + "p, " + a + ", " + b +
            "; xor.pred p, p, " + down.str() + "; " + select + "t, " + b + ", " + a + ", p; " +
            select + b + ", " + a + ", " + b + ", p; ";
  }
  body += "mov" + untyped + a + ", t;\n";
}

void ThreadSort::keepSmaller(unsigned x, unsigned y) {
  std::string a = name("v", x);
  body += "min.s" + std::to_string(bits) + " " + a + ", " + a + name(", v", y) + ";\n";
  left[y] = false;
}

void ThreadSort::flipWhere(StringRef condition) {
  std::string untyped = ".b" + std::to_string(bits) + " ";
  body += "selp" + untyped + "t, -1, 0, " + condition.str() + ";\n";
  for (unsigned i = 0; i < left.size(); ++i)
    if (left[i])
      body += "xor" + untyped + name("v", i) + name(", v", i) + ", t;\n";
}

void ThreadSort::beginWhereAbove(StringRef number, unsigned least) {
  body += "setp.le.u32 p, " + number.str() + ", " + std::to_string(least) + "; @p bra " +
          name("E", branches) + ";\n";
}

void ThreadSort::end() { body += name("E", branches++) + ":\n"; }

SmallVector<Value> ThreadSort::write(OpBuilder &builder, Location loc) {
  Type held = builder.getIntegerType(bits);
  unsigned results = isInMemory ? 0 : llvm::count(left, true);
  // Results are numbered before operands.
  std::string code = head, outputs, inputs, ends;
  SmallVector<Value> values;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    const auto &[value, own] = operand;
    code += "mov" + getRegister(value.getType()) + own + name(", $", results + i) + ";\n";
    inputs += value.getType().isInteger(1) ? "b," : value.getType().isInteger(64) ? "l," : "r,";
    values.push_back(value);
  }
  unsigned result = 0;
  for (unsigned i = 0; i < left.size(); ++i) {
    if (isInMemory) {
      ends += "st.shared.b" + std::to_string(type.getIntOrFloatBitWidth()) + name(" [a", i) +
              name("], v", i) + ";\n";
    } else if (left[i]) {
      ends += "mov.b" + std::to_string(bits) + name(" $", result++) + name(", v", i) + ";\n";
      outputs += bits == 64 ? "=l," : "=r,";
    }
  }
  std::string constraints = outputs + inputs + (isInMemory ? "~{memory}" : "");
  if (!isInMemory)
    constraints.pop_back();
  SmallVector<Type> types(results, held);
  if (results > 1)
    types = {LLVM::LLVMStructType::getLiteral(builder.getContext(), types)};
  auto statement =
      LLVM::InlineAsmOp::create(builder, loc, types, values, code + body + ends + "}", constraints,
                                /*has_side_effects=*/isInMemory, /*is_align_stack=*/false,
                                LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  SmallVector<Value> sorted;
  for (bool is : left) {
    if (!is || isInMemory) {
      sorted.push_back(Value());
      continue;
    }
    Value value = statement.getResult(0);
    if (results > 1)
      value = LLVM::ExtractValueOp::create(builder, loc, value, int64_t(results - result--));
    sorted.push_back(held == type ? value
                                  : Value(arith::TruncIOp::create(builder, loc, type, value)));
  }
  return sorted;
}
