// tile-fuzz: libFuzzer over source texts. Whatever the text, the compiler must come to an end with
// or without messages; it must not crash, hang, need a gigabyte, fail internally, or report a place
// that is none.
//
// TILE_FUZZ_STAGE names the last stage that runs (as for --emit; tile-opt unless given),
// TILE_FUZZ_TARGET the target (sm_90a). Inputs are changed token by token
// (LLVMFuzzerCustomMutator), so that most of them still parse.
#include "driver/compile/Compile.h"
#include "llvm/Support/raw_ostream.h"
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

using namespace tile;

static const char *const words[] = {"kernel",
                                    "fn",
                                    "const",
                                    "import",
                                    "as",
                                    "let",
                                    "var",
                                    "for",
                                    "while",
                                    "break;",
                                    "continue;",
                                    "return;",
                                    "present(x)",
                                    "view(x, 0, [4, 4])",
                                    "trips(8)",
                                    "if",
                                    "else",
                                    "return",
                                    "in",
                                    "with",
                                    "true",
                                    "false",
                                    "None",
                                    "where",
                                    "specialize",
                                    "grid",
                                    "tune",
                                    "key",
                                    "config",
                                    "opt",
                                    "step",
                                    "out",
                                    "inout",
                                    "(",
                                    ")",
                                    "[",
                                    "]",
                                    "{",
                                    "}",
                                    ",",
                                    ";",
                                    ":",
                                    "..",
                                    "..=",
                                    "=",
                                    "==",
                                    "!=",
                                    "<",
                                    "<=",
                                    ">",
                                    ">=",
                                    "+",
                                    "-",
                                    "*",
                                    "/",
                                    "%",
                                    "&",
                                    "|",
                                    "^",
                                    "~",
                                    "!",
                                    "<<",
                                    ">>",
                                    "&&",
                                    "||",
                                    "+=",
                                    "-=",
                                    "*=",
                                    ".",
                                    ".T",
                                    ".shape",
                                    ".dtype",
                                    ".start",
                                    ".end",
                                    ".size",
                                    "bool",
                                    "i8",
                                    "i16",
                                    "i32",
                                    "i64",
                                    "u8",
                                    "u16",
                                    "u32",
                                    "u64",
                                    "f16",
                                    "bf16",
                                    "f32",
                                    "f64",
                                    "f8e4m3",
                                    "f8e5m2",
                                    "i4",
                                    "u4",
                                    "index",
                                    "int",
                                    "float",
                                    "string",
                                    "dtype",
                                    "0",
                                    "1",
                                    "2",
                                    "-1",
                                    "3",
                                    "16",
                                    "64",
                                    "1000000",
                                    "9223372036854775807",
                                    "18446744073709551615",
                                    "0x7fffffff",
                                    "0b1",
                                    "1.5",
                                    "1e400",
                                    "1e-5",
                                    "inf",
                                    "nan",
                                    "\"full\"",
                                    "\"tf32\"",
                                    "\"\\n\"",
                                    "x",
                                    "y",
                                    "a",
                                    "b",
                                    "N",
                                    "M",
                                    "n",
                                    "m",
                                    "i",
                                    "T",
                                    "_",
                                    "exp",
                                    "log",
                                    "sqrt",
                                    "pow",
                                    "abs",
                                    "sign",
                                    "floor",
                                    "min",
                                    "max",
                                    "clamp",
                                    "fma",
                                    "isnan",
                                    "popcount",
                                    "clz",
                                    "mulhi",
                                    "cdiv",
                                    "next_pow2",
                                    "identity",
                                    "bitcast",
                                    "lowest",
                                    "highest",
                                    "zeros",
                                    "full",
                                    "iota",
                                    "reshape",
                                    "permute",
                                    "broadcast",
                                    "concat",
                                    "stack",
                                    "repeat",
                                    "flip",
                                    "take",
                                    "sum",
                                    "prod",
                                    "any",
                                    "all",
                                    "count",
                                    "argmax",
                                    "argmin",
                                    "reduce",
                                    "scan",
                                    "cumsum",
                                    "cumprod",
                                    "dot",
                                    "sort",
                                    "topk",
                                    "histogram",
                                    "atomic_add",
                                    "atomic_max",
                                    "atomic_cas",
                                    "rand",
                                    "randn",
                                    "randint",
                                    "random_bits",
                                    "ptx",
                                    "print",
                                    "assert",
                                    "static_assert",
                                    "load",
                                    "store",
                                    "gather",
                                    "scatter",
                                    "inside",
                                    "block",
                                    "blocks",
                                    "at",
                                    "axis:",
                                    "keep:",
                                    "pad:",
                                    "mask:",
                                    "end:",
                                    "step:",
                                    "order:",
                                    "scope:",
                                    "reverse:",
                                    "precision:",
                                    "warps(4)",
                                    "stages(3)",
                                    "persistent",
                                    "grouped(8)",
                                    "split(2)",
                                    "unroll(2)",
                                    "flatten",
                                    "fp(\"fast\")",
                                    "cluster(2)",
                                    "align(x, 4)",
                                    "alias(x, y)",
                                    "//",
                                    "/*",
                                    "*/",
                                    "\"",
                                    "\xc3\xa9",
                                    "target.kind",
                                    "target.arch"};

