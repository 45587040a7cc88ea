// The checks of one kernel, from its declaration to a checked version of it, a value.
#ifndef TILE_FRONTEND_SEMA_KERNELSEMA_H
#define TILE_FRONTEND_SEMA_KERNELSEMA_H

#include "frontend/Sema/Attributes.h"
#include "frontend/Sema/TuneClause.h"
#include "frontend/Sema/Variants.h"

namespace tile {

/// One version of a kernel, checked up to its body: all that is known before the first statement.
struct CheckedKernel {
  /// Parameters, dimensions, contracts, facts, grid, constants and the order of the ABI's
  /// arguments.
  runtime::Kernel record;
  AttributeValues attributes;
  /// The values of the compile-time parameters, in their order.
  std::vector<SemValue> statics;
  /// Named dimensions and strides, in the order of the ABI.
  std::vector<std::string> dimensions;
  /// Dimensions, strides and scalars that are constants in this version.
  std::map<std::string, int64_t> fixed;
  /// `opt` of scalars.
  std::map<std::string, int64_t> scalarHints;
  /// Divisors that names do not have where this version runs.
  std::map<std::string, int64_t> uneven;
};

/// Reads what stands before a kernel's body. Each object serves one question: state of the instance
/// at hand is in the evaluator's context.
class KernelSema {
public:
  explicit KernelSema(Evaluator &evaluator);

  /// The instances to make, in order. Empty after an error.
  std::vector<Instance> chooseInstances();
  /// What the kernel's `tune` clause spans. None after an error.
  std::optional<TuneSpace> readTuneSpace() { return tuning.readSpace(); }
  /// The values that the arguments of a launch bind in this instance, as -D spells them.
  std::vector<std::pair<std::string, std::string>> listDeduced(const Instance &instance) const {
    return tuning.listDeduced(instance);
  }
  /// True if the source has a configuration of its own for the target.
  bool hasConfig() { return statics.chooseConfig() != nullptr; }
  /// What `specialize` asks for, in source order. None after an error.
  std::optional<std::vector<Variant>> listVariants() { return variants.list(); }
  /// Checks a version and declares its compile-time parameters. None after an error.
  std::optional<CheckedKernel> check(const Instance &instance, const Variant &variant);
  /// After a failure: nothing is wrong, but the command line rules the variant out.
  bool isRuledOut() const { return variants.isRuledOut(); }

  const Signature &getSignature() const { return signature; }
  Attributes &getAttributes() { return attributes; }

private:
  void listArguments(CheckedKernel &checked) const;

  Evaluator &evaluator;
  KernelContext &here;
  StaticParams statics;
  LaunchExprs launchExprs;
  TuneClause tuning;
  Signature signature;
  Contracts contracts;
  Variants variants;
  Attributes attributes;
};

} // namespace tile

#endif
