// Bodies by types alone, without MLIR: what an access, a call and a function give, what is wrong,
// and what is left to elaboration.
#include "CheckedKernel.h"
#include "frontend/Check/BodyChecker.h"
#include "frontend/Sema/AccessRules.h"

using namespace tile;

namespace {

/// Remembers the type of each expression by its text.
class Types : public ValueObserver {
public:
  explicit Types(const SourceManager &sources) : sources(sources) {}
  void onValue(Range range, const SemValue &value) override {
    found[sources.text(range).str()] = describe(value);
  }
  std::map<std::string, std::string> found;

private:
  const SourceManager &sources;
};

struct Body {
  explicit Body(const std::string &statements, const std::string &functions = "")
      : checked("kernel k(x: in f16[M, 64], s: in f32[N], n: inout i32[N], y: out f32[M, 64]) "
                "grid (i: 4) {\n" +
                statements + "\n}\n" + functions),
        types(checked.sources) {
    checked.options.observer = &types;
    BodyChecker body(*checked.modules, *checked.kernel, checked.options, checked.diagnostics);
    runtime::Kernel record;
    outcome = body.check(checked.instances().front(), Variant(), record);
    reduces = body.getFacts().reduces;
    for (const ast::Param *param : body.getFacts().written)
      written.insert(param->name.text);
  }
  std::string operator[](const std::string &text) { return types.found[text]; }

