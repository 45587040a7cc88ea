// reader-growth: counts the steps that each reader of files takes for inputs of n, 2n and 4n
// pieces. A step is a basic block of the reader's own code, which is compiled with
// -fsanitize-coverage=trace-pc; no clock is asked. A reader whose steps more than double (by a
// tenth, for what is sorted) with its input fails.
#include "formats/Image.h"
#include "formats/Npy.h"
#include "formats/Package.h"
#include "formats/Signature.h"
#include "manifest/Json.h"
#include "test/unit/runtime/Cubin.h"
#include "test/unit/runtime/Kernels.h"

#include <cstdint>
#include <cstdio>
#include <functional>

using namespace tile::runtime;

static uint64_t steps;

extern "C" __attribute__((no_sanitize("coverage"))) void __sanitizer_cov_trace_pc() { ++steps; }

/// The steps of one reader on one input.
static uint64_t count(const std::function<void(const std::string &)> &read,
                      const std::string &input) {
  steps = 0;
  read(input);
  return steps;
}

static std::string repeated(const std::string &piece, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i)
    text += piece;
  return text;
}

/// "piece0,piece1,...": each `#` of the piece is the number.
static std::string numbered(const std::string &piece, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) {
    std::string one = piece;
    for (size_t at; (at = one.find('#')) != std::string::npos;)
      one.replace(at, 1, std::to_string(i));
    text += (i ? "," : "") + one;
  }
  return text;
}

static Manifest manyKernels(size_t times) {
  Manifest manifest;
  manifest.compiler = "tilec";
  manifest.target = "sm_90";
  manifest.binary = {1, std::string(32, '0')};
  for (size_t i = 0; i < times; ++i) {
    manifest.kernels.push_back(testing::matmul());
    manifest.kernels.back().symbol += std::to_string(i);
  }
  return manifest;
}

static std::string manyDims(size_t times) {
  Manifest manifest = manyKernels(1);
  Kernel &kernel = manifest.kernels.front();
  for (size_t i = 0; i < times; ++i)
    kernel.dims.push_back(testing::dim(("d" + std::to_string(i)).c_str()));
  return toJson(manifest);
}

static std::string package(size_t times) {
  Package result;
  result.compiler = "tilec";
  for (size_t i = 0; i < times; ++i)
    result.sources.push_back({"", "source/f" + std::to_string(i) + ".tile", "kernel k() {}\n"});
  std::string bytes;
  if (writePackage(result, bytes))
    std::puts("no package is written");
  return bytes;
}

static std::string npy(size_t spaces) {
  std::string dict =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (0, )," + std::string(spaces, ' ') + "}\n";
  std::string bytes("\x93NUMPY\x02\x00", 8);
  for (int i = 0; i < 4; ++i)
    bytes += char(dict.size() >> (8 * i));
  return bytes + dict;
}

static std::string sections(size_t times) {
  std::string bytes = testing::cubin();
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::string section = bytes.substr(header.e_shoff);
  header.e_shnum = uint16_t(times);
  std::memcpy(&bytes[0], &header, sizeof header);
  return bytes + repeated(section, times - 1);
}

int main() {
  auto json = [](const std::string &text) {
    std::string error;
    parseJson(text, error);
  };
  auto manifest = [](const std::string &text) {
    std::string error;
    parseManifest(text, error);
  };
  auto packages = [](const std::string &bytes) {
    Package result;
    readPackage(bytes, "input", result);
  };
  auto arrays = [](const std::string &bytes) {
    NpyArray array;
    parseNpy(bytes, "input", std::nullopt, array);
  };
  auto images = [](const std::string &bytes) {
    ImageKind kind;
    inspectImage(bytes, "input", kind);
  };
  auto signatures = [](const std::string &bytes) {
    std::string comment;
    verifySignature("a package\n", bytes,
                    "RWRtvT19hYkXxTh7zMfwAqh8Z00Io/3CPKb5/yupQKrgFw04a1NSZOmW", "input", comment);
  };
  struct Case {
    const char *name;
    size_t pieces;
    std::function<void(const std::string &)> read;
    std::function<std::string(size_t)> make;
  };
  const Case cases[] = {
      {"JSON, objects of an array", 2000, json,
       [](size_t n) { return "[" + numbered("{\"a\":#}", n) + "]"; }},
      {"JSON, keys of an object", 2000, json,
       [](size_t n) { return "{" + numbered("\"k#\":1", n) + "}"; }},
      {"JSON, a string", 20000, json,
       [](size_t n) { return "\"" + repeated("\\u00e4", n) + "\""; }},
      {"manifest, kernels", 50, manifest, [](size_t n) { return toJson(manyKernels(n)); }},
      {"manifest, dimensions of a kernel", 500, manifest, manyDims},
      {"manifest, words behind its end", 5000, manifest,
       [](size_t n) { return toJson(manyKernels(1)) + repeated(" x", n); }},
      {"package, files", 100, packages, package},
      {"package, bytes that are none", 20000, packages,
       [](size_t n) { return "PK\x03\x04" + repeated("PK\x05\x06", n); }},
      {".npy, spaces of the header", 5000, arrays, npy},
      {"cubin, sections", 1000, images, sections},
      {"PTX, lines before its target", 2000, images,
       [](size_t n) { return repeated("// a comment\n", n) + ".version 8.0\n.target sm_90\n"; }},
      {"signature, lines", 5000, signatures,
       [](size_t n) { return "untrusted comment: x\n" + repeated("RWRtvT19\n", n); }},
  };
  int failed = 0;
  for (const Case &each : cases) {
    uint64_t once = count(each.read, each.make(each.pieces)),
             twice = count(each.read, each.make(2 * each.pieces)),
             often = count(each.read, each.make(4 * each.pieces));
    // What every input costs is in `once`, too, so that it never counts against a reader.
    bool grows = twice > once * 22 / 10 || often > twice * 22 / 10;
    failed += grows;
    std::printf("%-34s %9llu %9llu %9llu steps%s\n", each.name, (unsigned long long)once,
                (unsigned long long)twice, (unsigned long long)often,
                grows ? ": more than linear" : "");
  }
  std::printf("%d readers grow faster than their input\n", failed);
  return failed != 0;
}
