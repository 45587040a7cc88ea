// The manifest as JSON: reader. No exception leaves this file.
//
// A manifest may come from anywhere, so it is checked for all that the launcher takes for granted:
// names that exist, limits, depth of expressions. Keys that are unknown are passed over; a newer
// format has a newer version. Optional keys have the value of their field's initialiser.
#include "manifest/Json.h"

#include <algorithm>
#include <limits>
#include <set>

namespace tile::runtime {

static constexpr std::string_view accessNames[] = {"in", "out", "inout"};

namespace {

/// Reads values out of one JSON document; the first problem is kept, with the path to it, and
/// everything after reads as empty.
class Reader {
public:
  explicit Reader(std::string &error) : error(error) {}
  Manifest readManifest(const Json &json);
  Manifest readKernels(const Json &json, const char *versionKey);
  bool failed() const { return bad; }

private:
  /// Adds one step to the path that errors name.
  struct Step {
    Step(Reader &reader, const std::string &text) : reader(reader), length(reader.path.size()) {
      reader.path += text;
    }
    ~Step() { reader.path.resize(length); }
    Reader &reader;
    size_t length;
  };

  // Later problems may be consequences of the first one.
  void fail(const std::string &message) {
    if (!bad)
      error = (path.empty() ? "" : path.substr(path[0] == '.') + ": ") + message;
    bad = true;
  }

  const Json *find(const Json &json, const char *key, bool required) {
    auto found = json.is_object() ? json.find(key) : json.end();
    if (json.is_object() && found != json.end())
      return &*found;
    if (required)
      fail(json.is_object() ? std::string("missing key '") + key + "'"
                            : std::string("expected an object, found ") + json.type_name());
    return nullptr;
  }

  std::string readString(const Json &json, const char *key, bool required = true) {
    const Json *value = find(json, key, required);
    if (!value)
      return {};
    Step step(*this, std::string(".") + key);
    if (value->is_string())
      return value->get<std::string>();
    fail(std::string("expected a string, found ") + value->type_name());
    return {};
  }

  std::optional<int64_t> readInteger(const Json &json, const char *key, bool required, int64_t min,
                                     int64_t max) {
    const Json *value = find(json, key, required);
    if (!value)
      return std::nullopt;
    Step step(*this, std::string(".") + key);
    if (!value->is_number_integer() ||
        (value->is_number_unsigned() && value->get<uint64_t>() > uint64_t(INT64_MAX))) {
      fail(std::string("expected an integer of 64 bits, found ") + value->dump().substr(0, 40));
      return std::nullopt;
    }
    int64_t integer = value->get<int64_t>();
    if (integer >= min && integer <= max)
      return integer;
    fail("expected a number from " + std::to_string(min) + " to " + std::to_string(max) +
         ", found " + std::to_string(integer));
    return std::nullopt;
  }
  unsigned readUnsigned(const Json &json, const char *key, bool required = true,
                        unsigned otherwise = 0) {
    return unsigned(readInteger(json, key, required, 0, std::numeric_limits<unsigned>::max())
                        .value_or(otherwise));
  }

  /// Calls `each` on every element of the array `key`, with the element's path in place.
  template <typename Each>
  void readList(const Json &json, const char *key, bool required, Each each) {
    const Json *list = find(json, key, required);
    if (!list)
      return;
    Step step(*this, std::string(".") + key);
    if (!list->is_array())
      return fail(std::string("expected an array, found ") + list->type_name());
    for (size_t i = 0; i < list->size() && !bad; ++i) {
      Step index(*this, "[" + std::to_string(i) + "]");
      each((*list)[i]);
    }
  }

  Expr readExpr(const Json &json, unsigned depth = 0);
  Constant readConstant(const Json &json);
  Dim readDim(const Json &json);
  Param readParam(const Json &json);
  Argument readArgument(const Json &json);
  TensorMap readTensorMap(const Json &json);
  Fact readFact(const Json &json);
  Kernel readKernel(const Json &json);
  void checkNames(const Kernel &kernel);
  void checkTensorMaps(const Kernel &kernel);
  void checkNames(const Expr &expr, const std::set<std::string> &known);

