// The handler of XLA's foreign function interface. Its structures are declared here as far as they
// are used: version 0 of that interface keeps their layout, and each says its size.
#include "runtime/include/tile_xla.h"

#include "manifest/Dtype.h"
#include "runtime/src/Module.h"

#include <string>
#include <string_view>
#include <vector>

namespace {
/// Fields up to the last one that is used, in XLA's order. Sizes are those of XLA's version 0.
struct Extension {
  size_t size;
  int type;
  Extension *next;
};
constexpr int metadataExtension = 1;
struct Version {
  size_t size;
  Extension *extensions;
  int major, minor;
};
struct Metadata {
  size_t size;
  Version version;
  uint32_t traits;
};
struct MetadataExtension {
  Extension base;
  Metadata *metadata;
};
struct ErrorArguments {
  size_t size;
  Extension *extensions;
  const char *message;
  int code;
};
struct StreamArguments {
  size_t size;
  Extension *extensions;
  void *context;
  void *stream;
};
/// The table of XLA's functions, up to the last one that is used.
/// Functions that are not called are kept as pointers, for their places.
struct Api {
  size_t size;
  Extension *extensions;
  Version version;
  const void *internal;
  XLA_FFI_Error *(*createError)(ErrorArguments *);
  void *getMessage, *destroyError, *registerHandler;
  XLA_FFI_Error *(*getStream)(StreamArguments *);
};
struct Buffer {
  size_t size;
  Extension *extensions;
  int dtype;
  void *data;
  int64_t rank;
  int64_t *extents;
};
struct Bytes {
  const char *data;
  size_t size;
};
struct Scalar {
  int dtype;
  void *value;
};
struct Array {
  int dtype;
  size_t count;
  void *data;
};
struct Buffers {
  size_t size;
  Extension *extensions;
  int64_t count;
  int *types;
  void **buffers;
};
struct Attributes {
  size_t size;
  Extension *extensions;
  int64_t count;
  int *types;
  Bytes **names;
  void **values;
};
/// Numbers of XLA's attribute kinds and dtypes; values of enumerations that XLA keeps.
constexpr int arrayAttribute = 1, scalarAttribute = 3;
constexpr int typeOfI64 = 5;
constexpr int invalidArgument = 3, internalError = 13;
} // namespace

struct XLA_FFI_CallFrame {
  size_t size;
  Extension *extensions;
  const Api *api;
  void *context;
  int stage;
  Buffers operands, results;
  Attributes attributes;
};

/// The dtype of XLA's number, or -1.
/// The table of dtypes has XLA's number for each (manifest/Dtypes.def), -1 where XLA has none.
static int32_t getDtype(int type) {
  static const struct {
    int type;
    tile::runtime::Dtype dtype;
  } known[] = {
#define DTYPE(name, spelling, bits, family, use, product, dlpack, xla, ...)                        \
  {xla, tile::runtime::Dtype::name},
#include "manifest/Dtypes.def"
  };
  for (const auto &one : known)
    if (one.type == type && type >= 0)
      return int32_t(one.dtype);
  return -1;
}

static XLA_FFI_Error *fail(const XLA_FFI_CallFrame *frame, const char *message, int code) {
  ErrorArguments arguments = {sizeof arguments, nullptr, message, code};
  return frame->api->createError(&arguments);
}

/// Fills in one tensor; false where the buffer is of no dtype of tile, or absent.
/// XLA's buffers are dense, hence no strides. Extents stay XLA's memory, which outlives the call.
static bool readBuffer(const Buffers &buffers, int64_t number, tile_argument &argument) {
  if (number < 0 || number >= buffers.count)
    return false;
  const Buffer *buffer = static_cast<const Buffer *>(buffers.buffers[number]);
  argument.kind = TILE_TENSOR;
  argument.dtype = getDtype(buffer->dtype);
  argument.data = buffer->data;
  argument.rank = int32_t(buffer->rank);
  argument.shape = buffer->extents;
  return argument.dtype >= 0;
}

/// Attributes of a call:
///
///   kernel   i64           the address of a tile_kernel, which the caller keeps alive
///   params   i64[3 n]      for each parameter a kind, a value, a dtype
///            kind 0, 1     value: the number of an operand, of a result
///            kind 2         value: a scalar's bits
///            other          the default
extern "C" XLA_FFI_Error *tile_xla_launch(XLA_FFI_CallFrame *frame) {
  for (Extension *one = frame->extensions; one; one = one->next) {
    if (one->type != metadataExtension)
      continue;
    // Asked, before any call, which version this handler is for.
    Version &version = reinterpret_cast<MetadataExtension *>(one)->metadata->version;
    version.major = 0;
    version.minor = frame->api ? frame->api->version.minor : 0;
    return nullptr;
  }
  tile_kernel *kernel = nullptr;
  const int64_t *params = nullptr;
  size_t count = 0;
  for (int64_t i = 0; i < frame->attributes.count; ++i) {
    std::string_view name(frame->attributes.names[i]->data, frame->attributes.names[i]->size);
    void *value = frame->attributes.values[i];
    int type = frame->attributes.types[i];
    if (name == "kernel" && type == scalarAttribute &&
        static_cast<Scalar *>(value)->dtype == typeOfI64) {
      kernel = reinterpret_cast<tile_kernel *>(
          *static_cast<intptr_t *>(static_cast<Scalar *>(value)->value));
    } else if (name == "params" && type == arrayAttribute &&
               static_cast<Array *>(value)->dtype == typeOfI64) {
      params = static_cast<const int64_t *>(static_cast<Array *>(value)->data);
      count = static_cast<Array *>(value)->count / 3;
    }
  }
  if (!kernel || (count && !params))
    return fail(frame, "a call of tile_xla_launch lacks the attribute 'kernel' or 'params'",
                invalidArgument);
  StreamArguments stream = {sizeof stream, nullptr, frame->context, nullptr};
  // Enough without an allocation for all but odd kernels.
  constexpr size_t mostArguments = 64;
  tile_argument fixed[mostArguments] = {};
  std::vector<tile_argument> many;
  tile_argument *arguments = fixed;
  try {
    if (count > mostArguments) {
      many.resize(count);
      arguments = many.data();
    }
    for (size_t i = 0; i < count; ++i) {
      int64_t kind = params[3 * i], value = params[3 * i + 1];
      if (kind == 0 || kind == 1) {
        if (!readBuffer(kind ? frame->results : frame->operands, value, arguments[i]))
          return fail(frame, "a buffer is missing, or of a dtype that tile does not have",
                      invalidArgument);
      } else {
        arguments[i].kind = kind == 2 ? TILE_SCALAR : TILE_DEFAULT;
        arguments[i].dtype = int32_t(params[3 * i + 2]);
        arguments[i].bits = uint64_t(value);
      }
    }
    // Code for the CPU runs in this thread, and needs no stream of XLA's.
    if (!kernel->module->isHost())
      if (XLA_FFI_Error *error = frame->api->getStream(&stream))
        return error;
    // Checked like any launch: XLA guarantees shapes, but no contracts.
    tile_error *error = tile_kernel_launch(kernel, arguments, count, stream.stream, 0);
    if (!error)
      return nullptr;
    XLA_FFI_Error *result = fail(frame, tile_error_message(error), invalidArgument);
    tile_error_free(error);
    return result;
    // No exception may pass through XLA's interface of C.
  } catch (const std::exception &problem) {
    return fail(frame, problem.what(), internalError);
  }
}
