// The levels of the processors of the family that this compiler itself is built for.
#include "codegen/HostLevels.h"

using namespace llvm;

namespace tile {

ArrayRef<StringRef> getHostLevels() {
#if defined(__x86_64__)
  static const StringRef levels[] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
  return levels;
#elif defined(__aarch64__)
  static const StringRef levels[] = {"armv8-a"};
  return levels;
#else
  return {};
#endif
}

/// x86-64-v3 (AVX2), which nearly all servers have: v4 would not run on many.
StringRef getDefaultHostLevel() {
  ArrayRef<StringRef> levels = getHostLevels();
  return levels.size() == 4 ? levels[2] : levels.empty() ? StringRef() : levels.back();
}

} // namespace tile
