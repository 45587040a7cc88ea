// Values that are computed again behind a loop: which ones, and where.
#include "codegen/RecomputeAcrossLoops.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace llvm;

/// The function behind the pass, with the attribute unless `operations` is empty.
static std::string run(const std::string &before, const std::string &body, const std::string &after,
                       const std::string &operations = "\"24\"") {
  std::string text =
      "define void @f(ptr %p, i32 %n) " +
      (operations.empty() ? "" : "\"tile-recompute\"=" + operations) + " {\nentry:\n" + before +
      "br label %loop\nloop:\n%i = phi i32 [ 0, %entry ], [ %next, %loop ]\n" + body +
      "%next = add i32 %i, 1\n%more = icmp slt i32 %next, %n\n"
      "br i1 %more, label %loop, label %end\nend:\n" +
      after + "ret void\n}\n";
  LLVMContext context;
  SMDiagnostic error;
  std::unique_ptr<Module> module = parseAssemblyString(text, error, context);
  if (!module)
    return error.getMessage().str();
  PassBuilder builder;
  FunctionAnalysisManager analyses;
  builder.registerFunctionAnalyses(analyses);
  Function &function = *module->getFunction("f");
  tile::RecomputeAcrossLoopsPass().run(function, analyses);
  std::string result;
  raw_string_ostream stream(result);
  if (!verifyFunction(function, &stream))
    function.print(stream);
  return result;
}

static const std::string chain = "%a = shl i32 %n, 3\n%b = xor i32 %a, 5\n";
static const std::string use = "store volatile i32 %b, ptr %p\n";

/// The part behind the label `end`.
static std::string getEnd(const std::string &text) { return text.substr(text.find("\nend:")); }

TEST(RecomputeAcrossLoops, ComputesBehindTheLoop) {
  std::string text = run(chain, "store volatile i32 %i, ptr %p\n", use);
  EXPECT_EQ(text.substr(0, text.find("loop:")).find("xor"), std::string::npos) << text;
  EXPECT_NE(getEnd(text).find("shl i32 %n, 3"), std::string::npos) << text;
  EXPECT_NE(getEnd(text).find("xor"), std::string::npos) << text;
}

TEST(RecomputeAcrossLoops, ComputesOnceInABlock) {
  std::string text = run(chain, "store volatile i32 %i, ptr %p\n", use + use);
  size_t first = text.find("xor");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("xor", first + 1), std::string::npos) << text;
}

TEST(RecomputeAcrossLoops, LeavesWhatTheLoopUses) {
  std::string text = run(chain, use, use);
  EXPECT_EQ(getEnd(text).find("xor"), std::string::npos) << text;
}

TEST(RecomputeAcrossLoops, ComputesInALongLoop) {
  std::string body = use;
  for (unsigned i = 0; i < 500; ++i)
    body += "store volatile i32 %i, ptr %p\n";
  std::string text = run(chain, body, "");
  EXPECT_LT(text.find("loop:"), text.find("xor")) << text;
}

TEST(RecomputeAcrossLoops, KeepsWhatIsLoaded) {
  std::string load = "%a = load volatile i32, ptr %p\n%b = xor i32 %a, 5\n";
  // One register is needed either way, and the loaded value is alive for nothing else.
  EXPECT_EQ(getEnd(run(load, "store volatile i32 %i, ptr %p\n", use)).find("xor"),
            std::string::npos);
  // Where the loaded value is alive anyway, it serves.
  std::string both = use + "store volatile i32 %a, ptr %p\n";
  EXPECT_NE(getEnd(run(load, "store volatile i32 %i, ptr %p\n", both)).find("xor"),
            std::string::npos);
}

TEST(RecomputeAcrossLoops, EndsAtTheNumberOfOperations) {
  std::string body = "store volatile i32 %i, ptr %p\n";
  EXPECT_NE(getEnd(run(chain, body, use, "\"2\"")).find("xor"), std::string::npos);
  EXPECT_EQ(getEnd(run(chain, body, use, "\"1\"")).find("xor"), std::string::npos);
}

TEST(RecomputeAcrossLoops, TakesOffsetsApartThatShareAPart) {
  std::string parts = "%row = load volatile i64, ptr %p\n%c0 = zext i32 %n to i64\n"
                      "%m = shl i32 %n, 1\n%c1 = zext i32 %m to i64\n";
  std::string sums = "%s0 = add i64 %row, %c0\n%s1 = add i64 %c1, %row\n";
  std::string moving = "%at = getelementptr i8, ptr %p, i32 %i\n"
                       "%q0 = getelementptr half, ptr %at, i64 %s0\n"
                       "store volatile i32 %i, ptr %q0\n";
  std::string second = "%q1 = getelementptr half, ptr %at, i64 %s1\n"
                       "store volatile i32 %i, ptr %q1\n";
  // Both sums are gone: the row is added to the pointer once, then each column.
  std::string text = run(parts + sums, moving + second, "");
  EXPECT_EQ(text.find("add i64"), std::string::npos) << text;
  size_t row = text.find("i64 %row");
  EXPECT_NE(row, std::string::npos) << text;
  EXPECT_EQ(text.find("i64 %row", row + 1), std::string::npos) << text;
  // A sum that shares nothing stays.
  EXPECT_NE(run(parts + sums, moving, "").find("add i64 %row, %c0"), std::string::npos);
}

TEST(RecomputeAcrossLoops, IsForMarkedFunctions) {
  EXPECT_EQ(getEnd(run(chain, "store volatile i32 %i, ptr %p\n", use, "")).find("xor"),
            std::string::npos);
}
