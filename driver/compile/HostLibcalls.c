/* Conversions of 16-bit floats that code for the CPU calls by name, for the shared objects of
 * packages: the functions of generated C. They are weak and hidden there, so that each shared
 * object has its own. */
#include <stdint.h>
#include <string.h>

#include "codegen/CSource/Libcalls.c"
