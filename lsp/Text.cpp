// Positions are counted along their line only.
// Offsets are bytes from the begin of the text; columns of a client are bytes or UTF-16 units of a
// line, by `encoding`. A position beyond a line's end is the line's end, one beyond the text its
// end.
#include "lsp/Text.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace tile::lsp;
using llvm::lsp::Position;

/// Bytes of the character that begins with `lead`.
/// Of bytes that are no UTF-8 too: any answer but 0 keeps loops going on.
static unsigned bytesOf(unsigned char lead) {
  return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

Text::Text(std::string text, Encoding encoding) : text(std::move(text)), encoding(encoding) {
  findLines();
}

void Text::findLines() {
  starts.assign(1, 0);
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n')
      starts.push_back(uint32_t(i + 1));
}

uint32_t Text::lineOf(uint32_t offset) const {
  return uint32_t(llvm::upper_bound(starts, offset) - starts.begin()) - 1;
}

unsigned Text::width(uint32_t begin, uint32_t end) const {
  if (encoding == Encoding::utf8)
    return end - begin;
  unsigned units = 0;
  for (uint32_t at = begin; at < end; at += bytesOf(text[at]))
    // Characters beyond the basic plane are surrogate pairs.
    units += bytesOf(text[at]) == 4 ? 2 : 1;
  return units;
}

uint32_t Text::offset(Position position) const {
  if (position.line < 0)
    return 0;
  if (size_t(position.line) >= starts.size())
    return uint32_t(text.size());
  size_t line = position.line;
  uint32_t at = starts[line];
  uint32_t end = line + 1 < starts.size() ? starts[line + 1] - 1 : uint32_t(text.size());
  // Line ends are no part of a line, whichever they are.
  if (end > at && text[end - 1] == '\r')
    --end;
  int left = std::max(position.character, 0);
  while (at < end && left > 0) {
    unsigned bytes = bytesOf(text[at]);
    left -= encoding == Encoding::utf8 ? int(bytes) : bytes == 4 ? 2 : 1;
    at += bytes;
  }
  return std::min(at, end);
}

Position Text::position(uint32_t offset) const {
  offset = std::min<uint32_t>(offset, uint32_t(text.size()));
  uint32_t line = lineOf(offset);
  return {int(line), int(width(starts[line], offset))};
}

void Text::replace(llvm::lsp::Range range, llvm::StringRef with) {
  uint32_t begin = offset(range.start), end = std::max(begin, offset(range.end));
  text.replace(begin, end - begin, with.str());
  findLines();
}
