// Tables of a kernel instance in C: parameters, names, expressions, contracts, machine arguments.
//
// They are the structures of launch/core/Core.h, field by field, as constants: what the runtime
// library builds from a manifest when it loads one (launch/ValidatorBuilder.cpp), generated C has
// from the start. Both must say the same, since the same code of the core reads them.
//
//   tk_kernel
//     params -> axes                  a tensor's dimension: extent, stride
//     slots                           names with a value: dimensions, strides, scalars
//     exprs -> code                   postfix over slots
//     grid, contracts, facts, axes    numbers of exprs
//     arguments                       each machine argument: a parameter, a slot, a map, scratch
//     maps                            tensors as TMA copies them
#include "codegen/CSource/Tables.h"
#include "codegen/CSource.h"
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
    case '\r': // of a source with CRLF: the compiler of C would end the line here
      quoted += "\\r";
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
  return tables;
}

void CTables::raise(CLimits &limits) const {
  const tk_kernel &k = getTables();
  limits.params = std::max(limits.params, k.param_count);
  limits.slots = std::max(limits.slots, k.slot_count);
  limits.strides = std::max(limits.strides, k.stride_count);
  limits.axes = std::max(limits.axes, k.grid_count);
  limits.arguments = std::max(limits.arguments, k.argument_count);
  limits.maps = std::max(limits.maps, k.map_count);
}

/// "{1, 2, 3}" of `count` items.
template <typename Item, typename Print>
static std::string listC(const Item *items, int count, Print print) {
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += (i ? ", " : "") + print(items[i]);
  return text + "}";
}
template <typename Item> static std::string numbersC(const Item *items, int count) {
  return listC(items, count, [](Item item) { return std::to_string(item); });
}
static std::string unsignedC(uint64_t value) { return "UINT64_C(" + std::to_string(value) + ")"; }

//===--- Tables -----------------------------------------------------------===//

void CTables::writeParams(raw_ostream &out) const {
  const tk_kernel &k = getTables();
  for (int i = 0; i < k.param_count; ++i)
    if (k.params[i].rank)
      out << "static const tk_axis tk_axes_" << index << "_" << i << "[] = "
          << listC(k.params[i].axes, k.params[i].rank,
                   [](const tk_axis &axis) {
                     int fields[] = {axis.extent, axis.binds, axis.stride};
                     return numbersC(fields, 3);
                   })
          << ";\n";
  if (!k.param_count)
    return;
  out << "static const tk_param tk_params_" << index << "[] = {\n";
  for (int i = 0; i < k.param_count; ++i) {
    const tk_param &p = k.params[i];
    out << "    {" << quoteC(p.name) << ", "
        << (p.kind == TILE_TENSOR ? "TILE_TENSOR" : "TILE_SCALAR") << ", " << dtypeC(Dtype(p.dtype))
        << ", " << p.bits << ", " << p.access << ", " << p.rank << ", " << p.align << ", " << p.line
        << ", " << p.dense << ", " << p.first_stride << ", " << p.has_default << ", "
        << unsignedC(p.default_bits) << ", " << p.fills << ", " << unsignedC(p.fill_bits) << ", ";
    if (p.rank)
      out << "tk_axes_" << index << "_" << i << "},\n";
    else
      out << "NULL},\n";
  }
  out << "};\n";
}

void CTables::writeSlots(raw_ostream &out) const {
  const tk_kernel &k = getTables();
  static constexpr StringRef forms[] = {"TK_EXTENT", "TK_PLUS", "TK_TIMES", "TK_STRIDE",
                                        "TK_VALUE"};
  if (!k.slot_count)
    return;
  out << "static const tk_slot tk_slots_" << index << "[] = {\n";
  for (const tk_slot &s : ArrayRef(k.slots, size_t(k.slot_count)))
    out << "    {" << quoteC(s.name) << ", " << s.is_dim << ", " << s.is_float << ", "
        << forms[s.form] << ", " << s.param << ", " << s.axis << ", " << integerC(s.constant)
        << ", " << integerC(s.min) << ", " << integerC(s.max) << ", " << integerC(s.multiple)
        << ", " << quoteC(s.contract) << ", " << s.line << "},\n";
  out << "};\n";
}

