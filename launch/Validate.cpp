// The checks of one launch, in the language's order. The path without errors allocates nothing once
// the plan has its buffers.
#include "launch/Validate.h"

#include "launch/Overlap.h"
#include "manifest/Encode.h"

#include <algorithm>

namespace tile::runtime {

std::optional<int64_t> Validator::run(const Code &range, const int64_t *values) const {
  int64_t stack[64];
  size_t top = 0;
  for (uint32_t i = range.begin; i < range.end; ++i) {
    const Instruction &instruction = code[i];
    if (instruction.op == Expr::Op::Integer) {
      stack[top++] = instruction.operand;
    } else if (instruction.op == Expr::Op::Name) {
      stack[top++] = values[instruction.operand];
    } else if (instruction.op == Expr::Op::Float) {
      int64_t &integer = stack[top - 1 - size_t(instruction.operand)];
      integer = floatBits(double(integer));
    } else {
      int64_t second = instruction.operand & Instruction::unary ? 0 : stack[--top];
      auto compute = instruction.operand & Instruction::onFloats ? applyFloat : apply;
      std::optional<int64_t> result = compute(instruction.op, stack[top - 1], second);
      if (!result)
        return std::nullopt;
      stack[top - 1] = *result;
    }
  }
  return stack[0];
}

static bool isEmpty(const tile_argument &argument) {
  for (int32_t i = 0; i < argument.rank; ++i)
    if (argument.shape[i] == 0)
      return true;
  return false;
}

/// One run of the checks. Each step returns an error or nothing; the steps' order is the
/// language's.
class Check {
public:
  Check(const Validator &v, const tile_argument *arguments, size_t count, Plan &plan)
      : v(v), kernel(v.kernel), arguments(arguments), count(count), plan(plan) {}
  /// False with the error in `problem`.
  bool run(bool unchecked);
  Error takeError() { return std::move(problem); }
  /// Binds names; then the index of the first fact that does not hold, or their number.
  size_t findFalseFact();

private:
  bool checkCall();
  bool checkCount();
  bool checkNull();
  bool checkDtypes();
  bool checkRanks();
  void layOut();
  bool bind();
  bool checkDims();
  void computeGrid();
  bool checkRanges();
  bool checkContracts();
  bool checkStrides(bool onlyFilled);
  bool checkAlignment();
  bool checkOverlap();
  bool checkPrograms();
  void planFills();
  void packArguments();

  bool isTensor(size_t i) const { return v.tensors[i].isTensor; }
  bool isGiven(size_t i) const { return i < count && arguments[i].kind != TILE_DEFAULT; }
  uint64_t scalarBits(size_t i) const { return isGiven(i) ? arguments[i].bits : v.defaults[i]; }
  Region region(size_t i) const {
    const tile_argument &a = arguments[i];
    return {uint64_t(uintptr_t(a.data)), v.tensors[i].bits, unsigned(a.rank), a.shape,
            plan.strides.data() + v.tensors[i].firstStride};
  }

  // Text of errors. Always false, with the error in `problem`.
  bool fail(tile_code code, const std::string &message, unsigned line) {
    std::string text = kernel.name + ": " + message;
    if (line && !kernel.file.empty())
      text += " (" + kernel.file + ":" + std::to_string(line) + ")";
    problem = Error(code, text);
    return false;
  }
  std::string quoted(size_t param) const { return "'" + kernel.params[param].name + "'"; }
  std::string origin(size_t slot) const;
  std::string valuesIn(const Expr &expr) const;
  std::string valueText(size_t slot) const;
  void collect(const Expr &expr, std::vector<std::string> &names, std::string &text) const;
  bool dimError(size_t param, size_t axis);
  bool strideError(size_t param, size_t axis, const std::string &expected);

