// Prepares a kernel for checking: binds names to dimensions, compiles expressions to postfix code,
// encodes defaults and fills.
#include "launch/Validate.h"
#include "manifest/Encode.h"

#include <algorithm>
#include <map>

namespace tile::runtime {

class ValidatorBuilder {
public:
  ValidatorBuilder(Validator &validator, std::string &error)
      : v(validator), kernel(validator.kernel), error(error) {}
  bool build();

private:
  using Form = Validator::Binding::Form;

  bool fail(const std::string &message) {
    error = "kernel '" + kernel.symbol + "': " + message;
    return false;
  }
  bool bindNames();
  bool isUsed(const Param &scalar) const;
  bool bindDim(const std::string &name, Validator::Binding &binding);
  bool compileParam(size_t index);
  bool compile(const Expr &expr, Validator::Code &code);
  bool emit(const Expr &expr, unsigned depth, bool &isFloat);

  Validator &v;
  const Kernel &kernel;
  std::string &error;
  std::map<std::string, uint32_t, std::less<>> slots;
};

bool matchAffine(const Expr &expr, const std::string &name, bool &times, int64_t &constant) {
  if (expr.getOperands().size() != 2)
    return false;
  const Expr &left = expr.getOperands()[0], &right = expr.getOperands()[1];
  auto isName = [&](const Expr &e) { return e.isName() && e.getName() == name; };
  bool nameFirst = isName(left) && right.isInteger(), nameLast = isName(right) && left.isInteger();
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

bool ValidatorBuilder::bindDim(const std::string &name, Validator::Binding &binding) {
  // The first bare name, else the first affine form, else the first bare stride.
  for (uint32_t p = 0; p < kernel.params.size(); ++p)
    for (uint32_t i = 0; i < kernel.params[p].dims.size(); ++i)
      if (const Expr &dim = kernel.params[p].dims[i]; dim.isName() && dim.getName() == name) {
        binding = {Form::Extent, p, i, 0};
        return true;
      }
  bool times = false;
  int64_t constant = 0;
  for (uint32_t p = 0; p < kernel.params.size(); ++p)
    for (uint32_t i = 0; i < kernel.params[p].dims.size(); ++i)
      if (matchAffine(kernel.params[p].dims[i], name, times, constant)) {
        binding = {times ? Form::ExtentTimes : Form::ExtentPlus, p, i, constant};
        return true;
      }
  for (uint32_t p = 0; p < kernel.params.size(); ++p) {
    const Param &param = kernel.params[p];
    for (uint32_t i = 0; param.strides && i < param.strides->size(); ++i) {
      const std::optional<Expr> &stride = (*param.strides)[i];
      bool named = stride ? stride->isName() && stride->getName() == name
                          : param.name + ".stride." + std::to_string(i) == name;
      if (named) {
        binding = {Form::Stride, p, i, 0};
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
  for (const Contract &contract : kernel.contracts)
    if (used(contract.condition))
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

bool ValidatorBuilder::bindNames() {
  for (const Dim &dim : kernel.dims) {
    if (!slots.emplace(dim.name, uint32_t(v.bindings.size())).second)
      return fail("dimension '" + dim.name + "' is listed twice");
    Validator::Binding binding;
    if (!bindDim(dim.name, binding))
      return false;
    binding.min = dim.min;
    binding.max = dim.max;
    binding.multipleOf = std::max<int64_t>(dim.multipleOf, 1);
    v.bindings.push_back(binding);
  }
  for (uint32_t p = 0; p < kernel.params.size(); ++p) {
    const Param &param = kernel.params[p];
    if (param.kind != Param::Kind::Scalar || !isUsed(param))
      continue;
    if (!slots.emplace(param.name, uint32_t(v.bindings.size())).second)
      return fail("'" + param.name + "' is the name of a scalar and of a dimension");
    v.bindings.push_back(
        {Form::Scalar, p, 0, 0, param.min.value_or(INT64_MIN), param.max.value_or(INT64_MAX), 1});
  }
  return true;
}

/// Appends the code of `expr`; `isFloat` tells whether it leaves a float's bits.
bool ValidatorBuilder::emit(const Expr &expr, unsigned depth, bool &isFloat) {
  isFloat = false;
  // The evaluator's stack holds 64 values.
  if (depth > 60)
    return fail("expression nested deeper than 60 levels");
  if (expr.isInteger()) {
    v.code.push_back({Expr::Op::Integer, expr.getInteger()});
    return true;
  }
  if (expr.isFloat()) {
    isFloat = true;
    v.code.push_back({Expr::Op::Integer, floatBits(expr.getFloat())});
    return true;
  }
  if (expr.isName()) {
    auto slot = slots.find(expr.getName());
    if (slot == slots.end())
      return fail("'" + expr.getName() + "' is neither a dimension nor a scalar");
    const Validator::Binding &binding = v.bindings[slot->second];
    isFloat = binding.form == Form::Scalar && !isIntegral(kernel.params[binding.param].dtype);
    v.code.push_back({Expr::Op::Name, slot->second});
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
        v.code.push_back({Expr::Op::Float, 1 - i});
  isFloat = onFloats && (expr.getOp() < Expr::Op::Eq);
  v.code.push_back({expr.getOp(), (unary ? Validator::Instruction::unary : 0) +
                                      (onFloats ? Validator::Instruction::onFloats : 0)});
  return true;
}

bool ValidatorBuilder::compile(const Expr &expr, Validator::Code &code) {
  code.begin = uint32_t(v.code.size());
  bool isFloat;
  if (!emit(expr, 0, isFloat))
    return false;
  if (isFloat)
    return fail("'" + expr.toString() + "' is a float, expected an integer or a condition");
  code.end = uint32_t(v.code.size());
  if (expr.isInteger() || expr.isName()) {
    if (expr.isInteger())
      code.constant = expr.getInteger();
    else
      code.slot = int32_t(v.code.back().operand);
    v.code.pop_back();
    code.end = code.begin;
  }
  return true;
}

bool ValidatorBuilder::compileParam(size_t index) {
  const Param &param = kernel.params[index];
  Validator::Tensor &tensor = v.tensors.emplace_back();
  v.defaults.push_back(0);
  tensor.isTensor = param.kind == Param::Kind::Tensor;
  tensor.dtype = int32_t(param.dtype);
  tensor.bits = uint8_t(dtypeBits(param.dtype));
  std::string reason;
  if (param.kind == Param::Kind::Scalar) {
    if (!param.defaultValue)
      return true;
    tensor.hasDefault = true;
    std::optional<uint64_t> bits = encode(*param.defaultValue, param.dtype, reason);
    if (!bits)
      return fail("default of '" + param.name + "': " + reason);
    v.defaults.back() = *bits;
    return true;
  }
  if (param.dims.size() > Fill::maxRank)
    return fail("'" + param.name + "' has more than 8 dimensions");
  if (param.strides && param.strides->size() != param.dims.size())
    return fail("'" + param.name + "' has " + std::to_string(param.dims.size()) +
                " dimensions but " + std::to_string(param.strides->size()) + " strides");
  tensor.dense = !param.strides;
  tensor.firstStride = v.strideCount;
  v.strideCount += uint32_t(param.dims.size());
  tensor.isWritten = param.access != Access::In;
  tensor.align = std::max(param.align, 1u);
  if (tensor.align & (tensor.align - 1))
    return fail("'" + param.name + "' is aligned to " + std::to_string(param.align) +
                " bytes, expected a power of two");
  v.written |= tensor.isWritten;
  for (size_t i = 0; i < param.dims.size(); ++i) {
    Validator::Axis &axis = tensor.axes.emplace_back();
    if (!compile(param.dims[i], axis.extent))
      return false;
    for (const Validator::Binding &binding : v.bindings)
      axis.binds |= binding.form != Form::Stride && binding.form != Form::Scalar &&
                    binding.param == index && binding.axis == i;
    if (param.strides && (*param.strides)[i] &&
        !compile(*(*param.strides)[i], axis.stride.emplace()))
      return false;
  }
  if (!param.fill)
    return true;
  if (param.access == Access::In || dtypeBits(param.dtype) < 8)
    return fail("'" + param.name + "' cannot be filled");
  std::optional<uint64_t> bits = encode(*param.fill, param.dtype, reason);
  if (!bits)
    return fail("fill of '" + param.name + "': " + reason);
  tensor.fills = true;
  tensor.fillBits = *bits;
  return true;
}

bool ValidatorBuilder::build() {
  if (kernel.grid.size() > TILE_MAX_AXES)
    return fail("more than 8 grid axes");
  if (!bindNames())
    return false;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    if (!compileParam(i))
      return false;
    if (kernel.params[i].kind == Param::Kind::Tensor || !kernel.params[i].defaultValue)
      v.required = i + 1;
  }
  for (const Expr &extent : kernel.grid)
    if (!compile(extent, v.grid.emplace_back()))
      return false;
  for (const Contract &contract : kernel.contracts)
    if (!compile(contract.condition, v.contracts.emplace_back()))
      return false;

  auto paramIndex = [&](const std::string &name) { return v.getParamIndex(name); };
  for (const Fact &fact : kernel.facts) {
    if (!compile(fact.condition, v.facts.emplace_back()))
      return false;
    size_t param = fact.param.empty() ? kernel.params.size() : paramIndex(fact.param);
    if (!fact.param.empty() &&
        (param == kernel.params.size() || kernel.params[param].kind != Param::Kind::Tensor))
      return fail("'" + fact.text + "' names no tensor parameter");
    v.factParams.push_back(uint32_t(param));
  }
  for (const TensorMap &map : kernel.tensorMaps) {
    if (paramIndex(map.param) == kernel.params.size())
      return fail("tensor map of '" + map.param + "', which is no parameter");
    v.mapParams.push_back(uint32_t(paramIndex(map.param)));
  }
  for (const Argument &argument : kernel.arguments) {
    if (argument.kind == Argument::Kind::TensorMap) {
      if (argument.index >= kernel.tensorMaps.size())
        return fail("there is no tensor map " + std::to_string(argument.index));
      v.sources.push_back({argument.kind, argument.index});
      continue;
    }
    if (argument.kind == Argument::Kind::Scratch) {
      v.sources.push_back({argument.kind, 0});
      continue;
    }
    bool isDim = argument.kind == Argument::Kind::Dim;
    auto slot = slots.find(argument.name);
    size_t param = paramIndex(argument.name);
    if (isDim ? slot == slots.end() : param == kernel.params.size())
      return fail("argument '" + argument.name + "' is neither a parameter nor a dimension");
    v.sources.push_back({argument.kind, isDim ? slot->second : uint32_t(param)});
  }
  size_t count = kernel.params.size();
  v.mayAlias.assign(count * count, false);
  for (const auto &[first, second] : kernel.aliases) {
    size_t a = paramIndex(first), b = paramIndex(second);
    if (a == count || b == count)
      return fail("alias(" + first + ", " + second + ") names no parameter");
    v.mayAlias[a * count + b] = v.mayAlias[b * count + a] = true;
  }
  v.signature = describe(kernel);
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
