// The compile request of a call (docs/CompileRequest.md): read, made of options, and printed.
#ifndef TILE_DRIVER_REQUEST_REQUEST_H
#define TILE_DRIVER_REQUEST_REQUEST_H

#include "driver/options/Options.h"
#include "manifest/CompileRequest.h"
#include "llvm/ADT/StringSet.h"

namespace tile {

/// Reads a compile request. None, with what is wrong and what to do in `error`. `given`: names of
/// the fields that it has.
std::optional<runtime::CompileRequest>
parseCompileRequest(llvm::StringRef text, llvm::StringSet<> &given, std::string &error);

/// The request that makes the same in another process: with the target, card and processor that
/// this one has found.
runtime::CompileRequest makeRequest(const Options &options);

/// --print-request: writes the request of the options to standard output. False after a message.
bool printRequest(const Options &options);

/// What --request names; empty where the call has none.
std::string getRequestPath(const Options &options);

} // namespace tile

#endif
