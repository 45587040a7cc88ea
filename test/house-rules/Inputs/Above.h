// A header of the manifest that needs what needs it.
#ifndef TILE_MANIFEST_ABOVE_H
#define TILE_MANIFEST_ABOVE_H

#include "launch/Validate.h"
#include "llvm/ADT/StringRef.h"
#include "manifest/Expr.h"

#endif