  const Validator &v;
  const Kernel &kernel;
  const tile_argument *arguments;
  size_t count;
  Plan &plan;
  Error problem;
  /// Index of the first grid axis whose extent overflowed.
  std::optional<size_t> badAxis;
};

//===- Shape of the call
//-----------------------------------------------------------------------------------------------===//

bool Check::checkCall() {
  if (count && !arguments)
    return fail(TILE_ERROR_CALL, "the array of arguments is null", 0);
  for (size_t i = 0; i < std::min(count, kernel.params.size()); ++i)
    if (arguments[i].kind == TILE_TENSOR && arguments[i].rank > 0 && !arguments[i].shape)
      return fail(TILE_ERROR_CALL,
                  quoted(i) + " has rank " + std::to_string(arguments[i].rank) + " but no shape",
                  0);
  return true;
}

bool Check::checkCount() {
  if (v.takesCount(count))
    return true;
  std::string names;
  for (const Param &param : kernel.params)
    names += (names.empty() ? "" : ", ") + param.name;
  std::string least = v.required < kernel.params.size() ? std::to_string(v.required) + " to " : "";
  return fail(TILE_ERROR_COUNT,
              "expected " + least + std::to_string(kernel.params.size()) + " arguments (" + names +
                  "), found " + std::to_string(count),
              kernel.line);
}

bool Check::checkNull() {
  for (size_t i = 0; i < count; ++i)
    if (isTensor(i) && arguments[i].kind == TILE_TENSOR && !arguments[i].data &&
        !isEmpty(arguments[i]))
      return fail(TILE_ERROR_NULL, quoted(i) + " is null, expected a tensor's address",
                  kernel.params[i].line);
  return true;
}

bool Check::checkDtypes() {
  for (size_t i = 0; i < count; ++i) {
    const tile_argument &argument = arguments[i];
    const Validator::Tensor &wanted = v.tensors[i];
    if (argument.kind == (wanted.isTensor ? TILE_TENSOR : TILE_SCALAR) &&
        argument.dtype == wanted.dtype)
      continue;
    if (argument.kind == TILE_DEFAULT && wanted.hasDefault)
      continue;
    const Param &param = kernel.params[i];
    std::string expected = std::string(isTensor(i) ? "a tensor of " : "a scalar of ") +
                           std::string(dtypeName(param.dtype));
    if (argument.kind != (isTensor(i) ? TILE_TENSOR : TILE_SCALAR)) {
      const char *found = argument.kind == TILE_TENSOR   ? "a tensor"
                          : argument.kind == TILE_SCALAR ? "a scalar"
                                                         : "no value, and there is no default";
      return fail(TILE_ERROR_DTYPE, quoted(i) + " expects " + expected + ", found " + found,
                  param.line);
    }
    const char *found = tile_dtype_name(argument.dtype);
    return fail(TILE_ERROR_DTYPE,
                quoted(i) + " expects " + expected + ", found " +
                    (found ? found : "the unknown dtype " + std::to_string(argument.dtype)),
                param.line);
  }
  return true;
}

bool Check::checkRanks() {
  for (size_t i = 0; i < count; ++i) {
    if (isTensor(i) && arguments[i].rank != int32_t(v.tensors[i].axes.size()))
      return fail(TILE_ERROR_RANK,
                  quoted(i) + " expects rank " + std::to_string(v.tensors[i].axes.size()) +
                      ", found rank " + std::to_string(arguments[i].rank),
                  kernel.params[i].line);
  }
  return true;
}

//===- Dimensions
//------------------------------------------------------------------------------------------------------===//

/// Strides of all tensors: those given, else dense.
void Check::layOut() {
  plan.strides.resize(v.strideCount);
  for (size_t i = 0; i < count; ++i) {
    if (!isTensor(i))
      continue;
    const tile_argument &argument = arguments[i];
    int64_t *strides = plan.strides.data() + v.tensors[i].firstStride;
    // Unsigned: a product too large for memory must not be undefined; checkStrides refuses it.
    uint64_t dense = 1;
    for (int32_t axis = argument.rank - 1; axis >= 0; --axis) {
      strides[axis] = argument.strides ? argument.strides[axis] : int64_t(dense);
      dense *= uint64_t(argument.shape[axis]);
    }
  }
}

bool Check::bind() {
  using Form = Validator::Binding::Form;
  plan.values.resize(v.bindings.size());
  for (size_t i = 0; i < count; ++i)
    for (int32_t axis = 0; isTensor(i) && axis < arguments[i].rank; ++axis)
      if (arguments[i].shape[axis] < 0)
        return dimError(i, axis);
  for (size_t slot = 0; slot < v.bindings.size(); ++slot) {
    const Validator::Binding &binding = v.bindings[slot];
    int64_t &value = plan.values[slot];
    int64_t extent = isTensor(binding.param) ? arguments[binding.param].shape[binding.axis] : 0;
    switch (binding.form) {
    case Form::Extent:
      value = extent;
      break;
    case Form::ExtentPlus:
      if (__builtin_sub_overflow(extent, binding.constant, &value) || value < 0)
        return dimError(binding.param, binding.axis);
      break;
    case Form::ExtentTimes:
      if (extent % binding.constant)
        return dimError(binding.param, binding.axis);
      value = extent / binding.constant;
      break;
    case Form::Stride: {
      const tile_argument &argument = arguments[binding.param];
      value = plan.strides[v.tensors[binding.param].firstStride + binding.axis];
      if (extent > 1 && !isEmpty(argument))
        break;
      // Nothing steps along this dimension, so that whatever the caller has there says nothing: use
      // what contracts allow.
      const Dim &dim = kernel.dims[slot];
      uint64_t dense = 1;
      for (int32_t axis = argument.rank - 1; axis > int32_t(binding.axis); --axis)
        dense *= uint64_t(std::max<int64_t>(argument.shape[axis], 1));
      value = std::max(dense >> 60 ? 1 : int64_t(dense), dim.min);
      value += (dim.multipleOf - value % dim.multipleOf) % dim.multipleOf;
      break;
    }
    case Form::Scalar: {
      if (Dtype dtype = kernel.params[binding.param].dtype; !isIntegral(dtype)) {
        value = floatBits(decodeFloat(scalarBits(binding.param), dtype));
        break;
      }
      std::optional<int64_t> integer =
          decodeInteger(scalarBits(binding.param), kernel.params[binding.param].dtype);
      if (!integer)
        return fail(TILE_ERROR_CONTRACT, quoted(binding.param) + " is above 2^63 - 1",
                    kernel.params[binding.param].line);
      value = *integer;
      break;
    }
    }
  }
  return true;
}

bool Check::checkDims() {
  for (size_t i = 0; i < count; ++i) {
    const Validator::Tensor &tensor = v.tensors[i];
    // Two elements of 4 bits share a byte, and no two rows do.
    int32_t last = int32_t(tensor.axes.size()) - 1;
    if (tensor.bits < 8 && last >= 0 && arguments[i].shape[last] % 2)
      return fail(TILE_ERROR_DIM,
                  quoted(i) + " has " + std::to_string(arguments[i].shape[last]) + " elements of " +
                      std::string(dtypeName(kernel.params[i].dtype)) +
                      " along its last dimension, expected an even number",
                  kernel.params[i].line);
    for (size_t axis = 0; axis < tensor.axes.size(); ++axis) {
      if (tensor.axes[axis].binds)
        continue;
      std::optional<int64_t> expected = v.evaluate(tensor.axes[axis].extent, plan.values.data());
      if (!expected || *expected != arguments[i].shape[axis])
        return dimError(i, axis);
    }
  }
  return true;
}

void Check::computeGrid() {
  plan.empty = false;
  plan.programs = 1;
  plan.extents.resize(v.grid.size());
  for (size_t axis = 0; axis < v.grid.size(); ++axis) {
    std::optional<int64_t> extent = v.evaluate(v.grid[axis], plan.values.data());
    if (!extent && !badAxis)
      badAxis = axis;
    plan.extents[axis] = std::max<int64_t>(extent.value_or(1), 0); // a negative extent counts as 0
    plan.empty |= plan.extents[axis] == 0;
  }
}

//===- Contracts
//---------------------------------------------------------------------------------------------------------===//

bool Check::checkRanges() {
  for (size_t slot = 0; slot < v.bindings.size(); ++slot) {
    int64_t value = plan.values[slot];
    if (value >= v.bindings[slot].min && value <= v.bindings[slot].max)
      continue;
    if (slot < kernel.dims.size()) {
      const Dim &dim = kernel.dims[slot];
      std::string contract = dim.contract.empty() ? dim.name + " in " + std::to_string(dim.min) +
                                                        "..=" + std::to_string(dim.max)
                                                  : dim.contract;
      return fail(TILE_ERROR_CONTRACT,
                  dim.name + " = " + std::to_string(value) + origin(slot) + ", expected " +
                      contract,
                  dim.line);
    }
    const Param &param = kernel.params[v.bindings[slot].param];
    std::string contract = param.contract;
    if (contract.empty())
      contract = param.name + " in " + (param.min ? std::to_string(*param.min) : "") +
                 "..=" + (param.max ? std::to_string(*param.max) : "");
    return fail(TILE_ERROR_CONTRACT,
                "'" + param.name + "' = " + std::to_string(value) + ", expected " + contract,
                param.contractLine);
  }
  return true;
}

bool Check::checkContracts() {
  for (size_t i = 0; i < v.contracts.size(); ++i) {
    std::optional<int64_t> holds = v.evaluate(v.contracts[i], plan.values.data());
    if (holds && *holds)
      continue;
    const Contract &contract = kernel.contracts[i];
    std::string text = contract.text.empty() ? contract.condition.toString() : contract.text;
    return fail(TILE_ERROR_CONTRACT,
                "the contract '" + text + "' " + (holds ? "does not hold" : "overflows 64 bits") +
                    valuesIn(contract.condition),
                contract.line);
  }
  for (size_t i = 0; i < v.facts.size(); ++i) {
    const Fact &fact = kernel.facts[i];
    if (!fact.param.empty()) // a matter of checkAlignment
      continue;
    std::optional<int64_t> holds = v.evaluate(v.facts[i], plan.values.data());
    if (!holds || !*holds)
      return fail(TILE_ERROR_CONTRACT,
                  "the variant's condition '" + fact.text + "' does not hold" +
                      valuesIn(fact.condition),
                  fact.line);
  }
  for (size_t slot = 0; slot < kernel.dims.size(); ++slot) {
    if (v.bindings[slot].multipleOf == 1 || plan.values[slot] % v.bindings[slot].multipleOf == 0)
      continue;
    const Dim &dim = kernel.dims[slot];
    return fail(TILE_ERROR_CONTRACT,
                dim.name + " = " + std::to_string(plan.values[slot]) + origin(slot) +
                    ", expected a multiple of " + std::to_string(dim.multipleOf),
                dim.line);
  }
  return true;
}

//===- Memory
//------------------------------------------------------------------------------------------------------------===//

bool Check::checkStrides(bool onlyFilled) {
  plan.spans.resize(v.tensors.size());
  for (size_t i = 0; i < count; ++i) {
    const Validator::Tensor &tensor = v.tensors[i];
    plan.spans[i] = 0;
    if (!tensor.isTensor || (onlyFilled && !tensor.fills) || isEmpty(arguments[i]))
      continue;
    const int64_t *strides = plan.strides.data() + tensor.firstStride, *shape = arguments[i].shape;
    uint64_t dense = 1; // below 2^60 before each step, so that a product of extents below 2^63 is
                        // seen to pass it
    for (size_t axis = tensor.axes.size(); axis-- > 0;) {
      if (shape[axis] > 1) {
        const std::optional<Validator::Code> &wanted = tensor.axes[axis].stride;
        if (tensor.dense && strides[axis] != int64_t(dense))
          return strideError(i, axis,
                             std::to_string(int64_t(dense)) +
                                 ": the tensor is declared dense and row-major; "
                                 "pass a contiguous copy, or declare strides, as in [M, N; s, 1]");
        if (wanted) {
          std::optional<int64_t> value = v.evaluate(*wanted, plan.values.data());
          if (!value || *value != strides[axis])
            return strideError(i, axis,
                               value ? std::to_string(*value) : "a value that fits 64 bits");
        }
        if (tensor.bits < 8 && axis + 1 < tensor.axes.size() && strides[axis] % 2)
          return strideError(i, axis, "an even number: two elements share a byte");
        if (strides[axis] < 0 || (strides[axis] == 0 && tensor.isWritten))
          return strideError(i, axis,
                             strides[axis] < 0 ? "0 or more" : "1 or more: the tensor is written");
      }
      if (__builtin_mul_overflow(dense, uint64_t(shape[axis]), &dense) || dense >> 60)
        return fail(TILE_ERROR_DIM, quoted(i) + " has 2^60 elements or more",
                    kernel.params[i].line);
    }
    uint64_t span = !tensor.dense     ? region(i).spanBytes()
                    : tensor.bits < 8 ? (dense * tensor.bits + 7) / 8
                                      : dense * (tensor.bits / 8u);
    plan.spans[i] = span;
    if (span == UINT64_MAX || (arguments[i].bytes > 0 && span > uint64_t(arguments[i].bytes)))
      return fail(TILE_ERROR_DIM,
                  quoted(i) + " reaches over " +
                      (span == UINT64_MAX ? "2^63 or more" : std::to_string(span)) +
                      " bytes, but its memory has " + std::to_string(arguments[i].bytes),
                  kernel.params[i].line);
  }
  return true;
}

bool Check::checkAlignment() {
  for (size_t i = 0; i < count; ++i) {
    unsigned align = v.tensors[i].align; // a power of two; of scalars 1
    uint64_t address = uint64_t(uintptr_t(arguments[i].data));
    if ((address & (align - 1)) && !isEmpty(arguments[i]))
      return fail(TILE_ERROR_ALIGNMENT,
                  quoted(i) + " is aligned to " + std::to_string(address & -address) +
                      " bytes, expected " + std::to_string(align) + "; 'align(" +
                      kernel.params[i].name + ", n)' in the source lowers that",
                  kernel.params[i].line);
  }
  return true;
}

bool Check::checkOverlap() {
  if (!v.written)
    return true;
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = i + 1; j < count && plan.spans[i]; ++j) {
      // Most tensors are apart: neither begins within the other. Scalars and empty tensors have no
      // span.
      uint64_t a = uint64_t(uintptr_t(arguments[i].data)),
               b = uint64_t(uintptr_t(arguments[j].data));
      bool apart = b >= a ? b - a >= plan.spans[i] || !plan.spans[j] : a - b >= plan.spans[j];
      if (apart || !v.mustDiffer(i, j) || !overlaps(region(i), region(j)))
        continue;
      size_t writer = kernel.params[j].access != Access::In ? j : i, other = writer == j ? i : j;
      return fail(TILE_ERROR_OVERLAP,
                  quoted(writer) + " is written and overlaps " + quoted(other) +
                      " in memory; pass separate memory, or permit it with 'alias(" +
                      kernel.params[i].name + ", " + kernel.params[j].name + ")' in the source",
                  kernel.params[writer].line);
    }
  }
  return true;
}

