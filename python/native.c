/* The quick path of a launch from Python, for `tile.Kernel`: reads arguments and calls
 * tile_kernel_launch without going through Python code.
 *
 *   readCall -> readStream -> (fitsPrepared) -> tile_kernel_launch or tile_prepared_launch
 *       | whatever one of them does not know
 *       v
 *   `_slowCall`, Python, which knows everything, and says what is wrong
 *
 * It does not know: an array of another package, on another device than the current one or in
 * memory that the kernel does not reach; a number that does not fit its parameter; a wrong name; a
 * stream that is no number; check="memory"; another layout than the prepared one; instances whose
 * parameters differ. Limited API of Python 3.10, so that one build serves later versions. */
#define Py_LIMITED_API 0x030A0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tile_types.h"

#include <string.h>

typedef struct tile_error tile_error;
typedef tile_error *(*LaunchFunction)(void *kernel, const tile_argument *arguments, size_t count,
                                      void *stream, uint32_t flags);
typedef tile_error *(*PreparedFunction)(void *prepared, const uint64_t *values, size_t count,
                                        void *stream, uint32_t flags);

enum { MAX_PARAMS = 32, MAX_RANK = 8, MAX_TYPES = 16 };

/* ---- DLPack's C exchange interface, version 1 (dlpack.h) ---- */

typedef struct {
  void *data;
  int32_t deviceType, deviceId, rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t offset;
} DlTensor;
typedef struct {
  uint32_t major, minor;
  void *previous;
  void *allocate, *managedFromObject, *managedToObject;
  int (*tensorFromObject)(void *object, DlTensor *tensor); /* borrowed from the object */
  int (*currentStream)(int32_t deviceType, int32_t deviceId, void **stream);
} DlExchange;
enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };

/* ---- What `__array_struct__` of NumPy's array interface leads to, version 3 ---- */

typedef struct {
  int two, rank;
  char kind; /* "biufV" */
  int itemSize, flags;
  intptr_t *shape, *strides; /* strides in bytes; NULL: dense */
  void *data;
  PyObject *description;
} ArrayStruct;
enum { ARRAY_ALIGNED = 0x100, ARRAY_NATIVE = 0x200, ARRAY_WRITABLE = 0x400 };

/* ---- What is known of argument types ---- */

typedef enum { KIND_OTHER, KIND_TORCH, KIND_EXCHANGE, KIND_ARRAY } Kind;
typedef struct {
  PyTypeObject *type; /* kept alive */
  Kind kind;
  int isImmutable; /* nobody may write to its tensors, which the exchange does not tell */
  int isPlain;     /* no unknown subclass, which may hold no memory: PyTorch's FakeTensor is one */
  const DlExchange *exchange;
} KnownType;
static KnownType knownTypes[MAX_TYPES];
static int knownTypeCount;

/* Of PyTorch, once a tensor of it has been seen: see `setTorch`. */
static PyObject *torchTensor, *torchDtypes, *torchStream, *torchDevice;
static PyObject *nameDataPtr, *nameShape, *nameStride, *nameDtype, *nameGetDevice, *nameStream,
    *nameCheck, *nameSlow, *nameFail, *nameAfterFirst, *nameArrayStruct, *nameIsCpu, *nameIsNeg;

static int isOfPackage(PyTypeObject *type, const char *package) {
  PyObject *module = PyObject_GetAttrString((PyObject *)type, "__module__");
  PyObject *bytes = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8String(module) : NULL;
  const char *text = bytes ? PyBytes_AsString(bytes) : NULL;
  size_t length = strlen(package);
  int found = text && strncmp(text, package, length) == 0 && (!text[length] || text[length] == '.');
  Py_XDECREF(module), Py_XDECREF(bytes);
  PyErr_Clear();
  return found;
}

static int isPlainTensor(PyTypeObject *type) {
  PyObject *name = PyObject_GetAttrString((PyObject *)type, "__name__");
  int found = name && isOfPackage(type, "torch") &&
              (PyUnicode_CompareWithASCIIString(name, "Tensor") == 0 ||
               PyUnicode_CompareWithASCIIString(name, "Parameter") == 0);
  Py_XDECREF(name);
  PyErr_Clear();
  return found;
}

