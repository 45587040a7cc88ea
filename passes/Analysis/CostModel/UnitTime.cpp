// What a program takes of its multiprocessor's units: of the tensor cores, or of those that
// multiply in their place, for products, and of all others for operations on elements.
#include "passes/Analysis/CostModel/Estimator.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace tile::cost {

// Constants that no data sheet has. Fitted to the times of bench/results/defaults.json;
// docs/CostModel.md names the error that is left.
constexpr double sustained = 0.73;       ///< of the tensor cores' rate, under the power limit
constexpr double sustainedVector = 0.68; ///< of the rate of f32 outside of tensor cores
constexpr double crowding =
    0.03; ///< more time where instructions of wgmma have 128 columns, not 256
constexpr double sharedLimit =
    1.25; ///< times of the tensor cores' at their full rate that shared memory may take: they are
          ///< slower than that, and it reaches nine tenths of its own
constexpr double loneSharedLoad =
    1.27; ///< more time at most of one warpgroup, whose own waits count in a trip (conv2d, H200)
constexpr unsigned warpsOfGroup = 4;
constexpr double usualSums =
    128; ///< registers of a thread that a product's sums may take; with more
constexpr double manySums =
    1.05; ///< it takes this much longer: rings have three stages, and a trip's end waits longer
constexpr double exchangeSlots = 8; ///< issue slots of each thread for it
constexpr double operandSlots =
    9; ///< issue slots to bring an element of a computed operand to where products read it
constexpr double conflicting =
    1.6; ///< of the time that mma.sync's operands take to read, beyond half of the products' time
constexpr double busyWarps = 12; ///< of a multiprocessor, with which it issues at its rate

/// Time of element-wise operations over that of a multiprocessor with many warps: results of one
/// are not there when its next instruction wants them, and others have to fill the gap. Fewer than
/// `least` warps are rated elsewhere.
double Estimator::getWaitForResults(double least) const {
  double there = std::ceil(countPrograms() / countProcessors());
  double resident = std::min(double(resources.blocks), there) * double(resources.launched);
  return std::sqrt(busyWarps / std::clamp(resident, least, busyWarps));
}

/// Columns of a product by wgmma that a warpgroup computes of its rows.
double Estimator::getOwnColumns(const DotWork &dot) const {
  constexpr int64_t warpRows = 16;
  int64_t rows = dot.swapped ? dot.n : dot.m, columns = dot.swapped ? dot.m : dot.n;
  double distinct = double(countDistinctWarps(dot, resources.warps));
  return double(columns) * std::min(1.0, double(rows / warpRows) / distinct);
}

/// The clocks in which shared memory moves what wgmma reads of it and what copies bring, 128 bytes
/// each, over those in which tensor cores multiply it. Each instruction of 64 rows reads these and
/// its `own` columns, of `columns` in all.
static double getSharedLoad(const DotWork &dot, double columns, double own) {
  constexpr double blockRows = 64;
  double rows = double(llvm::alignTo(dot.rows, uint64_t(blockRows)));
  double used = own < columns ? 1 : dot.usedColumns; // who shares columns has padding, too
  double blocks = rows / blockRows * columns / own, read = blocks * (blockRows + used * own);
  return (read + rows + dot.usedColumns * columns) / (2 * blocks * used * own);
}

// Tensor cores multiply f64 as fast as others f32: data sheets of A100, H100 and H200.
double getProductRate(const DotWork &dot, const TargetLimits &target) {
  constexpr unsigned wide = 64;
  if (!dot.tensorCores || dot.multiplied == wide)
    return target.vector32;
  return dot.isTF32                              ? target.tensorTF32
         : dot.multiplied <= 8 && target.tensor8 ? target.tensor8
                                                 : target.tensor16;
}

