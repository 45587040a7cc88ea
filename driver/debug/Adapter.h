// The parts of the debug adapter: its messages, and the variables that a client may open.
#ifndef TILE_DRIVER_DEBUG_ADAPTER_H
#define TILE_DRIVER_DEBUG_ADAPTER_H

#include "driver/debug/Debugger.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/JSON.h"

namespace tile::debug {

/// Standard input and output as the protocol uses them.
class Channel {
public:
  /// The next message; nothing at the input's end. What is no JSON is an empty object.
  std::optional<llvm::json::Object> read();
  void sendEvent(llvm::StringRef event, llvm::json::Object body = {});
  void respond(const llvm::json::Object &request, llvm::json::Object body = {});
  void refuse(const llvm::json::Object &request, const llvm::Twine &message);

private:
  void send(llvm::json::Object message);

  int64_t sequence = 1;
};

/// References by which a client asks for the variables of a frame, 0 the innermost, and for the
/// arguments. Those of tiles begin at 1.
constexpr int64_t firstFrameReference = 1000000, argumentsReference = firstFrameReference - 1;

/// Variables and their elements, by reference.
class VariableTree {
public:
  explicit VariableTree(Debugger &debugger) : debugger(debugger) {}

  /// The variables, rows or elements behind a reference; empty if there is no such reference.
  llvm::json::Array list(int64_t reference);

private:
  llvm::json::Object describe(const std::string &name, const std::string &dtype);
  /// Rows of a tile, or elements of one row. A copy, since `references` grows.
  void listElements(Query query, llvm::json::Array &variables);

  Debugger &debugger;
  std::vector<Query> references; ///< of tiles, from 1
};

} // namespace tile::debug

#endif
