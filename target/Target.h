// The GPUs that Tile knows. One row a target says what code for it may use and what a block may
// have; front end, passes, cost model, code generation and runtime read the same rows. No code
// outside this folder compares, parses or defaults a GPU's name.
#ifndef TILE_TARGET_TARGET_H
#define TILE_TARGET_TARGET_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tile {

/// Features that code for a target may use. Passes ask for these.
enum class Feature : unsigned {
  AsyncCopy,           ///< cp.async with commit and wait groups
  Barriers,            ///< mbarrier objects in shared memory
  TransactionBarriers, ///< an mbarrier counts the bytes that copies bring; try_wait
  Tma,                 ///< cp.async.bulk.tensor: tensor maps
  Multicast,           ///< one TMA copy to several blocks of a cluster
  Clusters,            ///< thread-block clusters, distributed shared memory
  Wgmma,               ///< warpgroup products from shared memory
  SetMaxRegisters,     ///< setmaxnreg: warps hand registers to each other
  TensorMemory,        ///< tcgen05
  LoadMatrix,          ///< ldmatrix
  StoreMatrix,         ///< stmatrix
  Redux,               ///< redux.sync of integers
  ReduxFloat,          ///< redux.sync of f32
  Float8Conversions,   ///< cvt between pairs of f8 and f16
  IntegerToBF16,       ///< cvt.rn.bf16 of integers
  AtomicAddBF16,       ///< atom.add.noftz.bf16
  VectorReductions,    ///< red.global.add of vectors
  PackedFloat,         ///< fma.rn.f32x2
};

/// A set of features.
class FeatureSet {
public:
  constexpr FeatureSet() = default;
  constexpr FeatureSet(std::initializer_list<Feature> features) {
    for (Feature feature : features)
      bits |= bit(feature);
  }
  constexpr bool has(Feature feature) const { return bits & bit(feature); }
  constexpr bool hasAll(FeatureSet wanted) const { return (bits & wanted.bits) == wanted.bits; }
  constexpr FeatureSet operator+(FeatureSet other) const { return FeatureSet(bits | other.bits); }
  constexpr FeatureSet operator-(FeatureSet other) const { return FeatureSet(bits & ~other.bits); }

private:
  constexpr explicit FeatureSet(uint32_t bits) : bits(bits) {}
  static constexpr uint32_t bit(Feature feature) { return uint32_t(1) << unsigned(feature); }
  uint32_t bits = 0;
};

/// Element types that matrix instructions multiply and add up. F8 is either of e4m3 and e5m2.
enum class MatrixElement : uint8_t { F8, I8, F16, BF16, TF32, F64, F32, I32 };
enum class MatrixUnit : uint8_t { MmaSync, Wgmma };

/// One shape of a matrix instruction. For wgmma `n` is the step: any multiple up to 256.
struct MatrixInstruction {
  MatrixUnit unit;
  MatrixElement operands, accumulator;
  unsigned m, n, k;
};

/// The rows of a table.
template <typename Row> struct Rows {
  const Row *first = nullptr;
  size_t count = 0;
  constexpr const Row *begin() const { return first; }
  constexpr const Row *end() const { return first + count; }
  constexpr size_t size() const { return count; }
};

/// Limits of blocks and multiprocessors. Registers have 32 bits; memory is in bytes.
struct GPULimits {
  int64_t threadsPerBlock, warpThreads;
  int64_t threadsPerProcessor, blocksPerProcessor;
  int64_t registersPerProcessor, registersPerThread;
  int64_t sharedPerProcessor;
  int64_t sharedReserved; ///< of each block, for the system
  int64_t clusterBlocks;  ///< of a cluster, without a kernel's leave to have more

