// The parts that the fuzz targets of the runtime's readers share.
#ifndef TILE_TEST_FUZZ_READERS_READERS_H
#define TILE_TEST_FUZZ_READERS_READERS_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

inline std::string_view asText(const uint8_t *data, size_t size) {
  return std::string_view(reinterpret_cast<const char *>(data), size);
}

/// Ends the program where a property of every input does not hold, so that libFuzzer keeps the
/// input.
inline void require(bool holds, const char *broken) {
  if (holds)
    return;
  std::fprintf(stderr, "%s\n", broken);
  std::abort();
}

#endif
