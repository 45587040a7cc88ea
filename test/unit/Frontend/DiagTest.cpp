// Diagnostics: source places, the engine's options, both renderers, suggestions.
#include "frontend/Diag/Aliases.h"
#include "frontend/Diag/JsonRenderer.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Diag/TextRenderer.h"

#include "llvm/Support/JSON.h"

#include "gtest/gtest.h"

#include <set>

using namespace tile;

namespace {

struct Fixture {
  SourceManager sources;
  FileID file = sources.addText("a.tile", "let x = 1;\nlet \tyy = 2;\r\n\xC3\xA9\xC3\xA9 = x");
  DiagnosticEngine engine{sources};
  Range yy{file, 16, 18};
};

TEST(Source, linesAndColumns) {
  Fixture f;
  EXPECT_EQ(f.sources.describe(f.yy), "a.tile:2:6");
  EXPECT_EQ(f.sources.text(f.yy), "yy");
  EXPECT_EQ(f.sources.text(f.sources.lineRange(f.file, 2)), "let \tyy = 2;");
  EXPECT_EQ(f.sources.lineColumn(f.file, 1000).line, 3u);
  EXPECT_EQ(f.sources.describe(Range()), "");
  std::string error;
  EXPECT_FALSE(f.sources.addFile("/nonexistent/file.tile", error));
  EXPECT_FALSE(error.empty());
}

TEST(Catalogue, codesAreUniqueAndExplained) {
  std::set<std::string> codes;
  for (unsigned i = 0; i < diag::count; ++i) {
    const DiagnosticInfo &info = diagnosticInfo(diag::ID(i));
    EXPECT_TRUE(codes.insert(info.code).second) << info.code;
    char letter = info.severity == Severity::error     ? 'E'
                  : info.severity == Severity::warning ? 'W'
                                                       : 'R';
    EXPECT_EQ(info.code[0], letter) << info.code;
    EXPECT_EQ(std::string(info.code).size(), 5u) << info.code;
    EXPECT_FALSE(std::isupper(info.message[0]) && std::islower(info.message[1])) << info.message;
    EXPECT_NE(std::string(info.message).back(), '.') << info.message;
    EXPECT_GT(std::string(info.explain).size(), 10u) << info.code;
  }
  EXPECT_EQ(findDiagnostic("e0101"), diag::expectedToken);
  EXPECT_EQ(findDiagnostic("missingSemicolon"), diag::missingSemicolon);
  EXPECT_FALSE(findDiagnostic("E9999"));
}

TEST(Engine, fillsTemplatesAndDropsDuplicates) {
  Fixture f;
  f.engine.report(diag::expectedToken, f.yy, "{1}", std::string("{x}"));
  f.engine.report(diag::expectedToken, f.yy, "{1}", "{x}");
  f.engine.report(diag::nestingTooDeep, f.yy, 200u);
  ASSERT_EQ(f.engine.all().size(), 2u);
  EXPECT_EQ(f.engine.all()[0].message, "expected {1}, found {x}");
  EXPECT_EQ(f.engine.all()[1].message, "this is nested more than 200 levels deep");
  EXPECT_EQ(f.engine.errors(), 2u);
}

TEST(Engine, errorLimit) {
  Fixture f;
  f.engine.setErrorLimit(3);
  for (uint32_t i = 0; i < 5; ++i)
    f.engine.report(diag::chainedComparison, {f.file, i, i + 1});
  EXPECT_EQ(f.engine.errors(), 3u);
  EXPECT_TRUE(f.engine.limitReached());
  EXPECT_EQ(summary(f.engine), "3 errors; there are more, the error limit is reached");
}

TEST(Engine, warnings) {
  Fixture f;
  f.engine.disable(diag::strayDoc);
  f.engine.report(diag::strayDoc, {f.file, 0, 1});
  EXPECT_TRUE(f.engine.all().empty());
  f.engine.enable(diag::strayDoc);
  f.engine.report(diag::strayDoc, {f.file, 0, 1});
  EXPECT_EQ(f.engine.warnings(), 1u);
  EXPECT_FALSE(f.engine.hasErrors());
  f.engine.setWarningsAsErrors();
  f.engine.report(diag::strayDoc, {f.file, 1, 2});
  EXPECT_EQ(f.engine.errors(), 1u);
  EXPECT_EQ(f.engine.all().back().severity, Severity::error);
  f.engine.disable(diag::chainedComparison); // errors stay
  f.engine.report(diag::chainedComparison, {f.file, 1, 2});
  EXPECT_EQ(f.engine.errors(), 2u);
}

TEST(Engine, remarksAreForThoseWhoAsk) {
  for (unsigned i = 0; i < diag::count; ++i) {
    if (diagnosticInfo(diag::ID(i)).severity != Severity::remark)
      continue;
    Fixture f;
    f.engine.report(diag::ID(i), {f.file, 0, 1});
    EXPECT_TRUE(f.engine.all().empty());
    f.engine.setRemarks(true);
    f.engine.report(diag::ID(i), {f.file, 0, 1});
    EXPECT_EQ(f.engine.all().size(), 1u);
    EXPECT_EQ(f.engine.errors() + f.engine.warnings(), 0u);
  }
}

TEST(Text, picture) {
  Fixture f;
  std::string out;
  llvm::raw_string_ostream os(out);
  f.engine.setConsumer(TextRenderer(f.sources, os));
  f.engine.report(diag::missingSemicolon, f.yy, "a", "b")
      .secondary({f.file, 11, 14}, "in this statement")
      .note({f.file, 4, 5}, "x is here")
      .note("nowhere")
      .fixIt(f.yy.atEnd(), ";", "add ';'");
  EXPECT_EQ(out, "a.tile:2:6: error: expected ';' after a, found b [E0102]\n"
                 "   2 | let   yy = 2;\n"
                 "     | ---   ^~ in this statement\n"
                 "      fix: add ';' (2:8: insert ';')\n"
                 "a.tile:1:5: note: x is here\n"
                 "   1 | let x = 1;\n"
                 "     |     ^\n"
                 "      note: nowhere\n");
}

TEST(Text, widthsOfCharacters) {
  Fixture f;
  std::string out;
  llvm::raw_string_ostream os(out);
  f.engine.setConsumer(TextRenderer(f.sources, os));
  f.engine.report(diag::chainedComparison, {f.file, 30, 31});
  EXPECT_EQ(out, "a.tile:3:6: error: comparisons do not chain [E0114]\n"
                 "   3 | \xC3\xA9\xC3\xA9 = x\n"
                 "     |    ^\n");
}

TEST(Text, longLinesAreCut) {
  SourceManager sources;
  FileID file = sources.addText("a.tile", std::string(100000, 'x'));
  std::string out;
  llvm::raw_string_ostream os(out);
  DiagnosticEngine engine(sources);
  engine.setConsumer(TextRenderer(sources, os));
  engine.report(diag::chainedComparison, {file, 50000, 50001});
  EXPECT_LT(out.size(), 700u);
}

TEST(Json, oneObjectALine) {
  Fixture f;
  std::string out;
  llvm::raw_string_ostream os(out);
  f.engine.setConsumer(JsonRenderer(f.sources, os));
  f.engine.report(diag::expectedToken, f.yy, "\"", "\xff").note("n").fixIt(f.yy, "z", "t");
  f.engine.report(diag::chainedComparison, Range());
  llvm::StringRef first = llvm::StringRef(out).split('\n').first;
  auto value = llvm::json::parse(first);
  ASSERT_TRUE(bool(value));
  const llvm::json::Object &object = *value->getAsObject();
  EXPECT_EQ(object.getString("code"), "E0101");
  EXPECT_EQ(object.getObject("place")->getObject("begin")->getInteger("column"), 6);
  EXPECT_EQ(object.getArray("fixIts")->size(), 1u);
  EXPECT_EQ(llvm::StringRef(out).count('\n'), 2u);
  EXPECT_NE(out.find("\"place\":null"), std::string::npos);
}

TEST(Suggest, wordsOfOtherLanguages) {
  // The table says each word once, and no replacement is a foreign word itself.
  std::set<llvm::StringRef> words, replacements;
#define ALIAS(word, replacement, note)                                                             \
  EXPECT_TRUE(words.insert(word).second) << word;                                                  \
  replacements.insert(replacement);                                                                \
  EXPECT_TRUE(*replacement || *note) << word;
#include "frontend/Diag/Aliases.def"
  for (llvm::StringRef replacement : replacements)
    EXPECT_FALSE(words.count(replacement)) << replacement.str();

  Fixture f;
  auto fixOf = [&](llvm::StringRef name, const std::vector<std::string> &candidates) {
    {
      DiagnosticBuilder report = f.engine.report(diag::unknownName, f.yy, name);
      addSuggestion(report, f.yy, name, candidates);
    }
    const Diagnostic &last = f.engine.all().back();
    return last.fixIts.empty() ? std::string() : last.fixIts.front().replacement;
  };
  EXPECT_EQ(fixOf("maximum", {"maxnum", "max"}), "max"); // not the nearest
  EXPECT_EQ(fixOf("not", {"dot"}), "");                  // a note says what to write
  EXPECT_EQ(fixOf("float16", {"x"}), "");                // where no dtype can stand
  EXPECT_EQ(fixOf("True", {"x"}), "true");
  EXPECT_EQ(fixOf("blcok", {"block"}), "block");
}

TEST(Suggest, nearest) {
  EXPECT_EQ(suggest("blcok", {"blocks", "block", "black"}), "block");
  EXPECT_EQ(suggest("Acc", {"dot", "acc"}), "acc");
  EXPECT_EQ(suggest("x", {"y", "z"}), "");
  EXPECT_EQ(suggest("softmax", {"matmul", "relu"}), "");
  EXPECT_EQ(suggest("", {"a"}), "");
}

} // namespace
