// Exponentials ahead of a warp's test, as many as fit beside what it tests.
#include "codegen/ComputeAhead.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace llvm;

static std::string run(const std::string &text) {
  LLVMContext context;
  SMDiagnostic error;
  std::unique_ptr<Module> module = parseAssemblyString(text, error, context);
  if (!module)
    return error.getMessage().str();
  FunctionAnalysisManager analyses;
  Function *function = module->getFunction("f");
  tile::ComputeAheadPass().run(*function, analyses);
  std::string result;
  raw_string_ostream stream(result);
  if (!verifyFunction(*function, &stream))
    function->print(stream);
  return result;
}

/// A test behind `maxima` maxima, and an exponential of each score behind it.
static std::string softmax(unsigned maxima, const std::string &more = "") {
  std::string scores, tests, exponentials;
  for (unsigned i = 0; i < 16; ++i) {
    std::string n = std::to_string(i);
    scores += (i ? ", float %s" : "float %s") + n;
    exponentials += "%x" + n + " = fsub float %s" + n + ", %u\n%e" + n +
                    " = call float @llvm.exp2.f32(float %x" + n + ")\nstore volatile float %e" + n +
                    ", ptr %p\n";
  }
  for (unsigned i = 0; i < maxima; ++i)
    tests += "%m" + std::to_string(i) + " = call float @llvm.maximum.f32(float " +
             (i ? "%m" + std::to_string(i - 1) : "%t") + ", float %s" + std::to_string(i % 16) +
             ")\n";
  std::string last = "%m" + std::to_string(maxima - 1);
  return "declare float @llvm.maximum.f32(float, float)\ndeclare float @llvm.exp2.f32(float)\n"
         "declare i1 @llvm.nvvm.vote.all.sync(i32, i1)\n"
         "declare void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32)\n"
         "define void @f(ptr %p, float %t, " +
         scores +
         ") {\ntest:\n"
         "call void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32 232)\n" +
         tests + more + "%stays = fcmp ole float " + last +
         ", %t\n%all = call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 %stays)\n"
         "br i1 %all, label %join, label %work\nwork:\n%w = fadd float " +
         last + ", 1.0\nbr label %join\njoin:\n%u = phi float [ %t, %test ], [ %w, %work ]\n" +
         exponentials + "ret void\n}\n";
}

static unsigned countOf(const std::string &text, const std::string &what) {
  unsigned found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++found;
  return found;
}

/// Of a function's text, what stands from one label to the next.
static std::string getBlock(const std::string &text, const std::string &label) {
  size_t start = text.find("\n" + label + ":");
  return start == std::string::npos ? "" : text.substr(start, text.find("\n\n", start) - start);
}

TEST(ComputeAhead, AsManyAsTheTestTakes) {
  std::string text = run(softmax(16)); // 16 maxima, a comparison: 32 clocks and a few
  ASSERT_NE(getBlock(text, "join"), "") << text;
  EXPECT_EQ(countOf(getBlock(text, "test"), "@llvm.exp2"), 4u) << text;
  EXPECT_EQ(countOf(getBlock(text, "work"), "@llvm.exp2"), 4u);
  EXPECT_EQ(countOf(getBlock(text, "join"), "@llvm.exp2"), 12u);
  // With what is known ahead of the test there, with the branch's result in the branch.
  EXPECT_NE(getBlock(text, "test").find("fsub float %s0, %t"), std::string::npos);
  EXPECT_NE(getBlock(text, "work").find("fsub float %s0, %w"), std::string::npos);
  EXPECT_EQ(countOf(getBlock(text, "join"), "phi float"), 5u);
}

TEST(ComputeAhead, NothingWhereTheUnitIsBusy) {
  std::string text = run(softmax(16, "%busy = call float @llvm.exp2.f32(float %t)\n"
                                     "store volatile float %busy, ptr %p\n"));
  EXPECT_EQ(countOf(getBlock(text, "join"), "@llvm.exp2"), 16u) << text;
}

TEST(ComputeAhead, NothingThatAnotherBranchDecides) {
  std::string text = softmax(16);
  text.replace(text.find("call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 %stays)"),
               std::string("call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 %stays)").size(),
               "or i1 %stays, false");
  text = run(text);
  EXPECT_EQ(countOf(getBlock(text, "join"), "@llvm.exp2"), 16u) << text;
}

TEST(ComputeAhead, NothingWhereNobodyHandsRegistersOn) {
  std::string text = softmax(16),
              call = "call void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32 232)\n";
  text.erase(text.find(call), call.size());
  text = run(text);
  EXPECT_EQ(countOf(getBlock(text, "join"), "@llvm.exp2"), 16u) << text;
}