  constexpr int64_t sharedPerBlock() const { return sharedPerProcessor - sharedReserved; }
  constexpr int64_t warpsPerProcessor() const { return threadsPerProcessor / warpThreads; }
  /// Registers that each thread may have where `blocks` blocks of `threads` threads share a
  /// multiprocessor: threads get them in units of 8, warp by warp.
  constexpr int64_t registersFor(int64_t threads, int64_t blocks) const {
    int64_t warps = (threads + warpThreads - 1) / warpThreads * blocks;
    int64_t each = registersPerProcessor / (warps * warpThreads) / 8 * 8;
    return each < registersPerThread ? each : registersPerThread;
  }
};

/// One target of the compiler.
struct GPUTarget {
  std::string_view name;      ///< as ptxas and --target spell it
  unsigned major, minor;      ///< compute capability
  char suffix;                ///< 'a': runs on this capability alone; '\0': on newer ones, too
  std::string_view processor; ///< as LLVM spells it
  unsigned ptxVersion;        ///< that is written, times 10
  std::string_view products;
  GPULimits limits;
  FeatureSet features;
  Rows<MatrixInstruction> matrix;

  constexpr bool has(Feature feature) const { return features.has(feature); }
  constexpr bool hasAll(FeatureSet wanted) const { return features.hasAll(wanted); }
  /// 90 for capability 9.0.
  constexpr unsigned capability() const { return major * 10 + minor; }
  /// The instruction of `unit`, or null.
  const MatrixInstruction *find(MatrixUnit unit, MatrixElement operands,
                                MatrixElement accumulator) const;
};

/// Every target, oldest first.
Rows<GPUTarget> getGPUTargets();

/// The target called `name`, or null.
const GPUTarget *findGPUTarget(std::string_view name);

/// The target that uses most of a device: with the suffix where there is one. Null where the
/// compiler has none for that capability.
const GPUTarget *findDeviceTarget(unsigned major, unsigned minor);

/// The same; for a capability that the table does not have the newest target whose PTX runs there,
/// or null.
const GPUTarget *findTargetFor(unsigned major, unsigned minor);

/// The --target for a device of that compute capability, as messages advise it.
std::string nameTargetOf(unsigned major, unsigned minor);

/// The target where neither the user nor a device names one.
const GPUTarget &getFallbackTarget();

/// A name by its form alone: a package may have targets that this version does not know.
struct GPUName {
  unsigned major, minor;
  char suffix;
};
/// Reads "sm_90a" as 9, 0, 'a'. False for another form.
bool parseGPUName(std::string_view name, GPUName &result);

/// A card, for what its target does not tell: how fast it is, and how large. Rates are for the
/// whole card, dense, at boost clock, in units of 10^9 a second: GB/s, GFLOP/s (a multiply-add
/// counts 2).
struct GPUCard {
  std::string_view name;   ///< as its data sheet has it
  std::string_view driver; ///< words of the name that the driver gives it
  std::string_view target;
  std::string_view source; ///< of the figures
  int64_t processors;
  int64_t cacheBytes; ///< L2
  double clock;       ///< GHz
  double memory;      ///< by the data sheet
  double copied;      ///< that a copy reaches, read and written together
  double tensor16;    ///< products of f16 and bf16, added up in f32
  double tensor8;     ///< of f8, or i8 where there is no f8
  double tensorTF32;
  double vector32; ///< f32 outside of tensor cores
};

/// Every card, by target; the first of a target stands for it where none is named.
Rows<GPUCard> getGPUCards();

/// The card that stands for a target: one of its own, else of the same capability, else of the
/// nearest older one.
const GPUCard &getCard(const GPUTarget &target);

/// The card that a user means, as in "H100", "rtx 4090", "a100-sxm"; of several of one target the
/// first. Null where none fits, or cards of several targets do.
const GPUCard *findCard(std::string_view words);

/// The card with the name that a driver gives it, as in "NVIDIA H100 80GB HBM3"; null if unknown.
const GPUCard *findCardOfDevice(std::string_view driverName);

} // namespace tile

#endif
