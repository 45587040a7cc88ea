// Warns of locals that nothing reads.
#ifndef TILE_FRONTEND_SEMA_UNUSEDNAMES_H
#define TILE_FRONTEND_SEMA_UNUSEDNAMES_H

#include "frontend/Ast/Decl.h"
#include "frontend/Diag/Engine.h"

namespace tile {

/// Reports each `let` and `var` of `program` that no expression names, whatever compile-time branch
/// it stands in. What is only assigned to counts as not read.
void reportUnusedNames(const ast::Program &program, DiagnosticEngine &diagnostics);

} // namespace tile

#endif