static const KnownType *findType(PyTypeObject *type) {
  static const KnownType other = {NULL, KIND_OTHER, 0, 0, NULL};
  KnownType entry = {type, KIND_OTHER, 0, 0, NULL};
  PyObject *capsule;
  for (int i = 0; i < knownTypeCount; ++i)
    if (knownTypes[i].type == type)
      return &knownTypes[i];
  if (knownTypeCount == MAX_TYPES)
    return &other;
  capsule = PyObject_GetAttrString((PyObject *)type, "__dlpack_c_exchange_api__");
  if (!capsule)
    PyErr_Clear();
  else if (PyCapsule_IsValid(capsule, "dlpack_exchange_api")) {
    const DlExchange *exchange =
        (const DlExchange *)PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    if (exchange->major == 1 && exchange->tensorFromObject && exchange->currentStream) {
      entry.kind = KIND_EXCHANGE;
      entry.exchange = exchange;
    }
  }
  Py_XDECREF(capsule);
  if (entry.kind == KIND_OTHER && torchTensor &&
      PyType_IsSubtype(type, (PyTypeObject *)torchTensor))
    entry.kind = KIND_TORCH;
  if (entry.kind == KIND_OTHER) { /* NumPy's numbers have what is asked for, too, and are none */
    PyObject *name = PyObject_GetAttrString((PyObject *)type, "__name__");
    if (name && PyUnicode_CompareWithASCIIString(name, "ndarray") == 0 &&
        isOfPackage(type, "numpy"))
      entry.kind = KIND_ARRAY;
    Py_XDECREF(name);
    PyErr_Clear();
  }
  entry.isImmutable = isOfPackage(type, "jax") || isOfPackage(type, "jaxlib");
  entry.isPlain = entry.kind == KIND_ARRAY || (entry.kind == KIND_EXCHANGE && isPlainTensor(type));
  if (entry.kind == KIND_OTHER) /* not remembered: PyTorch may be imported later */
    return &other;
  Py_INCREF(type);
  knownTypes[knownTypeCount] = entry;
  return &knownTypes[knownTypeCount++];
}

/* setTorch(Tensor, {dtype: code}, function from device to stream, function that gives the current
 * device) */
static PyObject *setTorch(PyObject *module, PyObject *args) {
  PyObject *tensor, *dtypes, *stream, *device;
  (void)module;
  if (!PyArg_ParseTuple(args, "OOOO", &tensor, &dtypes, &stream, &device))
    return NULL;
  Py_INCREF(tensor), Py_INCREF(dtypes), Py_INCREF(stream), Py_INCREF(device);
  Py_XDECREF(torchTensor), Py_XDECREF(torchDtypes), Py_XDECREF(torchStream),
      Py_XDECREF(torchDevice);
  torchTensor = tensor, torchDtypes = dtypes, torchStream = stream, torchDevice = device;
  Py_RETURN_NONE;
}

/* ---- A kernel, or a prepared call of one ---- */

typedef struct {
  PyObject *name;
  int isScalar, dtype, hasDefault, isWritten;
} Param;
/* Of a tensor that was prepared; strides that no element is behind are 0. */
typedef struct {
  int32_t isTensor, dtype, rank;
  int64_t shape[MAX_RANK], strides[MAX_RANK];
} Layout;
typedef struct {
  PyObject_HEAD LaunchFunction launch;
  PreparedFunction launchPrepared; /* of a prepared call, whose `kernel` it is */
  Layout *layouts;                 /* of its arguments, `layoutCount` */
  int layoutCount;
  void *kernel;
  int paramCount, isQuick, hasLaunched, onHost; /* onHost: the code is for the CPU */
  Param params[MAX_PARAMS];
} Launcher;

/* What one call collects. `device`: of its tensors, -1 while there is none. */
typedef struct {
  tile_argument arguments[MAX_PARAMS];
  int64_t extents[MAX_PARAMS][2][MAX_RANK];
  int device, onHost;
  const DlExchange *exchange;
} Call;

/* Each reader returns 1, 0 where the slow path must decide, or -1 with an exception. */

