// ANTLR's view of a file's bytes.
// A symbol is a byte, not a character: offsets of tokens are offsets into the text. The grammar
// spells what is beyond ASCII byte by byte.
#include "frontend/Parse/ByteStream.h"

using namespace tile;

size_t ByteStream::LA(ssize_t i) {
  if (i == 0)
    return 0; // as ANTLR defines it
  ssize_t at = ssize_t(position) + (i > 0 ? i - 1 : i);
  if (at < 0 || at >= ssize_t(bytes.size()))
    return antlr4::IntStream::EOF;
  return uint8_t(bytes[at]);
}

std::string ByteStream::getText(const antlr4::misc::Interval &interval) {
  return bytes.slice(size_t(interval.a), size_t(interval.b + 1)).str();
}