  Checked checked;
  Types types;
  BodyChecker::Outcome outcome;
  bool reduces = false;
  std::set<std::string> written;
};
using Outcome = BodyChecker::Outcome;

TEST(Body, accessesHaveTypes) {
  Body body("let a = x[block(i, 16), :]; let v = x[i]; let w = s[2..n[0]];"
            "let g = gather(s[iota(8)]); let old = atomic_add(n[iota(4)], 1, order: \"acq_rel\");"
            "let b = inside(x[block(i, 16), 3]); let p = x.T; let c = a[0, 2..6];"
            "y[block(i, 16), :] = a as f32;");
  EXPECT_EQ(body.outcome, Outcome::Right) << body.checked.messages();
  EXPECT_EQ(body["x[block(i, 16), :]"], "f16[16, 64]");
  EXPECT_EQ(body["x[i]"], "a view of f16[64]");
  EXPECT_EQ(body["s[2..n[0]]"], "a view of f32[?]");
  EXPECT_EQ(body["gather(s[iota(8)])"], "f32[8]");
  EXPECT_EQ(body["atomic_add(n[iota(4)], 1, order: \"acq_rel\")"], "i32[4]");
  EXPECT_EQ(body["inside(x[block(i, 16), 3])"], "bool[16]");
  EXPECT_EQ(body["x.T"], "a view of f16[64, ?]");
  EXPECT_EQ(body["a[0, 2..6]"], "f16[4]");
  EXPECT_FALSE(body.reduces);
  EXPECT_EQ(body.written, (std::set<std::string>{"n", "y"}));
}

TEST(Body, builtInsHaveTypes) {
  Body body("let a = x[block(i, 16), :]; let d = dot(a, a.T); let r = sum(a, axis: 1);"
            "let t = topk(a, 3); let o = argmax(a, axis: 0, keep: true);"
            "let z = concat([a, a], axis: 0); let q = reduce(add, r); let u = rand(1, iota(5));"
            "y[block(i, 16), block(0, 16)] = d;",
            "fn add(a, b) { return a + b; }");
  EXPECT_EQ(body.outcome, Outcome::Right) << body.checked.messages();
  EXPECT_EQ(body["dot(a, a.T)"], "f32[16, 16]");
  EXPECT_EQ(body["sum(a, axis: 1)"], "f16[16]");
  EXPECT_EQ(body["argmax(a, axis: 0, keep: true)"], "index[1, 64]");
  EXPECT_EQ(body["concat([a, a], axis: 0)"], "f16[32, 64]");
  EXPECT_EQ(body["reduce(add, r)"], "a scalar of f16");
  EXPECT_EQ(body["rand(1, iota(5))"], "f32[5]");
  EXPECT_TRUE(body.reduces); // argmax
}

TEST(Body, zerosOfPaddingNeedNoLint) {
  auto reduces = [](const char *statements) { return Body(statements).reduces; };
  EXPECT_FALSE(reduces("let a = x[block(i, 16), :]; let d = dot(a, a.T); let r = sum(a as f32);"));
  EXPECT_FALSE(reduces("let a = s[block(i, 16)]; let r = sum(a * a - a);"));
  for (const char *statements :
       {"let r = max(s[block(i, 16)]);", "let r = sum(exp(s[block(i, 16)]));",
        "let r = sum(s[block(i, 16)] + 1.0);", "let r = sum(load(s[block(i, 16)], pad: 1.0));",
        "var a = s[block(i, 16)]; a += 1.0; let r = sum(a);",
        "let a = s[block(i, 16)]; let r = sum(where(a > 0.0, 1.0, a));",
        "let r = sum(cumsum(s[block(i, 16)]));"})
    EXPECT_TRUE(reduces(statements)) << statements;
}

TEST(Body, returnsOfBothSidesMeet) {
  Body body("var c = 0; while c < 4 { if c == i { break; } c += 1; }"
            "y[i, 0] = pick(s[0], s[1]);",
            "fn pick(a, b) { if a < b { return 1; } return b; }");
  EXPECT_EQ(body.outcome, Outcome::Right) << body.checked.messages();
  EXPECT_EQ(body["pick(s[0], s[1])"], "a scalar of f32");
}

TEST(Body, mistakesOfNamesAreReported) {
  Body body("let a = missing + 1; y[i, 0] = s[0];");
  EXPECT_EQ(body.outcome, Outcome::Wrong);
  EXPECT_EQ(body.checked.messages(), "E0201 2:9 'missing' is not defined\n");
}

TEST(Body, mistakesOfTypesAreReported) {
  const std::pair<const char *, const char *> cases[] = {
      {"let a = s[0] + x[0, 0];", "E0301 2:14"},
      {"n[0] = 1.5;", "E0305 2:8"},
      {"y[i, 0] = x[i, 0];", "E0314 2:11"},
      {"x[0, 0] = 1;", "E0317 2:1"},
      {"let a = y[0, 0];", "E0316 2:9"},
      {"let a = f(1);", "E0304 2:9"},
      {"let a = s[block(0, 4)] + s[block(0, 3)];", ""},
      {"let a = sqrt(n[0]);", ""},
      {"let a = s[at(0, 0)];", ""},
      {"let a = s[at(0, 4)].sum();", ""}};
  for (auto [statements, report] : cases) {
    Body body(statements, "fn f(a, b) { return a; }");
    EXPECT_EQ(body.outcome, Outcome::Wrong) << statements;
    EXPECT_EQ(body.checked.messages().substr(0, std::string(report).size()), report) << statements;
  }
}

TEST(Body, whatHasNoRuleIsUndecided) {
  for (const char *statements :
       {"let a = s[iota(4)];", "for k in 0..4 with split(2) { }", "let a = reduce(max, s[0]);",
        "let a = ptx(f32, \"mov.f32 $0, 0;\", fallback: 0.0);", "for k in range(4) { }"})
    EXPECT_EQ(Body(statements).outcome, Outcome::Undecided) << statements;
}

TEST(AccessRules, atomicsNeedWhatMemoryComputes) {
  EXPECT_EQ(neededByAtomic("atomic_add", DType::F16), nullptr);
  EXPECT_STREQ(neededByAtomic("atomic_add", DType::I8), "numbers of 16 bits or more");
  EXPECT_STREQ(neededByAtomic("atomic_max", DType::F16), "numbers of 32 bits or more");
  EXPECT_STREQ(neededByAtomic("atomic_or", DType::F32), "integers");
  EXPECT_EQ(neededByAtomic("atomic_cas", DType::U64), nullptr);
}

TEST(AccessRules, wordsOfOrdersAndScopes) {
  EXPECT_EQ(findWord(SemValue::ofString("release"), memoryOrders), 2u);
  EXPECT_EQ(findWord(SemValue::ofString("system"), memoryScopes), 1u);
  EXPECT_EQ(findWord(SemValue::ofString("keep"), cacheHints), 1u);
  EXPECT_FALSE(findWord(SemValue::ofString("seq_cst"), memoryOrders));
  EXPECT_FALSE(findWord(SemValue::ofInt(1), memoryScopes));
}

TEST(AccessRules, valuesFitAccesses) {
  EXPECT_TRUE(fitsAccess({}, {4, 8}));
  EXPECT_TRUE(fitsAccess({8}, {4, 8}));
  EXPECT_TRUE(fitsAccess({4, 1}, {4, 8}));
  EXPECT_FALSE(fitsAccess({4}, {4, 8}));
  EXPECT_FALSE(fitsAccess({1, 8}, {8}));
  EXPECT_EQ(gatheredShape({4, 8}, 1, {2, 3}), (Shape{4, 2, 3, 8}));
  EXPECT_EQ(transposedOrder(3), (Shape{0, 2, 1}));
}

} // namespace