bool Check::checkPrograms() {
  std::string extents;
  __int128 programs = 1;
  if (!badAxis)
    for (int64_t extent : plan.extents)
      programs = std::min<__int128>(programs * extent, __int128(1) << 63);
  if (!badAxis && programs <= INT32_MAX) {
    plan.programs = int64_t(programs);
    return true;
  }
  for (size_t axis = 0; axis < plan.extents.size(); ++axis)
    extents += (axis ? " x " : "") + kernel.grid[axis].toString();
  if (!badAxis)
    return fail(TILE_ERROR_GRID,
                "the grid " + extents + " has " +
                    (programs >> 63 ? "2^63 or more" : std::to_string(int64_t(programs))) +
                    " programs, at most 2147483647 can run",
                kernel.line);
  const Expr &bad = kernel.grid[*badAxis];
  return fail(TILE_ERROR_GRID,
              "grid axis " + std::to_string(*badAxis) + ", " + bad.toString() + ", overflows" +
                  valuesIn(bad),
              kernel.line);
}

//===- Plan
//--------------------------------------------------------------------------------------------------------------===//

void Check::planFills() {
  plan.fills.clear();
  plan.fillParams.clear();
  for (size_t i = 0; i < count; ++i) {
    if (!v.tensors[i].fills || isEmpty(arguments[i]))
      continue;
    plan.fillParams.push_back(uint32_t(i));
    plan.fills.push_back(makeFill(arguments[i].data, v.tensors[i].fillBits, v.tensors[i].bits / 8,
                                  unsigned(arguments[i].rank), arguments[i].shape,
                                  plan.strides.data() + v.tensors[i].firstStride));
  }
}

