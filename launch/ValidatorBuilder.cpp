// Prepares a kernel for checking: binds names to dimensions, compiles expressions to postfix code,
// encodes defaults and fills: the core's tables of one instance.
#include "launch/Validate.h"
#include "manifest/Encode.h"

#include <algorithm>
#include <map>

namespace tile::runtime {

static_assert(int(Expr::Op::Integer) == TK_INTEGER && int(Expr::Op::Add) == TK_ADD &&
                  int(Expr::Op::CeilDiv) == TK_CDIV && int(Expr::Op::Neg) == TK_NEG &&
                  int(Expr::Op::Ge) == TK_GE && int(Expr::Op::Not) == TK_NOT,
              "tk_op follows Expr::Op");

/// Texts of the tables point into the kernel, which the validator owns, or into its deque of
/// texts, which never moves them. Vectors may still grow while this builds, so that the tables get
/// their addresses at the very end.
class ValidatorBuilder {
public:
  ValidatorBuilder(Validator &validator, std::string &error)
      : v(validator), kernel(validator.kernel), error(error) {}
  bool build();

private:
  bool fail(const std::string &message) {
    error = "kernel '" + kernel.symbol + "': " + message;
    return false;
  }
  bool bindNames();
  bool isUsed(const Param &scalar) const;
  bool bindDim(const std::string &name, tk_slot &slot);
  bool compileParam(size_t index);
  bool compileConditions();
  bool listArguments();
  bool compile(const Expr &expr, int &number);
  void collect(const Expr &expr, std::vector<int> &names) const;
  void setPointers();
  const char *keep(std::string text) { return v.texts.emplace_back(std::move(text)).c_str(); }
  bool emit(const Expr &expr, unsigned depth, bool &isFloat);

