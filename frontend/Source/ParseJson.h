// JSON that users and other programs write, parsed so that no text can exhaust the stack.
#ifndef TILE_FRONTEND_SOURCE_PARSEJSON_H
#define TILE_FRONTEND_SOURCE_PARSEJSON_H

#include "llvm/Support/JSON.h"

namespace tile {

/// Arrays and objects that may stand in each other. LLVM's parser recurses over them.
constexpr unsigned maxJsonDepth = 100;

/// Whether arrays and objects stand in each other deeper than that.
bool isTooDeep(llvm::StringRef text);

/// The document, or an error that says what is wrong with it: no JSON, or nested too deep.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

} // namespace tile

#endif
