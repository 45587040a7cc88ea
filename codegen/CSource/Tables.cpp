// Tables of a kernel instance in C: parameters, names, expressions, contracts, machine arguments.
#include "codegen/CSource/Tables.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <algorithm>

using namespace llvm;

namespace tile {

std::string quoteC(StringRef text) {
  std::string quoted = "\"";
  for (char c : text) {
    switch (c) {
    case '\n':
      quoted += "\\n";
      break;
    case '"':
    case '\\':
    case '?': // no trigraphs
      quoted += '\\';
      [[fallthrough]];
    default:
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string identifierC(StringRef name) {
  static const StringSet<> taken = {
      "alignas", "alignof",   "and",       "asm",       "auto",          "bitand",       "bitor",
      "bool",    "break",     "case",      "catch",     "char",          "class",        "compl",
      "const",   "continue",  "decltype",  "default",   "delete",        "do",           "double",
      "else",    "enum",      "explicit",  "export",    "extern",        "false",        "float",
      "for",     "friend",    "goto",      "if",        "inline",        "int",          "long",
      "mutable", "namespace", "new",       "noexcept",  "not",           "nullptr",      "operator",
      "or",      "private",   "protected", "public",    "register",      "restrict",     "return",
      "short",   "signed",    "sizeof",    "static",    "struct",        "switch",       "template",
      "this",    "throw",     "true",      "try",       "typedef",       "typeid",       "typename",
      "union",   "unsigned",  "using",     "virtual",   "void",          "volatile",     "while",
      "xor",     "concept",   "requires",  "constexpr", "static_assert", "thread_local", "unix",
      "linux",   "NULL",      "stream",    "flags"};
  if (taken.contains(name))
    return (name + "_").str();
  std::string identifier = name.str(); // one tensor of an array, xs[1], is xs_1
  erase(identifier, ']');
  std::replace(identifier.begin(), identifier.end(), '[', '_');
  return identifier;
}

StringRef typeC(runtime::Dtype dtype) {
  static constexpr StringRef names[] = {"tile_bool", "int8_t",   "int16_t",  "int32_t",  "int64_t",
                                        "uint8_t",   "uint16_t", "uint32_t", "uint64_t", "tile_f16",
                                        "tile_bf16", "float",    "double",   "tile_f8",  "tile_f8",
                                        "tile_i4x2", "tile_i4x2"};
  return names[size_t(dtype)];
}

std::string dtypeC(runtime::Dtype dtype) {
  return "TILE_" + StringRef(runtime::dtypeName(dtype)).upper();
}

/// A 64-bit literal.
static std::string integerC(int64_t value) {
  if (value == INT64_MIN)
    return "INT64_MIN";
  return value < 0 ? "-INT64_C(" + std::to_string(-value) + ")"
                   : "INT64_C(" + std::to_string(value) + ")";
}

} // namespace tile

namespace tile::runtime {

std::unique_ptr<CTables> CTables::create(const Kernel &kernel, size_t index, std::string &error) {
  std::unique_ptr<CTables> tables(new CTables(index));
  tables->validator = Validator::create(kernel, error);
  if (!tables->validator)
    return nullptr;
  for (const Contract &contract : kernel.contracts)
    tables->contracts.push_back(tables->addExpr(contract.condition));
  for (const Fact &fact : kernel.facts)
    tables->facts.push_back(tables->addExpr(fact.condition));
  for (const Expr &extent : kernel.grid)
    tables->grid.push_back(tables->addExpr(extent));
  return tables;
}

void CTables::raise(CLimits &limits) const {
  const Kernel &kernel = getKernel();
  limits.slots = std::max(limits.slots, validator->bindings.size());
  limits.strides = std::max(limits.strides, size_t(validator->strideCount));
  limits.axes = std::max(limits.axes, kernel.grid.size());
  limits.arguments = std::max(limits.arguments, kernel.arguments.size());
  limits.maps = std::max(limits.maps, kernel.tensorMaps.size());
}

size_t CTables::addExpr(const Expr &expr) {
  for (size_t i = 0; i < exprs.size(); ++i)
    if (exprs[i] == expr)
      return i;
  exprs.push_back(expr);
  return exprs.size() - 1;
}

size_t CTables::getSlot(const std::string &name) const {
  const Kernel &kernel = getKernel();
  for (size_t slot = 0; slot < validator->bindings.size(); ++slot)
    if ((slot < kernel.dims.size() ? kernel.dims[slot].name
                                   : kernel.params[validator->bindings[slot].param].name) == name)
      return slot;
  return 0; // Validator::create has refused unknown names
}

bool CTables::isFloat(size_t slot) const {
  const Validator::Binding &binding = validator->bindings[slot];
  return binding.form == Validator::Binding::Form::Scalar &&
         !isIntegral(getKernel().params[binding.param].dtype);
}

/// Whether an expression's value is a float; a comparison's is not.
bool CTables::isFloat(const Expr &expr) const {
  if (expr.isName())
    return isFloat(getSlot(expr.getName()));
  if (expr.isFloat() || expr.getOperands().empty())
    return expr.isFloat();
  return expr.getOp() < Expr::Op::Eq &&
         any_of(expr.getOperands(), [&](const Expr &operand) { return isFloat(operand); });
}

/// The expression as C over the array `values`; operations that may overflow set *overflow. Floats
/// are doubles, and an integer that meets one becomes one.
std::string CTables::print(const Expr &expr) const {
  if (expr.isInteger())
    return integerC(expr.getInteger());
  if (expr.isFloat())
    return "tk_float(" + integerC(floatBits(expr.getFloat())) + ")";
  if (expr.isName()) {
    size_t slot = getSlot(expr.getName());
    std::string value = "values[" + std::to_string(slot) + "]";
    return isFloat(slot) ? "tk_float(" + value + ")" : value;
  }
  bool onFloats = any_of(expr.getOperands(), [&](const Expr &operand) { return isFloat(operand); });
  auto printOperand = [&](const Expr &operand) {
    return onFloats && !isFloat(operand) ? "(double)(" + print(operand) + ")" : print(operand);
  };
  std::string first = printOperand(expr.getOperands()[0]);
  std::string second = expr.getOperands().size() > 1 ? printOperand(expr.getOperands()[1]) : "";
  if (onFloats && expr.getOp() < Expr::Op::Eq) {
    if (expr.getOp() == Expr::Op::Min || expr.getOp() == Expr::Op::Max)
      return std::string(expr.getOp() == Expr::Op::Min ? "tk_fmin(" : "tk_fmax(") + first + ", " +
             second + ")";
    return second.empty()
               ? "(-" + first + ")"
               : "(" + first + " " + std::string(spelling(expr.getOp())) + " " + second + ")";
  }
  auto call = [&](const char *function, bool overflows) {
    return std::string(function) + "(" + first + (second.empty() ? "" : ", " + second) +
           (overflows ? ", overflow)" : ")");
  };
  switch (expr.getOp()) {
  case Expr::Op::Integer:
  case Expr::Op::Name:
  case Expr::Op::Float:
    break;
  case Expr::Op::Add:
    return call("tk_add", true);
  case Expr::Op::Sub:
    return call("tk_sub", true);
  case Expr::Op::Mul:
    return call("tk_mul", true);
  case Expr::Op::Div:
    return call("tk_div", true);
  case Expr::Op::Rem:
    return call("tk_rem", false);
  case Expr::Op::CeilDiv:
    return call("tk_cdiv", true);
  case Expr::Op::Min:
    return call("tk_min", false);
  case Expr::Op::Max:
    return call("tk_max", false);
  case Expr::Op::NextPow2:
    return call("tk_next_pow2", true);
  case Expr::Op::And:
    return call("tk_and", false);
  case Expr::Op::Or:
    return call("tk_or", false);
  case Expr::Op::Neg:
    return "tk_sub(0, " + first + ", overflow)";
  case Expr::Op::Not:
    return "(int64_t)!(" + first + ")";
  case Expr::Op::Eq:
  case Expr::Op::Ne:
  case Expr::Op::Lt:
  case Expr::Op::Le:
  case Expr::Op::Gt:
  case Expr::Op::Ge:
    return "(int64_t)(" + first + " " + std::string(spelling(expr.getOp())) + " " + second + ")";
  }
  return "0";
}

void CTables::collect(const Expr &expr, std::vector<size_t> &names) const {
  if (expr.isName()) {
    size_t slot = getSlot(expr.getName());
    if (!is_contained(names, slot))
      names.push_back(slot);
  }
  for (const Expr &operand : expr.getOperands())
    collect(operand, names);
}

//===- Tables
//-----------------------------------------------------------------------------------------------------===//

void CTables::writeParams(raw_ostream &out) {
  const Kernel &kernel = getKernel();
  std::string records;
  raw_string_ostream params(records);
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const Param &param = kernel.params[i];
    const Validator::Tensor &tensor = validator->tensors[i];
    bool isTensor = param.kind == Param::Kind::Tensor, hasAxes = !param.dims.empty();
    if (hasAxes)
      out << "static const tk_axis tk_axes_" << index << "_" << i << "[] = {";
    for (size_t axis = 0; axis < param.dims.size(); ++axis) {
      int stride = -1;
      if (param.strides && (*param.strides)[axis])
        stride = int(addExpr(*(*param.strides)[axis]));
      out << (axis ? ", " : "") << "{" << addExpr(param.dims[axis]) << ", "
          << int(tensor.axes[axis].binds) << ", " << stride << "}";
    }
    if (hasAxes)
      out << "};\n";
    params << "    {" << quoteC(param.name) << ", " << (isTensor ? "TILE_TENSOR" : "TILE_SCALAR")
           << ", " << dtypeC(param.dtype) << ", " << dtypeBits(param.dtype) << ", "
           << unsigned(param.access) << ", " << param.dims.size() << ", " << param.align << ", "
           << param.line << ", " << int(tensor.dense) << ", " << tensor.firstStride << ", "
           << int(param.defaultValue.has_value()) << ", UINT64_C(" << validator->defaults[i]
           << "), " << int(tensor.fills) << ", UINT64_C(" << tensor.fillBits << "), ";
    if (hasAxes)
      params << "tk_axes_" << index << "_" << i << "},\n";
    else
      params << "NULL},\n";
  }
  if (!kernel.params.empty())
    out << "static const tk_param tk_params_" << index << "[] = {\n" << params.str() << "};\n";
}

void CTables::writeSlots(raw_ostream &out) const {
  const Kernel &kernel = getKernel();
  static constexpr StringRef forms[] = {"TK_EXTENT", "TK_PLUS", "TK_TIMES", "TK_STRIDE",
                                        "TK_VALUE"};
  if (validator->bindings.empty())
    return;
  out << "static const tk_slot tk_slots_" << index << "[] = {\n";
  for (size_t slot = 0; slot < validator->bindings.size(); ++slot) {
    const Validator::Binding &binding = validator->bindings[slot];
    bool isDim = slot < kernel.dims.size();
    const Param &param = kernel.params[binding.param];
    int64_t least = INT64_MIN, most = INT64_MAX, multiple = 1;
    std::string name = param.name, contract = param.contract;
    unsigned line = param.contractLine;
    if (isDim) {
      const Dim &dim = kernel.dims[slot];
      name = dim.name, contract = dim.contract, line = dim.line;
      least = dim.min, most = dim.max, multiple = dim.multipleOf;
      if (contract.empty())
        contract = name + " in " + std::to_string(dim.min) + "..=" + std::to_string(dim.max);
    } else {
      least = param.min.value_or(least), most = param.max.value_or(most);
      if (contract.empty())
        contract = name + " in " + (param.min ? std::to_string(*param.min) : "") +
                   "..=" + (param.max ? std::to_string(*param.max) : "");
    }
    out << "    {" << quoteC(name) << ", " << int(isDim) << ", " << int(isFloat(slot)) << ", "
        << forms[size_t(binding.form)] << ", " << binding.param << ", " << binding.axis << ", "
        << integerC(binding.constant) << ", " << integerC(least) << ", " << integerC(most) << ", "
        << integerC(multiple) << ", " << quoteC(contract) << ", " << line << "},\n";
  }
  out << "};\n";
}

void CTables::writeExprs(raw_ostream &out) const {
  std::string records;
  raw_string_ostream table(records);
  for (size_t i = 0; i < exprs.size(); ++i) {
    std::vector<size_t> names;
    collect(exprs[i], names);
    if (!names.empty())
      out << "static const int tk_names_" << index << "_" << i << "[] = {"
          << join(map_range(names, [](size_t n) { return std::to_string(n); }), ", ") << "};\n";
    table << "    {" << quoteC(exprs[i].toString()) << ", " << int(exprs[i].isInteger()) << ", "
          << (exprs[i].isName() ? int(names.front()) : -1) << ", ";
    if (names.empty())
      table << "NULL, 0},\n";
    else
      table << "tk_names_" << index << "_" << i << ", " << names.size() << "},\n";
  }
  if (!exprs.empty())
    out << "static const tk_expr tk_exprs_" << index << "[] = {\n" << table.str() << "};\n";
  out << "static int64_t tk_eval_" << index
      << "(int expr, const int64_t *values, int *overflow) {\n"
      << "  (void)values;\n  (void)overflow;\n  switch (expr) {\n";
  for (size_t i = 0; i < exprs.size(); ++i)
    out << "  case " << i << ": return " << print(exprs[i]) << ";\n";
  out << "  default: return 0;\n  }\n}\n";
}

void CTables::writeTables(raw_ostream &out) {
  const Kernel &kernel = getKernel();
  out << "\n/* " << validator->getSignature() << " */\n";
  writeParams(out);
  writeSlots(out);
  writeExprs(out);
  if (!contracts.empty()) {
    out << "static const tk_contract tk_contracts_" << index << "[] = {\n";
    for (size_t i = 0; i < contracts.size(); ++i) {
      const Contract &contract = kernel.contracts[i];
      out << "    {" << contracts[i] << ", "
          << quoteC(contract.text.empty() ? contract.condition.toString() : contract.text) << ", "
          << contract.line << "},\n";
    }
    out << "};\n";
  }
  if (!facts.empty()) {
    out << "static const tk_fact tk_facts_" << index << "[] = {\n";
    for (size_t i = 0; i < facts.size(); ++i) {
      const Fact &fact = kernel.facts[i];
      out << "    {" << facts[i] << ", "
          << (fact.param.empty() ? -1 : int(validator->getParamIndex(fact.param))) << ", "
          << fact.align << ", " << quoteC(fact.text) << ", " << fact.line << "},\n";
    }
    out << "};\n";
  }
  if (!grid.empty())
    out << "static const int tk_grid_" << index << "[] = {"
        << join(map_range(grid, [](size_t n) { return std::to_string(n); }), ", ") << "};\n";
  if (!kernel.arguments.empty()) {
    static constexpr StringRef kinds[] = {"TK_ARG_PARAM", "TK_ARG_DIM", "TK_ARG_MAP",
                                          "TK_ARG_SCRATCH"};
    out << "static const tk_argument tk_arguments_" << index << "[] = {";
    for (size_t i = 0; i < kernel.arguments.size(); ++i)
      out << (i ? ", " : "") << "{" << kinds[size_t(validator->sources[i].kind)] << ", "
          << validator->sources[i].index << "}";
    out << "};\n";
  }
  if (!kernel.tensorMaps.empty()) {
    out << "static const tk_map tk_maps_" << index << "[] = {\n";
    for (const TensorMap &map : kernel.tensorMaps) {
      auto list = [](std::vector<unsigned> numbers) {
        numbers.resize(5);
        return "{" + join(map_range(numbers, [](unsigned n) { return std::to_string(n); }), ", ") +
               "}";
      };
      out << "    {" << validator->getParamIndex(map.param) << ", " << map.order.size() << ", "
          << list(map.order) << ", " << list(map.box) << ", " << map.swizzle << "},\n";
    }
    out << "};\n";
  }
  if (!kernel.aliases.empty())
    out << "static const unsigned char tk_alias_" << index << "[] = {"
        << join(map_range(validator->mayAlias,
                          [](bool may) { return std::string(may ? "1" : "0"); }),
                ", ")
        << "};\n";
}

void CTables::writeRecord(raw_ostream &out, size_t number, size_t unit, bool isHost) const {
  const Kernel &kernel = getKernel();
  auto table = [&](const char *name, bool exists) {
    return exists ? "tk_" + std::string(name) + "_" + std::to_string(index) : std::string("NULL");
  };
  out << "    {" << quoteC(kernel.name) << ", " << quoteC(kernel.symbol) << ", "
      << quoteC(validator->getSignature()) << ", " << quoteC(kernel.file) << ", "
      << quoteC(getVariant()) << ", " << kernel.line << ", " << number << ", " << unit << ",\n     "
      << kernel.params.size() << ", " << validator->required << ", "
      << table("params", !kernel.params.empty()) << ", " << validator->bindings.size() << ", "
      << table("slots", !validator->bindings.empty()) << ", " << table("exprs", !exprs.empty())
      << ", " << table("eval", true) << ", " << contracts.size() << ", "
      << table("contracts", !contracts.empty()) << ", " << facts.size() << ", "
      << table("facts", !facts.empty()) << ", " << grid.size() << ", "
      << table("grid", !grid.empty()) << ",\n     " << kernel.arguments.size() << ", "
      << table("arguments", !kernel.arguments.empty()) << ", " << kernel.tensorMaps.size() << ", "
      << table("maps", !kernel.tensorMaps.empty()) << ", "
      << table("alias", !kernel.aliases.empty()) << ", " << kernel.launch.threads << ", "
      << kernel.launch.sharedBytes << ", " << kernel.launch.scratchBytes << ", "
      << kernel.launch.cluster << ", " << int(kernel.launch.persistent) << ", "
      << int(kernel.launch.scratchShared) << ", " << (isHost ? kernel.symbol : std::string("NULL"))
      << "},\n";
}

//===- Typed functions
//--------------------------------------------------------------------------------------------===//

std::string CTables::getParameters() const {
  const Kernel &kernel = getKernel();
  std::vector<std::string> list;
  for (const Param &param : kernel.params) {
    std::string name = identifierC(param.name);
    if (param.kind == Param::Kind::Scalar) {
      list.push_back((typeC(param.dtype) + " " + name).str());
      continue;
    }
    list.push_back(
        ((param.access == Access::In ? "const " : "") + typeC(param.dtype) + " *" + name).str());
    if (param.strides)
      list.push_back("const int64_t *" + name + "_strides");
  }
  for (size_t slot = 0; slot < kernel.dims.size(); ++slot)
    if (validator->bindings[slot].form != Validator::Binding::Form::Stride)
      list.push_back("int64_t " + identifierC(kernel.dims[slot].name));
  list.push_back("void *stream");
  list.push_back("uint32_t flags");
  return join(list, ", ");
}

void CTables::writeArguments(raw_ostream &out) {
  const Kernel &kernel = getKernel();
  size_t count = kernel.params.size();
  out << "  tile_argument tk_list[" << std::max<size_t>(count, 1) << "];\n";
  bool usesValues = false;
  for (const Param &param : kernel.params)
    for (const Expr &dim : param.dims)
      usesValues |= !dim.isInteger();
  if (usesValues)
    out << "  int64_t tk_values[TK_SLOTS];\n";
  for (size_t i = 0; i < count; ++i)
    if (!kernel.params[i].dims.empty())
      out << "  int64_t tk_shape_" << i << "[" << kernel.params[i].dims.size() << "];\n";
  out << "  int tk_overflow = 0;\n  memset(tk_list, 0, sizeof tk_list);\n";
  if (usesValues)
    out << "  memset(tk_values, 0, sizeof tk_values);\n";
  for (size_t slot = 0; usesValues && slot < validator->bindings.size(); ++slot) {
    const Validator::Binding &binding = validator->bindings[slot];
    std::string name =
        slot < kernel.dims.size() ? kernel.dims[slot].name : kernel.params[binding.param].name;
    if (binding.form != Validator::Binding::Form::Stride && !isFloat(slot))
      out << "  tk_values[" << slot << "] = (int64_t)" << identifierC(name) << ";\n";
  }
  for (size_t i = 0; i < count; ++i) {
    const Param &param = kernel.params[i];
    std::string name = identifierC(param.name), at = "tk_list[" + std::to_string(i) + "].";
    bool isTensor = param.kind == Param::Kind::Tensor;
    out << "  " << at << "kind = " << (isTensor ? "TILE_TENSOR" : "TILE_SCALAR") << ";\n  " << at
        << "dtype = " << dtypeC(param.dtype) << ";\n";
    if (!isTensor) {
      out << "  memcpy(&" << at << "bits, &" << name << ", sizeof " << name
          << "); /* little endian */\n";
      continue;
    }
    for (size_t axis = 0; axis < param.dims.size(); ++axis)
      out << "  tk_shape_" << i << "[" << axis << "] = tk_eval_" << index << "("
          << addExpr(param.dims[axis]) << ", " << (usesValues ? "tk_values" : "NULL")
          << ", &tk_overflow);\n";
    out << "  " << at << "data = (void *)" << name << ";\n  " << at
        << "rank = " << param.dims.size() << ";\n";
    if (!param.dims.empty())
      out << "  " << at << "shape = tk_shape_" << i << ";\n";
    if (param.strides)
      out << "  " << at << "strides = " << name << "_strides;\n";
  }
  out << "  if (tk_overflow) {\n    tk_clear();\n    tk_say(\"%s: an extent overflows 64 bits\", "
      << quoteC(kernel.name) << ");\n    return TILE_ERROR_DIM;\n  }\n";
}

std::vector<std::string> CTables::getContracts() const {
  const Kernel &kernel = getKernel();
  std::vector<std::string> lines;
  for (const Dim &dim : kernel.dims)
    if (!dim.contract.empty())
      lines.push_back(dim.contract);
  for (const Param &param : kernel.params)
    if (!param.contract.empty())
      lines.push_back(param.contract);
  for (const Contract &contract : kernel.contracts)
    lines.push_back(contract.text.empty() ? contract.condition.toString() : contract.text);
  std::vector<std::string> unique;
  for (std::string &line : lines)
    if (!is_contained(unique, line))
      unique.push_back(std::move(line));
  return unique;
}

} // namespace tile::runtime
