// The grammar: free of ambiguities on the acceptance kernels, in ANTLR's SLL and LL modes.
#include "frontend/Parse/ByteStream.h"

#include "TileLexer.h"
#include "TileParser.h"

#include "llvm/Support/MemoryBuffer.h"

#include "gtest/gtest.h"

using namespace tile;

namespace {

/// Counts what a grammar of quality does not cause: errors, ambiguities, and decisions that need
/// the full context.
class Reports : public antlr4::BaseErrorListener {
public:
  unsigned errors = 0, ambiguities = 0, fullContexts = 0;

  void syntaxError(antlr4::Recognizer *, antlr4::Token *, size_t line, size_t column,
                   const std::string &message, std::exception_ptr) override {
    ++errors;
    ADD_FAILURE() << line << ":" << column << ": " << message;
  }
  void reportAmbiguity(antlr4::Parser *, const antlr4::dfa::DFA &, size_t, size_t, bool,
                       const antlrcpp::BitSet &, antlr4::atn::ATNConfigSet *) override {
    ++ambiguities;
  }
  void reportAttemptingFullContext(antlr4::Parser *, const antlr4::dfa::DFA &, size_t, size_t,
                                   const antlrcpp::BitSet &, antlr4::atn::ATNConfigSet *) override {
    ++fullContexts;
  }
};

Reports parseWith(llvm::StringRef text, antlr4::atn::PredictionMode mode) {
  ByteStream stream(text);
  TileLexer lexer(&stream);
  antlr4::CommonTokenStream tokens(&lexer);
  TileParser parser(&tokens);
  Reports reports;
  parser.removeErrorListeners();
  parser.addErrorListener(&reports);
  parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(mode);
  parser.program();
  return reports;
}

class Acceptance : public testing::TestWithParam<const char *> {};

TEST_P(Acceptance, parsesWithoutAmbiguity) {
  auto file = llvm::MemoryBuffer::getFile(std::string(TILE_TEST_INPUTS "/") + GetParam() + ".tile");
  ASSERT_TRUE(file);
  using Mode = antlr4::atn::PredictionMode;
  for (Mode mode : {Mode::SLL, Mode::LL, Mode::LL_EXACT_AMBIG_DETECTION}) {
    Reports reports = parseWith((*file)->getBuffer(), mode);
    EXPECT_EQ(reports.errors, 0u);
    EXPECT_EQ(reports.ambiguities, 0u);
    EXPECT_EQ(reports.fullContexts, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Acceptance,
                         testing::Values("matmul", "softmax", "attention", "matmul_w4",
                                         "cross_entropy", "grouped_matmul", "everything"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
