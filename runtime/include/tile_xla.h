/* Kernels inside of programs that XLA compiles, as those of JAX: a handler of its foreign function
 * interface. */
#ifndef TILE_XLA_H
#define TILE_XLA_H

#ifdef __cplusplus
extern "C" {
#endif

struct XLA_FFI_CallFrame;
struct XLA_FFI_Error;

/* Launches a kernel on the call's buffers, for the platforms "cpu" and "CUDA". Attributes of the
 * call:
 *   kernel  i64: the address of a tile_kernel, which must stay loaded
 *   params  array of i64, three for each parameter in the source's order:
 *           0, the operand's number, 0       a tensor that is read
 *           1, the result's number, 0        one that is written (a result may alias an operand)
 *           2, bits, tile_dtype              a scalar
 *           3, 0, 0                          a default */
struct XLA_FFI_Error *tile_xla_launch(struct XLA_FFI_CallFrame *frame);

#ifdef __cplusplus
}
#endif
#endif
