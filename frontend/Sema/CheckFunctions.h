// Checks of functions for what can be told without a call: names, numbers of arguments, targets of
// assignments.
#ifndef TILE_FRONTEND_SEMA_CHECKFUNCTIONS_H
#define TILE_FRONTEND_SEMA_CHECKFUNCTIONS_H

#include "frontend/Ast/Decl.h"
#include "frontend/Diag/Engine.h"
#include "frontend/Sema/Modules.h"

namespace tile {

/// Reports what is wrong in every function of `program`, called or not, whatever it is called with:
/// names that nothing declares, calls of the file's functions and of built-ins with a wrong number
/// of arguments, assignments to what is no `var`, a `return` that does not stand last. Constants
/// are checked too.
void checkFunctions(const ast::Program &program, const Modules &modules,
                    DiagnosticEngine &diagnostics);

} // namespace tile

#endif