  std::string &error;
  std::string path;
  bool bad = false;
};

Expr Reader::readExpr(const Json &json, unsigned depth) {
  if (json.is_number_integer() &&
      !(json.is_number_unsigned() && json.get<uint64_t>() > uint64_t(INT64_MAX)))
    return Expr(json.get<int64_t>());
  if (json.is_number_float())
    return Expr::makeFloat(json.get<double>());
  if (json.is_string())
    return Expr::makeName(json.get<std::string>());
  if (!json.is_array() || json.empty() || !json[0].is_string()) {
    fail("expected an expression (a number, a name, or [operator, operand, ...]), found " +
         json.dump().substr(0, 40));
    return {};
  }
  // Bounds the recursion, here and in everything that walks expressions.
  if (depth >= maxExprDepth) {
    fail("expression nested deeper than " + std::to_string(maxExprDepth) + " levels");
    return {};
  }
  std::optional<Expr::Op> op = operatorFromSpelling(json[0].get<std::string>(), json.size() - 1);
  if (!op) {
    fail("no operator '" + json[0].get<std::string>() + "' with " +
         std::to_string(json.size() - 1) + " operands");
    return {};
  }
  std::vector<Expr> operands;
  for (size_t i = 1; i < json.size() && !bad; ++i)
    operands.push_back(readExpr(json[i], depth + 1));
  return Expr::make(*op, std::move(operands));
}

Constant Reader::readConstant(const Json &json) {
  if (json.is_boolean())
    return json.get<bool>();
  if (json.is_number_unsigned() && json.get<uint64_t>() > uint64_t(INT64_MAX))
    return json.get<uint64_t>();
  if (json.is_number_integer())
    return json.get<int64_t>();
  if (json.is_number_float())
    return json.get<double>();
  if (!json.is_string()) {
    fail(std::string("expected a boolean, number or string, found ") + json.type_name());
    return false;
  }
  std::string text = json.get<std::string>();
  if (text == "inf" || text == "-inf")
    return text == "inf" ? std::numeric_limits<double>::infinity()
                         : -std::numeric_limits<double>::infinity();
  if (text == "nan")
    return std::numeric_limits<double>::quiet_NaN();
  return text;
}

Dim Reader::readDim(const Json &json) {
  Dim dim;
  dim.name = readString(json, "name");
  dim.min = readInteger(json, "min", false, INT64_MIN, INT64_MAX).value_or(dim.min);
  dim.max = readInteger(json, "max", false, INT64_MIN, INT64_MAX).value_or(dim.max);
  dim.opt = readInteger(json, "opt", false, INT64_MIN, INT64_MAX);
  dim.multipleOf = readInteger(json, "multiple_of", false, 1, INT64_MAX).value_or(1);
  dim.line = readUnsigned(json, "line", false);
  dim.contract = readString(json, "contract", false);
  return dim;
}

Param Reader::readParam(const Json &json) {
  Param param;
  param.name = readString(json, "name");
  std::string kind = readString(json, "kind");
  std::string dtype = readString(json, "dtype");
  param.line = readUnsigned(json, "line", false);
  if (bad)
    return param;
  std::optional<Dtype> known = dtypeFromName(dtype);
  if (!known) {
    fail("unknown dtype '" + dtype + "'");
    return param;
  }
  param.dtype = *known;
  if (kind == "scalar") {
    param.kind = Param::Kind::Scalar;
    if (const Json *value = find(json, "default", false)) {
      Step step(*this, ".default");
      param.defaultValue = readConstant(*value);
    }
    param.min = readInteger(json, "min", false, INT64_MIN, INT64_MAX);
    param.max = readInteger(json, "max", false, INT64_MIN, INT64_MAX);
    param.contract = readString(json, "contract", false);
    param.contractLine = readUnsigned(json, "contract_line", false);
    return param;
  }
  if (kind != "tensor") {
    fail("expected kind 'tensor' or 'scalar', found '" + kind + "'");
    return param;
  }
  std::string access = readString(json, "access");
  auto found = std::find(std::begin(accessNames), std::end(accessNames), access);
  if (found == std::end(accessNames)) {
    fail("expected access 'in', 'out' or 'inout', found '" + access + "'");
    return param;
  }
  param.access = Access(found - std::begin(accessNames));
  param.align = readUnsigned(json, "align", false, param.align);
  readList(json, "dims", true, [&](const Json &dim) { param.dims.push_back(readExpr(dim)); });
  if (const Json *strides = find(json, "strides", false); strides && !strides->is_null()) {
    param.strides.emplace();
    readList(json, "strides", true, [&](const Json &stride) {
      if (stride.is_string() && stride.get<std::string>() == "*")
        param.strides->push_back(std::nullopt);
      else
        param.strides->push_back(readExpr(stride));
    });
    if (!bad && param.strides->size() != param.dims.size())
      fail("expected " + std::to_string(param.dims.size()) +
           " strides, one for each dimension, found " + std::to_string(param.strides->size()));
  }
  if (const Json *value = find(json, "fill", false)) {
    Step step(*this, ".fill");
    param.fill = readConstant(*value);
  }
  return param;
}

Argument Reader::readArgument(const Json &json) {
  if (json.is_object() && json.contains("tensor_map"))
    return {Argument::Kind::TensorMap, "", readUnsigned(json, "tensor_map")};
  if (json.is_object() && json.contains("scratch"))
    return {Argument::Kind::Scratch, "", 0};
  bool isDim = json.is_object() && json.contains("dim");
  return {isDim ? Argument::Kind::Dim : Argument::Kind::Param,
          readString(json, isDim ? "dim" : "param")};
}

TensorMap Reader::readTensorMap(const Json &json) {
  TensorMap map;
  map.param = readString(json, "param");
  auto readNumbers = [&](const char *key, std::vector<unsigned> &numbers, unsigned least,
                         unsigned most, bool required = true) {
    readList(json, key, required, [&](const Json &number) {
      bool valid = number.is_number_unsigned() && number.get<uint64_t>() >= least &&
                   number.get<uint64_t>() <= most;
      if (!valid)
        return fail("expected a number from " + std::to_string(least) + " to " +
                    std::to_string(most));
      numbers.push_back(number.get<unsigned>());
    });
  };
  readNumbers("order", map.order, 0, 4);
  readNumbers("box", map.box, 1, 256);
  readNumbers("steps", map.steps, 1, 8, /*required=*/false);
  map.swizzle = readUnsigned(json, "swizzle");
  if (!bad && map.swizzle != 0 && map.swizzle != 32 && map.swizzle != 64 && map.swizzle != 128)
    fail("expected a swizzle of 0, 32, 64 or 128 bytes, found " + std::to_string(map.swizzle));
  return map;
}

Fact Reader::readFact(const Json &json) {
  Fact fact;
  if (json.is_object() && json.contains("param")) {
    fact.param = readString(json, "param");
    fact.align = unsigned(readInteger(json, "align", true, 1, 4096).value_or(1));
    if (fact.align & (fact.align - 1))
      fail("expected an alignment that is a power of two, found " + std::to_string(fact.align));
  } else if (const Json *condition = find(json, "condition", true)) {
    fact.condition = readExpr(*condition);
  }
  fact.text = readString(json, "text", false);
  fact.line = readUnsigned(json, "line", false);
  return fact;
}

Kernel Reader::readKernel(const Json &json) {
  Kernel kernel;
  kernel.name = readString(json, "name");
  kernel.symbol = readString(json, "symbol");
  kernel.file = readString(json, "file", false);
  kernel.line = readUnsigned(json, "line", false);
  kernel.doc = readString(json, "doc", false);
  if (const Json *constants = find(json, "constants", false)) {
    Step step(*this, ".constants");
    if (!constants->is_object())
      fail(std::string("expected an object, found ") + constants->type_name());
    else
      for (const auto &item : constants->items()) {
        Step name(*this, "." + item.key());
        kernel.constants.emplace_back(item.key(), readConstant(item.value()));
      }
  }
  readList(json, "dims", true, [&](const Json &dim) { kernel.dims.push_back(readDim(dim)); });
  readList(json, "params", true,
           [&](const Json &param) { kernel.params.push_back(readParam(param)); });
  readList(json, "contracts", false, [&](const Json &contract) {
    Contract read;
    if (const Json *condition = find(contract, "condition", true))
      read.condition = readExpr(*condition);
    read.text = readString(contract, "text", false);
    read.line = readUnsigned(contract, "line", false);
    kernel.contracts.push_back(std::move(read));
  });
  kernel.variant = readString(json, "variant", false);
  readList(json, "specialize", false,
           [&](const Json &fact) { kernel.facts.push_back(readFact(fact)); });
  readList(json, "grid", true,
           [&](const Json &extent) { kernel.grid.push_back(readExpr(extent)); });
  readList(json, "arguments", true,
           [&](const Json &argument) { kernel.arguments.push_back(readArgument(argument)); });
  readList(json, "tensor_maps", false,
           [&](const Json &map) { kernel.tensorMaps.push_back(readTensorMap(map)); });
  readList(json, "aliases", false, [&](const Json &pair) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string())
      return fail("expected two names of parameters");
    kernel.aliases.emplace_back(pair[0].get<std::string>(), pair[1].get<std::string>());
  });
  if (const Json *launch = find(json, "launch", true)) {
    Step step(*this, ".launch");
    kernel.launch.threads = readUnsigned(*launch, "threads");
    kernel.launch.sharedBytes = readUnsigned(*launch, "shared_bytes", false);
    if (const Json *taken = find(*launch, "shared_taken", false))
      kernel.launch.sharedTaken = readExpr(*taken);
    kernel.launch.registers = readUnsigned(*launch, "registers", false);
    kernel.launch.spillBytes = readUnsigned(*launch, "spill_bytes", false);
    for (auto [key, value] : {std::pair("persistent", &kernel.launch.persistent),
                              {"scratch_shared", &kernel.launch.scratchShared}})
      if (const Json *flag = find(*launch, key, false)) {
        if (!flag->is_boolean())
          fail(std::string("expected true or false for '") + key + "'");
        else
          *value = flag->get<bool>();
      }
    kernel.launch.scratchBytes = readUnsigned(*launch, "scratch_bytes", false);
    kernel.launch.cluster = unsigned(readInteger(*launch, "cluster", false, 1, 16).value_or(1));
    if (!bad && kernel.launch.threads == 0)
      fail("expected at least one thread");
  }
  if (!bad && std::max(kernel.dims.size(), kernel.params.size()) > maxKernelNames)
    fail("expected at most " + std::to_string(maxKernelNames) +
         " parameters and as many dimensions");
  if (!bad)
    checkTensorMaps(kernel);
  if (!bad)
    checkNames(kernel);
  return kernel;
}

