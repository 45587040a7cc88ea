// A check that looks at what is above it.
#include "mlir/IR/Value.h"
#include "frontend/Lower/Emits.h"
#include "llvm/ADT/StringRef.h"