static int dlpackDtype(const DlTensor *t) {
  static const struct {
    int code, bits;
  } rows[] = {
#define DTYPE(name, spelling, bits, family, use, product, dlpack, ...) {dlpack, bits},
#include "manifest/Dtypes.def"
  };
  for (int i = 0; t->lanes == 1 && i < (int)(sizeof rows / sizeof *rows); ++i)
    if (t->code == rows[i].code && t->bits == rows[i].bits)
      return i;
  return -1;
}

/* Extents and strides in elements where two of them share a byte, as for u4 in an array of bytes.
 */
static int asPairs(const Param *param, tile_argument *a, int64_t *shape, int64_t *strides) {
  int isPair = param->dtype == TILE_I4 || param->dtype == TILE_U4;
  if (!isPair || a->dtype == param->dtype)
    return 1;
  if ((a->dtype != TILE_U8 && a->dtype != TILE_I8) || a->rank == 0)
    return 0;
  a->dtype = param->dtype;
  shape[a->rank - 1] *= 2;
  for (int i = 0; i + 1 < a->rank; ++i)
    strides[i] *= 2;
  return 1;
}

/* Whether a tensor of PyTorch is a view that is to be negated when it is read, which its memory
 * does not tell. Such views are the imaginary parts of conjugates, so no stride of theirs is 1. */
static int isNegated(PyObject *value, int rank, const int64_t *shape, const int64_t *strides) {
  PyObject *answer;
  int negated;
  for (int axis = 0; axis < rank; ++axis)
    if (shape[axis] > 1 && strides[axis] == 1)
      return 0;
  answer = PyObject_CallMethodObjArgs(value, nameIsNeg, NULL);
  negated = answer == Py_True;
  Py_XDECREF(answer);
  PyErr_Clear(); /* another package has no such views */
  return negated;
}

static int readExchange(Call *call, int i, const Param *param, PyObject *value,
                        const DlExchange *exchange) {
  tile_argument *a = &call->arguments[i];
  int64_t *shape = call->extents[i][0], *strides = call->extents[i][1], dense = 1;
  DlTensor t;
  memset(&t, 0, sizeof t);
  if (exchange->tensorFromObject(value, &t)) {
    PyErr_Clear(); /* the slow path says what is wrong */
    return 0;
  }
  int fits = call->onHost ? t.deviceType == DL_CPU || t.deviceType == DL_CUDA_HOST
                          : t.deviceType == DL_CUDA || t.deviceType == DL_CUDA_MANAGED;
  if (!fits || t.rank < 0 || t.rank > MAX_RANK)
    return 0;
  a->kind = TILE_TENSOR;
  a->dtype = dlpackDtype(&t);
  a->data = (char *)t.data + t.offset;
  a->rank = t.rank;
  a->shape = shape;
  a->strides = strides;
  for (int axis = t.rank; axis-- > 0;) {
    shape[axis] = t.shape[axis];
    strides[axis] = t.strides ? t.strides[axis] : dense;
    dense *= t.shape[axis];
  }
  if (a->dtype < 0 || (!call->onHost && call->device >= 0 && call->device != t.deviceId))
    return 0;
  if (isNegated(value, t.rank, shape, strides))
    return 0;
  call->device = t.deviceId;
  call->exchange = exchange;
  return asPairs(param, a, shape, strides);
}

static int readArray(Call *call, int i, const Param *param, PyObject *value) {
  tile_argument *a = &call->arguments[i];
  int64_t *shape = call->extents[i][0], *strides = call->extents[i][1], dense = 1;
  PyObject *capsule = PyObject_GetAttr(value, nameArrayStruct);
  const ArrayStruct *array =
      capsule ? (const ArrayStruct *)PyCapsule_GetPointer(capsule, NULL) : NULL;
  int needed = ARRAY_NATIVE | ARRAY_ALIGNED | (param->isWritten ? ARRAY_WRITABLE : 0);
  int good = array && array->two == 2 && array->rank <= MAX_RANK && array->itemSize > 0 &&
             (array->flags & needed) == needed;
  if (good) {
    int size = array->itemSize, bits = 8 * size;
    int log = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : -1;
    a->kind = TILE_TENSOR;
    a->dtype = log < 0                          ? -1
               : array->kind == 'f'             ? (bits == 16   ? TILE_F16
                                                   : bits == 32 ? TILE_F32
                                                   : bits == 64 ? TILE_F64
                                                                : -1)
               : array->kind == 'i'             ? TILE_I8 + log
               : array->kind == 'u'             ? TILE_U8 + log
               : array->kind == 'b' && log == 0 ? TILE_BOOL
               : array->kind == 'V' && log == 1 ? TILE_BF16
                                                : -1; /* the slow path knows more */
    a->data = array->data;
    a->rank = array->rank;
    a->shape = shape;
    a->strides = strides;
    good = a->dtype >= 0;
    for (int axis = array->rank; good && axis-- > 0;) {
      shape[axis] = array->shape[axis];
      strides[axis] = array->strides ? array->strides[axis] / size : dense;
      good = !array->strides || array->strides[axis] % size == 0;
      dense *= shape[axis];
    }
  }
  Py_XDECREF(capsule); /* the array itself keeps its memory */
  if (PyErr_Occurred()) {
    PyErr_Clear();
    return 0;
  }
  return good && asPairs(param, a, shape, strides);
}

