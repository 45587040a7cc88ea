/* Codes, dtypes and arguments of the C interface: the types that the runtime library and generated
 * C code share. */
#ifndef TILE_TYPES_H
#define TILE_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* What went wrong; values keep their meaning between versions. */
typedef enum tile_code {
  TILE_OK = 0,
  TILE_ERROR_CALL = 1,       /* the call itself: a NULL handle, a shape that is missing */
  TILE_ERROR_IO = 2,         /* a file cannot be read */
  TILE_ERROR_MANIFEST = 3,   /* the manifest is malformed or too new */
  TILE_ERROR_BINARY = 4,     /* the binary is corrupt, truncated or does not match its manifest */
  TILE_ERROR_TARGET = 5,     /* the binary is for another kind of device */
  TILE_ERROR_DRIVER = 6,     /* no usable CUDA driver or device */
  TILE_ERROR_CUDA = 7,       /* the CUDA driver refused a call */
  TILE_ERROR_MEMORY = 8,     /* out of host memory */
  TILE_ERROR_KERNEL = 9,     /* no kernel of that name */
  TILE_ERROR_INSTANCE = 10,  /* no instance of the kernel fits the arguments */
  TILE_ERROR_SIGNATURE = 11, /* a package is not signed by the key that was asked for */
  TILE_ERROR_COMPILE = 12,   /* the source does not compile; the message is the compiler's */
  TILE_ERROR_COMPILER = 13,  /* the compiler is not found, does not start, or failed by itself */
  /* Arguments, in the order in which they are checked (launch/core/Memory.c, tk_check_once). */
  TILE_ERROR_COUNT = 20,
  TILE_ERROR_NULL = 21,
  TILE_ERROR_DTYPE = 22,
  TILE_ERROR_RANK = 23,
  TILE_ERROR_DIM = 24, /* an extent contradicts the declaration, or another tensor */
  TILE_ERROR_CONTRACT = 25,
  TILE_ERROR_STRIDE = 26,
  TILE_ERROR_ALIGNMENT = 27,
  TILE_ERROR_OVERLAP = 28,
  TILE_ERROR_GRID = 29,     /* more than 2^31 - 1 programs */
  TILE_ERROR_FILL = 30,     /* of former versions: fills of 8 bytes whose halves differ */
  TILE_ERROR_RESIDENCY = 31 /* memory that the kernel's device does not reach */
} tile_code;

typedef enum tile_dtype {
  TILE_BOOL,
  TILE_I8,
  TILE_I16,
  TILE_I32,
  TILE_I64,
  TILE_U8,
  TILE_U16,
  TILE_U32,
  TILE_U64,
  TILE_F16,
  TILE_BF16,
  TILE_F32,
  TILE_F64,
  TILE_F8E4M3,
  TILE_F8E5M2,
  TILE_I4,
  TILE_U4
} tile_dtype;

/* Elements in memory, for signatures of generated functions. Types that C lacks are their bits. */
typedef uint8_t tile_bool;  /* 0 or 1 */
typedef uint16_t tile_f16;  /* IEEE half precision; cast a pointer to __half or _Float16 */
typedef uint16_t tile_bf16; /* the upper half of an f32; cast a pointer to __nv_bfloat16 */
typedef uint8_t tile_f8;    /* f8e4m3 or f8e5m2 */
typedef uint8_t tile_i4x2;  /* two of i4 or u4, the first in the low bits */

typedef enum tile_kind {
  TILE_TENSOR = 0,
  TILE_SCALAR = 1,
  TILE_DEFAULT = 2 /* as an argument: the scalar's default value */
} tile_kind;

typedef enum tile_access { TILE_IN = 0, TILE_OUT = 1, TILE_INOUT = 2 } tile_access;

/* One argument of a launch. Zero what is not used. */
typedef struct tile_argument {
  int32_t kind;  /* tile_kind */
  int32_t dtype; /* tile_dtype */
  /* Tensors. */
  void *data; /* address of element [0, ..., 0], on the device for a CUDA kernel */
  int32_t rank;
  const int64_t *shape;   /* `rank` extents; may be NULL when rank is 0 */
  const int64_t *strides; /* `rank` strides in elements; NULL for dense row-major */
  int64_t bytes; /* accessible bytes from `data`, so that a tensor too large for its memory is
                    refused; 0: unknown */
  /* Scalars: the value's bits, in the low bytes. */
  uint64_t bits;
} tile_argument;

/* Flags of a launch. */
enum {
  /* The caller vouches for the arguments: only what dispatch and the grid need is looked at. */
  TILE_LAUNCH_UNCHECKED = 1,
  /* Asks the driver where each tensor's memory lies, which costs some microseconds: host memory
   * that the driver does not know, or another device's, is refused for a GPU's kernel, a device's
   * memory for the CPU's. Generated C for the CPU knows no driver: no check there. */
  TILE_LAUNCH_CHECK_MEMORY = 2
};

#endif
