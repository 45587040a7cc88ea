/* C interface of the Tile runtime: load a compiled module, check arguments against a kernel's
 * contract, launch it.
 *
 * Every function that can fail returns a tile_error, NULL on success; the caller frees it with
 * tile_error_free. Nothing here prints, throws or ends the process. All functions may be called
 * from several threads at once; a handle must not be freed while another thread uses it. Strings
 * returned belong to the object that was asked and live as long as it does. */
#ifndef TILE_RUNTIME_H
#define TILE_RUNTIME_H

#include "tile_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TILE_RUNTIME_VERSION "0.1.0"

typedef struct tile_error tile_error;
typedef struct tile_module tile_module;
/* A kernel of a module: all instances of one source kernel. */
typedef struct tile_kernel tile_kernel;
/* One instance: every compile-time parameter bound. */
typedef struct tile_instance tile_instance;

/* ---- Errors ---- */

/* TILE_OK for NULL. */
tile_code tile_error_code(const tile_error *error);
/* One line, naming the parameter, dimension, value, contract and source line where there are such;
 * "" for NULL. */
const char *tile_error_message(const tile_error *error);
void tile_error_free(tile_error *error);

/* ---- Modules ---- */

/* What runs kernels. */
typedef enum tile_device {
  TILE_DEVICE_AUTO = 0, /* of a package: CUDA where there is a driver with a device, else the CPU */
  TILE_DEVICE_CUDA = 1,
  TILE_DEVICE_CPU =
      2 /* of a package with code for it: tensors lie in host memory, a launch waits for its end */
} tile_device;

/* Loads `path`: a package, or a cubin or PTX with its manifest `path`.json. The driver is touched
 * only at the first launch, or by tile_module_prepare; the binary is then loaded once for each
 * context that launches from it. */
tile_error *tile_module_load(const char *path, tile_module **module);
/* The same for a kind of device, a tile_device. */
tile_error *tile_module_load_device(const char *path, int32_t device, tile_module **module);
/* The same for a package that must be signed: `path`.minisig has to be its signature, made by
 * minisign with the secret key that belongs to `public_key` (the line "RW..." of its .pub file, or
 * the whole text of that file). The bytes that are verified are the bytes that are loaded. */
tile_error *tile_module_load_signed(const char *path, const char *public_key, int32_t device,
                                    tile_module **module);
/* A package in memory, which is copied. */
tile_error *tile_module_load_package(const void *bytes, size_t size, int32_t device,
                                     tile_module **module);
/* A cubin or PTX in memory; both buffers are copied. */
tile_error *tile_module_load_memory(const void *image, size_t image_size, const char *manifest,
                                    size_t manifest_size, tile_module **module);
/* Loads the binary into the calling thread's current context now (for instance before a graph is
 * captured). */
tile_error *tile_module_prepare(tile_module *module);
/* What callers should know although nothing has failed, once for each module: that the driver
 * compiles PTX for want of a cubin that fits the device, and what to compile for instead. Known
 * once a context has been used; NULL past the end. */
const char *tile_module_warning(const tile_module *module, size_t index);
/* Gives back the memory that code and scratch take in every context; the module, its kernels and
 * prepared calls stay, and what is launched next is loaded again. Launches under way must have
 * ended, and none may begin meanwhile. NULL is allowed. */
void tile_module_unload(tile_module *module);
/* Unloads from every context. Launches under way must have ended. NULL is allowed. */
void tile_module_free(tile_module *module);

/* TILE_DEVICE_CUDA or TILE_DEVICE_CPU. */
int32_t tile_module_device(const tile_module *module);
/* The code of kind "cubin", "ptx" or "so" for a target, or NULL; belongs to the module. */
const void *tile_module_code(const tile_module *module, const char *target, const char *kind,
                             size_t *size);
