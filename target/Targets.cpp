// The table of targets: a new GPU of a known kind is one row here, and a card or two in Cards.cpp.
//
// Sources. Limits: CUDA C++ Programming Guide, "Features and Technical Specifications" by compute
// capability. Features and matrix instructions: PTX ISA, "Target ISA Notes" of each instruction.
// PTX versions: the oldest that has all that is written for the target, so that older toolkits read
// it: 7.8 up to sm_87 (CUDA 11.8), 8.4 where products of 8-bit floats are (CUDA 12.4), newer ones
// where the target needs them.
#include "target/Target.h"

#include <array>

namespace tile {

//===--- Limits -----------------------------------------------------------===//

namespace {

constexpr int64_t kib = 1024;

/// The limits that differ between capabilities: the rest is the same for all.
constexpr GPULimits limits(int64_t threads, int64_t blocks, int64_t shared, int64_t cluster) {
  return {/*threadsPerBlock=*/1024,
          /*warpThreads=*/32,
          threads,
          blocks,
          /*registersPerProcessor=*/65536,
          /*registersPerThread=*/255,
          shared,
          /*sharedReserved=*/kib,
          cluster};
}

constexpr GPULimits limits80 = limits(2048, 32, 164 * kib, 1);
constexpr GPULimits limits86 = limits(1536, 16, 100 * kib, 1);
constexpr GPULimits limits87 = limits(1536, 16, 164 * kib, 1);
constexpr GPULimits limits89 = limits(1536, 24, 100 * kib, 1);
constexpr GPULimits limits90 = limits(2048, 32, 228 * kib, 8);  // and 10.0, 10.3
constexpr GPULimits limits120 = limits(1536, 24, 100 * kib, 8); // and 12.1

//===--- Features: each generation adds to the one before -----------------===//

constexpr FeatureSet features80 = {Feature::AsyncCopy, Feature::Barriers, Feature::LoadMatrix,
                                   Feature::Redux};
constexpr FeatureSet features89 = features80 + FeatureSet{Feature::Float8Conversions};
constexpr FeatureSet features90 =
    features89 + FeatureSet{Feature::TransactionBarriers, Feature::Tma,
                            Feature::Multicast,           Feature::Clusters,
                            Feature::StoreMatrix,         Feature::IntegerToBF16,
                            Feature::AtomicAddBF16,       Feature::VectorReductions};
constexpr FeatureSet features90a =
    features90 + FeatureSet{Feature::Wgmma, Feature::SetMaxRegisters};
constexpr FeatureSet features100 = features90 + FeatureSet{Feature::PackedFloat};
constexpr FeatureSet features100a =
    features100 + FeatureSet{Feature::SetMaxRegisters, Feature::TensorMemory, Feature::ReduxFloat};
// Of the capabilities 12.x no card has copies to several blocks.
constexpr FeatureSet features120 = features100 - FeatureSet{Feature::Multicast};
constexpr FeatureSet features120a = features120 + FeatureSet{Feature::SetMaxRegisters};

//===--- Matrix instructions ----------------------------------------------===//

using MU = MatrixUnit;
using ME = MatrixElement;

template <size_t N, size_t M>
constexpr std::array<MatrixInstruction, N + M> join(const std::array<MatrixInstruction, N> &first,
                                                    const std::array<MatrixInstruction, M> &more) {
  std::array<MatrixInstruction, N + M> all{};
  for (size_t i = 0; i < N; ++i)
    all[i] = first[i];
  for (size_t i = 0; i < M; ++i)
    all[N + i] = more[i];
  return all;
}

/// Every target from 8.0 on has these.
constexpr std::array<MatrixInstruction, 5> every = {{
    {MU::MmaSync, ME::F16, ME::F32, 16, 8, 16},
    {MU::MmaSync, ME::F16, ME::F16, 16, 8, 16},
    {MU::MmaSync, ME::BF16, ME::F32, 16, 8, 16},
    {MU::MmaSync, ME::TF32, ME::F32, 16, 8, 8},
    {MU::MmaSync, ME::I8, ME::I32, 16, 8, 32},
}};
// Every target takes products of f64, but only cards of data centres have units for them: elsewhere
// they take as long as scalar code. ptxas makes eights of the sixteen rows of 9.0 for 10.0.
constexpr std::array<MatrixInstruction, 1> f64Of8Rows = {
    {{MU::MmaSync, ME::F64, ME::F64, 8, 8, 4}}};
constexpr std::array<MatrixInstruction, 1> f64Of16Rows = {
    {{MU::MmaSync, ME::F64, ME::F64, 16, 8, 4}}};
// 9.0 and 10.x take 8-bit floats by mma.sync, but ptxas widens them to f16 there.
constexpr std::array<MatrixInstruction, 1> f8 = {{{MU::MmaSync, ME::F8, ME::F32, 16, 8, 32}}};
constexpr std::array<MatrixInstruction, 6> wgmma = {{
    {MU::Wgmma, ME::F16, ME::F32, 64, 8, 16},
    {MU::Wgmma, ME::F16, ME::F16, 64, 8, 16},
    {MU::Wgmma, ME::BF16, ME::F32, 64, 8, 16},
    {MU::Wgmma, ME::TF32, ME::F32, 64, 8, 8},
    {MU::Wgmma, ME::I8, ME::I32, 64, 8, 32},
    {MU::Wgmma, ME::F8, ME::F32, 64, 8, 32},
}};
constexpr auto every80 = join(every, f64Of8Rows);
constexpr auto every89 = join(every, f8);
constexpr auto every90 = join(every, f64Of16Rows);
constexpr auto every90a = join(every90, wgmma);

constexpr Rows<MatrixInstruction> matrix80 = {every80.data(), every80.size()}; // and 10.0
constexpr Rows<MatrixInstruction> matrix86 = {every.data(), every.size()};     // and 8.7, 10.3
constexpr Rows<MatrixInstruction> matrix89 = {every89.data(), every89.size()}; // and 12.x
constexpr Rows<MatrixInstruction> matrix90 = {every90.data(), every90.size()};
constexpr Rows<MatrixInstruction> matrix90a = {every90a.data(), every90a.size()};

//===--- Targets ----------------------------------------------------------===//

// Name, capability and suffix, LLVM's processor, PTX, products, limits, features, matrix
// instructions.
constexpr GPUTarget targets[] = {
    {"sm_80", 8, 0, 0, "sm_80", 78, "A100, A30", limits80, features80, matrix80},
    {"sm_86", 8, 6, 0, "sm_86", 78, "A10, A40, RTX A6000, RTX 3060 to 3090 Ti", limits86,
     features80, matrix86},
    {"sm_87", 8, 7, 0, "sm_87", 78, "Jetson AGX Orin, Orin NX, Orin Nano", limits87, features80,
     matrix86},
    {"sm_89", 8, 9, 0, "sm_89", 84, "L4, L40, L40S, RTX 6000 Ada, RTX 4060 to 4090", limits89,
     features89, matrix89},
    {"sm_90", 9, 0, 0, "sm_90", 84, "H100, H200, GH200", limits90, features90, matrix90},
    {"sm_90a", 9, 0, 'a', "sm_90a", 84, "H100, H200, GH200", limits90, features90a, matrix90a},
    {"sm_100", 10, 0, 0, "sm_100", 86, "B200, GB200", limits90, features100, matrix80},
    {"sm_100a", 10, 0, 'a', "sm_100a", 86, "B200, GB200", limits90, features100a, matrix80},
    {"sm_103", 10, 3, 0, "sm_103", 88, "B300, GB300", limits90, features100, matrix86},
    {"sm_103a", 10, 3, 'a', "sm_103a", 88, "B300, GB300", limits90, features100a, matrix86},
    {"sm_120", 12, 0, 0, "sm_120", 87, "RTX 5060 to 5090, RTX PRO 6000 Blackwell", limits120,
     features120, matrix89},
    {"sm_120a", 12, 0, 'a', "sm_120a", 87, "RTX 5060 to 5090, RTX PRO 6000 Blackwell", limits120,
     features120a, matrix89},
    {"sm_121", 12, 1, 0, "sm_121", 88, "GB10 (DGX Spark)", limits120, features120, matrix89},
    {"sm_121a", 12, 1, 'a', "sm_121a", 88, "GB10 (DGX Spark)", limits120, features120a, matrix89},
};

} // namespace

Rows<GPUTarget> getGPUTargets() { return {targets, sizeof targets / sizeof *targets}; }

// The most of this compiler shows there: without a device to ask, and without a word of the user.
const GPUTarget &getFallbackTarget() { return *findGPUTarget("sm_90a"); }

const MatrixInstruction *GPUTarget::find(MatrixUnit unit, MatrixElement operands,
                                         MatrixElement accumulator) const {
  for (const MatrixInstruction &each : matrix)
    if (each.unit == unit && each.operands == operands && each.accumulator == accumulator)
      return &each;
  return nullptr;
}

} // namespace tile
