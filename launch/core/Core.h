/* The launcher's core: what is known of each kernel, as tables, and all that a launch checks and
 * does with them. One text, in C11 that is C++ too: the runtime library compiles it and encodes
 * manifests into the tables when it loads them (launch/Validate.h), generated C carries it with its
 * tables written out (codegen/CSource). docs/Launcher.md says how the parts fit together. */
#ifndef TILE_CORE_H
#define TILE_CORE_H

#include "launch/core/Driver.h"
#include "manifest/Arithmetic.h"
#include "runtime/include/tile_types.h"

#ifdef __cplusplus
#define TK_THREAD thread_local
#else
#define TK_THREAD _Thread_local
#endif
#define TK_FORMAT(text, rest) __attribute__((format(printf, text, rest)))

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tables ---- */

enum { TK_MAX_RANK = 8, TK_MAP_RANK = 5 };

/* What an instruction has in `operand` beside an operator. */
enum { TK_UNARY = 1, TK_ON_FLOATS = 2, TK_STACK = 64 };

typedef struct {
  int op;
  int64_t operand; /* the integer, the slot, the depth; of operators a sum of the flags above */
} tk_instruction;

/* An expression over slots: its text, and which slots it names. A single integer or name has no
 * code. */
typedef struct {
  const char *text;
  int is_integer, slot; /* slot: where the whole expression is one name; else -1 */
  int64_t constant;
  int begin, end; /* of the kernel's code */
  const int *names;
  int name_count;
} tk_expr;

typedef enum { TK_EXTENT, TK_PLUS, TK_TIMES, TK_STRIDE, TK_VALUE } tk_form;

/* A named dimension, named stride or scalar, and where it gets its value: of a float the bits as a
 * double. */
typedef struct {
  const char *name;
  int is_dim, is_float, form, param, axis;
  int64_t constant; /* TK_PLUS: extent = value + constant; TK_TIMES: extent = constant * value */
  int64_t min, max, multiple;
  const char *contract;
  int line;
} tk_slot;

/* A dimension of a tensor. Numbers of expressions; -1 for none. */
typedef struct {
  int extent, binds, stride;
} tk_axis;

typedef struct {
  const char *name;
  int kind, dtype, bits, access, rank;
  unsigned align; /* a power of two; of scalars 1 */
  int line, dense, first_stride;
  int has_default;
  uint64_t default_bits;
  int fills;
  uint64_t fill_bits;
  const tk_axis *axes;
} tk_param;

typedef struct {
  int expr;
  int of_scalars; /* it names scalars and nothing else */
  const char *text;
  int line;
} tk_contract;

/* Part of the condition under which a variant is chosen: an expression, or (param >= 0) the
 * alignment of a tensor. */
typedef struct {
  int expr, param;
  unsigned align;
  const char *text;
  int line;
} tk_fact;

typedef enum { TK_ARG_PARAM, TK_ARG_DIM, TK_ARG_MAP, TK_ARG_SCRATCH } tk_argument_kind;
typedef struct {
  int kind, index;
} tk_argument;

/* How a kernel's copies by TMA see a tensor: see TensorMap in manifest/Manifest.h. */
typedef struct {
  int param, rank;
  unsigned order[TK_MAP_RANK], box[TK_MAP_RANK], swizzle, steps[TK_MAP_RANK];
} tk_map;

typedef struct {
  const char *name, *symbol, *signature, *file, *variant;
  int line, number, unit; /* which instance of its build, in which binary */
  int param_count, required, stride_count, has_outputs;
  const tk_param *params;
  int slot_count;
  const tk_slot *slots;
  const tk_expr *exprs;
  const tk_instruction *code;
  int contract_count;
  const tk_contract *contracts;
  int fact_count;
  const tk_fact *facts;
  int grid_count;
  const int *grid;
  int argument_count;
  const tk_argument *arguments;
  int map_count;
  const tk_map *maps;
  const unsigned char *may_alias; /* params x params; NULL: none */
  unsigned threads, shared_bytes, scratch_bytes, cluster;
  int shared_taken; /* what a launch needs of shared_bytes: an expression; -1: all of them */
  int persistent, scratch_shared; /* shared: by all programs */
  void (*host)(const void *const *arguments, int64_t begin, int64_t end); /* on the CPU */
} tk_kernel;

/* What a launch does. The caller gives the arrays, as long as the kernel's counts. */
typedef struct {
  int empty, is_retry, has_free; /* is_retry: free strides get values that the contracts allow */
  int64_t programs, *extents, *values, *strides;
  unsigned shared_bytes; /* of a block */
  uint64_t *spans; /* bytes from the first to the last element; 0 of scalars and empty tensors */
  uint64_t *cells; /* machine arguments; those of tensor maps and scratch memory are 0 */
} tk_plan;

/* ---- Messages: Message.c ---- */

typedef struct {
  char *large; /* for what is too long for `small` */
  size_t length, capacity;
  char small[4096];
} tk_message;

/* Each thread's own, and its text. */
TK_CORE tk_message *tk_said(void);
TK_CORE const char *tk_text(const tk_message *message);
TK_CORE void tk_clear(void);
TK_CORE TK_FORMAT(1, 2) void tk_say(const char *format, ...);
TK_CORE TK_FORMAT(2, 3) void tk_add_text(tk_message *message, const char *format, ...);
/* Starts a message: "softmax: ". */
TK_CORE void tk_about(const tk_kernel *k);
/* Ends it with the source line. */
TK_CORE tile_code tk_fail(const tk_kernel *k, tile_code code, int line);
TK_CORE const char *tk_dtype_name(int dtype);
/* " ('a', dimension 1)": where a value came from. */
TK_CORE void tk_say_origin(const tk_kernel *k, const tk_slot *s);
/* ": K = 12 ('a', dimension 1), N = 8 ('b', dimension 1)". */
TK_CORE void tk_say_values(const tk_kernel *k, int expr, const int64_t *values);