  Validator &v;
  const Kernel &kernel;
  std::string &error;
  std::map<std::string, int, std::less<>> slots;
  std::vector<Expr> exprs; // as numbered
};

bool matchAffine(const Expr &expr, const std::string &name, bool &times, int64_t &constant) {
  if (expr.getOperands().size() != 2)
    return false;
  const Expr &left = expr.getOperands()[0], &right = expr.getOperands()[1];
  auto isName = [&](const Expr &e) { return e.isName() && e.getName() == name; };
  bool nameFirst = isName(left) && right.isInteger(), nameLast = isName(right) && left.isInteger();
  // At a launch the extent is given and the dimension follows:
  //   name + c, name - c   extent - constant   negative: refused
  //   name * c             extent / constant   a rest: refused
  // c - name is none of them, and INT64_MIN has no opposite.
  if (!nameFirst && !nameLast)
    return false;
  constant = nameFirst ? right.getInteger() : left.getInteger();
  switch (expr.getOp()) {
  case Expr::Op::Add:
    times = false;
    return true;
  case Expr::Op::Sub:
    times = false;
    constant = -constant;
    return nameFirst && constant != INT64_MIN;
  case Expr::Op::Mul:
    times = true;
    return constant > 0;
  default:
    return false;
  }
}

static tk_slot makeSlot(tk_form form, size_t param, size_t axis, int64_t constant = 0) {
  tk_slot slot = {};
  slot.form = form;
  slot.param = int(param);
  slot.axis = int(axis);
  slot.constant = constant;
  return slot;
}

bool ValidatorBuilder::bindDim(const std::string &name, tk_slot &slot) {
  // The first bare name, else the first affine form, else the first bare stride. Bare names come
  // first since they bind without a condition: the other forms are then checked against the value.
  // Strides come last: those of dimensions with one element say nothing.
  for (uint32_t p = 0; p < kernel.params.size(); ++p)
    for (uint32_t i = 0; i < kernel.params[p].dims.size(); ++i)
      if (const Expr &dim = kernel.params[p].dims[i]; dim.isName() && dim.getName() == name) {
        slot = makeSlot(TK_EXTENT, p, i);
        return true;
      }
  bool times = false;
  int64_t constant = 0;
  for (uint32_t p = 0; p < kernel.params.size(); ++p)
    for (uint32_t i = 0; i < kernel.params[p].dims.size(); ++i)
      if (matchAffine(kernel.params[p].dims[i], name, times, constant)) {
        slot = makeSlot(times ? TK_TIMES : TK_PLUS, p, i, constant);
        return true;
      }
  for (uint32_t p = 0; p < kernel.params.size(); ++p) {
    const Param &param = kernel.params[p];
    for (uint32_t i = 0; param.strides && i < param.strides->size(); ++i) {
      const std::optional<Expr> &stride = (*param.strides)[i];
      bool named = stride ? stride->isName() && stride->getName() == name
                          : param.name + ".stride." + std::to_string(i) == name;
      if (named) {
        slot = makeSlot(TK_STRIDE, p, i);
        return true;
      }
    }
  }
  return fail("nothing binds the dimension '" + name + "'");
}

static bool mentions(const Expr &expr, const std::string &name) {
  if (expr.isName())
    return expr.getName() == name;
  for (const Expr &operand : expr.getOperands())
    if (mentions(operand, name))
      return true;
  return false;
}

/// Whether a scalar has a range or stands in an expression. A scalar that is only handed on may
/// have any value of its dtype.
bool ValidatorBuilder::isUsed(const Param &scalar) const {
  auto used = [&](const Expr &expr) { return mentions(expr, scalar.name); };
  if (scalar.min || scalar.max || std::any_of(kernel.grid.begin(), kernel.grid.end(), used))
    return true;
  if (kernel.launch.sharedTaken && used(*kernel.launch.sharedTaken))
    return true;
  for (const Contract &contract : kernel.contracts)
    if (used(contract.condition))
      return true;
  for (const Fact &fact : kernel.facts)
    if (used(fact.condition))
      return true;
  for (const Param &param : kernel.params) {
    if (std::any_of(param.dims.begin(), param.dims.end(), used))
      return true;
    if (param.strides)
      for (const std::optional<Expr> &stride : *param.strides)
        if (stride && used(*stride))
          return true;
  }
  return false;
}

/// Slots of dimensions stand in the order of kernel.dims, so that the number of a dimension is that
/// of its slot; scalars follow.
bool ValidatorBuilder::bindNames() {
  for (const Dim &dim : kernel.dims) {
    if (!slots.emplace(dim.name, int(v.slots.size())).second)
      return fail("dimension '" + dim.name + "' is listed twice");
    tk_slot slot;
    if (!bindDim(dim.name, slot))
      return false;
    slot.is_dim = 1;
    slot.name = dim.name.c_str();
    slot.min = dim.min;
    slot.max = dim.max;
    slot.multiple = std::max<int64_t>(dim.multipleOf, 1);
    slot.line = int(dim.line);
    slot.contract = keep(!dim.contract.empty() ? dim.contract
                                               : dim.name + " in " + std::to_string(dim.min) +
                                                     "..=" + std::to_string(dim.max));
    v.slots.push_back(slot);
  }
  for (size_t p = 0; p < kernel.params.size(); ++p) {
    const Param &param = kernel.params[p];
    if (param.kind != Param::Kind::Scalar || !isUsed(param))
      continue;
    if (!slots.emplace(param.name, int(v.slots.size())).second)
      return fail("'" + param.name + "' is the name of a scalar and of a dimension");
    tk_slot slot = makeSlot(TK_VALUE, p, 0);
    slot.name = param.name.c_str();
    slot.is_float = !isIntegral(param.dtype);
    slot.min = param.min.value_or(INT64_MIN);
    slot.max = param.max.value_or(INT64_MAX);
    slot.multiple = 1;
    slot.line = int(param.contractLine);
    slot.contract = keep(!param.contract.empty()
                             ? param.contract
                             : param.name + " in " + (param.min ? std::to_string(*param.min) : "") +
                                   "..=" + (param.max ? std::to_string(*param.max) : ""));
    v.slots.push_back(slot);
  }
  return true;
}

/// Appends the code of `expr`; `isFloat` tells whether it leaves a float's bits.
bool ValidatorBuilder::emit(const Expr &expr, unsigned depth, bool &isFloat) {
  isFloat = false;
  // The evaluator's stack holds 64 values (TK_STACK), and the evaluator does not check. An operand
  // on the right waits on one value for each level above: a - (b - (c - ...)).
  if (depth > 60)
    return fail("expression nested deeper than 60 levels");
  if (expr.isInteger()) {
    v.code.push_back({TK_INTEGER, expr.getInteger()});
    return true;
  }
  if (expr.isFloat()) {
    isFloat = true;
    v.code.push_back({TK_INTEGER, floatBits(expr.getFloat())});
    return true;
  }
  if (expr.isName()) {
    auto slot = slots.find(expr.getName());
    if (slot == slots.end())
      return fail("'" + expr.getName() + "' is neither a dimension nor a scalar");
    isFloat = v.slots[size_t(slot->second)].is_float;
    v.code.push_back({TK_NAME, slot->second});
    return true;
  }
  bool unary = expr.getOp() == Expr::Op::Neg || expr.getOp() == Expr::Op::Not ||
               expr.getOp() == Expr::Op::NextPow2;
  if (expr.getOperands().size() != (unary ? 1 : 2))
    return fail("wrong number of operands in '" + expr.toString() + "'");
  bool floats[2] = {false, false};
  for (size_t i = 0; i < expr.getOperands().size(); ++i)
    if (!emit(expr.getOperands()[i], depth + 1, floats[i]))
      return false;
  bool onFloats = floats[0] || floats[1];
  if (onFloats && !applyFloat(expr.getOp(), 0, 0))
    return fail("'" + std::string(spelling(expr.getOp())) + "' takes no floats, in '" +
                expr.toString() + "'");
  if (onFloats && !unary) // an integer that meets a float becomes one
    for (int64_t i : {0, 1})
      if (!floats[i])
        v.code.push_back({TK_FLOAT, 1 - i});
  // Comparisons leave 0 or 1, also of floats: tk_op has them after the arithmetic.
  isFloat = onFloats && (expr.getOp() < Expr::Op::Eq);
  v.code.push_back({int(expr.getOp()), (unary ? TK_UNARY : 0) + (onFloats ? TK_ON_FLOATS : 0)});
  return true;
}

void ValidatorBuilder::collect(const Expr &expr, std::vector<int> &names) const {
  auto slot = expr.isName() ? slots.find(expr.getName()) : slots.end();
  if (slot != slots.end() && std::find(names.begin(), names.end(), slot->second) == names.end())
    names.push_back(slot->second);
  for (const Expr &operand : expr.getOperands())
    collect(operand, names);
}

/// The number of an expression: equal ones have one.
bool ValidatorBuilder::compile(const Expr &expr, int &number) {
  number = int(std::find(exprs.begin(), exprs.end(), expr) - exprs.begin());
  if (number < int(exprs.size()))
    return true;
  tk_expr compiled = {};
  compiled.begin = int(v.code.size());
  bool isFloat;
  if (!emit(expr, 0, isFloat))
    return false;
  if (isFloat)
    return fail("'" + expr.toString() + "' is a float, expected an integer or a condition");
  compiled.slot = -1;
  // A single integer or name is read from the table at a launch: its instruction is taken back.
  if (expr.isInteger() || expr.isName()) {
    if (expr.isInteger())
      compiled.constant = expr.getInteger();
    else
      compiled.slot = int(v.code.back().operand);
    v.code.pop_back();
  }
  compiled.is_integer = expr.isInteger();
  compiled.end = int(v.code.size());
  compiled.text = keep(expr.toString());
  collect(expr, v.names.emplace_back());
  v.exprs.push_back(compiled);
  exprs.push_back(expr);
  return true;
}

bool ValidatorBuilder::compileParam(size_t index) {
  const Param &param = kernel.params[index];
  tk_param &made = v.params.emplace_back();
  std::vector<tk_axis> &axes = v.axes.emplace_back();
  made.name = param.name.c_str();
  made.kind = param.kind == Param::Kind::Tensor ? TILE_TENSOR : TILE_SCALAR;
  made.dtype = int(param.dtype);
  made.bits = int(dtypeBits(param.dtype));
  made.align = 1;
  made.line = int(param.line);
  std::string reason;
  if (param.kind == Param::Kind::Scalar) {
    if (!param.defaultValue)
      return true;
    made.has_default = 1;
    std::optional<uint64_t> bits = encode(*param.defaultValue, param.dtype, reason);
    if (!bits)
      return fail("default of '" + param.name + "': " + reason);
    made.default_bits = *bits;
    return true;
  }
  if (param.dims.size() > TK_MAX_RANK)
    return fail("'" + param.name + "' has more than 8 dimensions");
  if (param.strides && param.strides->size() != param.dims.size())
    return fail("'" + param.name + "' has " + std::to_string(param.dims.size()) +
                " dimensions but " + std::to_string(param.strides->size()) + " strides");
  made.access = int(param.access);
  made.rank = int(param.dims.size());
  made.dense = !param.strides;
  made.first_stride = v.tables.stride_count;
  v.tables.stride_count += made.rank;
  v.tables.has_outputs |= param.access != Access::In;
  made.align = std::max(param.align, 1u);
  if (made.align & (made.align - 1))
    return fail("'" + param.name + "' is aligned to " + std::to_string(param.align) +
                " bytes, expected a power of two");
  for (size_t i = 0; i < param.dims.size(); ++i) {
    tk_axis &axis = axes.emplace_back();
    axis.stride = -1;
    if (!compile(param.dims[i], axis.extent))
      return false;
    // An axis that gives a dimension its value needs no comparison with it.
    for (const tk_slot &slot : v.slots)
      axis.binds |= slot.form != TK_STRIDE && slot.form != TK_VALUE && slot.param == int(index) &&
                    slot.axis == int(i);
    if (param.strides && (*param.strides)[i] && !compile(*(*param.strides)[i], axis.stride))
      return false;
  }
  if (!param.fill)
    return true;
  // Fills write whole bytes.
  if (param.access == Access::In || dtypeBits(param.dtype) < 8)
    return fail("'" + param.name + "' cannot be filled");
  std::optional<uint64_t> bits = encode(*param.fill, param.dtype, reason);
  if (!bits)
    return fail("fill of '" + param.name + "': " + reason);
  made.fills = 1;
  made.fill_bits = *bits;
  return true;
}

bool ValidatorBuilder::compileConditions() {
  for (const Expr &extent : kernel.grid)
    if (!compile(extent, v.grid.emplace_back()))
      return false;
  v.tables.shared_taken = -1;
  if (kernel.launch.sharedTaken && !compile(*kernel.launch.sharedTaken, v.tables.shared_taken))
    return false;
  for (const Contract &contract : kernel.contracts) {
    tk_contract made = {};
    if (!compile(contract.condition, made.expr))
      return false;
    const std::vector<int> &names = v.names[size_t(made.expr)];
    // Of an empty grid only contracts of scalars are checked.
    made.of_scalars = !names.empty() && std::all_of(names.begin(), names.end(), [&](int slot) {
      return v.slots[size_t(slot)].form == TK_VALUE;
    });
    made.text = contract.text.empty() ? keep(contract.condition.toString()) : contract.text.c_str();
    made.line = int(contract.line);
    v.contracts.push_back(made);
  }
  for (const Fact &fact : kernel.facts) {
    tk_fact made = {0, -1, fact.align, fact.text.c_str(), int(fact.line)};
    if (!compile(fact.condition, made.expr))
      return false;
    size_t param = v.getParamIndex(fact.param);
    if (!fact.param.empty() &&
        (param == kernel.params.size() || kernel.params[param].kind != Param::Kind::Tensor))
      return fail("'" + fact.text + "' names no tensor parameter");
    if (!fact.param.empty()) {
      made.param = int(param);
      made.align = std::max(fact.align, 1u);
    }
    v.facts.push_back(made);
  }
  return true;
}

bool ValidatorBuilder::listArguments() {
  for (const TensorMap &map : kernel.tensorMaps) {
    size_t param = v.getParamIndex(map.param);
    if (param == kernel.params.size())
      return fail("tensor map of '" + map.param + "', which is no parameter");
    if (map.order.size() > TK_MAP_RANK || map.box.size() != map.order.size())
      return fail("tensor map of '" + map.param + "' has no box of 1 to 5 dimensions");
    tk_map made = {};
    made.param = int(param);
    made.rank = int(map.order.size());
    std::copy(map.order.begin(), map.order.end(), made.order);
    std::copy(map.box.begin(), map.box.end(), made.box);
    made.swizzle = map.swizzle;
    if (map.steps.size() > map.box.size())
      return fail("tensor map of '" + map.param + "' has more steps than dimensions");
    std::fill(std::begin(made.steps), std::end(made.steps), 1u);
    std::copy(map.steps.begin(), map.steps.end(), made.steps);
    v.maps.push_back(made);
  }
  for (const Argument &argument : kernel.arguments) {
    if (argument.kind == Argument::Kind::TensorMap) {
      if (argument.index >= kernel.tensorMaps.size())
        return fail("there is no tensor map " + std::to_string(argument.index));
      v.arguments.push_back({TK_ARG_MAP, int(argument.index)});
      continue;
    }
    if (argument.kind == Argument::Kind::Scratch) {
      v.arguments.push_back({TK_ARG_SCRATCH, 0});
      continue;
    }
    // A dimension's index is that of its slot, a parameter's that of the parameter.
    bool isDim = argument.kind == Argument::Kind::Dim;
    auto slot = slots.find(argument.name);
    size_t param = v.getParamIndex(argument.name);
    if (isDim ? slot == slots.end() : param == kernel.params.size())
      return fail("argument '" + argument.name + "' is neither a parameter nor a dimension");
    v.arguments.push_back({isDim ? TK_ARG_DIM : TK_ARG_PARAM, isDim ? slot->second : int(param)});
  }
  size_t count = kernel.params.size();
  if (!kernel.aliases.empty())
    v.mayAlias.assign(count * count, 0);
  for (const auto &[first, second] : kernel.aliases) {
    size_t a = v.getParamIndex(first), b = v.getParamIndex(second);
    if (a == count || b == count)
      return fail("alias(" + first + ", " + second + ") names no parameter");
    // Both ways, so that a check may ask in either order.
    v.mayAlias[a * count + b] = v.mayAlias[b * count + a] = 1;
  }
  return true;
}

/// Once nothing grows any more.
void ValidatorBuilder::setPointers() {
  for (size_t i = 0; i < v.params.size(); ++i)
    v.params[i].axes = v.axes[i].data();
  for (size_t i = 0; i < v.exprs.size(); ++i) {
    v.exprs[i].names = v.names[i].data();
    v.exprs[i].name_count = int(v.names[i].size());
  }
  tk_kernel &k = v.tables;
  k.name = kernel.name.c_str();
  k.symbol = kernel.symbol.c_str();
  k.signature = v.signature.c_str();
  k.file = kernel.file.c_str();
  k.variant = kernel.variant.c_str();
  k.line = int(kernel.line);
  k.params = v.params.data();
  k.param_count = int(v.params.size());
  k.slots = v.slots.data();
  k.slot_count = int(v.slots.size());
  k.exprs = v.exprs.data();
  k.code = v.code.data();
  k.contracts = v.contracts.data();
  k.contract_count = int(v.contracts.size());
  k.facts = v.facts.data();
  k.fact_count = int(v.facts.size());
  k.grid = v.grid.data();
  k.grid_count = int(v.grid.size());
  k.arguments = v.arguments.data();
  k.argument_count = int(v.arguments.size());
  k.maps = v.maps.data();
  k.map_count = int(v.maps.size());
  k.may_alias = v.mayAlias.empty() ? nullptr : v.mayAlias.data();
  k.threads = kernel.launch.threads;
  k.shared_bytes = kernel.launch.sharedBytes;
  k.scratch_bytes = kernel.launch.scratchBytes;
  k.cluster = std::max(kernel.launch.cluster, 1u);
  k.persistent = kernel.launch.persistent;
  k.scratch_shared = kernel.launch.scratchShared;
}

bool ValidatorBuilder::build() {
  if (kernel.grid.size() > TILE_MAX_AXES)
    return fail("more than 8 grid axes");
  if (!bindNames())
    return false;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    if (!compileParam(i))
      return false;
    // A launch may leave out arguments after the last one without a default.
    if (kernel.params[i].kind == Param::Kind::Tensor || !kernel.params[i].defaultValue)
      v.tables.required = int(i) + 1;
  }
  if (!compileConditions() || !listArguments())
    return false;
  v.signature = describe(kernel);
  setPointers();
  return true;
}

size_t Validator::getParamIndex(const std::string &name) const {
  size_t i = 0;
  while (i < kernel.params.size() && kernel.params[i].name != name)
    ++i;
  return i;
}

std::unique_ptr<Validator> Validator::create(Kernel kernel, std::string &error) {
  std::unique_ptr<Validator> validator(new Validator);
  validator->kernel = std::move(kernel);
  if (!ValidatorBuilder(*validator, error).build())
    return nullptr;
  return validator;
}

} // namespace tile::runtime
