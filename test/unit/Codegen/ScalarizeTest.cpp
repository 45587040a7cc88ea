// Tiles are taken apart without n² steps, and numbers whose extension leaves the block too are
// rewritten at once: what is left of the vectors and numbers.
#include "codegen/ScalarizeTiles.h"
#include "codegen/TruncateExtended.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace llvm;

template <typename Run> static std::string change(const std::string &text, Run run) {
  LLVMContext context;
  SMDiagnostic error;
  std::unique_ptr<Module> module = parseAssemblyString(text, error, context);
  if (!module)
    return error.getMessage().str();
  run(*module);
  std::string result;
  raw_string_ostream stream(result);
  if (!verifyModule(*module, &stream))
    module->print(stream, nullptr);
  return result;
}

static std::string scalarize(const std::string &text) {
  return change(text, [](Module &module) {
    LoopAnalysisManager loops;
    FunctionAnalysisManager functions;
    CGSCCAnalysisManager components;
    ModuleAnalysisManager modules;
    PassBuilder builder;
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
    tile::ScalarizeTilesPass(32).run(*module.getFunction("f"), functions);
  });
}

static size_t countWords(const std::string &text, const std::string &word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++found;
  return found;
}

static const std::string chain = R"(
  %v0 = insertelement <4 x float> poison, float %a, i64 0
  %v1 = insertelement <4 x float> %v0, float %b, i64 1
  %v2 = insertelement <4 x float> %v1, float %a, i64 2
  %v3 = insertelement <4 x float> %v2, float %b, i64 3
)";

TEST(ScalarizeTiles, LeavesElementsAlone) {
  std::string result = scalarize("define float @f(float %a, float %b) {" + chain + R"(
  %sum = fadd <4 x float> %v3, %v3
  %x = extractelement <4 x float> %sum, i64 2
  ret float %x
})");
  EXPECT_NE(result.find("fadd float %a, %a"), std::string::npos) << result;
  EXPECT_EQ(result.find("<4 x float>"), std::string::npos) << result;
  EXPECT_EQ(result.find("tile.elements"), std::string::npos) << result;
}

TEST(ScalarizeTiles, LeavesNoJoinsOfPieces) {
  std::string result = scalarize(R"(
define <2 x half> @f(<2 x half> %a, <2 x half> %b) {
  %ab = shufflevector <2 x half> %a, <2 x half> %b, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %sum = fadd <4 x half> %ab, %ab
  %x = shufflevector <4 x half> %sum, <4 x half> poison, <2 x i32> <i32 2, i32 3>
  ret <2 x half> %x
})");
  EXPECT_NE(result.find("fadd <2 x half> %b, %b"), std::string::npos) << result;
  EXPECT_EQ(result.find("<4 x half>"), std::string::npos) << result;
}

TEST(ScalarizeTiles, GivesWholeVectorsBack) {
  // One is needed in the middle of the chain, one twice by the same operation.
  std::string result = scalarize(R"(
declare void @use(<4 x float>)
declare void @halves(<8 x float>)
define void @f(float %a, float %b) {)" +
                                 chain + R"(
  call void @use(<4 x float> %v1)
  %both = shufflevector <4 x float> %v3, <4 x float> %v3,
    <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  call void @halves(<8 x float> %both)
  call void @use(<4 x float> %v3)
  ret void
})");
  EXPECT_EQ(result.find("tile.elements"), std::string::npos) << result;
  EXPECT_EQ(countWords(result, "call void @use(<4 x float> %"), 2u) << result;
  EXPECT_EQ(countWords(result, "call void @halves(<8 x float> %"), 1u) << result;
}

static std::string rewriteExtended(const std::string &text) {
  return change(text, [](Module &module) {
    legacy::PassManager passes;
    passes.add(tile::createTruncateExtendedPass());
    passes.run(module);
  });
}

TEST(TruncateExtended, RewritesAllUsesOfAnotherBlock) {
  std::string result = rewriteExtended(R"(
define i64 @f(i32 %a, i32 %b) {
  %n = add i32 %a, %b
  %own = mul i32 %n, %n
  %wide = zext i32 %n to i64
  br label %next
next:
  %x = mul i32 %n, %a
  %y = mul i32 %n, %own
  %z = xor i32 %x, %y
  %e = zext i32 %z to i64
  %s = add i64 %e, %wide
  ret i64 %s
})");
  EXPECT_EQ(countWords(result, "trunc i64 %wide to i32"), 1u) << result;
  EXPECT_NE(result.find("mul i32 %n, %n"), std::string::npos) << result;
  EXPECT_EQ(countWords(result, "%n,"), 1u) << result;
}

TEST(TruncateExtended, LeavesNumbersThatPhisTake) {
  std::string result = rewriteExtended(R"(
define i64 @f(i32 %a, i32 %b) {
  %n = add i32 %a, %b
  %wide = zext i32 %n to i64
  br label %next
next:
  %p = phi i32 [ %n, %0 ]
  %x = mul i32 %n, %p
  %e = zext i32 %x to i64
  %s = add i64 %e, %wide
  ret i64 %s
})");
  EXPECT_EQ(result.find("trunc"), std::string::npos) << result;
}