static int readLongs(PyObject *tuple, int64_t *numbers, int32_t *count) {
  Py_ssize_t size = PyTuple_Size(tuple);
  if (size < 0 || size > MAX_RANK)
    return 0;
  for (Py_ssize_t i = 0; i < size; ++i) {
    numbers[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    if (numbers[i] == -1 && PyErr_Occurred())
      return 0;
  }
  *count = (int32_t)size;
  return 1;
}

static int readTorch(Call *call, int i, const Param *param, PyObject *value) {
  tile_argument *a = &call->arguments[i];
  int64_t *shape = call->extents[i][0], *strides = call->extents[i][1];
  PyObject *device = PyObject_CallMethodObjArgs(value, nameGetDevice, NULL), *address = NULL,
           *extents = NULL, *steps = NULL, *dtype = NULL, *code;
  int32_t rank = 0, strideCount = 0;
  long ordinal = device ? PyLong_AsLong(device) : -1;
  int good = 0, isThere = ordinal >= 0 && (call->device < 0 || call->device == (int)ordinal);
  if (call->onHost) {
    PyObject *isCpu = PyObject_GetAttr(value, nameIsCpu);
    isThere = isCpu == Py_True;
    Py_XDECREF(isCpu);
  }
  if (isThere) {
    address = PyObject_CallMethodObjArgs(value, nameDataPtr, NULL);
    extents = address ? PyObject_GetAttr(value, nameShape) : NULL;
    steps = extents ? PyObject_CallMethodObjArgs(value, nameStride, NULL) : NULL;
    dtype = steps ? PyObject_GetAttr(value, nameDtype) : NULL;
    code = dtype ? PyDict_GetItemWithError(torchDtypes, dtype) : NULL;
    if (code && readLongs(extents, shape, &rank) && readLongs(steps, strides, &strideCount) &&
        rank == strideCount) {
      a->kind = TILE_TENSOR;
      a->dtype = (int32_t)PyLong_AsLong(code);
      a->data = PyLong_AsVoidPtr(address);
      a->rank = rank;
      a->shape = shape;
      a->strides = strides;
      call->device = (int)ordinal;
      good = !isNegated(value, rank, shape, strides) && asPairs(param, a, shape, strides);
    }
  }
  Py_XDECREF(device), Py_XDECREF(address), Py_XDECREF(extents), Py_XDECREF(steps),
      Py_XDECREF(dtype);
  if (PyErr_Occurred()) {
    PyErr_Clear(); /* the slow path meets it again, and says where */
    return 0;
  }
  return good;
}

static int readScalar(tile_argument *a, const Param *param, PyObject *value) {
  int isFloat = PyFloat_CheckExact(value), isBool = PyBool_Check(value),
      isInt = PyLong_CheckExact(value);
  a->kind = TILE_SCALAR;
  a->dtype = param->dtype;
  if (param->dtype == TILE_F32 || param->dtype == TILE_F64) {
    double number = isFloat ? PyFloat_AsDouble(value) : isInt ? PyLong_AsDouble(value) : 0.0;
    float single = (float)number;
    if ((!isFloat && !isInt) || PyErr_Occurred()) {
      PyErr_Clear();
      return 0;
    }
    if (param->dtype == TILE_F32)
      memcpy(&a->bits, &single, sizeof single);
    else
      memcpy(&a->bits, &number, sizeof number);
    return 1;
  }
  if (param->dtype == TILE_BOOL) {
    a->bits = value == Py_True;
    return isBool;
  }
  if (param->dtype >= TILE_I8 && param->dtype <= TILE_U64 && isInt) {
    int overflow = 0, width = 8 << ((param->dtype - TILE_I8) % 4),
        isSigned = param->dtype <= TILE_I64;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow || (!isSigned && number < 0))
      return 0;
    if (width < 64 && (isSigned ? number >> (width - 1) != 0 && number >> (width - 1) != -1
                                : number >> width != 0))
      return 0;
    a->bits = (uint64_t)number & (width < 64 ? (UINT64_C(1) << width) - 1 : ~UINT64_C(0));
    return 1;
  }
  return 0;
}

