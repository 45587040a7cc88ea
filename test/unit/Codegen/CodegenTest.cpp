// The float conversions that ORC code may call, against the compiler's own, the symbols that object
// files may leave undefined, and the reading of the assembler's log.
#include "codegen/Assemble.h"
#include "codegen/Host.h"
#include "codegen/Libcalls.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace tile;

template <typename Function> static Function find(llvm::StringRef name) {
  for (const Libcall &call : getLibcalls())
    if (name == call.name)
      return reinterpret_cast<Function>(call.address);
  return nullptr;
}

template <typename To, typename From> static To bitsOf(From value) {
  To bits = 0;
  std::memcpy(&bits, &value, std::min(sizeof bits, sizeof value));
  return bits;
}

static float carrier(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

TEST(Libcalls, ExtendsEveryHalf) {
  auto *extend = find<float (*)(float)>("__extendhfsf2");
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    uint16_t half = bits;
    _Float16 value;
    std::memcpy(&value, &half, sizeof value);
    float expected = value, found = extend(carrier(bits));
    ASSERT_TRUE(std::isnan(expected) ? std::isnan(found)
                                     : bitsOf<uint32_t>(expected) == bitsOf<uint32_t>(found))
        << bits;
  }
}

/// Floats of every exponent, ties among them.
template <typename Check> static void forEachFloat(Check check) {
  std::mt19937 random(1);
  for (uint32_t high = 0; high < 0x10000; ++high)
    for (uint32_t low : {0u, 1u, 0x8000u, 0x8001u, 0x7fffu, 0xffffu, uint32_t(random() & 0xffff)})
      check(carrier(high << 16 | low));
  for (uint32_t half = 0; half < 0x7c00; ++half) // ties between neighbouring halves
    check(carrier(0x38000000 + (half << 13) + 0x1000));
}

TEST(Libcalls, TruncatesToHalf) {
  auto *single = find<float (*)(float)>("__truncsfhf2");
  auto *twice = find<float (*)(double)>("__truncdfhf2");
  forEachFloat([&](float value) {
    uint16_t expected = bitsOf<uint16_t>(_Float16(value));
    uint16_t found = bitsOf<uint32_t>(single(value)), wide = bitsOf<uint32_t>(twice(value));
    if (std::isnan(value)) {
      ASSERT_TRUE((found & 0x7c00) == 0x7c00 && (found & 0x3ff) && (wide & 0x3ff));
      return;
    }
    ASSERT_EQ(found, expected) << value;
    ASSERT_EQ(wide, expected) << value;
  });
}

TEST(Libcalls, TruncatesToBfloat) {
  auto *single = find<float (*)(float)>("__truncsfbf2");
  auto *twice = find<float (*)(double)>("__truncdfbf2");
  forEachFloat([&](float value) {
    uint16_t found = bitsOf<uint32_t>(single(value)), wide = bitsOf<uint32_t>(twice(value));
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(carrier(found << 16)) && std::isnan(carrier(wide << 16)));
      return;
    }
    ASSERT_EQ(found, wide) << value;
    // No neighbour is nearer.
    double error = std::fabs(double(carrier(found << 16)) - value);
    if (std::isfinite(error))
      for (int step : {-1, 1}) {
        double other = carrier(uint32_t(uint16_t(found + step)) << 16);
        ASSERT_TRUE(!std::isfinite(other) || error <= std::fabs(other - value)) << value;
      }
  });
  // A double just above a tie must not be rounded twice.
  EXPECT_EQ(uint16_t(bitsOf<uint32_t>(twice(1.0 + 0x1p-8 + 0x1p-40))), 0x3f81);
  EXPECT_EQ(uint16_t(bitsOf<uint32_t>(twice(1.0 + 0x1p-8))), 0x3f80);
}

TEST(AssemblerLog, ReadsRegistersSpillsAndWarnings) {
  Cubin cubin;
  parseAssemblerLog("ptxas info    : 0 bytes gmem\n"
                    "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored\n"
                    "ptxas info    : Compiling entry function 'first' for 'sm_90a'\n"
                    "ptxas info    : Function properties for first\n"
                    "    16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n"
                    "ptxas info    : Used 255 registers, used 1 barriers\n"
                    "ptxas info    : Compiling entry function 'second' for 'sm_90a'\n"
                    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                    "ptxas info    : Used 40 registers\n",
                    cubin);
  ASSERT_EQ(cubin.kernels.size(), 2u);
  EXPECT_EQ(cubin.kernels[0].symbol, "first");
  EXPECT_EQ(cubin.kernels[0].registers, 255u);
  EXPECT_EQ(cubin.kernels[0].spillBytes, 20u);
  EXPECT_EQ(cubin.kernels[1].registers, 40u);
  EXPECT_EQ(cubin.kernels[1].spillBytes, 0u);
  ASSERT_EQ(cubin.warnings.size(), 1u);
  EXPECT_EQ(cubin.warnings[0], "(C7508) Potential Performance Loss: 'setmaxnreg' ignored");
}

