// Reads, sizes, fills and writes the arguments of a run.
//
//   load   words and files, against the source's declarations
//   bind   1. names from --random, --shape and files' extents    first come, first kept
//          2. scalars                                             their values are names, too
//          3. equations of contracts, as long as they find something
//          4. tensors: extents, strides, memory, contents
//
// Whether all of that fits together is checked by the launch, with the messages that it has for
// everybody.
#include "driver/run/RunArguments.h"
#include "driver/run/Compare.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Sema/Words.h"
#include "frontend/Source/ReadFloat.h"
#include "manifest/Encode.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

using namespace llvm;

namespace tile {

Buffer::Buffer(size_t size, size_t align) : bytes(size) {
  align = std::max<size_t>(align, 64);
  size = std::max<size_t>(size, 1) + align;
  memory.reset(static_cast<char *>(
      std::calloc(size, 1))); // large memory is zero as it comes, and is not touched twice
  void *place = memory.get();
  if (place)
    data = static_cast<char *>(std::align(align, bytes, place, size));
}

static const std::string *find(const std::vector<NameValue> &pairs, StringRef name) {
  for (const NameValue &pair : pairs)
    if (pair.first == name)
      return &pair.second;
  return nullptr;
}

//===--- Reading ----------------------------------------------------------===//

/// The dtype that a parameter's declaration and -D leave no choice about.
static std::optional<runtime::Dtype> getDeclaredDtype(const ast::Param &param,
                                                      const Options &options) {
  if (const std::string *bound = find(options.defines, param.type.name.text))
    return runtime::dtypeFromName(*bound);
  return runtime::dtypeFromName(param.type.name.text);
}

/// Is `name` of the form ARRAY[NUMBER]?
static bool isElement(StringRef name, StringRef array) {
  unsigned number;
  return name.consume_front(array) && name.consume_front("[") && !name.consumeInteger(10, number) &&
         name == "]";
}

/// Order of checks: outputs by name, then inputs, so that no large file is read for a call that
/// fails.
bool RunArguments::load(const ast::KernelDecl &kernel) {
  std::vector<std::string> names;
  for (const ast::Param &param : kernel.params)
    names.push_back(param.name.text);
  auto findParam = [&](StringRef name) -> const ast::Param * {
    for (const ast::Param &param : kernel.params) {
      if (param.count ? isElement(name, param.name.text) : param.name.text == name)
        return &param;
      if (param.count && param.name.text == name) {
        session.failCall("'" + name + "' is an array of tensors: name one of them, as in '" + name +
                         "[0]=FILE'");
        return nullptr;
      }
    }
    std::string nearest = suggest(name, names);
    session.failCall("kernel '" + kernel.name.text + "' has no parameter '" + name + "'; " +
                     (nearest.empty() ? "its parameters are " + joinWords(names, "and")
                                      : "did you mean '" + nearest + "'?"));
    return nullptr;
  };

  for (const auto &[name, file] : options.outputs) {
    const ast::Param *param = findParam(name);
    if (!param)
      return false;
    if (param->access != ast::Access::out && param->access != ast::Access::inout)
      return session.failCall("'" + name + "' is no output of kernel '" + kernel.name.text +
                              "', in --out " + name + "=" + file);
  }
  for (const auto &[name, value] : options.arguments) {
    const ast::Param *param = findParam(name);
    if (!param)
      return false;
    if (param->access == ast::Access::none) {
      values[name] = value;
      continue;
    }
    std::optional<runtime::Dtype> dtype = getDeclaredDtype(*param, options);
    if (runtime::Error error = runtime::readNpy(value, dtype, files[name])) {
      if (error.code == TILE_ERROR_DTYPE)
        return session.failData("argument '" + name + "': " + error.message);
      // A file that opens but holds no array is wrong data; one that does not open is a wrong call.
      bool opens = std::unique_ptr<FILE, int (*)(FILE *)>(std::fopen(value.c_str(), "rb"),
                                                          std::fclose) != nullptr;
      return opens ? session.failData("argument '" + name + "': " + error.message)
                   : session.failCall(error.message);
    }
  }
  return true;
}

std::map<std::string, std::string> RunArguments::getDtypes() const {
  std::map<std::string, std::string> result;
  for (const auto &[name, array] : files) // NumPy has no bf16: its files hold the bits
    result[name] =
        array.dtype == runtime::Dtype::U16 ? "bf16" : std::string(runtime::dtypeName(array.dtype));
  return result;
}

std::map<std::string, std::vector<int64_t>> RunArguments::getShapes() const {
  std::map<std::string, std::vector<int64_t>> result;
  for (const auto &[name, array] : files)
    result[name] = array.shape;
  return result;
}

//===--- Binding ----------------------------------------------------------===//

/// Gives values to the names that a tensor's extents bind: N, N + c, N - c, c * N.
void RunArguments::bindDims(const std::vector<runtime::Expr> &dims,
                            const std::vector<int64_t> &shape) {
  using Op = runtime::Expr::Op;
  for (size_t i = 0; i < dims.size() && i < shape.size(); ++i) {
    const runtime::Expr &dim = dims[i];
    if (dim.isName()) {
      bindings.emplace(dim.getName(), shape[i]);
      continue;
    }
    const std::vector<runtime::Expr> &operands = dim.getOperands();
    if (operands.size() != 2)
      continue;
    bool nameFirst = operands[0].isName() && operands[1].isInteger();
    bool nameLast = operands[0].isInteger() && operands[1].isName();
    const runtime::Expr &name = operands[nameFirst ? 0 : 1], &number = operands[nameFirst ? 1 : 0];
    if (!nameFirst && !nameLast)
      continue;
    if (dim.getOp() == Op::Add)
      bindings.emplace(name.getName(), shape[i] - number.getInteger());
    else if (dim.getOp() == Op::Sub && nameFirst)
      bindings.emplace(name.getName(), shape[i] + number.getInteger());
    else if (dim.getOp() == Op::Mul && number.getInteger() != 0 &&
             shape[i] % number.getInteger() == 0)
      bindings.emplace(name.getName(), shape[i] / number.getInteger());
  }
}

static std::optional<runtime::Constant> parseScalar(StringRef text, runtime::Dtype dtype) {
  int64_t integer;
  if (text == "true" || text == "false")
    return runtime::Constant(text == "true");
  uint64_t large;
  if (dtype == runtime::Dtype::U64 && !text.getAsInteger(0, large) && large >> 63)
    return runtime::Constant(large);
  if (runtime::isIntegral(dtype))
    return text.getAsInteger(0, integer) ? std::nullopt : std::optional(runtime::Constant(integer));
  std::optional<double> real = readFloat(text);
  return real ? std::optional(runtime::Constant(*real)) : std::nullopt;
}

static bool isUnsigned64(StringRef text) {
  uint64_t number;
  return !text.getAsInteger(0, number);
}

bool RunArguments::bindScalar(const runtime::Param &param, RunArgument &argument) {
  auto given = values.find(param.name);
  std::optional<runtime::Constant> value = param.defaultValue;
  if (given == values.end()) {
    if (!value)
      return session.failCall("no value for '" + param.name + "': add --arg " + param.name +
                              "=VALUE");
    argument.isDefault = true;
  } else {
    value = parseScalar(given->second, param.dtype);
    if (!value && param.dtype == runtime::Dtype::U64 && isUnsigned64(given->second))
      value = runtime::Constant(int64_t(0)); // its bits follow
    if (!value)
      return session.failCall("'" + given->second + "' is no " +
                              std::string(runtime::dtypeName(param.dtype)) + ", in --arg " +
                              param.name + "=" + given->second);
  }
  std::string error;
  std::optional<uint64_t> bits;
  uint64_t unsignedValue = 0; // above 2^63 - 1 it is no runtime::Constant
  if (given != values.end() && param.dtype == runtime::Dtype::U64 &&
      !StringRef(given->second).getAsInteger(0, unsignedValue))
    bits = unsignedValue;
  else
    bits = runtime::encode(*value, param.dtype, error);
  if (!bits)
    return session.failCall("argument '" + param.name + "': " + error);
  argument.bits = *bits;
  if (runtime::isIntegral(param.dtype))
    if (std::optional<int64_t> integer = runtime::decodeInteger(*bits, param.dtype))
      bindings.emplace(param.name, *integer);
  return true;
}

/// Strides as declared; those left open are chosen so that the tensor is dense, the last dimension
/// innermost.
/// From the last dimension outwards: an open stride is the least that steps over all dimensions
/// that already have one, so tensors do not overlap themselves.
bool RunArguments::chooseStrides(const runtime::Param &param, RunArgument &argument) {
  size_t rank = argument.shape.size();
  std::vector<std::optional<int64_t>> strides(rank);
  std::string error;
  if (param.strides)
    for (size_t i = 0; i < rank && i < param.strides->size(); ++i)
      if (const auto &stride = (*param.strides)[i])
        strides[i] = stride->evaluate(bindings, error);
  for (size_t i = rank; i-- > 0;) {
    if (!strides[i]) {
      int64_t stride = 1;
      for (size_t j = 0; j < rank; ++j)
        if (strides[j])
          stride = std::max(stride, *strides[j] * std::max<int64_t>(argument.shape[j], 1));
      strides[i] = stride;
    }
    if (param.strides && i < param.strides->size() && (*param.strides)[i] &&
        (*param.strides)[i]->isName())
      bindings.emplace((*param.strides)[i]->getName(), *strides[i]);
  }
  for (std::optional<int64_t> stride : strides)
    argument.strides.push_back(*stride);
  return true;
}

/// Copies one element of `bits` bits; of 4 bits two share a byte, the first in its low half.
static void copyElement(char *to, int64_t toNumber, const char *from, int64_t fromNumber,
                        unsigned bits) {
  if (bits != 4) {
    size_t size = (bits + 7) / 8;
    std::memcpy(to + size_t(toNumber) * size, from + size_t(fromNumber) * size, size);
    return;
  }
  unsigned value = uint8_t(from[fromNumber / 2]) >> fromNumber % 2 * 4 & 0xf,
           shift = toNumber % 2 * 4;
  char &byte = to[toNumber / 2];
  byte = char((uint8_t(byte) & ~(0xfu << shift)) | value << shift);
}

/// Copies elements between a dense array and the tensor's memory.
static void copyStrided(const RunArgument &argument, char *dense, bool toStrided) {
  char *strided = argument.buffer.getData();
  unsigned bits = runtime::dtypeBits(argument.param->dtype);
  int64_t count = 1;
  for (int64_t extent : argument.shape)
    count *= extent;
  std::vector<int64_t> index(argument.shape.size());
  for (int64_t n = 0; n < count; ++n) {
    int64_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i)
      offset += index[i] * argument.strides[i];
    if (toStrided)
      copyElement(strided, offset, dense, n, bits);
    else
      copyElement(dense, n, strided, offset, bits);
    for (size_t i = index.size(); i-- > 0 && ++index[i] == argument.shape[i];)
      index[i] = 0;
  }
}

