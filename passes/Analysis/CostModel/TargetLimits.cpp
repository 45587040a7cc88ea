// The table of targets. Where each figure comes from stands beside its row.
#include "passes/Analysis/CostModel/TargetLimits.h"

using namespace llvm;

namespace tile::cost {

// Limits of a multiprocessor: CUDA C++ Programming Guide, "Technical Specifications per Compute
// Capability". Rates: the vendor's data sheets for the device named, dense (without sparsity), at
// boost clock; `special` is 16 results a clock for each multiprocessor (same guide, "Throughput of
// Native Arithmetic Instructions"). Not from data sheets:
//   memory   sm_90a: the copy of 2^28 floats of bench/gpu (vector_add, "copy"), 4273 of 4800 GB/s.
//   Others: 0.89 of the data sheet's,
//            the same part.
//   cache    64 bytes a clock for each multiprocessor; sm_90a reaches that in
//   bench/results/gpu.json (8192³ by tiles of 128 x 128). launch   bench/results/launch.json and
//   graphs of bench/gpu: what an empty kernel adds. cpu      the two cores of
//   bench/results/cpu.json: what matmul_f32 and softmax reach there.
static constexpr TargetLimits rows[] = {
    // NVIDIA A100 Tensor Core GPU data sheet (SXM, 80 GB).
    {"sm_80", "A100 SXM 80GB", 108, 2048, 32, 65536, 255, 164 * 1024, int64_t(40) << 20, false,
     1.41, 0.89 * 2039, 64 * 1.41 * 108, 312000, 624000, 156000, 19500, 16 * 1.41 * 108, 2.5},
    // NVIDIA L40S data sheet.
    {"sm_89", "L40S", 142, 1536, 24, 65536, 255, 100 * 1024, int64_t(96) << 20, false, 2.52,
     0.89 * 864, 64 * 2.52 * 142, 362000, 733000, 183000, 91600, 16 * 2.52 * 142, 2.5},
    // NVIDIA H200 Tensor Core GPU data sheet (SXM).
    {"sm_90a", "H200 SXM", 132, 2048, 32, 65536, 255, 228 * 1024, int64_t(50) << 20, true, 1.83,
     4273, 64 * 1.83 * 132, 989000, 1979000, 495000, 66900, 16 * 1.83 * 132, 2.5},
    // NVIDIA HGX B200 data sheet; this compiler reaches its tensor cores by mma.sync only.
    {"sm_100a", "B200", 148, 2048, 32, 65536, 255, 228 * 1024, int64_t(126) << 20, false, 1.96,
     0.89 * 8000, 64 * 1.96 * 148, 2250000, 4500000, 1125000, 75000, 16 * 1.96 * 148, 2.5},
    {"cpu", "two cores, AVX2", 2, 1, 1, 16, 16, 1 << 20, int64_t(32) << 20, false, 3.0, 7.1, 60,
     180, 180, 180, 180, 6, 0},
};

ArrayRef<TargetLimits> getTargetLimits() { return rows; }

const TargetLimits *findTargetLimits(StringRef target) {
  unsigned wanted = 0;
  StringRef digits = target;
  bool isGPU = digits.consume_front("sm_") && !digits.consumeInteger(10, wanted);
  const TargetLimits *nearest = nullptr;
  for (const TargetLimits &row : rows) {
    if (target == row.name)
      return &row;
    unsigned capability = 0;
    StringRef name = row.name;
    if (isGPU && name.consume_front("sm_") && !name.consumeInteger(10, capability) &&
        (capability <= wanted || !nearest))
      nearest = &row;
  }
  return nearest;
}

} // namespace tile::cost