static int readArgument(Launcher *self, Call *call, int i, PyObject *value) {
  const Param *param = &self->params[i];
  const KnownType *known;
  if (param->isScalar)
    return readScalar(&call->arguments[i], param, value);
  known = findType(Py_TYPE(value));
  if (known->kind == KIND_EXCHANGE && param->isWritten && known->isImmutable)
    return 0;
  if (known->kind == KIND_EXCHANGE)
    return readExchange(call, i, param, value, known->exchange);
  if (known->kind == KIND_ARRAY)
    return call->onHost ? readArray(call, i, param, value) : 0;
  return known->kind == KIND_TORCH ? readTorch(call, i, param, value) : 0;
}

/* The stream of a call, and whether its tensors' device is current. */
static int readStream(Call *call, PyObject *given, void **stream) {
  PyObject *answer;
  int good;
  *stream = NULL;
  if (call->onHost)
    return 1;
  if (torchDevice && call->device >= 0) {
    answer = PyObject_CallNoArgs(torchDevice);
    good = answer && PyLong_AsLong(answer) == call->device;
    Py_XDECREF(answer);
    if (!good) {
      PyErr_Clear();
      return 0;
    }
  } else if (call->device > 0) {
    return 0;
  }
  if (given && given != Py_None) {
    if (!PyLong_CheckExact(given))
      return 0;
    *stream = PyLong_AsVoidPtr(given);
  } else if (call->exchange) {
    if (call->exchange->currentStream(DL_CUDA, call->device, stream)) {
      PyErr_Clear();
      return 0;
    }
  } else if (torchStream && call->device >= 0) {
    PyObject *ordinal = PyLong_FromLong(call->device);
    answer = ordinal ? PyObject_CallFunctionObjArgs(torchStream, ordinal, NULL) : NULL;
    *stream = answer ? PyLong_AsVoidPtr(answer) : NULL;
    Py_XDECREF(ordinal), Py_XDECREF(answer);
  }
  if (!PyErr_Occurred())
    return 1;
  PyErr_Clear();
  return 0;
}

/* Reads all arguments; `count` becomes their number without trailing defaults. */
static int readCall(Launcher *self, PyObject *args, PyObject *named, Call *call, size_t *count,
                    PyObject **stream, int *check) {
  Py_ssize_t given = PyTuple_Size(args), used = 0;
  int state;
  if (!self->isQuick || given > self->paramCount)
    return 0;
  for (Py_ssize_t i = 0; i < given; ++i)
    if ((state = readArgument(self, call, (int)i, PyTuple_GetItem(args, i))) != 1)
      return state;
  *count = (size_t)given;
  if (named) {
    PyObject *value = PyDict_GetItemWithError(named, nameStream);
    if (value)
      ++used, *stream = value;
    value = PyDict_GetItemWithError(named, nameCheck);
    if (value) {
      ++used;
      if (PyUnicode_Check(value)) /* a kind of check that the slow path knows */
        return 0;
      *check = PyObject_IsTrue(value);
    }
    for (int i = (int)given; i < self->paramCount && used < PyDict_Size(named); ++i) {
      value = PyDict_GetItemWithError(named, self->params[i].name);
      if (!value) {
        call->arguments[i].kind = TILE_DEFAULT;
        if (!self->params[i].hasDefault)
          return 0;
        continue;
      }
      ++used;
      if ((state = readArgument(self, call, i, value)) != 1)
        return state;
      *count = (size_t)i + 1;
    }
    if (used != PyDict_Size(named) || PyErr_Occurred())
      return 0;
  }
  return 1;
}

