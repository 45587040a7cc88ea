// Parsing of JSON from outside: its cost grows as the document does, and limits have names.
#include "manifest/Json.h"

#include <gtest/gtest.h>

using namespace tile::runtime;

static std::string errorOf(const std::string &text, const JsonLimits &limits = {}) {
  std::string error;
  EXPECT_FALSE(parseJson(text, error, limits)) << text.substr(0, 60);
  return error;
}

static std::string repeated(const std::string &begin, size_t count, const std::string &end) {
  std::string text = begin;
  for (size_t i = 0; i < count; ++i)
    text += "{\"k" + std::to_string(i) + "\":[]},";
  return text + "{}" + end;
}

TEST(Json, KeepsOrderAndValues) {
  std::string error;
  std::string text = R"({"b":[1,-2,3.5,true,null,"x"],"a":{"c":18446744073709551615}})";
  std::optional<Json> json = parseJson(text, error);
  ASSERT_TRUE(json) << error;
  EXPECT_EQ(json->dump(), text);
  EXPECT_EQ((*json)["a"]["c"].get<uint64_t>(), UINT64_MAX);
}

/// Once quadratic: each object that ended was looked for among all elements of its array, and each
/// key compared with all before it.
TEST(Json, CostGrowsAsTheDocument) {
  auto objects = [](size_t count) {
    JsonCost cost;
    std::string error;
    EXPECT_TRUE(parseJson(repeated("[", count, "]"), error, {}, &cost)) << error;
    return cost.values + cost.keys + cost.comparisons;
  };
  EXPECT_LE(objects(20000), 4 * 20000u);
  EXPECT_LE(objects(40000), 2 * objects(20000) + 10);
  auto keys = [](size_t count) {
    std::string text = "{", error;
    for (size_t i = 0; i < count; ++i)
      text += "\"k" + std::to_string(i) + "\":0,";
    JsonCost cost;
    EXPECT_TRUE(parseJson(text + "\"z\":0}", error, {}, &cost)) << error;
    return cost.comparisons;
  };
  EXPECT_LE(keys(40000), 2 * 40000u * 18); // twice the depth of a balanced tree
  EXPECT_LE(keys(80000), 3 * keys(40000));
}

TEST(Json, Limits) {
  JsonLimits limits;
  EXPECT_EQ(errorOf(std::string(1000000, '[')), "nested deeper than 100 levels");
  std::string deep;
  for (int i = 0; i < 1000000; ++i)
    deep += "{\"a\":";
  EXPECT_EQ(errorOf(deep), "nested deeper than 100 levels");
  limits.values = 1000;
  EXPECT_EQ(errorOf(repeated("[", 1000, "]"), limits), "more than 1000 values");
  limits.bytes = 10;
  EXPECT_EQ(errorOf("[1,2,3,4,5,6]", limits), "13 bytes of JSON, expected at most 10");
}

TEST(Json, Ambiguous) {
  EXPECT_EQ(errorOf(R"({"a":1,"b":{"a":2},"a":3})"), "the key 'a' is there twice in one object");
  EXPECT_EQ(errorOf(R"(["a\u0000b"])"), "a string has a zero byte");
  EXPECT_EQ(errorOf(R"({"a\u0000b":1})"), "a string has a zero byte");
  EXPECT_EQ(errorOf("[1] [2]"), "not valid JSON at byte 5 of 7");
  EXPECT_EQ(errorOf(""), "not valid JSON at byte 1 of 0");
}