/// Microseconds of one multiprocessor's tensor cores, or of its other units where they do not
/// multiply the types.
double Estimator::getDotTime(const DotWork &dot, const LoopWork &loop) const {
  double operations = dot.getOperations(), share = 1e3 * double(target.processors);
  if (!dot.tensorCores) {
    // A thread reads two sides of its part of the result for each step of K.
    double part = double(dot.m * dot.n) / (32 * double(resources.warps));
    double efficiency = sustainedVector / (1 + 1 / std::sqrt(std::max(part, 1.0)));
    return operations / (target.vector32 * efficiency) * share * 1e-6;
  }
  double rate = getProductRate(dot, target);
  bool wgmma = dot.wgmma && resources.warps % 4 == 0;
  double efficiency = sustained * (wgmma || !target.hasBulkCopies ? 1 : mmaSyncShare);
  // A product of 64 rows reads both operands from shared memory, 128 bytes a clock: narrow ones
  // wait for that.
  constexpr double fewColumns = 64;
  double columns = double(dot.swapped ? dot.m : dot.n);
  if (wgmma && columns < fewColumns)
    efficiency *= 2 * columns / (fewColumns + columns);
  // A warp reads its operands from shared memory for itself: each row and column once a step of K,
  // at 128 bytes a clock, beside 1024 products.
  if (!wgmma && !target.hasBulkCopies) {
    auto [rows, columns] = getWarpTile(dot, resources.warps, /*rowsInWarps=*/loop.reduced > 0);
    int64_t read = (dot.computedA ? 0 : rows) + columns; // threads hold what is computed
    double reads = 1024.0 * 2 * double(read) / (128 * double(rows * columns));
    efficiency /= 1 + conflicting * std::max(0.0, reads - 0.5);
  }
  // Warpgroups that share columns have as many each: none of the padding is left out.
  constexpr int64_t warpRows = 16;
  int64_t rows = dot.swapped ? dot.n : dot.m;
  int64_t distinct = countDistinctWarps(dot, resources.warps);
  if (wgmma && distinct > std::max<int64_t>(rows / warpRows, 1))
    operations /= dot.usedColumns;
  // Instructions of 256 columns read 80 bytes of shared memory a clock, those of 128 columns 96, of
  // 128 that it moves, those that copies bring included: of 8 bits as many, for twice the products.
  // Times show the former of 16 bits alone; i8 was faster by 128 columns.
  constexpr double widest = 256, narrow = 128;
  if (wgmma && dot.bits <= measuredBits && loop.dots.size() == 1 && loop.reduced <= 0 &&
      !dot.computedA && !dot.computedB) {
    double own = getOwnColumns(dot);
    if (dot.bits == measuredBits)
      efficiency /= 1 + crowding * (widest / std::clamp(own, narrow, widest) - 1);
    if (columns >= fewColumns) {
      double load = std::max(1.0, getSharedLoad(dot, columns, own) / sharedLimit);
      efficiency /= resources.warps > warpsOfGroup ? load : std::min(load, loneSharedLoad);
    }
    if (resources.teams == 1 && // another one multiplies while this one's trip ends
        double(dot.m * dot.n) * dot.usedColumns > 32 * double(resources.warps) * usualSums)
      efficiency /= manySums;
  }
  double repetition = double(resources.warps) / double(distinct);
  return operations / (rate * efficiency) * share * repetition * 1e-6;
}

/// True if the product's second operand is computed and cannot stay in registers.
static bool storesB(const DotWork &dot) { return dot.computedB && !(dot.swapped && dot.heldB); }

bool hasComputedOperand(const LoopWork &loop) {
  return llvm::any_of(
      loop.dots, [](const DotWork &dot) { return storesB(dot) || (dot.swapped && dot.computedA); });
}

const DotWork *findHeldProduct(const LoopWork &loop, const Resources &resources) {
  constexpr int64_t leastColumns = 16;
  if (loop.dots.size() != 1 || loop.parent < 0 || !resources.bulkCopies || resources.warps % 4)
    return nullptr;
  const DotWork &dot = loop.dots.front();
  bool held = dot.wgmma && (dot.swapped ? dot.heldB : dot.computedA);
  return held && countColumns(dot) >= leastColumns ? &dot : nullptr;
}

int64_t countPartsAlongK(const DotWork &dot, const Resources &resources) {
  constexpr int64_t leastClocks = 128, warpThreads = 32, bitsOfStep = 256, most = 4;
  int64_t sums = dot.m * dot.n / (warpThreads * std::max<int64_t>(resources.warps, 1)),
          steps = dot.k * int64_t(dot.bits) / bitsOfStep;
  int64_t parts = std::min({most, std::max<int64_t>(steps / 2, 2), sums * steps / leastClocks});
  return parts < 2 ? 1 : int64_t(llvm::bit_floor(uint64_t(parts)));
}

/// Warps over those whose work is not the same once more.
double Estimator::getRepetition(const LoopWork &loop) const {
  double most = 1;
  for (const DotWork &dot : loop.dots)
    most =
        std::max(most, double(resources.warps) / double(countDistinctWarps(dot, resources.warps)));
  return most;
}

double Estimator::getArithmeticTime(const LoopWork &loop) const {
  double slotRate = target.vector32 / 2 / double(target.processors); // results a nanosecond
  double specialRate = target.special / double(target.processors);
  // Elements of padded tiles are dealt to all warps of a layout.
  double share = double(resources.launched) / double(std::max<int64_t>(resources.warps, 1));
  double slots = loop.slots * share;
  for (const DotWork &dot : loop.dots)
    slots += operandSlots * dot.count *
             ((storesB(dot) ? double(dot.n * dot.k) : 0) +
              (dot.swapped && dot.computedA ? double(dot.m * dot.k) : 0));
  slots += exchangeSlots * loop.exchanges * 32 * double(resources.launched);
  double first = slots / slotRate, second = loop.special * share / specialRate;
  return (std::max(first, second) + 0.3 * std::min(first, second)) * getRepetition(loop) * 1e-3;
}

} // namespace tile::cost