/* "cpu", "sm_80", "sm_90a" and so on; of a package with several GPU targets the first. */
const char *tile_module_target(const tile_module *module);
size_t tile_module_kernel_count(const tile_module *module);
/* The kernels in the order of the source; NULL past the end. */
tile_kernel *tile_module_kernel_at(tile_module *module, size_t index);
/* By source name; by an instance's symbol (a kernel of that one instance); or as NAME:VARIANT,
 * which runs that variant or fails. Belongs to the module. */
tile_error *tile_module_kernel(tile_module *module, const char *name, tile_kernel **kernel);

/* ---- Launching ---- */

/* Chooses the instance that fits the arguments, checks them, fills what is declared with a fill
 * value, and launches on `stream` (a CUstream; NULL is the default stream) in the calling thread's
 * current context. With no current context, the primary context of device 0 becomes current.
 * Arguments stand in source order; trailing ones that have a default may be left out. A grid
 * without programs succeeds without a launch. Does not wait for the kernel. */
tile_error *tile_kernel_launch(tile_kernel *kernel, const tile_argument *arguments, size_t count,
                               void *stream, uint32_t flags);

/* The same with arguments in any order, each with its parameter's name; those that have a default
 * may be left out. */
tile_error *tile_kernel_launch_named(tile_kernel *kernel, const char *const *names,
                                     const tile_argument *arguments, size_t count, void *stream,
                                     uint32_t flags);
/* Place of a parameter among the arguments, or -1. */
int32_t tile_kernel_param(const tile_kernel *kernel, const char *name);

/* A call that is checked once and launched many times, with other addresses and on other streams.
 */
typedef struct tile_prepared tile_prepared;
/* Chooses the instance that fits the arguments and checks them as tile_kernel_launch does, but
 * launches nothing. Shapes and strides are copied. A kernel found as NAME:VARIANT prepares that
 * variant. */
tile_error *tile_kernel_prepare(tile_kernel *kernel, const tile_argument *arguments, size_t count,
                                tile_prepared **prepared);
/* Launches with the shapes that were prepared. `values[i]` stands for argument i: the address of a
 * tensor, the bits of a scalar, anything for a default; `count` is that of the arguments prepared.
 * NULL and 0 launch with those themselves. Of the checks, those of addresses stay: null, alignment,
 * overlap. Where a scalar changes on which shapes, grid or contracts depend, all is checked again.
 * Several threads may launch one object at once. */
tile_error *tile_prepared_launch(const tile_prepared *prepared, const uint64_t *values,
                                 size_t count, void *stream, uint32_t flags);
/* The same with arguments instead of values: dtypes, shapes and strides are compared with those
 * that were prepared, which takes some nanoseconds, and memory that is known to be too small is
 * refused. What tile_prepared_launch gets has no sizes: whoever calls it vouches for as much memory
 * behind each address as was prepared. */
tile_error *tile_prepared_launch_arguments(const tile_prepared *prepared,
                                           const tile_argument *arguments, size_t count,
                                           void *stream, uint32_t flags);
/* Puts another variant in its place, by name, "" for the generic one, and checks the arguments
 * against it; where that fails, nothing changes. Not while another thread launches the object. */
tile_error *tile_prepared_pin(tile_prepared *prepared, const char *variant);
/* The instance that is launched. */
const tile_instance *tile_prepared_instance(const tile_prepared *prepared);
/* NULL is allowed. To be done before the module is freed. */
void tile_prepared_free(tile_prepared *prepared);

enum { TILE_MAX_RANK = 8 };
typedef struct tile_shape {
  int32_t dtype, rank;
  int64_t extents[TILE_MAX_RANK];
} tile_shape;
/* Dtype and shape of the parameter of that place, as they follow from the others: arguments that
 * are not known yet, such as the outputs to be allocated, are TILE_DEFAULT or left out at the end.
 * Does not touch the device. */
tile_error *tile_kernel_shape(const tile_kernel *kernel, const tile_argument *arguments,
                              size_t count, size_t param, tile_shape *shape);

