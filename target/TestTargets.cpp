// The invented target of the tests: shared memory and threads as no card has them, products by
// warpgroups and TMA, but neither instructions for 8-bit floats nor atomic sums in bf16. LLVM
// compiles it as a 9.0a.
#include "target/TestTargets.h"

namespace tile {

static constexpr MatrixInstruction matrix[] = {
    {MatrixUnit::MmaSync, MatrixElement::F16, MatrixElement::F32, 16, 8, 16},
    {MatrixUnit::Wgmma, MatrixElement::F16, MatrixElement::F32, 64, 8, 16},
};

static constexpr GPUTarget targets[] = {{
    "sm_95",
    9,
    5,
    0,
    "sm_90a",
    84,
    "nothing",
    {/*threadsPerBlock=*/1024, /*warpThreads=*/32, /*threadsPerProcessor=*/1024,
     /*blocksPerProcessor=*/8, /*registersPerProcessor=*/65536, /*registersPerThread=*/255,
     /*sharedPerProcessor=*/50 * 1024, /*sharedReserved=*/1024, /*clusterBlocks=*/8},
    {Feature::Barriers, Feature::TransactionBarriers, Feature::Tma, Feature::Wgmma,
     Feature::SetMaxRegisters, Feature::LoadMatrix, Feature::StoreMatrix, Feature::Clusters,
     Feature::Multicast},
    {matrix, 2},
}};

Rows<GPUTarget> getTestTargets() { return {targets, 1}; }

} // namespace tile