/* Whether the tensors are laid out as those that were prepared; the slow path says which is not. */
static int fitsPrepared(const Launcher *self, const Call *call, size_t count) {
  if (count != (size_t)self->layoutCount)
    return 0;
  for (size_t i = 0; i < count; ++i) {
    const tile_argument *a = &call->arguments[i];
    const Layout *layout = &self->layouts[i];
    if ((a->kind == TILE_TENSOR) != layout->isTensor)
      return 0;
    if (!layout->isTensor)
      continue;
    if (a->dtype != layout->dtype || a->rank != layout->rank)
      return 0;
    for (int axis = 0; axis < a->rank; ++axis)
      if (a->shape[axis] != layout->shape[axis] ||
          (a->shape[axis] > 1 && a->strides[axis] != layout->strides[axis]))
        return 0;
  }
  return 1;
}

static tile_error *launch(const Launcher *self, const Call *call, size_t count, void *stream,
                          uint32_t flags) {
  uint64_t values[MAX_PARAMS];
  if (!self->launchPrepared)
    return self->launch(self->kernel, call->arguments, count, stream, flags);
  for (size_t i = 0; i < count; ++i)
    values[i] = call->arguments[i].kind == TILE_TENSOR
                    ? (uint64_t)(uintptr_t)call->arguments[i].data
                    : call->arguments[i].bits;
  return self->launchPrepared(self->kernel, count ? values : NULL, count, stream, flags);
}

static PyObject *launcherCall(PyObject *object, PyObject *args, PyObject *named) {
  Launcher *self = (Launcher *)object;
  PyObject *stream = NULL, *method, *result;
  void *streamHandle = NULL;
  tile_error *error;
  size_t count = 0;
  int check = 1;
  Call call;
  memset(call.arguments, 0,
         sizeof(tile_argument) * (size_t)(self->paramCount > 0 ? self->paramCount : 1));
  call.device = -1;
  call.onHost = self->onHost;
  call.exchange = NULL;
  int state = readCall(self, args, named, &call, &count, &stream, &check);
  if (state == 1)
    state = readStream(&call, stream, &streamHandle);
  if (state == 1 && self->launchPrepared && check)
    state = fitsPrepared(self, &call, count);
  if (PyErr_Occurred())
    PyErr_Clear();
  if (state == 1) {
    PyThreadState *saved = PyEval_SaveThread(); /* the driver waits where its queue is full */
    error = launch(self, &call, count, streamHandle, check ? 0 : TILE_LAUNCH_UNCHECKED);
    PyEval_RestoreThread(saved);
    if (!error && self->hasLaunched)
      Py_RETURN_NONE;
    if (!error) {
      self->hasLaunched = 1;
      return PyObject_CallMethodObjArgs(object, nameAfterFirst, NULL);
    }
    PyObject *address = PyLong_FromVoidPtr(error);
    result = address ? PyObject_CallMethodObjArgs(object, nameFail, address, NULL) : NULL;
    Py_XDECREF(address);
    return result;
  }
  method = PyObject_GetAttr(object, nameSlow);
  result = method ? PyObject_Call(method, args, named) : NULL;
  Py_XDECREF(method);
  return result;
}

/* ---- What a call depends on, as bytes: a key of `tile.Function`'s tables ---- */

/* Extents count, too; numbers count with their values; what divides rows' lengths counts. */
enum { BY_SHAPE = 1, BY_VALUE = 2, BY_ROWS = 4 };
typedef struct {
  PyTypeObject *type;
  int32_t deviceType, deviceId, dtype, rank;
  int64_t rowDivisor;
} KeyEntry;

/* The power of two up to 32 that divides the length of rows, as _rowDivisor of _function.py. */
static int64_t rowDivisor(int rank, int64_t length) {
  int64_t divisor = rank < 2 ? 1 : length ? length & -length : 32;
  return divisor < 32 ? divisor : 32;
}

