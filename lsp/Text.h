// The text of an open document, and the way between byte offsets and the protocol's positions.
#ifndef TILE_LSP_TEXT_H
#define TILE_LSP_TEXT_H

#include "llvm/Support/LSP/Protocol.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tile::lsp {

/// How clients count columns: bytes, or units of UTF-16, which is the protocol's default.
enum class Encoding { utf8, utf16 };

class Text {
public:
  explicit Text(std::string text = "", Encoding encoding = Encoding::utf16);

  llvm::StringRef str() const { return text; }
  Encoding getEncoding() const { return encoding; }
  size_t size() const { return text.size(); }

  /// Positions outside of the text mean the nearest one inside.
  uint32_t offset(llvm::lsp::Position position) const;
  llvm::lsp::Position position(uint32_t offset) const;
  llvm::lsp::Range range(uint32_t begin, uint32_t end) const {
    return {position(begin), position(end)};
  }
  uint32_t lineOf(uint32_t offset) const;
  size_t lines() const { return starts.size(); }
  /// Columns of the bytes [begin, end), which lie in one line.
  unsigned width(uint32_t begin, uint32_t end) const;

  /// Puts `with` in place of `range`.
  void replace(llvm::lsp::Range range, llvm::StringRef with);

private:
  void findLines();

  std::string text;
  Encoding encoding;
  std::vector<uint32_t> starts; // of lines
};

} // namespace tile::lsp

#endif