void Check::packArguments() {
  plan.cells.resize(v.sources.size());
  plan.pointers.resize(v.sources.size());
  uint64_t *cell = plan.cells.data();
  void **pointer = plan.pointers.data();
  const int64_t *values = plan.values.data();
  for (const Validator::Source &source : v.sources) {
    *pointer = cell;
    if (source.kind == Argument::Kind::TensorMap || source.kind == Argument::Kind::Scratch)
      *pointer = nullptr;
    else
      *cell = source.kind == Argument::Kind::Dim ? uint64_t(values[source.index])
              : isTensor(source.index)           ? uint64_t(uintptr_t(arguments[source.index].data))
                                                 : scalarBits(source.index);
    ++cell;
    ++pointer;
  }
}

bool Check::run(bool unchecked) {
  if (!checkCall())
    return false;
  if (!checkCount())
    return false;
  if (!unchecked)
    if (!checkNull())
      return false;
  if (!checkDtypes())
    return false;
  if (!checkRanks())
    return false;
  layOut();
  if (!bind())
    return false;
  if (!unchecked)
    if (!checkDims())
      return false;
  computeGrid();
  if (plan.empty) {
    plan.programs = 0;
    if (!unchecked)
      if (!checkStrides(/*onlyFilled=*/true))
        return false;
    planFills();
    packArguments();
    return true;
  }
  if (!unchecked) {
    if (!checkRanges())
      return false;
    if (!checkContracts())
      return false;
    if (!checkStrides(/*onlyFilled=*/false))
      return false;
    if (!checkAlignment())
      return false;
    if (!checkOverlap())
      return false;
  }
  if (!checkPrograms())
    return false;
  planFills();
  packArguments();
  return true;
}

