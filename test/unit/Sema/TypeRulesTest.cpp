// Types of results by the types of operands alone, without MLIR: T3, T4 and the rules of built-ins.
#include "frontend/Sema/TypeRules.h"

#include "gtest/gtest.h"

using namespace tile;
using ast::BinaryOp;
using ast::UnaryOp;

namespace {

SemValue data(DType dtype, llvm::ArrayRef<int64_t> shape = {}) {
  SemValue value;
  value.kind = SemValue::Kind::Data;
  value.dtype = dtype;
  value.extents = shape;
  return value;
}

CommonDtype common(std::initializer_list<SemValue> values) {
  std::vector<Arg> args;
  for (const SemValue &value : values)
    args.push_back({value, Range(), ""});
  return findCommonDtype(args);
}
using Problem = CommonDtype::Problem;

TEST(TypeRules, operandsMeetInOneDtype) {
  EXPECT_EQ(common({data(DType::F16), SemValue::ofInt(2)}).dtype, DType::F16);
  EXPECT_EQ(common({data(DType::I32), data(DType::Index)}).dtype, DType::Index);
  EXPECT_EQ(common({data(DType::Index), data(DType::I32)}).dtype, DType::Index);
  EXPECT_EQ(common({SemValue::ofInt(1), SemValue::ofFloat(2)}).dtype, DType::F32);
  EXPECT_EQ(common({SemValue::ofInt(1), SemValue::ofInt(2)}).dtype, DType::Index);
  EXPECT_EQ(common({SemValue::ofBool(true), SemValue::ofBool(false)}).dtype, DType::Bool);
}

TEST(TypeRules, operandsThatDoNotMeetAreNamed) {
  CommonDtype differ =
      common({SemValue::ofInt(1), data(DType::F16), data(DType::F16), data(DType::F32)});
  EXPECT_EQ(differ.problem, Problem::Differ);
  EXPECT_EQ(differ.first, 1u);
  EXPECT_EQ(differ.second, 3u);
  EXPECT_EQ(common({data(DType::I32), data(DType::I64)}).problem, Problem::Differ);
  EXPECT_EQ(common({data(DType::U64), data(DType::Index)}).problem, Problem::Differ);
  CommonDtype notWhole = common({SemValue::ofFloat(0.5), data(DType::I32)});
  EXPECT_EQ(notWhole.problem, Problem::NotWhole);
  EXPECT_EQ(notWhole.first, 1u);
  EXPECT_EQ(notWhole.second, 0u);
  EXPECT_EQ(common({data(DType::F32), SemValue::ofString("x")}).problem, Problem::NotNumeric);
  EXPECT_EQ(common({data(DType::F32), SemValue::error()}).problem, Problem::Reported);
}

TEST(TypeRules, shapesAreRepeatedFromTheRight) {
  int64_t matrix[] = {4, 8}, row[] = {8}, column[] = {4, 1}, other[] = {4};
  auto shapeOf = [](std::initializer_list<llvm::ArrayRef<int64_t>> shapes) {
    std::vector<Arg> args;
    for (llvm::ArrayRef<int64_t> shape : shapes)
      args.push_back({data(DType::F32, shape), Range(), ""});
    return findCommonShape(args);
  };
  EXPECT_EQ(*shapeOf({row, column}).shape, Shape({4, 8}));
  EXPECT_EQ(*shapeOf({matrix, {}, row}).shape, Shape({4, 8}));
  CommonShape wrong = shapeOf({{}, matrix, other});
  EXPECT_FALSE(wrong.shape);
  EXPECT_EQ(wrong.first, 1u);
  EXPECT_EQ(wrong.second, 2u);
}

TEST(TypeRules, tilesHaveLimits) {
  EXPECT_EQ(problemOf({1024, 1024}), ShapeProblem::None);
  EXPECT_EQ(problemOf({1024, 1025}), ShapeProblem::TooLarge);
  EXPECT_EQ(problemOf({std::numeric_limits<int64_t>::max(), 2}), ShapeProblem::TooLarge);
  EXPECT_EQ(problemOf({int64_t(1) << 30, 0}), ShapeProblem::Empty);
}

TEST(TypeRules, operatorsTakeFamiliesOfDtypes) {
  EXPECT_STREQ(neededBy(BinaryOp::rem, DType::F32), "integers");
  EXPECT_STREQ(neededBy(BinaryOp::add, DType::Bool), "numbers");
  EXPECT_STREQ(neededBy(BinaryOp::logicalAnd, DType::I32), "bools");
  EXPECT_EQ(neededBy(BinaryOp::eq, DType::Bool), nullptr);
  EXPECT_EQ(neededBy(BinaryOp::shl, DType::U8), nullptr);
  EXPECT_STREQ(neededBy(UnaryOp::bitNot, DType::F16), "integers");
  EXPECT_STREQ(neededBy(UnaryOp::logicalNot, DType::I8), "bool");
  EXPECT_EQ(resultOf(BinaryOp::lt, DType::F32), DType::Bool);
  EXPECT_EQ(resultOf(BinaryOp::bitAnd, DType::I16), DType::I16);
  EXPECT_STREQ(neededBy("pow", DType::I32), "floats");
  EXPECT_STREQ(neededBy("clz", DType::F32), "integers");
  EXPECT_STREQ(neededBy("abs", DType::Bool), "numbers");
  EXPECT_EQ(resultOf("isnan", DType::F16), DType::Bool);
}

TEST(TypeRules, conversions) {
  EXPECT_TRUE(isCastable(data(DType::F8E4M3), DType::F32));
  EXPECT_TRUE(isCastable(data(DType::I4), DType::I4));
  EXPECT_FALSE(isCastable(data(DType::I8), DType::I4));
  EXPECT_FALSE(isCastable(data(DType::F32), DType::Bool));
  EXPECT_TRUE(isCastable(SemValue::ofBool(true), DType::Bool));
  EXPECT_FALSE(isCastable(SemValue::ofString("x"), DType::F32));
  EXPECT_TRUE(widensTo(DType::U32, DType::Index));
  EXPECT_FALSE(widensTo(DType::U64, DType::Index));
  EXPECT_FALSE(widensTo(DType::F16, DType::F32));
}

TEST(TypeRules, reductionsTakeAxesAway) {
  ReducedType sum = reduced("sum", DType::F16, {4, 8}, 1, /*keep=*/true);
  EXPECT_EQ(sum.accumulator, DType::F32);
  EXPECT_EQ(sum.dtype, DType::F16);
  EXPECT_EQ(sum.rest, Shape({4}));
  EXPECT_EQ(sum.shape, Shape({4, 1}));
  ReducedType all = reduced("max", DType::F16, {4, 8}, std::nullopt, /*keep=*/false);
  EXPECT_EQ(all.accumulator, DType::F16);
  EXPECT_TRUE(all.shape.empty());
  EXPECT_EQ(reduced("argmax", DType::F32, {4, 8}, 0, false).dtype, DType::Index);
  EXPECT_EQ(reduced("count", DType::Bool, {8}, 0, false).dtype, DType::Index);
  EXPECT_STREQ(neededByReduction("count", DType::I32), "bools");
  EXPECT_STREQ(neededByReduction("sum", DType::Bool), "numbers");
  EXPECT_TRUE(overflowsInReduction("sum", DType::I8));
  EXPECT_FALSE(overflowsInReduction("max", DType::I8));
}

TEST(TypeRules, scansAddUpAsReductionsDo) {
  EXPECT_EQ(accumulatorOf("cumsum", DType::BF16), DType::F32);
  EXPECT_EQ(accumulatorOf("cumprod", DType::F64), DType::F64);
  EXPECT_EQ(accumulatorOf("min", DType::F16), DType::F16);
  EXPECT_TRUE(overflowsInReduction("cumsum", DType::U16));
  EXPECT_STREQ(neededByReduction("cumsum", DType::Bool), "numbers");
}

TEST(TypeRules, axesCountFromEitherEnd) {
  EXPECT_EQ(findAxis(-1, 3), 2);
  EXPECT_EQ(findAxis(0, 1), 0);
  EXPECT_EQ(findAxis(-4, 3), std::nullopt);
  EXPECT_EQ(findAxis(0, 0), std::nullopt);
}

TEST(TypeRules, takingJoiningAndRepeating) {
  EXPECT_EQ(takenShape({4, 8, 2}, 1, {3, 5}), Shape({4, 3, 5, 2}));
  EXPECT_EQ(takenShape({8}, 0, {}), Shape());
  int64_t small[] = {2, 8}, large[] = {4, 8}, narrow[] = {2, 4};
  std::vector<Arg> tiles;
  for (llvm::ArrayRef<int64_t> shape :
       {llvm::ArrayRef(small), llvm::ArrayRef(large), llvm::ArrayRef(narrow)})
    tiles.push_back({data(DType::F32, shape), Range(), ""});
  llvm::ArrayRef<Arg> all = tiles;
  EXPECT_EQ(*joinedShape(all.take_front(2), 0, /*isNew=*/false).shape, Shape({6, 8}));
  JoinedShape wrong = joinedShape(all, 0, /*isNew=*/false);
  EXPECT_FALSE(wrong.shape);
  EXPECT_EQ(wrong.wrong, 2u);
  EXPECT_EQ(joinedShape(all, 0, /*isNew=*/true).wrong, 1u);
  EXPECT_EQ(*joinedShape({tiles[0], tiles[0], tiles[0]}, 1, /*isNew=*/true).shape,
            Shape({2, 3, 8}));
  EXPECT_EQ(repeatedShape({2, 8}, 1, 3), Shape({2, 24}));
}

TEST(TypeRules, products) {
  EXPECT_EQ(*productShape({2, 4, 8}, {2, 8, 16}), Shape({2, 4, 16}));
  EXPECT_FALSE(productShape({4, 8}, {4, 8}));
  EXPECT_FALSE(productShape({2, 4, 8}, {8, 16}));
  EXPECT_TRUE(multiply(DType::F8E4M3, DType::F8E5M2));
  EXPECT_FALSE(multiply(DType::F16, DType::BF16));
  EXPECT_TRUE(accumulatesIn(DType::F16, DType::F16));
  EXPECT_FALSE(accumulatesIn(DType::BF16, DType::BF16));
  EXPECT_TRUE(accumulatesIn(DType::U8, DType::I32));
  EXPECT_FALSE(accumulatesIn(DType::I16, DType::I32));
}

TEST(Dtypes, sayWhatDotTakes) {
  std::string text = productDtypes();
  EXPECT_EQ(text.substr(0, 22), "f16, bf16, f32, f64, f");
  EXPECT_EQ(text.substr(text.size() - 10), ", i8 or u8");
}

} // namespace
