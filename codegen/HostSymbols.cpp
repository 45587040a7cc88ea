// Reads the undefined symbols of an object file and compares them with a list.
// A symbol outside of the list is a mistake of the compiler, found when the file is written instead
// of when it is loaded elsewhere.
#include "codegen/HostSymbols.h"
#include "codegen/Translate.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace tile {

/// Functions of libm that LLVM calls for its intrinsics.
static bool isMathematical(StringRef name) {
  name.consume_back("f");
  return StringSwitch<bool>(name)
      .Cases({"fma", "fmod", "floor", "ceil", "trunc", "rint", "nearbyint", "round"}, true)
      .Cases({"sqrt", "exp", "exp2", "log", "log2", "log10", "pow", "sin", "cos", "tan"}, true)
      .Cases({"roundeven", "fmin", "fmax", "ldexp"}, true)
      .Default(false);
}

static bool isProvided(StringRef name) {
  return isMathematical(name) ||
         StringSwitch<bool>(name)
             .Cases({"memcpy", "memmove", "memset", "memcmp"}, true)
             .Cases({"abort", "dprintf"}, true)
             .Case("__assert_fail", true) // of `assert`, with -g
             .Case("_GLOBAL_OFFSET_TABLE_", true)
             // Of f16, in every libgcc that has the type; those of bf16 came later.
             .Cases({"__extendhfsf2", "__truncsfhf2", "__truncdfhf2"}, true)
             // Of integers of 128 bits.
             .Cases({"__multi3", "__divti3", "__modti3", "__udivti3", "__umodti3"}, true)
             .Default(false);
}

Error checkHostSymbols(StringRef object) {
  auto file = object::ObjectFile::createObjectFile(MemoryBufferRef(object, "kernel"));
  if (!file)
    return file.takeError();
  for (const object::SymbolRef &symbol : (*file)->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    if (!(*flags & object::SymbolRef::SF_Undefined))
      continue;
    Expected<StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    if (!name->empty() && !isProvided(*name))
      return makeError("the code for the CPU calls '" + *name +
                       "', which not every system has: it could not be loaded there");
  }
  return Error::success();
}

} // namespace tile