/// Extents of 1 may have any stride.
static bool isDense(const RunArgument &argument) {
  int64_t expected = 1;
  for (size_t i = argument.shape.size(); i-- > 0;) {
    if (argument.shape[i] != 1 && argument.strides[i] != expected)
      return false;
    expected *= argument.shape[i];
  }
  return true;
}

/// The elements row by row. Those of a dense tensor are its memory; of others a copy, in `copy`.
static const char *getDense(const RunArgument &argument, std::vector<char> &copy) {
  if (isDense(argument))
    return argument.buffer.getData();
  size_t count = 1;
  for (int64_t extent : argument.shape)
    count *= extent;
  copy.resize((count * runtime::dtypeBits(argument.param->dtype) + 7) / 8);
  copyStrided(argument, copy.data(), false);
  return copy.data();
}

bool RunArguments::makeTensor(const runtime::Param &param, RunArgument &argument) {
  auto file = files.find(param.name);
  if (file != files.end()) {
    argument.shape = file->second.shape;
  } else {
    if (param.access != runtime::Access::Out && !options.hasRandom)
      return session.failCall("no value for '" + param.name + "': add --arg " + param.name +
                              "=FILE.npy, or --random with extents");
    for (const runtime::Expr &dim : param.dims) {
      std::string error;
      std::optional<int64_t> extent = dim.evaluate(bindings, error);
      if (!extent)
        return session.failCall("the size of '" + param.name + "' is unknown: " + error +
                                "; say it by " + (options.hasRandom ? "--random" : "--shape") +
                                " NAME=N");
      if (*extent < 0)
        return session.failData("'" + param.name + "' would have the extent " + Twine(*extent) +
                                " (" + dim.toString() + ")");
      argument.shape.push_back(*extent);
    }
  }
  if (!chooseStrides(param, argument))
    return false;
  // Elements between the first and the last, both included: (extent - 1) * stride of each
  // dimension. At most 2^44, so that bytes do not overflow either.
  uint64_t elements = 1;
  for (size_t i = 0; i < argument.shape.size(); ++i) {
    if (argument.shape[i] == 0)
      elements = 0;
    uint64_t reach = 0;
    if (elements &&
        (__builtin_mul_overflow(uint64_t(argument.shape[i] - 1), uint64_t(argument.strides[i]),
                                &reach) ||
         __builtin_add_overflow(elements, reach, &elements) || elements > (uint64_t(1) << 44)))
      return session.failData("'" + param.name + "' would be larger than any memory");
  }
  bool pairs = runtime::dtypeBits(param.dtype) < 8;
  size_t size = pairs ? 1 : runtime::dtypeBits(param.dtype) / 8,
         bytes = pairs ? (elements + 1) / 2 : elements * size;
  argument.buffer = Buffer(bytes, param.align);
  if (!argument.buffer.getData())
    return session.failData("not enough memory for '" + param.name + "' (" + Twine(bytes) +
                            " bytes)");
  if (file == files.end()) {
    if (param.access != runtime::Access::Out)
      fillRandom(argument);
  } else if (isDense(argument)) {
    std::memcpy(argument.buffer.getData(), file->second.data.data(),
                std::min<size_t>(file->second.data.size(), bytes));
  } else {
    copyStrided(argument, file->second.data.data(), true);
  }
  return true;
}