void CTables::writeExprs(raw_ostream &out) const {
  const tk_kernel &k = getTables();
  int exprCount = validator->getExprCount(), codeCount = 0;
  if (!exprCount)
    return;
  for (int i = 0; i < exprCount; ++i)
    if (k.exprs[i].name_count)
      out << "static const int tk_names_" << index << "_" << i
          << "[] = " << numbersC(k.exprs[i].names, k.exprs[i].name_count) << ";\n";
  out << "static const tk_expr tk_exprs_" << index << "[] = {\n";
  for (int i = 0; i < exprCount; ++i) {
    const tk_expr &e = k.exprs[i];
    codeCount = std::max(codeCount, e.end);
    out << "    {" << quoteC(e.text) << ", " << e.is_integer << ", " << e.slot << ", "
        << integerC(e.constant) << ", " << e.begin << ", " << e.end << ", ";
    if (e.name_count)
      out << "tk_names_" << index << "_" << i << ", " << e.name_count << "},\n";
    else
      out << "NULL, 0},\n";
  }
  out << "};\n";
  static constexpr StringRef ops[] = {
      "TK_INTEGER", "TK_NAME", "TK_ADD",       "TK_SUB", "TK_MUL", "TK_DIV",  "TK_REM", "TK_CDIV",
      "TK_MIN",     "TK_MAX",  "TK_NEXT_POW2", "TK_NEG", "TK_EQ",  "TK_NE",   "TK_LT",  "TK_LE",
      "TK_GT",      "TK_GE",   "TK_AND",       "TK_OR",  "TK_NOT", "TK_FLOAT"};
  if (codeCount)
    out << "static const tk_instruction tk_code_" << index << "[] = "
        << listC(k.code, codeCount,
                 [](const tk_instruction &n) {
                   return ("{" + ops[n.op] + ", " + integerC(n.operand) + "}").str();
                 })
        << ";\n";
}

void CTables::writeConditions(raw_ostream &out) const {
  const tk_kernel &k = getTables();
  if (k.contract_count) {
    out << "static const tk_contract tk_contracts_" << index << "[] = {\n";
    for (const tk_contract &c : ArrayRef(k.contracts, size_t(k.contract_count)))
      out << "    {" << c.expr << ", " << c.of_scalars << ", " << quoteC(c.text) << ", " << c.line
          << "},\n";
    out << "};\n";
  }
  if (k.fact_count) {
    out << "static const tk_fact tk_facts_" << index << "[] = {\n";
    for (const tk_fact &f : ArrayRef(k.facts, size_t(k.fact_count)))
      out << "    {" << f.expr << ", " << f.param << ", " << f.align << ", " << quoteC(f.text)
          << ", " << f.line << "},\n";
    out << "};\n";
  }
  if (k.grid_count)
    out << "static const int tk_grid_" << index << "[] = " << numbersC(k.grid, k.grid_count)
        << ";\n";
}