size_t Check::findFalseFact() {
  layOut();
  if (!bind())
    return 0;
  for (size_t i = 0; i < v.facts.size(); ++i) {
    size_t param = v.factParams[i];
    if (param < kernel.params.size()) {
      bool given =
          param < count && uint64_t(uintptr_t(arguments[param].data)) % kernel.facts[i].align == 0;
      if (!given && !(param < count && isEmpty(arguments[param])))
        return i;
      continue;
    }
    std::optional<int64_t> holds = v.evaluate(v.facts[i], plan.values.data());
    if (!holds || !*holds)
      return i;
  }
  return v.facts.size();
}

//===- Text of errors
//------------------------------------------------------------------------------------------------------===//

/// " ('a', dimension 1)": where a value came from.
std::string Check::origin(size_t slot) const {
  const Validator::Binding &binding = v.bindings[slot];
  if (binding.form == Validator::Binding::Form::Scalar)
    return "";
  const char *what =
      binding.form == Validator::Binding::Form::Stride ? ", stride " : ", dimension ";
  return " (" + quoted(binding.param) + what + std::to_string(binding.axis) + ")";
}

std::string Check::valueText(size_t slot) const {
  const Validator::Binding &binding = v.bindings[slot];
  bool isFloat = binding.form == Validator::Binding::Form::Scalar &&
                 !isIntegral(kernel.params[binding.param].dtype);
  return isFloat ? Expr::makeFloat(floatOfBits(plan.values[slot])).toString()
                 : std::to_string(plan.values[slot]);
}

