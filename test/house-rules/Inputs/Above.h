// A header of the manifest that needs what needs it.
#include "launch/Validate.h"
#include "llvm/ADT/StringRef.h"
#include "manifest/Expr.h"
