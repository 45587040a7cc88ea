// What of the options decides about a product, and the edits of `tilec fix`.
#include "driver/cache/Cache.h"
#include "driver/check/Fix.h"
#include "gtest/gtest.h"
#include <functional>
#include <set>

using namespace tile;

namespace {

TEST(CacheKey, HoldsEveryOptionThatChangesTheProduct) {
  std::vector<std::function<void(Options &)>> changes = {
      [](Options &o) { o.level = 1; },
      [](Options &o) { o.package = true; },
      [](Options &o) { o.emit = Stage::PTX; },
      [](Options &o) { o.target = "sm_80"; },
      [](Options &o) { o.targets = {"sm_80", "cpu"}; },
      [](Options &o) { o.cpu = "x86-64-v3"; },
      [](Options &o) { o.withSource = true; },
      [](Options &o) { o.kernel = "k"; },
      [](Options &o) { o.generic = false; },
      [](Options &o) { o.debug = true; },
      [](Options &o) { o.config = "B=1"; },
      [](Options &o) { o.extents = {{"N", 4}}; },
      [](Options &o) { o.extents = {{"M", 4}}; },
      [](Options &o) { o.divisors = {{"M", 4}}; },
      [](Options &o) { o.defines = {{"B", "1"}}; },
      [](Options &o) { o.attributes = {{"B", "1"}}; },
      [](Options &o) { o.includes = {"B=1"}; },
      [](Options &o) { o.warnings = {"error"}; },
      [](Options &o) { o.remarks = true; },
      [](Options &o) { o.ptxasFlags = {"--B=1"}; },
      [](Options &o) { o.cSource = true, o.output = "a/k.c"; },
      [](Options &o) { o.cSource = true, o.output = "a/l.c"; },
      [](Options &o) { o.argItems.emplace_back().text = "N=1..=4"; },
      [](Options &o) {
        VariantRequest &variant = o.variants.emplace_back();
        variant.name = "v";
        variant.items.emplace_back().text = "N=1..=4";
      },
      [](Options &o) { o.variants.emplace_back().name = "v"; }};
  std::set<std::string> seen = {describeFlags(Options())};
  for (size_t i = 0; i < changes.size(); ++i) {
    Options options;
    changes[i](options);
    EXPECT_TRUE(seen.insert(describeFlags(options)).second) << "change " << i;
  }
  // Where a product goes, and what is said meanwhile, is no part of it.
  Options other;
  other.output = "elsewhere.ptx";
  other.verbose = other.color = other.quiet = true;
  other.jobs = 7;
  EXPECT_EQ(describeFlags(other), describeFlags(Options()));
}

TEST(CacheKey, ValuesCannotPassForLines) {
  Options a, b;
  a.kernel = "k\n-g\tgiven";
  b.kernel = "k";
  b.debug = true;
  EXPECT_NE(describeFlags(a), describeFlags(b));
}

TEST(ApplyEdits, InOrderAndNeverOverlapping) {
  std::vector<size_t> applied;
  EXPECT_EQ(applyEdits("let n = blok(i, 64)", {{19, 19, ";"}, {8, 12, "block"}}, applied),
            "let n = block(i, 64);");
  EXPECT_EQ(applied.size(), 2u);
  EXPECT_EQ(applyEdits("abcdef", {{1, 4, "X"}, {3, 5, "Y"}, {5, 6, ""}}, applied), "aXe");
  EXPECT_EQ(applied.size(), 2u);
  EXPECT_EQ(applyEdits("ab", {{1, 1, "1"}, {1, 1, "2"}}, applied), "a1b"); // one at a time
  EXPECT_EQ(applied, std::vector<size_t>{0});
  EXPECT_EQ(applyEdits("ab", {{0, 0, "<"}, {2, 2, ">"}}, applied), "<ab>");
  EXPECT_EQ(applyEdits("ab", {{1, 9, "?"}, {2, 1, "?"}}, applied), "ab"); // no places of the text
  EXPECT_TRUE(applied.empty());
}

} // namespace