void Reader::checkNames(const Expr &expr, const std::set<std::string> &known) {
  if (expr.isName() && !known.count(expr.getName()))
    fail("'" + expr.getName() + "' is neither a dimension nor an integral scalar of kernel");
  for (const Expr &operand : expr.getOperands())
    checkNames(operand, known);
}

void Reader::checkTensorMaps(const Kernel &kernel) {
  for (const TensorMap &map : kernel.tensorMaps) {
    auto param = std::find_if(kernel.params.begin(), kernel.params.end(),
                              [&](const Param &p) { return p.name == map.param; });
    if (param == kernel.params.end() || param->kind != Param::Kind::Tensor)
      return fail("tensor map of '" + map.param + "', which is no tensor parameter of the kernel");
    std::set<unsigned> dims(map.order.begin(), map.order.end());
    std::vector<unsigned> order = map.order; // without what is listed again, behind the fastest
    order.erase(std::unique(order.begin() + !order.empty(), order.end()), order.end());
    if (order.empty() || dims.size() != order.size() || order.size() != param->dims.size() ||
        map.order.size() > 5 || map.box.size() != map.order.size() ||
        *dims.rbegin() >= order.size())
      return fail("tensor map of '" + map.param + "': expected an order of its " +
                  std::to_string(param->dims.size()) +
                  " dimensions, from 1 to 5, and as many extents of the box");
    if (!map.steps.empty() && (map.steps.size() != map.order.size() || map.steps[0] != 1))
      return fail("tensor map of '" + map.param + "': expected a step for each dimension, 1 for " +
                  "the fastest");
  }
  for (const Argument &argument : kernel.arguments)
    if (argument.kind == Argument::Kind::TensorMap && argument.index >= kernel.tensorMaps.size())
      return fail("argument: there is no tensor map " + std::to_string(argument.index));
}