/// Words, numbers, operators and the space between them.
static std::vector<std::string> tokens(const std::string &text) {
  std::vector<std::string> result;
  for (size_t i = 0; i < text.size();) {
    size_t begin = i;
    auto isWord = [&](size_t at) { return std::isalnum(uint8_t(text[at])) || text[at] == '_'; };
    if (isWord(i))
      while (i < text.size() && isWord(i))
        ++i;
    else if (std::isspace(uint8_t(text[i])))
      while (i < text.size() && std::isspace(uint8_t(text[i])))
        ++i;
    else
      ++i;
    result.push_back(text.substr(begin, i - begin));
  }
  return result;
}

static std::string join(const std::vector<std::string> &parts, size_t limit) {
  std::string text;
  for (const std::string &part : parts)
    text += part;
  text.resize(std::min(text.size(), limit));
  return text;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  std::minstd_rand random(seed);
  if (random() % 20 == 0 || size == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::vector<std::string> parts = tokens(std::string(reinterpret_cast<char *>(data), size));
  for (unsigned changes = 1 + random() % 3; changes-- && !parts.empty();) {
    size_t at = random() % parts.size(), other = random() % parts.size(), length = 1 + random() % 6;
    length = std::min(length, parts.size() - at);
    const char *word = words[random() % (sizeof words / sizeof *words)];
    switch (random() % 8) {
    case 0:
      parts.erase(parts.begin() + at, parts.begin() + at + length);
      break;
    case 1:
      parts.insert(parts.begin() + at, word);
      break;
    case 2:
    case 3:
      parts[at] = word;
      break;
    case 4: // a piece copied elsewhere
    {
      std::vector<std::string> piece(parts.begin() + at, parts.begin() + at + length);
      parts.insert(parts.begin() + other, piece.begin(), piece.end());
      break;
    }
    case 5:
      std::swap(parts[at], parts[other]);
      break;
    default: // a word in place of one of its kind
      if (std::isalnum(uint8_t(parts[at][0])) && std::isalnum(uint8_t(parts[other][0])))
        parts[at] = parts[other];
      else
        parts[at] = word;
    }
  }
  std::string text = join(parts, maxSize);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t firstSize,
                                            const uint8_t *second, size_t secondSize, uint8_t *out,
                                            size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  std::vector<std::string> a =
      tokens(std::string(reinterpret_cast<const char *>(first), firstSize));
  std::vector<std::string> b =
      tokens(std::string(reinterpret_cast<const char *>(second), secondSize));
  if (a.empty() || b.empty())
    return 0;
  size_t at = random() % a.size(), from = random() % b.size(),
         length = std::min<size_t>(1 + random() % 40, b.size() - from);
  a.insert(a.begin() + at, b.begin() + from, b.begin() + from + length);
  std::string text = join(a, maxSize);
  std::memcpy(out, text.data(), text.size());
  return text.size();
}

static Stage lastStage() {
  const char *name = std::getenv("TILE_FUZZ_STAGE");
  std::optional<Stage> stage = name ? findStage(name) : std::nullopt;
  return stage.value_or(Stage::TileOpt);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::string path = "/dev/shm/tile-fuzz-" + std::to_string(getpid()) + ".tile";
  static const Stage last = lastStage();
  if (FILE *file = std::fopen(path.c_str(), "wb")) {
    std::fwrite(data, 1, size, file);
    std::fclose(file);
  }
  Options options;
  options.inputs = {path};
  if (const char *target = std::getenv("TILE_FUZZ_TARGET"))
    options.target = target;
  Session session(options, llvm::nulls());
  {
    Compiler compiler(options, session, path);
    compiler.run(last);
  }
  if (session.getExitCode() == exitInternal || session.getExitCode() == exitCall)
    std::abort(); // an internal error, or a failure without a message
  return 0;
}