/// The error of an object file whose code calls `name`, empty if there is none.
static std::string emitCallOf(llvm::StringRef name) {
  llvm::Expected<HostTarget> target = HostTarget::create(0, "");
  if (!target)
    return llvm::toString(target.takeError());
  llvm::LLVMContext context;
  llvm::Module module("calls", context);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  auto *kernel = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "kernel", module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", kernel));
  builder.CreateCall(module.getOrInsertFunction(name, type));
  builder.CreateRetVoid();
  if (llvm::Error error = target->optimize(module))
    return llvm::toString(std::move(error));
  llvm::Expected<std::string> object = target->emitObject(module);
  return object ? std::string() : llvm::toString(object.takeError());
}

TEST(Host, ObjectsCallWhatEverySystemHas) {
  for (llvm::StringRef name : {"abort", "memcpy", "fmaf", "floor", "__truncsfhf2", "dprintf"})
    EXPECT_EQ(emitCallOf(name), "") << name.str();
  for (llvm::StringRef name : {"__truncsfbf2", "__truncdfbf2", "malloc", "flooor"})
    EXPECT_NE(emitCallOf(name).find("'" + name.str() + "'"), std::string::npos) << name.str();
}

static std::string textOf(llvm::Error error, unsigned &line) {
  std::string text;
  line = ~0u;
  llvm::handleAllErrors(std::move(error), [&](const RefusedPTX &refused) {
    text = refused.message();
    line = refused.getLine();
  });
  return text;
}

TEST(AssemblerErrors, TheFirstErrorWithItsLine) {
  unsigned line;
  EXPECT_EQ(textOf(readRefusal("ptxas", "ptxas info    : 0 bytes gmem\n"
                                        "ptxas /proc/self/fd/3, line 67; error   : Not a name of "
                                        "any known instruction: 'nosuch'\n"
                                        "ptxas /proc/self/fd/3, line 70; error   : another\n"
                                        "ptxas fatal   : Ptx assembly aborted due to errors\n"),
                   line),
            "ptxas refused the generated PTX: Not a name of any known instruction: 'nosuch'");
  EXPECT_EQ(line, 67u);
  EXPECT_EQ(textOf(readRefusal("ptxas", "ptxas fatal   : Value 'sm_1' is not defined\n"), line),
            "ptxas refused the generated PTX: Value 'sm_1' is not defined");
  EXPECT_EQ(line, 0u);
  EXPECT_EQ(textOf(readRefusal("nvJitLink", "error   : Entry function 'k' uses too much\n"), line),
            "nvJitLink refused the generated PTX: Entry function 'k' uses too much");
  EXPECT_EQ(textOf(readRefusal("ptxas", "sh: what?\n"), line),
            "ptxas refused the generated PTX: sh: what?");
  EXPECT_EQ(textOf(readRefusal("ptxas", ""), line),
            "ptxas refused the generated PTX: it does not say why");
}

TEST(AssemblerErrors, LinesOfPTXComeFromLinesOfTheSource) {
  const char *ptx = ".visible .entry first()\n"                                          // 1
                    "{\n"                                                                // 2
                    "\tmov.b32 %r0, 1;\n"                                                // 3
                    "\t.loc\t1 4 9\n"                                                    // 4
                    "\tadd.s32 %r1, %r0, 1;\n"                                           // 5
                    "\t.loc\t2 7 3, function_name $L__info_string0, inlined_at 1 5 11\n" // 6
                    "\tadd.s32 %r1, %r0, 1;\n"                                           // 7
                    "}\n"                                                                // 8
                    ".visible .entry second()\n"                                         // 9
                    "{\n"                                                                // 10
                    "\tmov.b32 %r0, 1;\n"                                                // 11
                    "}\n"                                                                // 12
                    "\t.file\t1 \"k.tile\", 1, 1\n"                                      // 13
                    "\t.file\t2 \"h.tile\"\n";                                           // 14
  auto text = [&](unsigned line) {
    std::string all;
    for (const SourcePlace &place : findSourcePlaces(ptx, line))
      all +=
          place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + " ";
    return all;
  };
  EXPECT_EQ(text(5), "k.tile:4:9 ");
  EXPECT_EQ(text(7), "h.tile:7:3 k.tile:5:11 ");
  EXPECT_EQ(text(3), "");  // before any .loc
  EXPECT_EQ(text(11), ""); // the .loc above is another function's
  EXPECT_EQ(text(0), "");
  EXPECT_EQ(text(99), "");
}