void Check::collect(const Expr &expr, std::vector<std::string> &names, std::string &text) const {
  if (expr.isName() && std::find(names.begin(), names.end(), expr.getName()) == names.end()) {
    names.push_back(expr.getName());
    for (size_t slot = 0; slot < v.bindings.size(); ++slot) {
      const std::string &name = slot < kernel.dims.size()
                                    ? kernel.dims[slot].name
                                    : kernel.params[v.bindings[slot].param].name;
      if (name == expr.getName())
        text += (text.empty() ? ": " : ", ") + name + " = " + valueText(slot) + origin(slot);
    }
  }
  for (const Expr &operand : expr.getOperands())
    collect(operand, names, text);
}

/// ": K = 12 ('a', dimension 1), N = 8 ('b', dimension 1)", or nothing for a constant.
std::string Check::valuesIn(const Expr &expr) const {
  std::vector<std::string> names;
  std::string text;
  collect(expr, names, text);
  return text;
}

bool Check::dimError(size_t param, size_t axis) {
  const Expr &declared = kernel.params[param].dims[axis];
  int64_t found = arguments[param].shape[axis];
  std::string where = "dimension " + std::to_string(axis), number = std::to_string(found);
  unsigned line = kernel.params[param].line;
  if (found < 0)
    return fail(TILE_ERROR_DIM,
                where + " of " + quoted(param) + " is " + number + ", expected 0 or more", line);
  if (v.tensors[param].axes[axis].binds)
    return fail(TILE_ERROR_DIM,
                where + " of " + quoted(param) + " is " + number + ", expected the form " +
                    declared.toString() + " of a whole number of 0 or more",
                line);
  if (declared.isInteger())
    return fail(TILE_ERROR_DIM,
                where + " of " + quoted(param) + " is " + number + ", expected " +
                    declared.toString(),
                line);
  std::optional<int64_t> expected =
      v.evaluate(v.tensors[param].axes[axis].extent, plan.values.data());
  if (!expected)
    return fail(TILE_ERROR_DIM,
                where + " of " + quoted(param) + ": " + declared.toString() + " overflows 64 bits" +
                    valuesIn(declared),
                line);
  if (declared.isName() && v.tensors[param].axes[axis].extent.slot >= 0) {
    const std::string &name = declared.getName();
    const Validator::Binding &binding = v.bindings[v.tensors[param].axes[axis].extent.slot];
    std::string other =
        binding.form == Validator::Binding::Form::Scalar
            ? "the argument " + name + " is " + std::to_string(*expected)
            : quoted(binding.param) + " has " + name + " = " + std::to_string(*expected) +
                  (binding.form == Validator::Binding::Form::Stride ? " as stride "
                                                                    : " in dimension ") +
                  std::to_string(binding.axis);
    return fail(TILE_ERROR_DIM,
                quoted(param) + " has " + name + " = " + number + " in " + where + ", but " + other,
                line);
  }
  return fail(TILE_ERROR_DIM,
              where + " of " + quoted(param) + " is " + number + ", expected " +
                  declared.toString() + " = " + std::to_string(*expected) + valuesIn(declared),
              line);
}

