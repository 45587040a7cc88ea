// Manifest expressions: operators, overflow, text.
#include "manifest/Expr.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tile::runtime;
using Op = Expr::Op;

static std::optional<int64_t> value(const Expr &expr, const Bindings &bindings = {}) {
  std::string error;
  return expr.evaluate(bindings, error);
}

TEST(Expr, Operators) {
  EXPECT_EQ(value(Expr::make(Op::Div, -7, 2)), -3);
  EXPECT_EQ(value(Expr::make(Op::Rem, -7, 2)), -1);
  EXPECT_EQ(value(Expr::make(Op::Div, 7, 0)), 0);
  EXPECT_EQ(value(Expr::make(Op::Rem, 7, 0)), 7);
  EXPECT_EQ(value(Expr::make(Op::Rem, INT64_MIN, -1)), 0);
  EXPECT_EQ(value(Expr::make(Op::CeilDiv, 7, 2)), 4);
  EXPECT_EQ(value(Expr::make(Op::CeilDiv, -7, 2)), -3);
  EXPECT_EQ(value(Expr::make(Op::CeilDiv, 8, 2)), 4);
  EXPECT_EQ(value(Expr::make(Op::CeilDiv, INT64_MAX, 1)), INT64_MAX);
  EXPECT_EQ(value(Expr::make(Op::NextPow2, 0)), 1);
  EXPECT_EQ(value(Expr::make(Op::NextPow2, 64)), 64);
  EXPECT_EQ(value(Expr::make(Op::NextPow2, 65)), 128);
  EXPECT_EQ(value(Expr::make(Op::Min, 3, -4)), -4);
  EXPECT_EQ(value(Expr::make(Op::Max, 3, -4)), 3);
  EXPECT_EQ(value(Expr::make(Op::And, 2, 3)), 1);
  EXPECT_EQ(value(Expr::make(Op::Or, 0, 0)), 0);
  EXPECT_EQ(value(Expr::make(Op::Not, 0)), 1);
  EXPECT_EQ(value(Expr::make(Op::Le, 3, 3)), 1);
}

TEST(Expr, OverflowIsAnError) {
  std::string error;
  for (const Expr &expr :
       {Expr::make(Op::Add, INT64_MAX, 1), Expr::make(Op::Sub, INT64_MIN, 1),
        Expr::make(Op::Mul, int64_t(1) << 62, 2), Expr::make(Op::Div, INT64_MIN, -1),
        Expr::make(Op::CeilDiv, INT64_MIN, -1), Expr::make(Op::Neg, INT64_MIN),
        Expr::make(Op::NextPow2, INT64_MAX)}) {
    EXPECT_FALSE(expr.evaluate({}, error)) << expr.toString();
    EXPECT_NE(error.find("overflows 64 bits"), std::string::npos) << error;
  }
}

TEST(Expr, Names) {
  std::string error;
  Expr expr = Expr::make(Op::Mul, Expr::makeName("M"), Expr::makeName("N"));
  EXPECT_EQ(value(expr, {{"M", 3}, {"N", 5}}), 15);
  EXPECT_FALSE(expr.evaluate({{"M", 3}}, error));
  EXPECT_EQ(error, "'N' has no value");
}

TEST(Expr, Text) {
  Expr sum = Expr::make(Op::Add, Expr::makeName("M"), 1);
  EXPECT_EQ(Expr::make(Op::Eq, Expr::make(Op::Rem, sum, 8), 0).toString(), "((M + 1) % 8) == 0");
  EXPECT_EQ(Expr::make(Op::CeilDiv, sum, 128).toString(), "cdiv(M + 1, 128)");
  EXPECT_EQ(Expr::make(Op::Neg, Expr::makeName("M")).toString(), "-M");
  EXPECT_EQ(Expr::make(Op::Sub, Expr::makeName("M"), -1).toString(), "M - (-1)");
}

TEST(Expr, Spellings) {
  EXPECT_EQ(operatorFromSpelling("-", 2), Op::Sub);
  EXPECT_EQ(operatorFromSpelling("-", 1), Op::Neg);
  EXPECT_EQ(operatorFromSpelling("next_pow2", 1), Op::NextPow2);
  EXPECT_FALSE(operatorFromSpelling("cdiv", 3));
  EXPECT_FALSE(operatorFromSpelling("pow", 2));
}

TEST(Expr, Floats) {
  auto number = [](Op op, double a, double b) {
    return floatOfBits(*applyFloat(op, floatBits(a), floatBits(b)));
  };
  EXPECT_EQ(number(Op::Add, 0.5, 0.25), 0.75);
  EXPECT_EQ(number(Op::Div, 1.0, 0.0), HUGE_VAL);
  EXPECT_EQ(number(Op::Max, -1.0, 2.0), 2.0);
  EXPECT_NE(number(Op::Min, NAN, 2.0), number(Op::Min, NAN, 2.0));
  // -0 is less than +0, on either side.
  for (auto [a, b] : {std::pair(-0.0, 0.0), std::pair(0.0, -0.0)}) {
    EXPECT_TRUE(std::signbit(number(Op::Min, a, b)));
    EXPECT_FALSE(std::signbit(number(Op::Max, a, b)));
  }
  EXPECT_EQ(applyFloat(Op::Gt, floatBits(NAN), floatBits(0.0)), 0);
  EXPECT_EQ(applyFloat(Op::Ne, floatBits(NAN), floatBits(0.0)), 1);
  EXPECT_EQ(applyFloat(Op::Le, floatBits(0.5), floatBits(0.5)), 1);
  EXPECT_FALSE(applyFloat(Op::Rem, floatBits(1.0), floatBits(1.0)));
  std::string error;
  EXPECT_FALSE(Expr::makeFloat(0.5).evaluate({}, error));
  EXPECT_EQ(error, "'0.5' is no integer");
  EXPECT_EQ(Expr::make(Op::Gt, Expr::makeName("s"), Expr::makeFloat(0)).toString(), "s > 0.0");
  EXPECT_EQ(Expr::makeFloat(1e-5).toString(), "1e-05");
  EXPECT_EQ(Expr::makeFloat(0.1).toString(), "0.1");
}