/* ---- Values: Value.c ---- */

TK_CORE int64_t tk_run_code(const tk_kernel *k, const tk_expr *e, const int64_t *values,
                            int *overflow);
/* A scalar's value as a slot has it. */
TK_CORE int64_t tk_decode(uint64_t bits, int dtype);

static inline __attribute__((unused)) int64_t tk_eval(const tk_kernel *k, int expr,
                                                      const int64_t *values, int *overflow) {
  const tk_expr *e = &k->exprs[expr];
  if (e->slot >= 0)
    return values[e->slot];
  return e->begin == e->end ? e->constant : tk_run_code(k, e, values, overflow);
}

/* ---- Checks: Check.c, Memory.c ---- */

static inline __attribute__((unused)) int tk_is_empty(const tile_argument *a) {
  for (int32_t i = 0; i < a->rank; ++i)
    if (a->shape[i] == 0)
      return 1;
  return 0;
}
static inline __attribute__((unused)) int tk_takes_count(const tk_kernel *k, size_t count) {
  return count >= (size_t)k->required && count <= (size_t)k->param_count;
}
/* Whether two parameters must not share memory: one is written, and no alias is declared. */
static inline __attribute__((unused)) int tk_must_differ(const tk_kernel *k, int i, int j) {
  return (k->params[i].access != TILE_IN || k->params[j].access != TILE_IN) &&
         !(k->may_alias && k->may_alias[i * k->param_count + j]);
}
TK_CORE tile_code tk_check_call(const tk_kernel *k, const tile_argument *a, size_t count,
                                int unchecked);
TK_CORE tile_code tk_bind(const tk_kernel *k, const tile_argument *a, size_t count, tk_plan *plan);
TK_CORE tile_code tk_check_dims(const tk_kernel *k, const tile_argument *a, size_t count,
                                const tk_plan *plan);
/* Ranges, conditions and a variant's facts; for an empty grid those of scalars alone. */
TK_CORE tile_code tk_check_contracts(const tk_kernel *k, const tk_plan *plan);
/* Checks the arguments of a launch, in the language's order, and plans it. */
TK_CORE tile_code tk_check(const tk_kernel *k, const tile_argument *a, size_t count, int unchecked,
                           tk_plan *plan);

/* Strided memory; `strides` in elements. */
typedef struct {
  uint64_t address;
  int bits, rank;
  const int64_t *shape, *strides;
} tk_region;
/* Bytes from the first to past the last element; UINT64_MAX for 2^63 or more. */
TK_CORE uint64_t tk_span(const tk_region *r);
/* Whether two share a byte. Exact for tensors of at most 8 dimensions, interleaved slices of one
 * buffer included; where an exact answer would take too long (strides that are not nested), or
 * elements are smaller than a byte, regions whose spans meet count as overlapping. */
TK_CORE int tk_overlaps(const tk_region *a, const tk_region *b);
/* Whether two elements of one tensor share memory. Exact but for strides that are not nested and
 * would take too long: those count as overlapping. */
TK_CORE int tk_overlaps_itself(const tk_region *r);

/* ---- Choice of an instance: Select.c ---- */

/* How well arguments suit an instance: 0 not, 1 by count, kinds and dtypes, 2 by ranks and constant
 * extents too. */
TK_CORE int tk_fits(const tk_kernel *k, const tile_argument *a, size_t count);
/* Whether a variant's facts hold for arguments that fit. */
TK_CORE int tk_holds(const tk_kernel *k, const tile_argument *a, size_t count, tk_plan *plan);
/* Of `total` instances the first that fits and whose facts hold; an empty call is any's whose
 * checks pass. Where only one comes into question, that one, whose checks then say what is wrong.
 * `get` tells the instances of `list`; `plan` suffices for each of them. */
TK_CORE tile_code tk_select(const tk_kernel *(*get)(const void *list, int index), const void *list,
                            int total, const tile_argument *a, size_t count, tk_plan *plan,
                            int *chosen);

/* ---- Fills: Fill.c ---- */

/* A tensor to fill: dimensions that lie densely in each other are one, strides in elements fall. */
typedef struct {
  void *data;
  uint64_t bits; /* of an element, in the low bytes */
  unsigned elementBytes, rank;
  int64_t shape[TK_MAX_RANK], strides[TK_MAX_RANK];
} tk_fill;
/* `rows` times `width` cells of `cellBytes` (1, 2 or 4), rows `pitchBytes` apart. */
typedef struct {
  char *data;
  uint32_t value;
  unsigned cellBytes;
  int64_t pitchBytes, width, rows;
} tk_block;
/* Of a tensor that is not empty. */
TK_CORE void tk_make_fill(tk_fill *fill, void *data, uint64_t bits, unsigned element_bytes,
                          unsigned rank, const int64_t *shape, const int64_t *strides);
/* That of an argument; 0 where there is none, or the tensor is empty. */
TK_CORE int tk_get_fill(const tk_kernel *k, const tile_argument *a, const tk_plan *plan, int param,
                        tk_fill *fill);
/* Calls `write` until everything is covered or it fails. */
TK_CORE tile_code tk_each_block(const tk_fill *fill,
                                tile_code (*write)(const tk_block *block, void *context),
                                void *context);
/* Fills memory of this process, with any value. */
TK_CORE void tk_fill_host(const tk_fill *fill);

#ifdef __cplusplus
}
#endif

#endif