bool Check::strideError(size_t param, size_t axis, const std::string &expected) {
  int64_t found = plan.strides[v.tensors[param].firstStride + axis];
  return fail(TILE_ERROR_STRIDE,
              "stride " + std::to_string(axis) + " of " + quoted(param) + " is " +
                  std::to_string(found) + ", expected " + expected,
              kernel.params[param].line);
}

//===- Interface
//-------------------------------------------------------------------------------------------------------===//

Error Validator::check(const tile_argument *arguments, size_t count, Plan &plan,
                       bool unchecked) const {
  Check check(*this, arguments, count, plan);
  return check.run(unchecked) ? Error() : check.takeError();
}

bool Validator::holds(const tile_argument *arguments, size_t count, Plan &scratch) const {
  return facts.empty() || Check(*this, arguments, count, scratch).findFalseFact() == facts.size();
}

Validator::Fit Validator::fits(const tile_argument *arguments, size_t count) const {
  if (!takesCount(count))
    return Fit::No;
  Fit fit = Fit::Yes;
  for (size_t i = 0; i < count; ++i) {
    const Tensor &wanted = tensors[i];
    const tile_argument &argument = arguments[i];
    if (argument.kind == TILE_DEFAULT && wanted.hasDefault)
      continue;
    if (argument.kind != (wanted.isTensor ? TILE_TENSOR : TILE_SCALAR) ||
        argument.dtype != wanted.dtype)
      return Fit::No;
    if (!wanted.isTensor)
      continue;
    if (argument.rank != int32_t(wanted.axes.size()) || (argument.rank > 0 && !argument.shape)) {
      fit = Fit::DtypesOnly;
      continue;
    }
    for (size_t axis = 0; axis < wanted.axes.size(); ++axis)
      if (const Code &extent = wanted.axes[axis].extent;
          extent.isConstant() && argument.shape[axis] != extent.constant)
        fit = Fit::DtypesOnly;
  }
  return fit;
}

} // namespace tile::runtime
