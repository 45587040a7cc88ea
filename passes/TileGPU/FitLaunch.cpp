// tile-gpu-fit-launch: brings occupancy(n) and maxreg(n) to what the target can do, and says so.
//
// Behind tile-gpu-use-tma: then it is known which products run on wgmma, and whether a producer's
// warpgroup joins the block. In front of tile-gpu-specialize-warps, which shares shared memory out
// among the blocks.
#include "dialect/AttributeNames.h"
#include "passes/Passes.h"
#include "passes/TileGPU/LaunchFit.h"

#include "mlir/IR/Builders.h"
#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUFITLAUNCH
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// Needs are those of the product with the largest accumulator: registers that no schedule saves.
class Fitter {
public:
  Fitter(KernelOp kernel, const GPUTarget &target)
      : kernel(kernel), limits(target.limits), name(target.name), need(getRegisterNeed(kernel)),
        least(std::max(need.registers, countLeast(kernel, target))),
        threads(getBlockThreads(kernel, limits)), builder(kernel.getContext()) {}

  // The only error: a block alone on a multiprocessor has too few registers. All else is lowered
  // and said.
  LogicalResult run() {
    if (limits.registersFor(threads, 1) < need.registers)
      return need.product->emitError()
             << describeNeed() << ", and the " << threads << " threads of a block have "
             << limits.registersFor(threads, 1) << " each; make the product's tile, here "
             << describeTile() << ", smaller"
             << (kernel->hasAttr(requestedWarpsName) ? ", or take fewer warps" : "");
    fitOccupancy();
    fitRegisters();
    return success();
  }

private:
  /// Registers of a thread less than which ptxas of CUDA 13.0 gives to none, or less than which it
  /// refuses products by mma.sync: of the doubles of sixteen rows, or of any other elements.
  static int64_t countLeast(KernelOp kernel, const GPUTarget &target) {
    constexpr int64_t ofAny = 24, ofProduct = 28, ofWideDoubles = 64;
    constexpr unsigned wideRows = 16;
    auto doubles = target.find(MatrixUnit::MmaSync, MatrixElement::F64, MatrixElement::F64);
    bool isWide = doubles && doubles->m == wideRows;
    int64_t least = ofAny;
    kernel.getBody().walk([&](MmaOp product) {
      bool isDouble = product.getType().getElementType().isF64();
      least = std::max(least, isDouble && isWide ? ofWideDoubles : ofProduct);
    });
    return least;
  }

  /// What takes `least` registers.
  std::string describeLeast() const {
    return least == need.registers ? describeNeed()
                                   : "the assembler gives a thread " + std::to_string(least) +
                                         " at least, for its largest instruction";
  }

  std::string describeNeed() const {
    return "a product of " + std::to_string(need.rows) + " x " + std::to_string(need.columns) +
           " by wgmma takes " + std::to_string(need.registers) + " registers of a thread";
  }

  /// As it is computed: the source's extents may be less.
  std::string describeTile() const {
    ArrayRef<int64_t> shape = cast<WgmmaOp>(need.product).getType().getShape();
    return std::to_string(shape[0]) + " x " + std::to_string(shape[1]) + " in powers of two";
  }

  /// The most blocks of a multiprocessor that is at most `blocks`; `why` says what bounds it.
  /// Four limits of a multiprocessor: the request, its threads, its blocks, and registers of which
  /// a product needs so many in each thread.
  int64_t fitBlocks(int64_t blocks, std::string &why) const {
    int64_t byThreads = limits.threadsPerProcessor / threads, byNumber = limits.blocksPerProcessor;
    int64_t byRegisters = blocks;
    // registersFor rounds as the hardware hands registers out, so that there is no formula to
    // invert.
    while (byRegisters > 1 && limits.registersFor(threads, byRegisters) < least)
      --byRegisters;
    // At least one block: it has been checked that it fits.
    int64_t fitting = std::max<int64_t>(1, std::min({blocks, byThreads, byNumber, byRegisters}));
    std::string many =
        std::to_string(blocks) + " blocks of " + std::to_string(threads) + " threads";
    if (fitting == byRegisters)
      why = many + " leave a thread " + std::to_string(limits.registersFor(threads, blocks)) +
            " registers, and " + describeLeast();
    else if (fitting == byNumber)
      why = name.str() + " runs " + std::to_string(byNumber) + " blocks on a multiprocessor";
    else
      why = many + " are more than the " + std::to_string(limits.threadsPerProcessor) +
            " threads of a multiprocessor of " + name.str();
    return fitting;
  }

  void fitOccupancy() {
    auto requested = kernel->getAttrOfType<IntegerAttr>(occupancyName);
    if (!requested)
      return;
    std::string why;
    int64_t blocks = fitBlocks(requested.getInt(), why);
    if (blocks == requested.getInt())
      return;
    kernel.emitWarning() << "occupancy(" << requested.getInt() << ") is lowered to " << blocks
                         << ": " << why << " [W0607]";
    kernel->setAttr(occupancyName, builder.getI64IntegerAttr(blocks));
  }

  void fitRegisters() {
    auto requested = kernel->getAttrOfType<IntegerAttr>(maxRegistersName);
    if (!requested)
      return;
    // Above: more than a thread of this block can have. Below: less than an instruction needs;
    // registers are given out in eights.
    int64_t most = limits.registersFor(threads, 1);
    int64_t fewest = llvm::alignTo(least, 8), given = requested.getInt();
    int64_t fitting = std::min(std::max(given, fewest), most);
    if (fitting == given)
      return;
    InFlightDiagnostic warning = kernel.emitWarning();
    warning << "maxreg(" << given << ") is " << (fitting > given ? "raised" : "lowered") << " to "
            << fitting << ": ";
    if (fitting > given)
      warning << describeLeast();
    else
      warning << threads << " threads of a block share " << limits.registersPerProcessor
              << " registers";
    warning << " [W0607]";
    kernel->setAttr(maxRegistersName, builder.getI64IntegerAttr(fitting));
  }

  KernelOp kernel;
  const GPULimits &limits;
  StringRef name;
  RegisterNeed need;
  int64_t least; ///< registers of a thread
  int64_t threads;
  Builder builder;
};

struct TileGPUFitLaunch : tile::impl::TileGPUFitLaunchBase<TileGPUFitLaunch> {
  using Base::Base;

  void runOnOperation() override {
    const GPUTarget *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      // An error has been reported by the query.
      if (failed(getNumWarps(kernel)))
        return signalPassFailure();
      if (failed(Fitter(kernel, *target).run()))
        return signalPassFailure();
    }
  }
};

} // namespace
