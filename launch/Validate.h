// Checks the arguments of one launch against a kernel's contract, in the order that the language
// defines, and plans the launch.
#pragma once

#include "launch/Fill.h"
#include "manifest/Error.h"
#include "manifest/Manifest.h"

#include <memory>

namespace tile::runtime {

/// What a launch does. Reuse one for many launches: its buffers are then allocated once.
struct Plan {
  Plan() = default;
  Plan(Plan &&) = default;
  Plan &operator=(Plan &&) = default;

  /// Some grid extent is zero: only the fills happen.
  bool empty = false;
  /// Product of the extents, at most 2^31 - 1.
  int64_t programs = 0;
  /// Programs along each grid axis, slowest first.
  std::vector<int64_t> extents;
  /// Values of the kernel's `dims`, in their order, then of the scalar parameters that expressions
  /// use: of floats the bits as f64.
  std::vector<int64_t> values;
  /// Machine arguments in the ABI's order: `pointers[i]` points to argument i, in `cells[i]`.
  /// Tensor maps and scratch memory are the launcher's to make: null.
  std::vector<uint64_t> cells;
  std::vector<void *> pointers;
  std::vector<Fill> fills;
  std::vector<uint32_t> fillParams; // which parameter each of them fills
  /// Bytes from the first to the last element of every parameter; 0 of scalars and of tensors
  /// without elements. Not where the checks were left out.
  std::vector<uint64_t> spans;
  /// Strides of all tensors, in elements, one after the other.
  std::vector<int64_t> strides;
};

/// One kernel instance, prepared for quick checking. Immutable, so that threads may share it.
class Validator {
public:
  /// None, with the reason in `error`, for a kernel that no launch could satisfy or bind: a
  /// dimension bound by nothing, a default or fill that its dtype cannot hold, a rank above 8.
  static std::unique_ptr<Validator> create(Kernel kernel, std::string &error);

  /// Checks `count` arguments, in the order of the parameters (trailing scalars with a default may
  /// be left out), and fills `plan`. With `unchecked`, looks only at what binding dimensions and
  /// computing the grid need. `plan` is meaningless after an error.
  Error check(const tile_argument *arguments, size_t count, Plan &plan,
              bool unchecked = false) const;

  /// Whether `values`, addresses and bits in the arguments' place, may stand for those of
  /// `arguments`, which are checked and gave `plan`: no scalar that shapes, grid or contracts
  /// depend on differs and, unless `unchecked`, no address is null, unaligned or perhaps in
  /// another's memory. If not, only `check` can tell.
  bool mayReplace(const tile_argument *arguments, const uint64_t *values, size_t count,
                  const Plan &plan, bool unchecked) const;
  /// The launch with these values: `result` gets what there is in `plan` but for extents, values
  /// and spans.
  void replace(const tile_argument *arguments, const uint64_t *values, size_t count,
               const Plan &plan, Plan &result) const;

  /// How well arguments suit this instance: count, kinds and dtypes, and then ranks and constant
  /// dimensions. Dispatch between instances goes by it.
  enum class Fit : uint8_t { No, DtypesOnly, Yes };
  bool takesCount(size_t count) const { return count >= required && count <= kernel.params.size(); }
  Fit fits(const tile_argument *arguments, size_t count) const;
  /// Whether the facts of a variant hold for arguments that fit. Overwrites `scratch`, allocates
  /// nothing once it is warm.
  bool holds(const tile_argument *arguments, size_t count, Plan &scratch) const;

  const Kernel &getKernel() const { return kernel; }
  /// The parameter that a tensor map is about.
  size_t getMapParam(size_t map) const { return mapParams[map]; }
  /// Strides of a tensor parameter as `check` has found them, in elements.
  const int64_t *getStrides(const Plan &plan, size_t param) const {
    return plan.strides.data() + tensors[param].firstStride;
  }
  /// Which parameter has that name; their number if none has.
  size_t getParamIndex(const std::string &name) const;
  /// "softmax[T = f16](x: in f16[M, N], y: out f16[M, N])".
  const std::string &getSignature() const { return signature; }

private:
  friend class Check;
  friend class ValidatorBuilder;
  friend class CTables; // writes the same as C

  /// A range of `code`, or a constant (slot -1, no code), or one slot.
  struct Code {
    uint32_t begin = 0, end = 0;
    int32_t slot = -1;
    int64_t constant = 0;
    bool isConstant() const { return slot < 0 && begin == end; }
  };
  struct Instruction {
    Expr::Op op;
    /// Integer: the value, or a float's bits. Name: the slot. Float: the operand to convert, from
    /// the top. Operators: a sum of `unary` and `onFloats`.
    int64_t operand;
    static constexpr int64_t unary = 1, onFloats = 2;
  };
  /// Where a dimension or stride gets its value.
  struct Binding {
    enum class Form : uint8_t { Extent, ExtentPlus, ExtentTimes, Stride, Scalar } form;
    uint32_t param, axis;
    int64_t constant; // Plus: extent = value + constant; Times: extent = constant * value
    int64_t min = INT64_MIN, max = INT64_MAX, multipleOf = 1; // what contracts ask of the value
  };
  struct Axis {
    Code extent;
    bool binds = false;
    /// Without a code any stride is right.
    std::optional<Code> stride;
  };
  /// What checks and dispatch look at of every parameter. Of a scalar there are only the dtype and
  /// whether it has a default.
  struct Tensor {
    std::vector<Axis> axes;
    bool isTensor = false, hasDefault = false, isWritten = false, dense = true, fills = false;
    uint8_t bits = 8;  // of one element
    int32_t dtype = 0; // a tile_dtype
    uint32_t align = 1;
    uint32_t firstStride = 0;
    uint64_t fillBits = 0;
  };
  struct Source {
    Argument::Kind kind;
    uint32_t index; // of the parameter, slot or tensor map
  };

  Validator() = default;
  /// None on overflow.
  std::optional<int64_t> evaluate(const Code &code, const int64_t *values) const {
    if (code.slot >= 0)
      return values[code.slot];
    return code.isConstant() ? code.constant : run(code, values);
  }
  std::optional<int64_t> run(const Code &code, const int64_t *values) const;
  /// Whether two parameters must not share memory: one is written, and no alias is declared.
  bool mustDiffer(size_t a, size_t b) const {
    return (tensors[a].isWritten || tensors[b].isWritten) && !mayAlias[a * tensors.size() + b];
  }

  Kernel kernel;
  std::string signature;
  std::vector<Instruction> code;
  std::vector<Binding> bindings; // one for each slot: kernel.dims, then scalars
  std::vector<Tensor> tensors;   // one for each parameter
  std::vector<uint64_t> defaults;
  std::vector<Code> grid, contracts, facts;
  std::vector<uint32_t>
      factParams; // for each fact: the parameter whose alignment it is about, or their number
  std::vector<Source> sources;
  std::vector<uint32_t> mapParams; // of each tensor map
  size_t required = 0;             // parameters before the trailing defaults
  uint32_t strideCount = 0;
  bool written = false;
  std::vector<bool> mayAlias; // params x params
};

/// Matches name + c, c + name, name - c, c * name, name * c: `times` for the last two.
bool matchAffine(const Expr &expr, const std::string &name, bool &times, int64_t &constant);

} // namespace tile::runtime
