// The order of instructions where a thread has too few registers, and the pieces of tiles that it
// depends on.
#include "codegen/ResolveShuffles.h"
#include "codegen/ScheduleForPressure.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace llvm;

template <typename Pass> static std::string run(const std::string &text) {
  LLVMContext context;
  SMDiagnostic error;
  std::unique_ptr<Module> module = parseAssemblyString(text, error, context);
  if (!module)
    return error.getMessage().str();
  FunctionAnalysisManager analyses;
  Function &function = *module->begin();
  Pass().run(function, analyses);
  std::string result;
  raw_string_ostream stream(result);
  if (!verifyFunction(function, &stream))
    function.print(stream);
  return result;
}

/// y = x + x * x of `count` elements, operation by operation.
static std::string square(unsigned count) {
  std::string loads, products, sums, stores;
  for (unsigned i = 0; i < count; ++i) {
    std::string n = std::to_string(i), at = ", ptr getelementptr (float, ptr null, i64 " + n + ")";
    loads += "%x" + n + " = load volatile float" + at + "\n";
    products += "%t" + n + " = fmul float %x" + n + ", %x" + n + "\n";
    sums += "%y" + n + " = fadd float %x" + n + ", %t" + n + "\n";
    stores += "store volatile float %y" + n + at + "\n";
  }
  return "define void @f() {\n" + loads + products + sums + stores + "ret void\n}\n";
}

TEST(ScheduleForPressure, GoesElementByElementWhereRegistersEnd) {
  std::string ordered = run<tile::ScheduleForPressurePass>(square(300));
  size_t product = ordered.find("%t0 ="), sum = ordered.find("%y0 ="),
         store = ordered.find("store volatile float %y0,"), next = ordered.find("%t1 =");
  ASSERT_NE(store, std::string::npos) << ordered;
  EXPECT_LT(ordered.find("%x299 ="), product); // loads still overlap
  EXPECT_LT(product, sum);
  EXPECT_LT(sum, store);
  EXPECT_LT(store, next);
}

TEST(ScheduleForPressure, LeavesWhatFits) {
  std::string ordered = run<tile::ScheduleForPressurePass>(square(100));
  EXPECT_LT(ordered.find("%t99 ="), ordered.find("%y0 ="));
}

TEST(ScheduleForPressure, CountsTheRegistersOfLargeBlocks) {
  std::string text = square(100); // 200 values: enough for 255 registers, too many for 64
  text.replace(text.find(" {\n"), 3, " \"nvvm.maxntid\"=\"1024\" {\n");
  std::string ordered = run<tile::ScheduleForPressurePass>(text);
  EXPECT_LT(ordered.find("store volatile float %y0,"), ordered.find("%t1 ="));
}

TEST(ScheduleForPressure, TakesWhatOtherBlocksUseChainByChain) {
  std::string loads, halves, squares, products, stores;
  for (unsigned i = 0; i < 300; ++i) {
    std::string n = std::to_string(i), at = ", ptr getelementptr (float, ptr null, i64 " + n + ")";
    loads += "%x" + n + " = load volatile float" + at + "\n";
    halves += "%h" + n + " = fmul float %x" + n + ", 5.0e-1\n";
    squares += "%e" + n + " = fmul float %x" + n + ", %x" + n + "\n";
    products += "%y" + n + " = fmul float %h" + n + ", %e" + n + "\n";
    stores += "store volatile float %y" + n + at + "\n";
  }
  std::string ordered = run<tile::ScheduleForPressurePass>(
      "define void @f(i1 %c) {\n" + loads + halves + squares +
      "br i1 %c, label %copy, label %later\ncopy:\nfence seq_cst\nbr label %later\nlater:\n" +
      products + stores + "ret void\n}\n");
  // The factors of a product take two registers where it takes one.
  EXPECT_LT(ordered.find("%y299 ="), ordered.find("br i1")) << ordered;
  EXPECT_LT(ordered.find("%y0 ="), ordered.find("%h299 ="));
}

TEST(ResolveShuffles, TakesPiecesFromWhereTheyWereMade) {
  std::string found = run<tile::ResolveShufflesPass>(R"(
    define <2 x half> @f(<2 x half> %a, <2 x half> %b, <2 x half> %c, <2 x half> %d) {
      %ab = shufflevector <2 x half> %a, <2 x half> %b, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
      %cd = shufflevector <2 x half> %c, <2 x half> %d, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
      %t = shufflevector <4 x half> %ab, <4 x half> %cd,
             <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
      %piece = shufflevector <8 x half> %t, <8 x half> poison, <2 x i32> <i32 4, i32 5>
      ret <2 x half> %piece
    })");
  EXPECT_NE(found.find("ret <2 x half> %c"), std::string::npos) << found;
}

TEST(ResolveShuffles, TakesOneOrderOfTwoPieces) {
  std::string found = run<tile::ResolveShufflesPass>(R"(
    define <2 x half> @f(<2 x half> %a, <2 x half> %b) {
      %t = shufflevector <2 x half> %a, <2 x half> %b, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
      %u = shufflevector <4 x half> %t, <4 x half> poison, <4 x i32> <i32 3, i32 0, i32 1, i32 2>
      %piece = shufflevector <4 x half> %u, <4 x half> poison, <2 x i32> <i32 0, i32 1>
      ret <2 x half> %piece
    })");
  EXPECT_NE(found.find("shufflevector <2 x half> %b, <2 x half> %a, <2 x i32> <i32 1, i32 2>"),
            std::string::npos)
      << found;
}

TEST(ResolveShuffles, TakesInsertedElements) {
  std::string found = run<tile::ResolveShufflesPass>(R"(
    define float @f(float %a, float %b) {
      %p = insertelement <4 x float> poison, float %a, i64 0
      %q = insertelement <4 x float> %p, float %b, i64 3
      %x = extractelement <4 x float> %q, i64 0
      ret float %x
    })");
  EXPECT_NE(found.find("ret float %a"), std::string::npos) << found;
}

TEST(ResolveShuffles, TakesHalvesOfARegister) {
  std::string found = run<tile::ResolveShufflesPass>(R"(
    define i32 @f(<2 x half> %a, <2 x half> %b) {
      %t = shufflevector <2 x half> %a, <2 x half> %b, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
      %words = bitcast <4 x half> %t to <2 x i32>
      %x = extractelement <2 x i32> %words, i64 1
      ret i32 %x
    })");
  size_t cast = found.find("bitcast <2 x half> %b to i32");
  ASSERT_NE(cast, std::string::npos) << found;
  std::string name =
      found.substr(found.rfind('%', cast), found.rfind(" =", cast) - found.rfind('%', cast));
  EXPECT_NE(found.find("ret i32 " + name), std::string::npos) << found;
}

TEST(ResolveShuffles, CutsCastsToARegister) {
  std::string found = run<tile::ResolveShufflesPass>(R"(
    define <2 x half> @f(<2 x float> %a, <2 x float> %b) {
      %t = shufflevector <2 x float> %a, <2 x float> %b, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
      %h = fptrunc <4 x float> %t to <4 x half>
      %piece = shufflevector <4 x half> %h, <4 x half> poison, <2 x i32> <i32 2, i32 3>
      ret <2 x half> %piece
    })");
  size_t cast = found.find("fptrunc <2 x float> %b to <2 x half>");
  ASSERT_NE(cast, std::string::npos) << found;
  std::string name =
      found.substr(found.rfind('%', cast), found.rfind(" =", cast) - found.rfind('%', cast));
  EXPECT_NE(found.find("ret <2 x half> " + name), std::string::npos) << found;
}
