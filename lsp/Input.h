// The stream of the client's messages.
#ifndef TILE_LSP_INPUT_H
#define TILE_LSP_INPUT_H

#include "llvm/Support/LSP/Transport.h"

#include <functional>

namespace tile::lsp {

/// Reads messages from a file descriptor. Before it would wait for the client it calls `onIdle`:
/// work that many edits in a row need once is done there.
class Input : public llvm::lsp::JSONTransportInput {
public:
  Input(int descriptor, std::function<void()> onIdle)
      : descriptor(descriptor), onIdle(std::move(onIdle)) {}

  bool hasError() const override { return failed; }
  bool isEndOfInput() const override { return ended && buffer.size() == used; }
  llvm::LogicalResult readDelimitedMessage(std::string &) override { return llvm::failure(); }
  llvm::LogicalResult readStandardMessage(std::string &json) override;

private:
  bool fill();
  bool readLine(std::string &line);

  /// Longer messages than any editor sends are skipped.
  static constexpr size_t mostBytes = size_t(64) << 20;

  int descriptor;
  std::function<void()> onIdle;
  std::string buffer;
  size_t used = 0;
  bool failed = false, ended = false;
};

} // namespace tile::lsp

#endif