void CTables::writeTables(raw_ostream &out) const {
  const tk_kernel &k = getTables();
  out << "\n/* " << validator->getSignature() << " */\n";
  writeParams(out);
  writeSlots(out);
  writeExprs(out);
  writeConditions(out);
  static constexpr StringRef kinds[] = {"TK_ARG_PARAM", "TK_ARG_DIM", "TK_ARG_MAP",
                                        "TK_ARG_SCRATCH"};
  if (k.argument_count)
    out << "static const tk_argument tk_arguments_" << index << "[] = "
        << listC(k.arguments, k.argument_count,
                 [](const tk_argument &a) {
                   return ("{" + kinds[a.kind] + ", " + Twine(a.index) + "}").str();
                 })
        << ";\n";
  if (k.map_count)
    out << "static const tk_map tk_maps_" << index << "[] = "
        << listC(k.maps, k.map_count,
                 [](const tk_map &map) {
                   return "{" + std::to_string(map.param) + ", " + std::to_string(map.rank) + ", " +
                          numbersC(map.order, TK_MAP_RANK) + ", " + numbersC(map.box, TK_MAP_RANK) +
                          ", " + std::to_string(map.swizzle) + ", " +
                          numbersC(map.steps, TK_MAP_RANK) + "}";
                 })
        << ";\n";
  if (k.may_alias)
    out << "static const unsigned char tk_alias_" << index
        << "[] = " << numbersC(k.may_alias, k.param_count * k.param_count) << ";\n";
}

void CTables::writeRecord(raw_ostream &out, size_t number, size_t unit, bool isHost) const {
  const tk_kernel &k = getTables();
  auto table = [&](const char *name, bool exists) {
    return exists ? "tk_" + std::string(name) + "_" + std::to_string(index) : std::string("NULL");
  };
  int exprCount = validator->getExprCount(), codeCount = 0;
  for (int i = 0; i < exprCount; ++i)
    codeCount = std::max(codeCount, k.exprs[i].end);
  out << "    {" << quoteC(k.name) << ", " << quoteC(k.symbol) << ", " << quoteC(k.signature)
      << ", " << quoteC(k.file) << ", " << quoteC(k.variant) << ", " << k.line << ", " << number
      << ", " << unit << ",\n     " << k.param_count << ", " << k.required << ", " << k.stride_count
      << ", " << k.has_outputs << ", " << table("params", k.param_count) << ", " << k.slot_count
      << ", " << table("slots", k.slot_count) << ", " << table("exprs", exprCount) << ", "
      << table("code", codeCount) << ", " << k.contract_count << ", "
      << table("contracts", k.contract_count) << ", " << k.fact_count << ", "
      << table("facts", k.fact_count) << ", " << k.grid_count << ", " << table("grid", k.grid_count)
      << ",\n     " << k.argument_count << ", " << table("arguments", k.argument_count) << ", "
      << k.map_count << ", " << table("maps", k.map_count) << ", " << table("alias", k.may_alias)
      << ", " << k.threads << ", " << k.shared_bytes << ", " << k.scratch_bytes << ", " << k.cluster
      << ", " << k.shared_taken << ", " << k.persistent << ", " << k.scratch_shared << ", "
      << (isHost ? "tk_host_" + std::to_string(index) : std::string("NULL")) << "},\n";
}

void CTables::declareHost(raw_ostream &out, StringRef prefix) const {
  // By another name than the symbol's, which may be a word of C.
  out << "void tk_host_" << index
      << "(const void *const *arguments, int64_t begin, int64_t end) __asm__("
      << quoteC(prefixC(prefix, getKernel().symbol)) << ");\n";
}

//===--- Typed functions --------------------------------------------------===//

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
    if (getTables().slots[slot].form != TK_STRIDE)
      list.push_back("int64_t " + identifierC(kernel.dims[slot].name));
  list.push_back("void *stream");
  list.push_back("uint32_t flags");
  return join(list, ", ");
}

void CTables::writeArguments(raw_ostream &out, StringRef record) const {
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
  for (int slot = 0; usesValues && slot < getTables().slot_count; ++slot)
    if (const tk_slot &s = getTables().slots[slot]; s.form != TK_STRIDE && !s.is_float)
      out << "  tk_values[" << slot << "] = (int64_t)" << identifierC(s.name) << ";\n";
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
      out << "  tk_shape_" << i << "[" << axis << "] = tk_eval(&" << record << ", "
          << getTables().params[i].axes[axis].extent << ", " << (usesValues ? "tk_values" : "NULL")
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