enum { TILE_MAX_AXES = 8 };

/* What a launch would do. */
typedef struct tile_launch_plan {
  const tile_instance *instance;
  int64_t programs; /* product of the extents */
  int32_t axes;
  int64_t extents[TILE_MAX_AXES]; /* programs along each grid axis, slowest first */
} tile_launch_plan;

/* Checks as tile_kernel_launch does, and tells the instance and grid, without touching the device.
 * `dims`, if not NULL, takes the first `dim_count` values of the instance's named dimensions. */
tile_error *tile_kernel_plan(tile_kernel *kernel, const tile_argument *arguments, size_t count,
                             tile_launch_plan *plan, int64_t *dims, size_t dim_count);

/* ---- Questions ---- */

const char *tile_kernel_name(const tile_kernel *kernel);
/* The documentation comment, or "". */
const char *tile_kernel_doc(const tile_kernel *kernel);
size_t tile_kernel_instance_count(const tile_kernel *kernel);
const tile_instance *tile_kernel_instance(const tile_kernel *kernel, size_t index);

typedef struct tile_param_info {
  const char *name;
  int32_t kind;   /* tile_kind */
  int32_t dtype;  /* tile_dtype */
  int32_t access; /* tile_access, of a tensor */
  int32_t rank;
  int32_t has_default; /* of a scalar */
  uint32_t align;      /* of a tensor, in bytes */
} tile_param_info;

typedef struct tile_dim_info {
  const char *name;
  int64_t min, max, multiple_of;
  int64_t opt; /* the size tuned for; -1 where none is declared */
} tile_dim_info;

typedef struct tile_launch_info {
  uint32_t threads;      /* of one block */
  uint32_t shared_bytes; /* of dynamic shared memory */
  uint32_t registers;    /* of one thread; 0 if unknown */
  uint32_t spill_bytes;
} tile_launch_info;

const char *tile_instance_symbol(const tile_instance *instance);
/* The variant's name, "decode" or "N=1024"; "" for the generic one. */
const char *tile_instance_variant(const tile_instance *instance);
/* What must hold for the variant to be chosen, as written: "K % 64 == 0". NULL past the end. */
size_t tile_instance_condition_count(const tile_instance *instance);
const char *tile_instance_condition(const tile_instance *instance, size_t index);
/* As in the source: "softmax[T = f16, BLOCK = 1024](x: in f16[M, N], y: out f16[M, N])". */
const char *tile_instance_signature(const tile_instance *instance);
size_t tile_instance_param_count(const tile_instance *instance);
/* Returns 1, or 0 and leaves `info` alone when there is no such parameter. */
int tile_instance_param(const tile_instance *instance, size_t index, tile_param_info *info);
size_t tile_instance_dim_count(const tile_instance *instance);
int tile_instance_dim(const tile_instance *instance, size_t index, tile_dim_info *info);
void tile_instance_launch_info(const tile_instance *instance, tile_launch_info *info);

/* ---- Values ---- */

/* The name of a dtype, "f16"; NULL for a value that is none. */
const char *tile_dtype_name(int32_t dtype);
/* The dtype of that name, or -1. */
int32_t tile_dtype_from_name(const char *name);
/* Bits of a number in a dtype, rounded to nearest even for floats, for tile_argument.bits; fails
 * when an integer does not fit. */
tile_error *tile_scalar_bits(int32_t dtype, double value, uint64_t *bits);

/* What `tilec --target` has to be for a device of that compute capability; for one newer than this
 * library the newest whose PTX runs there; NULL where nothing does. */
const char *tile_target_name(int32_t major, int32_t minor);
/* What `tilec --gpu` has to be for a device of that name, as the driver gives it; NULL where its
 * card is not known. */
const char *tile_card_name(const char *device_name);

/* The runtime's version, TILE_RUNTIME_VERSION of its build. */
const char *tile_runtime_version(void);

#ifdef __cplusplus
}
#endif
#endif