/// After all parts are read: expressions of parameters may use names of later ones.
void Reader::checkNames(const Kernel &kernel) {
  std::set<std::string> dims, params, values;
  for (const Dim &dim : kernel.dims) {
    if (!dims.insert(dim.name).second)
      return fail("dimension '" + dim.name + "' is listed twice");
    values.insert(dim.name);
  }
  for (const Param &param : kernel.params) {
    if (!params.insert(param.name).second)
      return fail("parameter '" + param.name + "' is listed twice");
    if (param.kind == Param::Kind::Scalar) // floats in contracts alone, which the checker sees to
      values.insert(param.name);
  }
  for (const Param &param : kernel.params) {
    for (const Expr &dim : param.dims)
      checkNames(dim, values);
    if (param.strides)
      for (const std::optional<Expr> &stride : *param.strides)
        if (stride)
          checkNames(*stride, values);
  }
  for (const Contract &contract : kernel.contracts)
    checkNames(contract.condition, values);
  for (const Fact &fact : kernel.facts) {
    checkNames(fact.condition, values);
    if (!fact.param.empty() && !params.count(fact.param))
      return fail("condition of '" + fact.param + "', which is no parameter of the kernel");
  }
  for (const Expr &extent : kernel.grid)
    checkNames(extent, values);
  if (kernel.launch.sharedTaken)
    checkNames(*kernel.launch.sharedTaken, values);
  for (const Argument &argument : kernel.arguments)
    if (argument.kind != Argument::Kind::TensorMap && argument.kind != Argument::Kind::Scratch &&
        !(argument.kind == Argument::Kind::Param ? params : dims).count(argument.name))
      return fail("argument '" + argument.name + "' is no " +
                  (argument.kind == Argument::Kind::Param ? "parameter" : "dimension") +
                  " of the kernel");
  for (const auto &[first, second] : kernel.aliases)
    for (const std::string &name : {first, second})
      if (!params.count(name))
        return fail("alias '" + name + "' is no parameter of the kernel");
}

