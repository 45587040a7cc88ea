// Looks into a kernel's machine code for what its PTX asks for.
//
// Instructions of machine code have 16 bytes since Volta. Of the first 8, the lowest 9 bits say
// what the instruction does, whichever form its operands have, and bits 16 to 23 the register that
// its result begins at. An assembler may repeat a product, as where it copies a loop's body, but
// each is asked for by a volatile statement: none is superfluous.
//
// PLOP3 has two results, each of the same three predicates by a table of its own. In
//   and.pred p, a, b;  or.pred q, a, b;
// both become one PLOP3. Where p turns out to be unused after that, ptxas takes its place for q:
//   PLOP3.LUT q, PT, a, PT, b, 0x80, 0xc8        table 0x80 is the `and`, 0xc8 the `or`
// Of an instruction with a table for a result that nobody keeps, no one can say which was meant.
#include "codegen/AssemblerMistakes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace tile {

namespace {

/// What a kernel's PTX asks for.
struct Wanted {
  size_t products = 0;
  bool hasTests = false; // both `and.pred` and `or.pred`
};

/// What a kernel's machine code has.
struct Found {
  size_t products = 0; // those whose sums some register gets
  bool hasHalfTest = false;
};

} // namespace

static StringMap<Wanted> readPTX(StringRef ptx) {
  StringMap<Wanted> wanted;
  for (StringRef rest = ptx.split(".entry ").second; !rest.empty();) {
    auto [kernel, behind] = rest.split(".entry ");
    StringRef name = kernel.take_until([](char c) { return c == '(' || isSpace(c); });
    Wanted needs{kernel.count("wgmma.mma_async"),
                 kernel.contains("and.pred") && kernel.contains("or.pred")};
    if (needs.products || needs.hasTests)
      wanted[name] = needs;
    rest = behind;
  }
  return wanted;
}

static Found readMachineCode(ArrayRef<uint8_t> code) {
  constexpr size_t instructionBytes = 16, halfBytes = 8;
  constexpr uint64_t operationBits = 0x1ff, firstProduct = 0x1f0, lastProduct = 0x1f3;
  constexpr uint64_t noRegister = 0xff;
  constexpr uint64_t formBits = 0xfff, tests = 0x81c, noPredicate = 7;
  Found found;
  for (; code.size() >= instructionBytes; code = code.drop_front(instructionBytes)) {
    uint64_t word = support::endian::read64le(code.data()), operation = word & operationBits;
    uint64_t third = word >> 16 & 0xff;
    bool isProduct = operation >= firstProduct && operation <= lastProduct;
    found.products += isProduct && third != noRegister;
    if ((word & formBits) != tests || third == 0)
      continue;
    uint64_t results = support::endian::read64le(code.data() + halfBytes) >> 17;
    found.hasHalfTest |=
        (results & noPredicate) == noPredicate || (results >> 3 & noPredicate) == noPredicate;
  }
  return found;
}

std::optional<std::string> findMistake(StringRef ptx, StringRef cubin) {
  StringMap<Wanted> wanted = readPTX(ptx);
  if (wanted.empty())
    return std::nullopt;
  auto file = object::ELFFile<object::ELF64LE>::create(cubin);
  if (!file) {
    consumeError(file.takeError());
    return std::nullopt;
  }
  auto sections = file->sections();
  if (!sections) {
    consumeError(sections.takeError());
    return std::nullopt;
  }
  for (const auto &section : *sections) {
    auto name = file->getSectionName(section);
    auto code = file->getSectionContents(section);
    if (!name || !code) {
      consumeError(name.takeError());
      consumeError(code.takeError());
      continue;
    }
    StringRef kernel = *name;
    if (!kernel.consume_front(".text."))
      continue;
    auto needs = wanted.find(kernel);
    if (needs == wanted.end())
      continue;
    Found found = readMachineCode(*code);
    size_t has = found.products, all = needs->second.products;
    if (has < all)
      return formatv("it left out {0} of {1} products of '{2}'", all - has, all, kernel).str();
    if (needs->second.hasTests && found.hasHalfTest)
      return formatv("it may have taken one test for another in '{0}'", kernel).str();
  }
  return std::nullopt;
}

} // namespace tile
