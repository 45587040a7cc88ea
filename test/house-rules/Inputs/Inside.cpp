// Reaches into the runtime.
#include "runtime/src/Module.h"
#include "manifest/Manifest.h"
