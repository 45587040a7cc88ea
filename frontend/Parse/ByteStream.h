// The input of ANTLR's lexer: the bytes of a file, so that token positions are byte offsets.
#ifndef TILE_FRONTEND_PARSE_BYTESTREAM_H
#define TILE_FRONTEND_PARSE_BYTESTREAM_H

#include "antlr4-runtime.h"

#include "llvm/ADT/StringRef.h"

namespace tile {

/// A character stream of bytes 0 … 255 over text that it does not own or copy.
class ByteStream : public antlr4::CharStream {
public:
  explicit ByteStream(llvm::StringRef text) : bytes(text) {}

  void consume() override { ++position; }
  size_t LA(ssize_t i) override;
  ssize_t mark() override { return -1; }
  void release(ssize_t) override {}
  size_t index() override { return position; }
  void seek(size_t index) override { position = index < bytes.size() ? index : bytes.size(); }
  size_t size() override { return bytes.size(); }
  std::string getSourceName() const override { return "tile"; }
  std::string getText(const antlr4::misc::Interval &interval) override;
  std::string toString() const override { return bytes.str(); }

private:
  llvm::StringRef bytes;
  size_t position = 0;
};

} // namespace tile

#endif
