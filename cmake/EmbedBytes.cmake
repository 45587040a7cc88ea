# Writes OUTPUT: C++ that defines tile::NAME, the bytes of the file INPUT, and tile::NAMESize.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX
  REPLACE "(................................................................................)"
  "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "// Made by cmake/EmbedBytes.cmake.
#include <cstddef>
namespace tile {
extern const unsigned char ${NAME}[] = {
${bytes}};
extern const size_t ${NAME}Size = sizeof ${NAME};
} // namespace tile
")
