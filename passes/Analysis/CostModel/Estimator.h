// What the parts of the estimate share: the kernel's work, how it is laid out, the machine. Not for
// use beyond this folder; CostModel.cpp says how the parts make a time.
#ifndef TILE_PASSES_ANALYSIS_COSTMODEL_ESTIMATOR_H
#define TILE_PASSES_ANALYSIS_COSTMODEL_ESTIMATOR_H

#include "passes/Analysis/CostModel/CostModel.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace tile::cost {

inline constexpr unsigned measuredBits =
    16; ///< of operands, up to which times show what is said of them

inline constexpr int64_t schedulers =
    4; ///< of a multiprocessor; each issues for one warp at a time

/// Microseconds that a program takes of each part of its multiprocessor, and alone on it.
struct ProgramTime {
  double tensor = 0, arithmetic = 0;
  double chain = 0;
  double turns = 0; ///< of the chain, loops whose tiles a producer brings: teams take turns in them
  double start = 0; ///< of the chain, before the first tile of a block that copies ahead is there
  double fetch = 0; ///< of the code of its end, which a multiprocessor does not keep
  double fill = 0;  ///< of a launch: all blocks ask for their first tiles at once
};

/// The p-norm: the largest where one is, a little more where several are close.
double getNorm(std::initializer_list<double> values, double p);

/// Operations a second of the whole card, in units of 10^9, of what computes a product.
double getProductRate(const DotWork &dot, const TargetLimits &target);

/// True if a product reads an operand that is computed and cannot stay in registers.
bool hasComputedOperand(const LoopWork &loop);

/// The only product of a loop, if it is by wgmma and an operand of it is computed in registers;
/// else null, as for products of fewer columns than an instruction of 16 has.
const DotWork *findHeldProduct(const LoopWork &loop, const Resources &resources);

/// Into how many parts such a product goes: the rule of ProductParts.cpp, by the clocks that the
/// tensor cores take for a trip.
int64_t countPartsAlongK(const DotWork &dot, const Resources &resources);

/// The columns of a product by wgmma, whose rows are those of the operand in registers.
inline int64_t countColumns(const DotWork &dot) { return dot.swapped ? dot.m : dot.n; }

class Estimator {
public:
  Estimator(const KernelWork &work, Schedule asked, const TargetLimits &target)
      : work(work), clustered(hasClusterOfParts(work, asked)), schedule(settle(asked)),
        target(target), resources(estimateResources(work, schedule, target)) {}

  CostEstimate run();

private:
  /// Blocks of a cluster of parts take one program each, whatever is asked for.
  Schedule settle(Schedule asked) const {
    asked.persistent &= !clustered;
    return asked;
  }
  double getSharingTime(double perProcessor) const;
  double getDotTime(const DotWork &dot, const LoopWork &loop) const;
  double getArithmeticTime(const LoopWork &loop) const;
  double getRepetition(const LoopWork &loop) const;
  double getFetchTime(const LoopWork &loop) const;
  ProgramTime getProgramTime() const;
  int64_t countParts() const;
  /// That have something to do.
  double countPrograms() const { return work.likelyPrograms * double(countParts()); }
  double getSumBytes() const;
  double getOperandPadding() const;
  double getCodeLength() const;
  llvm::SmallVector<unsigned, 2> getPairAxes() const;
  /// Blocks that start along an axis of pairs, over those that have a program there.
  double getPadding(unsigned axis) const {
    return double(llvm::alignTo(work.grid[axis], 2)) / double(work.grid[axis]);
  }
  double countProcessors() const;
  double getLoadedBytes(const AccessWork &access) const {
    return access.feedsDot && resources.bulkCopies ? access.fetchedBytes : access.tileBytes;
  }
  double getCacheShare(const AccessWork &access) const;
  double getKept(size_t loop, const AccessWork &access) const;
  double getTrips(size_t loop) const {
    return std::max(work.loops[loop].trips / std::max(work.loops[loop].runs, 1.0), 1.0);
  }
  double getOwnColumns(const DotWork &dot) const;
  double getWaitForResults(double least) const;
  bool copiesAhead(size_t loop) const;
  double getReread(size_t loop, const AccessWork &access, double concurrent) const;
  double addTraffic(CostEstimate &found) const;
  void addRoofline(CostEstimate &found) const;

  const KernelWork &work;
  const bool clustered; ///< the parts of the split loop are a cluster
  const Schedule schedule;
  const TargetLimits &target;
  const Resources resources;
};

} // namespace tile::cost

#endif
