// Compile-time evaluation without MLIR: values of expressions, dtypes, and what is not constant.
#include "CheckedKernel.h"

using namespace tile;

namespace {

/// The constant `c` of a file, described.
std::string valueOf(llvm::StringRef text) {
  Checked file((text + "\nkernel k(y: out f32[N]) {}").str());
  if (!file.kernel)
    return file.messages();
  Evaluator evaluator(*file.modules, *file.kernel, file.options, file.diagnostics);
  SemValue value = evaluator.evalName("c", file.kernel->name.range);
  return value.isError() ? file.messages() : describe(value);
}

TEST(Evaluator, computesWithNumbers) {
  EXPECT_EQ(valueOf("const c = 2 + 3 * 4;"), "the int 14");
  EXPECT_EQ(valueOf("const c = max(1.5, 2) / 2;"), "the float 1.0");
  EXPECT_EQ(valueOf("const c = !(3 < 4) || f16 == f16;"), "the bool true");
  EXPECT_EQ(valueOf("const d = 7; const c = -d;"), "the int -7");
}

TEST(Evaluator, knowsDtypesStringsFunctionsAndTuples) {
  EXPECT_EQ(valueOf("const c = bf16;"), "the dtype bf16");
  EXPECT_EQ(valueOf("const c = target.kind;"), "the string \"cpu\"");
  EXPECT_EQ(valueOf("fn f(x) { return x; } const c = f;"), "the function 'f'");
  EXPECT_EQ(valueOf("const c = (1, f32);"), "a tuple of 2");
  EXPECT_EQ(valueOf("const c: f16 = 2;"), "a scalar of f16");
}

TEST(Evaluator, reportsWhatDoesNotFit) {
  EXPECT_EQ(valueOf("const c: i8 = 300;").substr(0, 5), "E0305");
  EXPECT_EQ(valueOf("const c: f16 = 2049;").substr(0, 5), "E0305"); // would round
  EXPECT_EQ(valueOf("const c = 1 / 0;").substr(0, 5), "E0307");
}

TEST(Evaluator, reportsWhatNeedsCode) {
  EXPECT_EQ(valueOf("const c = zeros(f32, [4]);").substr(0, 5), "E0306");
  EXPECT_EQ(valueOf("const c = 1 as f16;").substr(0, 5), "E0306");
}

TEST(Dtypes, haveOneRowEach) {
  for (const std::string &name : dtypeSpellings()) {
    std::optional<DType> dtype = findDtype(name);
    ASSERT_TRUE(dtype) << name;
    EXPECT_EQ(dtypeSpelling(*dtype), name);
    if (*dtype != DType::Index) // in memory: the manifest's row, where a bool takes a byte
      EXPECT_EQ(runtime::dtypeName(toRuntime(*dtype)), name);
    if (*dtype != DType::Index && *dtype != DType::Bool)
      EXPECT_EQ(runtime::dtypeBits(toRuntime(*dtype)), bitWidth(*dtype)) << name;
    EXPECT_FALSE(isFloat(*dtype) && isInteger(*dtype)) << name;
  }
  EXPECT_TRUE(isStorage(DType::I4) && !isInteger(DType::I4) && isUnsigned(DType::U4));
  EXPECT_TRUE(isFloat8(DType::F8E5M2) && isFloat(DType::F8E5M2) && !isNibble(DType::F8E5M2));
}

} // namespace
