// Matches what a command line says of arguments to what one kernel declares.
#ifndef TILE_FRONTEND_SEMA_MATCHITEMS_H
#define TILE_FRONTEND_SEMA_MATCHITEMS_H

#include "frontend/Ast/Decl.h"
#include "frontend/Diag/Engine.h"
#include "frontend/Sema/ArgItem.h"

#include <map>

namespace tile {

/// What items mean for one kernel.
struct MatchedItems {
  /// Values of compile-time parameters, as of -D.
  std::vector<std::pair<std::string, std::string>> defines;
  /// The others; a Value has its `number`, a Tensor is taken apart.
  std::vector<ArgItem> facts;
};

/// Reports what contradicts the kernel; an item whose name no chosen kernel declares is left to the
/// caller, which finds it missing in `used`. False after an error.
bool matchItems(const ast::KernelDecl &kernel, const std::vector<ArgItem> &items,
                DiagnosticEngine &diagnostics, MatchedItems &matched,
                std::map<std::string, bool> &used);

/// The names that items may use: compile-time parameters, dimensions, strides, parameters.
std::vector<std::string> itemNames(const ast::KernelDecl &kernel);

} // namespace tile

#endif
