// The automaton finds the tokens that ANTLR's lexer finds, whatever the text.
#include "frontend/Parse/TokenList.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include "gtest/gtest.h"

#include <random>

using namespace tile;

namespace {

/// One line for each token: all that a parser can ask it for.
std::string listTokens(antlr4::CommonTokenStream &tokens) {
  tokens.fill();
  std::string out;
  for (antlr4::Token *token : tokens.getTokens())
    out += std::to_string(token->getType()) + "/" + std::to_string(token->getChannel()) + " " +
           std::to_string(token->getStartIndex()) + ".." +
           std::to_string(int64_t(token->getStopIndex())) + " " + std::to_string(token->getLine()) +
           ":" + std::to_string(token->getCharPositionInLine()) + " #" +
           std::to_string(token->getTokenIndex()) + " " + token->getText() + "\n";
  return out;
}

void expectSameTokens(llvm::StringRef text) {
  ByteStream stream(text);
  TileLexer lexer(&stream);
  lexer.removeErrorListeners();
  antlr4::CommonTokenStream wanted(&lexer);
  TokenList found(text);
  ASSERT_EQ(listTokens(found), listTokens(wanted)) << text.str();
  // What the parser sees from each place, forwards and backwards.
  std::vector<antlr4::Token *> seen;
  for (const std::unique_ptr<antlr4::Token> &token : found.all())
    if (token->getChannel() == antlr4::Token::DEFAULT_CHANNEL)
      seen.push_back(token.get());
  for (ssize_t i = 0, last = ssize_t(seen.size()) - 1; i <= last; ++i, found.consume()) {
    for (ssize_t ahead : {1, 2, 5})
      ASSERT_EQ(found.LT(ahead), seen[size_t(std::min(i + ahead - 1, last))]) << text.str();
    for (ssize_t back : {1, 2})
      ASSERT_EQ(found.LT(-back), i < back ? nullptr : seen[size_t(i - back)]) << text.str();
    ASSERT_EQ(found.LA(1), seen[size_t(i)]->getType()) << text.str();
  }
}

TEST(Automaton, findsWhatAntlrFindsInFiles) {
  unsigned files = 0;
  std::error_code error;
  for (const char *folder : {TILE_TEST_INPUTS, TILE_TEST_EXAMPLES})
    for (llvm::sys::fs::recursive_directory_iterator it(folder, error), end; it != end && !error;
         it.increment(error))
      if (llvm::sys::path::extension(it->path()) == ".tile") {
        auto buffer = llvm::MemoryBuffer::getFile(it->path());
        ASSERT_TRUE(buffer);
        expectSameTokens((*buffer)->getBuffer());
        ++files;
      }
  EXPECT_GT(files, 70u);
}

TEST(Automaton, findsWhatAntlrFindsInAnyText) {
  const std::vector<std::string> pieces = {"kernel",
                                           "kernels",
                                           "in",
                                           "inout",
                                           "struct",
                                           "None",
                                           "x",
                                           "_",
                                           "E1",
                                           "0",
                                           "07",
                                           "0x",
                                           "0xfg",
                                           "0b2",
                                           "1.5",
                                           "1.",
                                           ".5",
                                           "1e",
                                           "1e-5",
                                           "1..8",
                                           "1f",
                                           "1_0",
                                           "\"",
                                           "\\",
                                           "\\\"",
                                           "'",
                                           "/",
                                           "//",
                                           "///",
                                           "////",
                                           "/*",
                                           "*/",
                                           "*",
                                           "**/",
                                           "\n",
                                           "\r\n",
                                           "\r",
                                           "\t",
                                           "\f",
                                           "\v",
                                           " ",
                                           "..",
                                           "..=",
                                           ".",
                                           "<<=",
                                           "<",
                                           "=",
                                           "==",
                                           "!",
                                           "!=",
                                           "&&",
                                           "&",
                                           "|",
                                           "@",
                                           "#",
                                           "\xC3\xA4",
                                           "\xF0\x9D\x9B\xBC",
                                           "\xEF\xBB\xBF",
                                           "\x80",
                                           "\xFF",
                                           std::string(1, '\0'),
                                           "\x7f"};
  std::mt19937 random(1);
  for (unsigned round = 0; round < 3000; ++round) {
    std::string text;
    for (unsigned i = random() % 12; i-- > 0;)
      text += random() % 8 ? pieces[random() % pieces.size()] : std::string(1, char(random()));
    expectSameTokens(text);
  }
}

} // namespace