/// Also for packages, whose kernels have the same form below another document.
Manifest Reader::readKernels(const Json &json, const char *versionKey) {
  Manifest manifest;
  int64_t version = readInteger(json, versionKey, true, 1, INT32_MAX).value_or(manifestVersion);
  if (!bad && version != manifestVersion)
    fail("version " + std::to_string(version) + " is " +
         (version > manifestVersion ? "newer" : "older") + " than this runtime reads (" +
         std::to_string(manifestVersion) +
         "): " + (version > manifestVersion ? "update the runtime, or compile" : "compile it") +
         " again with the tilec that came with it");
  manifest.target = readString(json, "target");
  manifest.cpu = readString(json, "cpu", false);
  readList(json, "kernels", true,
           [&](const Json &kernel) { manifest.kernels.push_back(readKernel(kernel)); });
  return manifest;
}

Manifest Reader::readManifest(const Json &json) {
  std::string format = readString(json, "format");
  if (!bad && format != "tile-manifest")
    fail("expected format 'tile-manifest', found '" + format + "'");
  Manifest manifest = readKernels(json, "version");
  manifest.compiler = readString(json, "compiler", false);
  if (const Json *binary = find(json, "binary", false)) {
    Step step(*this, ".binary");
    manifest.binary.emplace();
    manifest.binary->bytes =
        uint64_t(readInteger(*binary, "bytes", true, 0, INT64_MAX).value_or(0));
    manifest.binary->hash = readString(*binary, "hash");
  }
  return manifest;
}

} // namespace

/// The model that `read` builds from a document, or the first problem.
template <typename Read> static std::optional<Manifest> readWith(std::string &error, Read read) {
  try {
    Reader reader(error);
    Manifest manifest = read(reader);
    if (!reader.failed())
      return manifest;
  } catch (const std::exception &problem) { // no more memory
    error = problem.what();
  }
  error = "manifest: " + error;
  return std::nullopt;
}

std::optional<Manifest> readKernels(const Json &object, const char *versionKey,
                                    std::string &error) {
  return readWith(error, [&](Reader &reader) { return reader.readKernels(object, versionKey); });
}

std::optional<Manifest> parseManifest(std::string_view json, std::string &error) {
  std::optional<Json> parsed = parseJson(json, error);
  if (parsed)
    return readWith(error, [&](Reader &reader) { return reader.readManifest(*parsed); });
  error = "manifest: " + error;
  return std::nullopt;
}

} // namespace tile::runtime
