// Puts together what the cost model knows of a machine.
#include "passes/Analysis/CostModel/TargetLimits.h"
#include "passes/TileGPU/TargetSupport.h"

using namespace llvm;

namespace tile::cost {

// Constants that no table has, because they are the same for all GPUs:
//   cache    44 bytes a clock for each multiprocessor, of the 64 that its port takes: what an H100
//            gives all of them at once (10.4 TB/s, products of f16 by tiles of 64 x 64)
//   special  16 results a clock for each multiprocessor: CUDA C++ Programming Guide, "Throughput of
//            Native Arithmetic Instructions"
//   launch   bench/results/launch.json and graphs of bench/gpu: what an empty kernel adds
static constexpr double cacheBytesPerClock = 44, specialPerClock = 16, launchMicroseconds = 2.5;

TargetLimits getTargetLimits(const GPUTarget &target, const GPUCard &card) {
  const GPULimits &limits = target.limits;
  const GPUTarget *own = findGPUTarget(card.target);
  double clocks = card.clock * double(card.processors);
  double products = own && gpu::copiesAhead(*own) && !gpu::copiesAhead(target) ? mmaSyncShare : 1;
  return {&target,
          StringRef(target.name),
          StringRef(card.name),
          own && own->capability() == target.capability(),
          card.processors,
          limits.threadsPerProcessor,
          limits.blocksPerProcessor,
          limits.registersPerProcessor,
          limits.registersPerThread,
          limits.sharedPerProcessor,
          card.cacheBytes,
          gpu::copiesAhead(target),
          card.clock,
          card.copied,
          cacheBytesPerClock * clocks,
          products * card.tensor16,
          products * card.tensor8,
          products * card.tensorTF32,
          card.vector32,
          specialPerClock * clocks,
          launchMicroseconds};
}

// The two cores of bench/results/cpu.json: what matmul_f32 and softmax reach there.
static constexpr TargetLimits host = {nullptr,
                                      "cpu",
                                      "two cores, AVX2",
                                      true,
                                      2,
                                      1,
                                      1,
                                      16,
                                      16,
                                      1 << 20,
                                      int64_t(32) << 20,
                                      false,
                                      3.0,
                                      7.1,
                                      60,
                                      180,
                                      180,
                                      180,
                                      180,
                                      6,
                                      0};

std::optional<TargetLimits> findTargetLimits(StringRef name, const GPUCard *card) {
  if (name == "cpu")
    return host;
  if (const GPUTarget *target = findGPUTarget(name))
    return getTargetLimits(*target, card ? *card : getCard(*target));
  return std::nullopt;
}

} // namespace tile::cost