/// Gives values to names that an equation of the contracts determines: C == cdiv(S, 64).
void RunArguments::solveEquations(const runtime::Kernel &kernel) {
  for (bool found = true; found;) {
    found = false;
    for (const runtime::Contract &contract : kernel.contracts) {
      if (contract.condition.getOp() != runtime::Expr::Op::Eq)
        continue;
      const std::vector<runtime::Expr> &sides = contract.condition.getOperands();
      for (size_t i : {0, 1}) {
        std::string reason;
        if (!sides[i].isName() || bindings.count(sides[i].getName()))
          continue;
        if (std::optional<int64_t> value = sides[1 - i].evaluate(bindings, reason))
          found |= bindings.emplace(sides[i].getName(), *value).second;
      }
    }
  }
}

bool RunArguments::bind(const runtime::Kernel &kernel) {
  for (const auto *extents : {&options.random, &options.extents})
    for (const auto &[name, extent] : *extents)
      bindings.emplace(name, extent);
  for (const auto &[name, file] : files)
    if (name.find('[') != std::string::npos &&
        none_of(kernel.params,
                [&, &name = name](const runtime::Param &param) { return param.name == name; }))
      return session.failCall(
          "'" + name + "' does not exist: the array has " +
          Twine(count_if(kernel.params,
                         [&, &name = name](const runtime::Param &param) {
                           return StringRef(param.name)
                               .starts_with(StringRef(name).split('[').first.str() + "[");
                         })) +
          " tensors in this instance of the kernel");
  // Inputs first: the sizes of everything else follow from them.
  for (const runtime::Param &param : kernel.params)
    if (auto file = files.find(param.name); file != files.end())
      bindDims(param.dims, file->second.shape);
  arguments.resize(kernel.params.size());
  for (bool scalars : {true, false}) {
    if (!scalars)
      solveEquations(kernel);
    for (size_t i = 0; i < kernel.params.size(); ++i) {
      const runtime::Param &param = kernel.params[i];
      arguments[i].param = &param;
      bool isScalar = param.kind == runtime::Param::Kind::Scalar;
      if (isScalar == scalars &&
          !(isScalar ? bindScalar(param, arguments[i]) : makeTensor(param, arguments[i])))
        return false;
    }
  }
  return true;
}

