// Variants: what `specialize` clauses and the command line say beyond a kernel's contracts becomes
// facts of one version. What is fixed stays in the manifest as a dimension with one value; the
// kernel sees a constant, the ABI nothing.
#ifndef TILE_FRONTEND_SEMA_VARIANTS_H
#define TILE_FRONTEND_SEMA_VARIANTS_H

#include "frontend/Sema/Contracts.h"

namespace tile {

/// One version of an instance: its facts hold beyond the kernel's own contracts, and dispatch looks
/// at them first.
struct Variant {
  /// From the command line.
  std::string name;
  std::vector<ArgItem> items;
  /// From the source: a clause, and for each of its contracts which listed value is meant.
  const ast::SpecializeClause *clause = nullptr;
  std::vector<size_t> choice;
  /// Which of the tuned configurations it has; none where there is but one.
  std::optional<size_t> tuned;

  bool isGeneric() const { return !clause && name.empty(); }
};

class Variants : SemaPart {
public:
  Variants(Evaluator &evaluator, LaunchExprs &launchExprs, Contracts &contracts)
      : SemaPart(evaluator), launchExprs(launchExprs), contracts(contracts) {}

  /// What `specialize` asks for, in source order; KernelVersions::run puts these between the
  /// versions of --variant and the generic one. None after an error.
  std::optional<std::vector<Variant>> list();
  /// One item of the command line. `isDispatched`: the launcher chooses by it; else it is a
  /// contract. False after an error.
  bool applyItem(const ArgItem &item, bool isDispatched, runtime::Kernel &record);
  bool apply(const Variant &variant, runtime::Kernel &record);
  /// Names and divisors of clauses such as `specialize N % 8 == 0` that say nothing else: launches
  /// of the plain version do not have them.
  std::map<std::string, int64_t> findUneven() const;
  /// After a failure: nothing is wrong, but the command line rules the variant out.
  bool isRuledOut() const { return impossible; }
  /// Dimensions, strides and scalars that are constants here.
  const std::map<std::string, int64_t> &getFixed() const { return fixed; }

private:
  struct FactSource {
    std::string text;
    Range range; // invalid on the command line
    bool isDispatched;
  };
  bool applyTuned(size_t choice, runtime::Kernel &record);
  bool applySpecialize(const ast::Contract &contract, size_t choice, runtime::Kernel &record,
                       std::string &name);
  bool narrow(const std::string &name, int64_t min, int64_t max, std::optional<int64_t> opt,
              const FactSource &source, runtime::Kernel &record);
  bool fix(const std::string &name, int64_t value, const FactSource &source,
           runtime::Kernel &record);
  bool divide(const std::string &name, int64_t divisor, const FactSource &source,
              runtime::Kernel &record);
  bool raiseAlignment(const std::string &name, int64_t bytes, const FactSource &source,
                      runtime::Kernel &record);
  void addCondition(runtime::Expr condition, const FactSource &source, runtime::Kernel &record);
  bool failFact(const FactSource &source, const llvm::Twine &message, Range second = Range());
  bool conflict(const FactSource &source, const llvm::Twine &message, Range second);

  LaunchExprs &launchExprs;
  Contracts &contracts;
  std::map<std::string, int64_t> fixed;
  bool impossible = false;
};

} // namespace tile

#endif