/* Appends one argument to the key. 0 where its attributes must be asked. */
static int appendToKey(char **end, PyObject *value, int flags) {
  KeyEntry entry = {Py_TYPE(value), 0, 0, 0, 0, 0};
  int64_t numbers[MAX_RANK] = {0};
  int count = 0;
  if (PyLong_CheckExact(value) || PyBool_Check(value) || PyFloat_CheckExact(value)) {
    if (flags & BY_VALUE) {
      double number = 0;
      count = 1;
      if (PyFloat_CheckExact(value)) {
        number = PyFloat_AsDouble(value);
        memcpy(numbers, &number, sizeof number);
      } else {
        numbers[0] = PyLong_AsLongLong(value);
      }
    }
  } else {
    const KnownType *known = findType(entry.type);
    if (!known->isPlain)
      return 0;
    if (known->kind == KIND_EXCHANGE) {
      DlTensor t;
      memset(&t, 0, sizeof t);
      if (known->exchange->tensorFromObject(value, &t) || t.rank < 0 || t.rank > MAX_RANK)
        return 0;
      entry.deviceType = t.deviceType, entry.deviceId = t.deviceId, entry.rank = t.rank;
      entry.dtype = t.code << 24 | t.bits << 16 | t.lanes;
      count = flags & BY_SHAPE ? t.rank : 0;
      for (int axis = 0; axis < count; ++axis)
        numbers[axis] = t.shape[axis];
      if (flags & BY_ROWS)
        entry.rowDivisor = rowDivisor(t.rank, t.rank ? t.shape[t.rank - 1] : 1);
    } else {
      PyObject *capsule = PyObject_GetAttr(value, nameArrayStruct);
      const ArrayStruct *array =
          capsule ? (const ArrayStruct *)PyCapsule_GetPointer(capsule, NULL) : NULL;
      /* A dtype of another package has no kind of its own: NumPy's object tells. */
      int good = array && array->two == 2 && array->rank <= MAX_RANK && array->kind != 'V' &&
                 array->flags & ARRAY_NATIVE;
      if (good) {
        entry.rank = array->rank;
        entry.dtype = array->kind << 24 | array->itemSize;
        count = flags & BY_SHAPE ? array->rank : 0;
        for (int axis = 0; axis < count; ++axis)
          numbers[axis] = array->shape[axis];
        if (flags & BY_ROWS)
          entry.rowDivisor =
              rowDivisor(array->rank, array->rank ? array->shape[array->rank - 1] : 1);
      }
      Py_XDECREF(capsule);
      if (!good)
        return 0;
    }
  }
  memcpy(*end, &entry, sizeof entry);
  memcpy(*end + sizeof entry, numbers, sizeof *numbers * (size_t)count);
  *end += sizeof entry + sizeof *numbers * (size_t)count;
  return !PyErr_Occurred();
}

/* keyOf(values, flags): bytes that are equal for calls of the same kernel, or None where the
 * arguments are not all numbers and arrays of NumPy or PyTorch. */
static PyObject *keyOf(PyObject *module, PyObject *args) {
  char bytes[MAX_PARAMS * (sizeof(KeyEntry) + MAX_RANK * sizeof(int64_t))], *end = bytes;
  PyObject *values;
  Py_ssize_t count;
  int flags, good = 1;
  (void)module;
  if (!PyArg_ParseTuple(args, "O!i", &PyTuple_Type, &values, &flags))
    return NULL;
  count = PyTuple_Size(values);
  good = count <= MAX_PARAMS;
  for (Py_ssize_t i = 0; good && i < count; ++i)
    good = appendToKey(&end, PyTuple_GetItem(values, i), flags);
  if (good)
    return PyBytes_FromStringAndSize(bytes, end - bytes);
  PyErr_Clear();
  Py_RETURN_NONE;
}

/* Reads the layouts of a prepared call, a tuple of None or (dtype, extents, strides). */
static int readLayouts(Launcher *self, PyObject *tuple) {
  Py_ssize_t count = PyTuple_Size(tuple);
  self->layouts = count >= 0 ? PyMem_Calloc((size_t)count + 1, sizeof(Layout)) : NULL;
  if (!self->layouts)
    return 0;
  self->layoutCount = (int)count;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *entry = PyTuple_GetItem(tuple, i), *shape, *strides;
    Layout *layout = &self->layouts[i];
    if (entry == Py_None)
      continue;
    if (!PyArg_ParseTuple(entry, "iOO", &layout->dtype, &shape, &strides) ||
        !readLongs(shape, layout->shape, &layout->rank) ||
        !readLongs(strides, layout->strides, &layout->rank))
      return 0;
    layout->isTensor = 1;
  }
  return 1;
}