/// The arithmetic is written out, since std::normal_distribution gives other numbers in other
/// libraries.
static void makeRandom(uint64_t seed, runtime::Dtype dtype, char *data, size_t count) {
  std::mt19937_64 random(seed);
  auto uniform = [&] { return double((random() >> 11) + 1) * 0x1p-53; }; // in (0, 1]
  size_t size = (runtime::dtypeBits(dtype) + 7) / 8;
  bool isBool = dtype == runtime::Dtype::Bool;
  for (size_t n = 0; n < count; ++n, data += size) {
    uint64_t bits;
    if (runtime::dtypeBits(dtype) < 8) {
      bits = random();
    } else if (runtime::isIntegral(dtype)) {
      bits = random() % (isBool ? 2 : 10);
    } else {
      double value = std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform());
      bits = runtime::encodeFloat(value, dtype);
    }
    std::memcpy(data, &bits, size); // little endian, as everything here
  }
}

/// Normal numbers for floats, 0 to 9 for integers, any for those of 4 bits; the same for the same
/// seed and name on every machine.
void RunArguments::fillRandom(RunArgument &argument) {
  const runtime::Param &param = *argument.param;
  uint64_t seed = options.seed * 0x9e3779b97f4a7c15ull;
  for (char c : param.name)
    seed = (seed ^ uint8_t(c)) * 0x100000001b3ull;
  size_t size = (runtime::dtypeBits(param.dtype) + 7) / 8;
  // Long tensors repeat what they begin with, after a prime number of elements: no two rows are
  // alike, and it takes no time.
  constexpr size_t period = 1048573;
  size_t bytes = argument.buffer.getBytes(), have = std::min(bytes / size, period) * size;
  char *data = argument.buffer.getData();
  std::vector<char> *known = cache ? &(*cache)[{seed, param.dtype}] : nullptr;
  if (known && known->size() >= have) {
    std::memcpy(data, known->data(), have);
  } else {
    makeRandom(seed, param.dtype, data, have / size);
    if (known)
      known->assign(data, data + have);
  }
  for (size_t done = have; done < bytes / size * size;) {
    size_t piece = std::min(bytes / size * size - done, done);
    std::memcpy(data + done, data, piece);
    done += piece;
  }
}

