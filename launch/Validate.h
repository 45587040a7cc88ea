// Checks the arguments of one launch against a kernel's contract, in the order that the language
// defines, and plans the launch.
#ifndef TILE_LAUNCH_VALIDATE_H
#define TILE_LAUNCH_VALIDATE_H

#include "launch/Fill.h"
#include "manifest/Error.h"
#include "manifest/Manifest.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace tile::runtime {

/// The plan of a launch. Reuse one for many launches: its buffers are then allocated once.
struct Plan {
  Plan() = default;
  Plan(Plan &&) = default;
  Plan &operator=(Plan &&) = default;

  /// Some grid extent is zero: only the fills happen.
  bool empty = false;
  /// Product of the extents, at most 2^31 - 1.
  int64_t programs = 0;
  /// Dynamic shared memory of a block.
  unsigned sharedBytes = 0;
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

  /// The plan as the core fills it, for one kernel.
  tk_plan view(const tk_kernel &kernel);
};

/// One kernel instance, encoded into the core's tables, whose checks these are. Immutable, so that
/// threads may share it.
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
  Fit fits(const tile_argument *arguments, size_t count) const;
  /// Whether the facts of a variant hold for arguments that fit. Overwrites `scratch`, allocates
  /// nothing once it is warm.
  bool holds(const tile_argument *arguments, size_t count, Plan &scratch) const;

  const Kernel &getKernel() const { return kernel; }
  /// The kernel as the launcher's core has it.
  const tk_kernel &getTables() const { return tables; }
  int getExprCount() const { return int(exprs.size()); }
  /// Strides of a tensor parameter as `check` has found them, in elements.
  const int64_t *getStrides(const Plan &plan, size_t param) const {
    return plan.strides.data() + tables.params[param].first_stride;
  }
  /// Which parameter has that name; their number if none has.
  size_t getParamIndex(const std::string &name) const;
  /// "softmax[T = f16](x: in f16[M, N], y: out f16[M, N])".
  const std::string &getSignature() const { return signature; }

private:
  friend class ValidatorBuilder;

  Validator() = default;

  Kernel kernel;
  std::string signature;
  tk_kernel tables = {};
  // The storage that the tables point to.
  std::vector<tk_param> params;
  std::vector<std::vector<tk_axis>> axes; // one for each parameter
  std::vector<tk_slot> slots;             // one for each of kernel.dims, then scalars
  std::vector<tk_expr> exprs;
  std::vector<std::vector<int>> names; // one for each expression
  std::vector<tk_instruction> code;
  std::vector<tk_contract> contracts;
  std::vector<tk_fact> facts;
  std::vector<int> grid;
  std::vector<tk_argument> arguments;
  std::vector<tk_map> maps;
  std::vector<unsigned char> mayAlias; // params x params
  std::deque<std::string> texts;
};

/// Matches name + c, c + name, name - c, c * name, name * c: `times` for the last two.
bool matchAffine(const Expr &expr, const std::string &name, bool &times, int64_t &constant);

} // namespace tile::runtime

#endif