/* bind(address of tile_kernel_launch, address of the kernel, whether the code is for the CPU,
 * ((name, is scalar, dtype, has default, is written), ...) or None, None). Of a prepared call:
 * addresses of tile_prepared_launch and of the call, and last the layouts of its arguments. */
static PyObject *launcherBind(PyObject *object, PyObject *args) {
  Launcher *self = (Launcher *)object;
  unsigned long long launch, kernel;
  PyObject *params, *layouts;
  int isPrepared;
  if (!PyArg_ParseTuple(args, "KKpOO", &launch, &kernel, &self->onHost, &params, &layouts))
    return NULL;
  isPrepared = layouts != Py_None;
  self->launch = isPrepared ? NULL : (LaunchFunction)(uintptr_t)launch;
  self->launchPrepared = isPrepared ? (PreparedFunction)(uintptr_t)launch : NULL;
  self->kernel = (void *)(uintptr_t)kernel;
  self->isQuick = 0;
  if (params == Py_None || PyTuple_Size(params) > MAX_PARAMS)
    Py_RETURN_NONE;
  if (isPrepared && !readLayouts(self, layouts))
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < PyTuple_Size(params); ++i) {
    Param *param = &self->params[i];
    PyObject *name;
    if (!PyArg_ParseTuple(PyTuple_GetItem(params, i), "Oiiii", &name, &param->isScalar,
                          &param->dtype, &param->hasDefault, &param->isWritten))
      return NULL;
    Py_INCREF(name);
    Py_XDECREF(param->name);
    param->name = name;
    self->paramCount = (int)i + 1;
  }
  self->isQuick = 1;
  Py_RETURN_NONE;
}

static void launcherFree(PyObject *object) {
  Launcher *self = (Launcher *)object;
  PyTypeObject *type = Py_TYPE(object);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  PyObject_GC_UnTrack(object);
  for (int i = 0; i < self->paramCount; ++i)
    Py_XDECREF(self->params[i].name);
  PyMem_Free(self->layouts);
  release(object);
  Py_DECREF(type);
}

static int launcherTraverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(object));
  return 0;
}

static PyMethodDef launcherMethods[] = {{"bind", launcherBind, METH_VARARGS, NULL},
                                        {NULL, NULL, 0, NULL}};
static PyType_Slot launcherSlots[] = {{Py_tp_call, (void *)launcherCall},
                                      {Py_tp_dealloc, (void *)launcherFree},
                                      {Py_tp_traverse, (void *)launcherTraverse},
                                      {Py_tp_methods, launcherMethods},
                                      {0, NULL}};
static PyType_Spec launcherSpec = {"tile_native.Launcher", sizeof(Launcher), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                                   launcherSlots};

static PyMethodDef methods[] = {{"setTorch", setTorch, METH_VARARGS, NULL},
                                {"keyOf", keyOf, METH_VARARGS, NULL},
                                {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "tile_native", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_tile_native(void) {
  static const struct {
    PyObject **name;
    const char *text;
  } names[] = {{&nameDataPtr, "data_ptr"},
               {&nameShape, "shape"},
               {&nameStride, "stride"},
               {&nameDtype, "dtype"},
               {&nameGetDevice, "get_device"},
               {&nameStream, "stream"},
               {&nameCheck, "check"},
               {&nameSlow, "_slowCall"},
               {&nameFail, "_fail"},
               {&nameAfterFirst, "_afterFirst"},
               {&nameArrayStruct, "__array_struct__"},
               {&nameIsCpu, "is_cpu"},
               {&nameIsNeg, "is_neg"}};
  PyObject *module = PyModule_Create(&definition), *type;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
    if (!(*names[i].name = PyUnicode_InternFromString(names[i].text)))
      return NULL;
  type = module ? PyType_FromSpec(&launcherSpec) : NULL;
  if (!type || PyModule_AddObject(module, "Launcher", type) < 0) {
    Py_XDECREF(type), Py_XDECREF(module);
    return NULL;
  }
  return module;
}
