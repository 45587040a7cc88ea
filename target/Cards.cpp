// The table of cards: figures that differ between cards of one target.
//
// `source` names where a row's figures come from: the data sheet, white paper or brief of that
// product; dense, boost clock. Where several rates are published for a dtype, the one with sums in
// f32 counts: that is what `dot` asks for (GeForce cards take f16 with sums in f32 at half the rate
// of sums in f16). `copied` is measured on the H200 alone (bench/gpu, vector_add of 2^28 floats,
// "copy": 4273 of 4800 GB/s); for the others it is the same part, 0.89, of the data sheet's.
#include "target/Target.h"

namespace tile {

namespace {

constexpr double reached = 0.89;
constexpr int64_t mib = int64_t(1) << 20;

// Name, driver's words, target, source; multiprocessors, L2, clock; memory, of it copied; tensor
// cores with f16, 8 bits, TF32; f32.
constexpr GPUCard cards[] = {
    {"A100 SXM 80GB", "A100", "sm_80", "A100 data sheet; whitepaper: 40 MB L2, 1.41 GHz", 108,
     40 * mib, 1.41, 2039, reached * 2039, 312000, 624000, 156000, 19500},
    {"A30", "A30", "sm_80", "A30 data sheet; 56 multiprocessors, 24 MB L2: CUDA device query", 56,
     24 * mib, 1.44, 933, reached * 933, 165000, 330000, 82000, 10300},
    {"RTX 3090", "RTX 3090", "sm_86", "GA102 white paper, table 'GeForce RTX 3090'", 82, 6 * mib,
     1.695, 936, reached * 936, 71000, 284000, 35600, 35600},
    {"A10", "A10", "sm_86", "A10 data sheet; 72 multiprocessors, 6 MB L2: GA102 white paper", 72,
     6 * mib, 1.695, 600, reached * 600, 125000, 250000, 62500, 31200},
    {"Jetson AGX Orin 64GB", "Orin", "sm_87",
     "Jetson AGX Orin technical brief: 170 sparse INT8 TOPS, 5.3 TFLOP/s f32; f16 and TF32 by the "
     "ratios of that tensor core to INT8",
     16, 4 * mib, 1.3, 204.8, reached * 204.8, 42500, 85000, 21250, 5300},
    {"L40S", "L40S", "sm_89", "L40S data sheet; 96 MB L2: Ada white paper", 142, 96 * mib, 2.52,
     864, reached * 864, 362000, 733000, 183000, 91600},
    {"RTX 4090", "RTX 4090", "sm_89", "Ada GPU architecture white paper, table 'GeForce RTX 4090'",
     128, 72 * mib, 2.52, 1008, reached * 1008, 165200, 330300, 82600, 82600},
    {"L4", "L4", "sm_89", "L4 data sheet; 58 multiprocessors, 48 MB L2: Ada white paper (AD104)",
     58, 48 * mib, 2.04, 300, reached * 300, 121000, 242500, 60000, 30300},
    {"H200 SXM", "H200", "sm_90a", "H200 data sheet; copy measured", 132, 50 * mib, 1.83, 4800,
     4273, 989000, 1979000, 495000, 66900},
    {"H100 SXM", "H100", "sm_90a", "H100 data sheet (SXM); 50 MB L2: H100 white paper", 132,
     50 * mib, 1.83, 3350, reached * 3350, 989000, 1979000, 495000, 66900},
    {"H100 PCIe", "H100 PCIe", "sm_90a", "H100 data sheet (PCIe); 114 multiprocessors: white paper",
     114, 50 * mib, 1.755, 2000, reached * 2000, 756000, 1513000, 378000, 51200},
    {"B200", "B200", "sm_100a", "HGX B200 data sheet; 126 MB L2, 1.96 GHz: CUDA device query", 148,
     126 * mib, 1.96, 8000, reached * 8000, 2250000, 4500000, 1125000, 75000},
    {"B300", "B300", "sm_103a",
     "HGX B300 data sheet; multiprocessors, L2 and clock as of B200, which it follows there", 148,
     126 * mib, 1.96, 8000, reached * 8000, 2250000, 4500000, 1125000, 75000},
    {"RTX 5090", "RTX 5090", "sm_120a", "RTX Blackwell white paper, table 'GeForce RTX 5090'", 170,
     96 * mib, 2.407, 1792, reached * 1792, 209500, 419000, 104800, 104800},
    {"RTX PRO 6000 Blackwell", "RTX PRO 6000", "sm_120a",
     "RTX PRO Blackwell white paper, table 'RTX PRO 6000 Workstation'", 188, 128 * mib, 2.617, 1792,
     reached * 1792, 503800, 1007600, 251900, 126000},
    {"GB10", "GB10", "sm_121a",
     "DGX Spark data sheet: 1 PFLOP/s sparse f4, 273 GB/s; 31 TFLOP/s f32: Hot Chips 2025; other "
     "dtypes by the ratios of that tensor core to f4; L2 and clock: CUDA device query",
     48, 24 * mib, 2.42, 273, reached * 273, 62500, 125000, 31000, 31000},
};

} // namespace

Rows<GPUCard> getGPUCards() { return {cards, sizeof cards / sizeof *cards}; }

} // namespace tile
