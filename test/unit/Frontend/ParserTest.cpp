// The parser: the AST it builds, the errors it reports, and that no input breaks it.
#include "frontend/Parse/Parser.h"
#include "frontend/Ast/Printer.h"
#include "frontend/Diag/TextRenderer.h"

#include "llvm/Support/FileSystem.h"

#include "gtest/gtest.h"

using namespace tile;
using namespace tile::ast;

namespace {

struct Parsed {
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  FileID file;
  std::unique_ptr<Program> program;

  explicit Parsed(llvm::StringRef text) : file(sources.addText("test.tile", text)) {
    program = parseFile(sources, file, diagnostics);
    EXPECT_EQ(program == nullptr, diagnostics.hasErrors());
  }

  /// Everything reported: code, place and message of each error.
  std::string messages() const {
    std::string out;
    for (const Diagnostic &d : diagnostics.all()) {
      LineColumn place = sources.begin(d.range);
      out += std::string(d.code()) + " " + std::to_string(place.line) + ":" +
             std::to_string(place.column) + " " + d.message + "\n";
    }
    return out;
  }

  std::string dump() const {
    std::string out;
    llvm::raw_string_ostream os(out);
    if (program)
      print(*program, sources, os);
    return out;
  }
};

std::string errorsOf(llvm::StringRef text) { return Parsed(text).messages(); }
std::string errorsIn(llvm::StringRef body) {
  return errorsOf(("kernel k() {\n" + body + "\n}\n").str());
}

const KernelDecl &onlyKernel(const Parsed &parsed) {
  return *llvm::cast<KernelDecl>(parsed.program->decls.back().get());
}

TEST(Parser, readsEveryConstruct) {
  std::string error;
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  auto file = sources.addFile(TILE_TEST_INPUTS "/everything.tile", error);
  ASSERT_TRUE(file) << error;
  auto program = parseFile(sources, *file, diagnostics);
  ASSERT_TRUE(program);
  ASSERT_EQ(program->decls.size(), 6u);
  EXPECT_EQ(llvm::cast<ImportDecl>(program->decls[1].get())->path, "std/online_softmax.tile");
  EXPECT_EQ(program->decls[1]->name.text, "soft");
  EXPECT_EQ(program->decls[4]->doc, "Doubles.\nTwice over.");

  auto &kernel = *llvm::cast<KernelDecl>(program->decls[5].get());
  EXPECT_EQ(kernel.doc, "");
  ASSERT_EQ(kernel.statics.size(), 5u);
  EXPECT_TRUE(kernel.statics[1].set->inclusive);
  EXPECT_EQ(llvm::cast<StringLiteral>(kernel.statics[2].set->values[1].get())->value, "causal\n");
  ASSERT_EQ(kernel.params.size(), 8u);
  EXPECT_EQ(kernel.params[0].doc, "The input.");
  ASSERT_EQ(kernel.params[0].type.strides.size(), 2u);
  EXPECT_FALSE(kernel.params[0].type.strides[0].value);
  EXPECT_TRUE(kernel.params[1].count);
  EXPECT_TRUE(kernel.params[2].type.hasShape);
  EXPECT_EQ(kernel.params[5].access, Access::inout);
  EXPECT_TRUE(kernel.params[5].condition);
  EXPECT_EQ(kernel.params[6].access, Access::none);
  EXPECT_EQ(kernel.clauses.size(), 6u);
  ASSERT_TRUE(kernel.clause<TuneClause>());
  EXPECT_EQ(kernel.clause<TuneClause>()->items.size(), 6u);
  EXPECT_EQ(kernel.body.statements.size(), 18u);
}

TEST(Parser, readsEveryExample) {
  std::error_code code;
  unsigned files = 0;
  for (llvm::sys::fs::recursive_directory_iterator it(TILE_TEST_EXAMPLES, code), end;
       it != end && !code; it.increment(code)) {
    if (!llvm::StringRef(it->path()).ends_with(".tile"))
      continue;
    ++files;
    auto text = llvm::MemoryBuffer::getFile(it->path());
    ASSERT_TRUE(text);
    EXPECT_EQ(errorsOf((*text)->getBuffer()), "") << it->path();
  }
  EXPECT_FALSE(code) << code.message();
  EXPECT_GT(files, 5u);
}

TEST(Parser, precedenceAndRanges) {
  Parsed parsed("kernel k() { let x = -a * b as f32 + c[1..8].T; }");
  EXPECT_EQ(parsed.dump(), R"(Kernel k <1:1-1:50>
  body: Block <1:12-1:50>
    Let x <1:14-1:48>
      Binary + <1:22-1:47>
        Binary * <1:22-1:35>
          Unary - <1:22-1:24>
            Name a <1:23-1:24>
          Cast f32 <1:27-1:35>
            Name b <1:27-1:28>
        Member T <1:38-1:47>
          Subscript <1:38-1:45>
            base: Name c <1:38-1:39>
            at: Slice <1:40-1:44>
              lo: Int 1 <1:40-1:41>
              hi: Int 8 <1:43-1:44>
)");
}

TEST(Parser, castBindsTighterThanTimesAndLooserThanMinus) {
  Parsed parsed("const c = -x as f32 * y;");
  auto *times = llvm::dyn_cast<BinaryExpr>(
      llvm::cast<ConstDecl>(parsed.program->decls[0].get())->value.get());
  ASSERT_TRUE(times);
  EXPECT_EQ(times->op, BinaryOp::mul);
  auto *cast = llvm::dyn_cast<CastExpr>(times->lhs.get());
  ASSERT_TRUE(cast);
  EXPECT_TRUE(llvm::isa<UnaryExpr>(*cast->operand));
}

TEST(Parser, elseIfIsNestedIf) {
  Parsed parsed("kernel k() { if a { } else if b { } else { return; } }");
  auto *first = llvm::cast<IfStmt>(onlyKernel(parsed).body.statements[0].get());
  auto *second = llvm::cast<IfStmt>(first->elseBlock->statements[0].get());
  EXPECT_EQ(second->elseBlock->statements.size(), 1u);
}

TEST(Parser, numbers) {
  Parsed parsed("const a = [18446744073709551615, 0xFF_ff, 0b1_0, 1_000.5, 1e-5];");
  auto &list =
      *llvm::cast<ListExpr>(llvm::cast<ConstDecl>(parsed.program->decls[0].get())->value.get());
  EXPECT_EQ(llvm::cast<IntLiteral>(list.elements[0].get())->value, UINT64_MAX);
  EXPECT_EQ(llvm::cast<IntLiteral>(list.elements[1].get())->value, 0xffffu);
  EXPECT_EQ(llvm::cast<IntLiteral>(list.elements[2].get())->value, 2u);
  EXPECT_EQ(llvm::cast<FloatLiteral>(list.elements[3].get())->value, 1000.5);
  EXPECT_EQ(llvm::cast<FloatLiteral>(list.elements[3].get())->text, "1000.5");
  EXPECT_EQ(llvm::cast<FloatLiteral>(list.elements[4].get())->value, 1e-5);
}

TEST(Parser, strayDocComments) {
  EXPECT_EQ(
      errorsOf(
          "/// A kernel.\nkernel k(/// A tensor.\n  x: in f32[N]) {\n  /// Here.\n}\n/// End."),
      "W0101 4:3 this '///' comment documents nothing\nW0101 6:1 this '///' comment documents "
      "nothing\n");
  EXPECT_EQ(errorsOf("//// A rule.\nconst a = 1; // x\n"), "");
}

TEST(SyntaxErrors, text) {
  EXPECT_EQ(errorsOf("const a = 1 $ 2;"), "E0103 1:13 '$' is not part of the language\n");
  EXPECT_EQ(errorsOf("const a = \"abc\n;"), "E0106 1:11 this string is never closed\n");
  EXPECT_EQ(errorsOf("/* abc\n const a = 1; *"), "E0105 1:1 this comment is never closed\n");
  EXPECT_EQ(errorsOf("const a = 12ab;"), "E0107 1:11 '12ab' is not a number\n");
  EXPECT_EQ(errorsOf("const a = 1.;"), "E0107 1:11 '1.' is not a number\n");
  EXPECT_EQ(errorsOf("const a = .5;"), "E0107 1:11 '.5' is not a number\n");
  EXPECT_EQ(errorsOf("const a = 18446744073709551616;"),
            "E0108 1:11 18446744073709551616 does not fit in 64 bits\n");
  EXPECT_EQ(errorsOf("const a = 1e999;"), "E0126 1:11 1e999 is beyond the largest finite number\n");
  EXPECT_EQ(errorsOf("const a = \"\\q\";"), "E0109 1:12 '\\q' is not an escape sequence\n");
  EXPECT_EQ(errorsOf("const a = 1;\n// \xff"),
            "E0104 2:4 the file is not valid UTF-8 (byte 0xFF)\n");
  EXPECT_EQ(errorsOf("\xEF\xBB\xBF"
                     "const a = \"\xC3\xA9\"; // \xC3\xA9"),
            "");
  EXPECT_EQ(errorsOf(llvm::StringRef("const\0", 6)),
            "E0103 1:6 the control character 0x00 is not part of the language\n");
  EXPECT_EQ(errorsOf(""), "");
}

TEST(SyntaxErrors, expectations) {
  EXPECT_EQ(
      errorsOf("foo"),
      "E0101 1:1 expected a declaration (import, const, fn or kernel), found the name 'foo'\n");
  EXPECT_EQ(errorsOf("kernel (x) {}"), "E0101 1:8 expected a name, found '('\n");
  EXPECT_EQ(errorsOf("kernel for() {}"), "E0112 1:8 expected a name, found the keyword 'for'\n");
  EXPECT_EQ(errorsOf("fn type() {}"),
            "E0111 1:4 the word 'type' is reserved for later versions of the language\n");
  EXPECT_EQ(errorsOf("kernel k(x: in) {}"), "E0101 1:15 expected a type, found ')'\n");
  EXPECT_EQ(errorsOf("kernel k(x: f32"), "E0121 1:9 this '(' is never closed\n");
  EXPECT_EQ(errorsOf("kernel k() {\n  let x = 1;\n"), "E0121 1:12 this '{' is never closed\n");
  EXPECT_EQ(errorsOf("kernel k() grip (i: M) {}"),
            "E0101 1:12 expected a clause (where, specialize, grid, with or tune) or '{', found "
            "the name 'grip'\n");
  EXPECT_EQ(errorsOf("kernel k() with warps(4) with warps(8) {}"),
            "E0119 1:26 a kernel has at most one 'with' clause\n");
  EXPECT_EQ(
      errorsOf("fn f(x) return x;"),
      "E0120 1:9 expected '{' to open the body of the function, found the keyword 'return'\n");
  EXPECT_EQ(errorsOf("kernel k<N: int>() {}"),
            "E0113 1:9 compile-time arguments stand in square brackets, not in '<' '>'\n");
  EXPECT_EQ(errorsOf("const a = 1\nconst b = 2;"),
            "E0102 1:12 expected ';' after the constant, found the keyword 'const'\n");
  EXPECT_EQ(errorsOf("const a = [1, 2,];"), "");
  EXPECT_EQ(errorsOf("const a = (1,);"), "E0101 1:14 expected an expression, found ')'\n");
}

TEST(SyntaxErrors, statements) {
  EXPECT_EQ(errorsIn("let x = 1\nlet y = 2;"),
            "E0102 2:10 expected ';' after the statement, found the keyword 'let'\n");
  EXPECT_EQ(errorsIn("let x = a b;"), "E0101 2:11 expected ';', found the name 'b'\n");
  EXPECT_EQ(errorsIn("let x = ;"), "E0101 2:9 expected an expression, found ';'\n");
  EXPECT_EQ(errorsIn("let x: f32;"), "E0101 2:11 expected '=', found ';'\n");
  EXPECT_EQ(errorsIn("x + 1;"), "E0122 2:1 this expression does nothing\n");
  EXPECT_EQ(errorsIn("x == 1;"), "E0122 2:1 this expression does nothing\n");
  EXPECT_EQ(errorsIn("f(x) = 1;"), "E0123 2:1 cannot assign to this\n");
  EXPECT_EQ(errorsIn("(a, b[0]) = t;"), "E0123 2:5 cannot assign to this\n");
  EXPECT_EQ(errorsIn("x++;"), "E0118 2:2 there is no '++' operator\n");
  EXPECT_EQ(errorsIn("x--;"), "E0118 2:2 there is no '--' operator\n");
  EXPECT_EQ(errorsIn("if x = 1 { }"),
            "E0117 2:6 an assignment is a statement, not an expression\n");
  EXPECT_EQ(errorsIn("if x return;"),
            "E0120 2:6 expected '{' to open the body of `if`, found the keyword 'return'\n");
  EXPECT_EQ(errorsIn("for i in 0..3 { break; }"), "");
  EXPECT_EQ(errorsIn("const x = 1;"),
            "E0101 2:7 expected 'if' or 'for' after `const`, found the name 'x'\n");
}

TEST(SyntaxErrors, expressions) {
  EXPECT_EQ(errorsIn("let x = a < b < c;"), "E0114 2:15 comparisons do not chain\n");
  EXPECT_EQ(errorsIn("let x = a ? b : c;"), "E0115 2:11 there is no '?:' operator\n");
  EXPECT_EQ(errorsIn("let x = 1..2;"), "E0116 2:10 '..' is not an operator\n");
  EXPECT_EQ(errorsIn("let x = f<3>(y);"),
            "E0113 2:12 compile-time arguments stand in square brackets, not in '<' '>'\n");
  EXPECT_EQ(errorsIn("f(axis = 1);"),
            "E0125 2:8 expected ':' between an argument's name and its value, found '='\n");
  EXPECT_EQ(errorsIn("f(axis: 1, x);"), "E0127 2:12 positional arguments come before named ones\n");
  EXPECT_EQ(errorsIn("let x = ();"), "E0124 2:9 expected an expression, found '()'\n");
  EXPECT_EQ(errorsIn("f(a b);"), "E0101 2:5 expected ')' or ',', found the name 'b'\n");
  EXPECT_EQ(errorsIn("let x = x.type;"),
            "E0111 2:11 the word 'type' is reserved for later versions of the language\n");
}

TEST(SyntaxErrors, longTextIsAbbreviated) {
  EXPECT_LT(errorsOf("const a = " + std::string(100000, '9') + ";").size(), 200u);
  EXPECT_LT(errorsOf("const a = 1" + std::string(100000, 'x') + ";").size(), 200u);
}

TEST(SyntaxErrors, severalOnesInOneFile) {
  EXPECT_EQ(errorsIn("let n = 1\ny[n] = exp(x[n];\n"),
            "E0102 2:10 expected ';' after the statement, found the name 'y'\n"
            "E0101 3:16 expected ')' or ',', found ';'\n");
  EXPECT_EQ(
      errorsIn("let x = ;\nlet y = 1;\nlet z = 2;\nlet w = );\n"),
      "E0101 2:9 expected an expression, found ';'\nE0101 5:9 expected an expression, found ')'\n");
}

std::string repeat(llvm::StringRef text, unsigned n) {
  std::string out;
  for (unsigned i = 0; i < n; ++i)
    out += text;
  return out;
}

TEST(Limits, nestingUpToTheLimit) {
  EXPECT_EQ(errorsOf("const a = " + repeat("(", maxNesting) + "1" + repeat(")", maxNesting) + ";"),
            "");
  EXPECT_EQ(errorsOf("const a = " + repeat("-", maxNesting) + "1;"), "");
  EXPECT_EQ(errorsOf("const a = 1" + repeat(" + 1", maxExprDepth - 1) + ";"), "");
  EXPECT_EQ(errorsIn(repeat("if a { ", maxNesting - 1) + repeat("}", maxNesting - 1)), "");
}

TEST(Limits, beyond) {
  auto tooDeep = [](const std::string &text) {
    std::string errors = errorsOf(text);
    EXPECT_NE(errors.find("E0110"), std::string::npos) << errors.substr(0, 200);
    EXPECT_LT(errors.size(), 200u); // one error, not one for each level
  };
  for (const char *sign : {"(", "[", "-", "!(", "f(", "x[", "-(-"})
    tooDeep("const a = " + repeat(sign, 3000) + "1;");
  tooDeep("const a = 1" + repeat(" + 1", 3000) + ";");
  tooDeep("const a = x" + repeat("[0]", 3000) + ";");
  tooDeep("const a = x" + repeat(" as f32", 3000) + ";");
  tooDeep("const a = x" + repeat(".T", 3000) + ";");
  tooDeep("kernel k() {" + repeat("if a {", 3000));
  tooDeep("kernel k() { if a { }" + repeat(" else if a { }", 3000) + "}");
}

TEST(Limits, manyInARowAreFine) {
  EXPECT_EQ(errorsIn(repeat("if a { } else if b { } else { }\n", 500)), "");
  EXPECT_EQ(errorsOf("const a = [" + repeat("-1, ", 5000) + "1];"), "");
}

TEST(Limits, garbage) {
  // Deterministic noise from the language's own signs and words.
  const char *const pieces[] = {"kernel", "fn",     "const", "let", "for",  "if",  "else", "in",
                                "with",   "where",  "(",     ")",   "[",    "]",   "{",    "}",
                                ",",      ";",      ":",     "..",  "..=",  "=",   "==",   "<",
                                "+",      "-",      "*",     "as",  "x",    "1",   "1.5",  "\"s\"",
                                ".",      "return", "const", "opt", "tune", "key", "grid", "None"};
  uint64_t state = 1;
  for (unsigned round = 0; round < 400; ++round) {
    std::string text = round % 2 ? "kernel k() { " : "";
    for (unsigned i = 0; i < 40; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      text += pieces[(state >> 33) % std::size(pieces)];
      text += ' ';
    }
    Parsed parsed(text);
    std::string out;
    llvm::raw_string_ostream os(out);
    TextRenderer render(parsed.sources, os);
    for (const Diagnostic &d : parsed.diagnostics.all())
      render(d);
  }
}

TEST(Limits, errorsEnd) {
  std::string text;
  for (unsigned i = 0; i < 5000; ++i)
    text += "let x = ;\n";
  Parsed parsed("kernel k() {\n" + text);
  EXPECT_TRUE(parsed.diagnostics.limitReached());
  EXPECT_EQ(parsed.diagnostics.errors(), 20u);
}

} // namespace