//===--- Arguments of the launch ------------------------------------------===//

std::vector<tile_argument> RunArguments::describe(ArrayRef<void *> addresses) const {
  std::vector<tile_argument> result;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const RunArgument &argument = arguments[i];
    tile_argument described = {};
    described.dtype = int32_t(argument.param->dtype);
    if (argument.param->kind == runtime::Param::Kind::Scalar) {
      described.kind = argument.isDefault ? TILE_DEFAULT : TILE_SCALAR;
      described.bits = argument.bits;
    } else {
      described.kind = TILE_TENSOR;
      described.data = addresses.empty() ? argument.buffer.getData() : addresses[i];
      described.rank = argument.shape.size();
      described.shape = argument.shape.data();
      described.strides = argument.strides.data();
      described.bytes = argument.buffer.getBytes();
    }
    result.push_back(described);
  }
  return result;
}

/// Element by element: within `tolerance` of the largest element expected, NaN with NaN.
bool RunArguments::compareOutputs() {
  for (const auto &[name, path] : options.expected) {
    auto found = find_if(arguments, [&, &name = name](const RunArgument &argument) {
      return argument.param->name == name;
    });
    if (found == arguments.end() || found->param->access == runtime::Access::In ||
        found->param->kind != runtime::Param::Kind::Tensor)
      return session.failCall("'" + name + "' is no output of the kernel, in --expect " + name +
                              "=" + path);
    runtime::NpyArray expected;
    runtime::Dtype dtype = found->param->dtype;
    if (runtime::Error error = runtime::readNpy(path, dtype, expected))
      return session.failCall(error.message);
    if (expected.shape != found->shape)
      return session.failData("'" + name + "' and '" + path + "' have different shapes");
    std::vector<char> copy;
    const char *data = getDense(*found, copy);
    std::string difference =
        compareTensors(dtype, data, expected.data.data(),
                       copy.empty() ? found->buffer.getBytes() : copy.size(), options.tolerance);
    if (!difference.empty())
      return session.failData("'" + name + "' differs from '" + path + "' " + difference);
  }
  return true;
}

bool RunArguments::writeOutputs() {
  if (!compareOutputs())
    return false;
  for (const RunArgument &argument : arguments) {
    const std::string *path = find(options.outputs, argument.param->name);
    if (!path)
      continue;
    std::vector<char> copy;
    if (runtime::Error error = runtime::writeNpy(*path, argument.param->dtype, argument.shape,
                                                 getDense(argument, copy)))
      return session.failCall(error.message);
  }
  return true;
}

} // namespace tile
