// Counts a kernel's products by wgmma in its PTX and in its machine code.
//
// Instructions of machine code have 16 bytes since Volta. Of the first 8, the lowest 9 bits say
// what the instruction does, whichever form its operands have, and bits 16 to 23 the register that
// its result begins at. An assembler may repeat a product, as where it copies a loop's body, but
// each is asked for by a volatile statement: none is superfluous.
#include "codegen/LostProducts.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace tile {

/// How many products the PTX of each kernel has that has any.
static StringMap<size_t> countInPTX(StringRef ptx) {
  StringMap<size_t> counts;
  for (StringRef rest = ptx.split(".entry ").second; !rest.empty();) {
    auto [kernel, behind] = rest.split(".entry ");
    StringRef name = kernel.take_until([](char c) { return c == '(' || isSpace(c); });
    if (size_t count = kernel.count("wgmma.mma_async"))
      counts[name] = count;
    rest = behind;
  }
  return counts;
}

/// How many products a kernel's machine code has whose sums some register gets.
static size_t countInMachineCode(ArrayRef<uint8_t> code) {
  constexpr size_t instructionBytes = 16;
  constexpr uint64_t operationBits = 0x1ff, firstProduct = 0x1f0, lastProduct = 0x1f3;
  constexpr uint64_t noRegister = 0xff;
  size_t count = 0;
  for (; code.size() >= instructionBytes; code = code.drop_front(instructionBytes)) {
    uint64_t word = support::endian::read64le(code.data()), operation = word & operationBits;
    bool isProduct = operation >= firstProduct && operation <= lastProduct;
    count += isProduct && (word >> 16 & 0xff) != noRegister;
  }
  return count;
}

std::optional<std::string> findLostProducts(StringRef ptx, StringRef cubin) {
  StringMap<size_t> wanted = countInPTX(ptx);
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
    size_t has = countInMachineCode(*code), needs = wanted.lookup(kernel);
    if (has < needs)
      return formatv("it left out {0} of {1} products of '{2}'", needs - has, needs, kernel).str();
  }
  return std::nullopt;
}

} // namespace tile
