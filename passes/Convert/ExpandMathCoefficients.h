// Coefficients for ExpandMath*.cpp, written by FitMathPolynomials.py: do not edit. Lowest degree
// first.
#ifndef TILE_PASSES_CONVERT_EXPANDMATHCOEFFICIENTS_H
#define TILE_PASSES_CONVERT_EXPANDMATHCOEFFICIENTS_H

#include <cstdint>

namespace tile::math {

/// exp(r) = 1 + r + r^2 P(r) on |r| <= log(2)/2
constexpr double expTail32[] = {
    0x1.0000000000000p-1,  // 0.5
    0x1.55552c0000000p-3,  // 0.166666
    0x1.5555020000000p-5,  // 0.0416665
    0x1.1155aa0000000p-7,  // 0.00834151
    0x1.6d2e4c0000000p-10, // 0.00139305
    0x1.3b84ea0000000p-13, // 0.000150451
};

/// log(1+f) = f - f^2/2 + f^3 P(f) on sqrt(1/2) <= 1+f <= sqrt(2)
constexpr double logTail32[] = {
    0x1.5555480000000p-2,  // 0.333333
    -0x1.0000500000000p-2, // -0.250001
    0x1.99a4f20000000p-3,  // 0.200022
    -0x1.553d040000000p-3, // -0.16662
    0x1.2318340000000p-3,  // 0.142136
    -0x1.0017840000000p-3, // -0.125045
    0x1.ecafdc0000000p-4,  // 0.120285
    -0x1.c907d60000000p-4, // -0.11158
    0x1.dd45120000000p-5,  // 0.0582605
};

/// sin(r) = r + r^3 P(r^2) on |r| <= pi/4
constexpr double sinTail32[] = {
    -0x1.5555440000000p-3,  // -0.166667
    0x1.1106c60000000p-7,   // 0.00833211
    -0x1.991c280000000p-13, // -0.000195079
};

/// cos(r) = 1 - r^2/2 + r^4 P(r^2) on |r| <= pi/4
constexpr double cosTail32[] = {
    0x1.55554a0000000p-5,   // 0.0416666
    -0x1.6c0c260000000p-10, // -0.00138873
    0x1.99e7140000000p-16,  // 2.44321e-05
};

/// erf(x) = x + x P(x^2) on |x| <= 0.92
constexpr double erfTail32[] = {
    0x1.06eba80000000p-3,   // 0.128379
    -0x1.8127400000000p-2,  // -0.376126
    0x1.ce2d640000000p-4,   // 0.112836
    -0x1.b801180000000p-6,  // -0.0268557
    0x1.5449e40000000p-8,   // 0.00519239
    -0x1.a606c20000000p-11, // -0.000804951
    0x1.4f562e0000000p-14,  // 7.99505e-05
};

/// -log(erfc(t + 2.5)) = P(t) on 0.92 <= t + 2.5 <= 4.0
constexpr double erfcLog32[] = {
    0x1.f3a2dc0000000p+2,   // 7.80682
    0x1.5692520000000p+2,   // 5.35268
    0x1.e3469e0000000p-1,   // 0.943898
    0x1.644cd80000000p-7,   // 0.0108734
    -0x1.19f9860000000p-9,  // -0.0021513
    0x1.a9a8920000000p-12,  // 0.00040594
    -0x1.f9aeac0000000p-14, // -0.000120564
    -0x1.b780000000000p-16, // -2.61962e-05
    -0x1.3157700000000p-16, // -1.81998e-05
    -0x1.6b45520000000p-19, // -2.70658e-06
};

/// exp(r) = 1 + r + r^2 P(r) on |r| <= log(2)/2
constexpr double expTail64[] = {
    0x1.0000000000000p-1,  // 0.5
    0x1.555555555555ap-3,  // 0.166667
    0x1.555555555555dp-5,  // 0.0416667
    0x1.111111110f0acp-7,  // 0.00833333
    0x1.6c16c16c11938p-10, // 0.00138889
    0x1.a01a01b265cf6p-13, // 0.000198413
    0x1.a01a01c2bd614p-16, // 2.48016e-05
    0x1.71ddf1e4fa5a9p-19, // 2.75572e-06
    0x1.27e49b4e74713p-22, // 2.75572e-07
    0x1.af69fa2c9762cp-26, // 2.51116e-08
    0x1.1fd63e0890528p-29, // 2.09429e-09
};

/// log((1+s)/(1-s)) = 2s + s z P(z), z = s^2, |s| <= (sqrt(2)-1)^2
constexpr double logTail64[] = {
    0x1.5555555555555p-1, // 0.666667
    0x1.9999999999d13p-2, // 0.4
    0x1.2492492439401p-2, // 0.285714
    0x1.c71c724bc3becp-3, // 0.222222
    0x1.745ce1a7b8a42p-3, // 0.181818
    0x1.3b202aab110f2p-3, // 0.15387
    0x1.0f66affa01f49p-3, // 0.13252
    0x1.0f135ad92444ap-3, // 0.132361
};

/// sin(r) = r + r^3 P(r^2) on |r| <= pi/4
constexpr double sinTail64[] = {
    -0x1.5555555555548p-3,  // -0.166667
    0x1.111111110f730p-7,   // 0.00833333
    -0x1.a01a019be9221p-13, // -0.000198413
    0x1.71de35552c54fp-19,  // 2.75573e-06
    -0x1.ae5e4b84ec83cp-26, // -2.50507e-08
    0x1.5d8b55ebd014bp-33,  // 1.58954e-10
};

/// cos(r) = 1 - r^2/2 + r^4 P(r^2) on |r| <= pi/4
constexpr double cosTail64[] = {
    0x1.555555555554ap-5,   // 0.0416667
    -0x1.6c16c16c14e00p-10, // -0.00138889
    0x1.a01a019c5c396p-16,  // 2.48016e-05
    -0x1.27e4f7cd31eafp-22, // -2.75573e-07
    0x1.1ee9c335d4675p-29,  // 2.08757e-09
    -0x1.8f99cbbbbc9c6p-37, // -1.13573e-11
};

/// erf(x) = x + x P(x^2) on |x| <= 1.0
constexpr double erfTail64[] = {
    0x1.06eba8214db69p-3,   // 0.128379
    -0x1.812746b037a49p-2,  // -0.376126
    0x1.ce2f21a049c06p-4,   // 0.112838
    -0x1.b82ce315b46a4p-6,  // -0.0268662
    0x1.565bcdcf34290p-8,   // 0.00522398
    -0x1.c02deb3d07ee7p-11, // -0.000854834
    0x1.f9ad7e718b053p-14,  // 0.000120563
    -0x1.f6265a8e19a73p-17, // -1.49652e-05
    0x1.d8bca8e05dba7p-20,  // 1.76108e-06
    -0x1.b06d53bb3c436p-22, // -4.02729e-07
    0x1.905a00b54bea4p-22,  // 3.72856e-07
    -0x1.9bfc4b3e21076p-22, // -3.83691e-07
    0x1.313798c14bf0ap-22,  // 2.84256e-07
    -0x1.2b8cdae8d5defp-23, // -1.39489e-07
    0x1.5d338fdec948ap-25,  // 4.06524e-08
    -0x1.6dff0166aa7c9p-28, // -5.32594e-09
};

/// -log(erfc(t + 2.5)) = P(t) on 1.0 <= t + 2.5 <= 6.0
constexpr double erfcLog64[] = {
    0x1.f3a2dc8691b91p+2,   // 7.80682
    0x1.56925248da93cp+2,   // 5.35268
    0x1.e3460a18c560fp-1,   // 0.943894
    0x1.63cc1da79f213p-7,   // 0.0108581
    -0x1.1bd558ec266cdp-9,  // -0.00216548
    0x1.b9613960af0cfp-12,  // 0.000420933
    -0x1.4317328dfe0a5p-14, // -7.70308e-05
    0x1.ac03d118a2245p-17,  // 1.27558e-05
    -0x1.dadb83c2a0330p-20, // -1.76898e-06
    0x1.4ef1da67e1a6cp-23,  // 1.55971e-07
    0x1.b1405d647d3bep-27,  // 1.26093e-08
    -0x1.77ab2af05cf64p-27, // -1.09334e-08
    0x1.e29a02b6e566ap-29,  // 3.51139e-09
    -0x1.ce81f577f0263p-31, // -8.41297e-10
    0x1.66a2f6402d43dp-33,  // 1.63089e-10
    -0x1.9506977164177p-36, // -2.3023e-11
    0x1.5bc50829e6db1p-40,  // 1.23553e-12
    0x1.0b556597db7b2p-42,  // 2.3744e-13
    -0x1.c66381dd0c502p-43, // -2.01789e-13
    0x1.1026e8f6985b3p-43,  // 1.2086e-13
    -0x1.95164b83db231p-46, // -2.24869e-14
};

/// log((1+s)/(1-s)) = 2s + s z (2/3 + z P(z)), z = s^2
constexpr double powTail64[] = {
    0x1.9999999999996p-2, // 0.4
    0x1.2492492492f56p-2, // 0.285714
    0x1.c71c71c595947p-3, // 0.222222
    0x1.745d1829f0306p-3, // 0.181818
    0x1.3b136499c9085p-3, // 0.153846
    0x1.11207712e8aa6p-3, // 0.133363
    0x1.de3c17d2ba103p-4, // 0.116757
    0x1.ead1999f68a11p-4, // 0.119829
};

/// erf(x) = tanh(x P(x^2)) on |x| <= 3
constexpr double erfByTanh32[] = {
    0x1.20d92c0000000p+0,   // 1.12831
    0x1.a884d00000000p-4,   // 0.103642
    -0x1.a7ba240000000p-10, // -0.00161639
};

/// tanh(x) = x + x^3 P(x^2) on |x| <= 0.6
constexpr double tanhTail32[] = {
    -0x1.55553e0000000p-2, // -0.333333
    0x1.1109be0000000p-3,  // 0.133319
    -0x1.b89aba0000000p-5, // -0.0537847
    0x1.54c3c20000000p-6,  // 0.0207986
    -0x1.8287760000000p-8, // -0.00589797
};

/// log(2); the first part times a 9-bit integer is exact
constexpr double log2Parts32[] = {
    0x1.62e4000000000p-1,
    0x1.7f7d1c0000000p-20,
};

/// log(2); the first part times a 12-bit integer is exact
constexpr double log2Parts64[] = {
    0x1.62e42fefa4000p-1,
    -0x1.8432a1b0e2634p-43,
};

/// 1/log(2) as a sum of two f32
constexpr double log2eParts32[] = {
    0x1.7154760000000p+0,
    0x1.4ae0c00000000p-26,
};

/// 1/log(2) as a sum of two f64
constexpr double log2eParts64[] = {
    0x1.71547652b82fep+0,
    0x1.777d0ffda0d24p-56,
};

/// pi/2 as a sum of f32
constexpr double halfPiParts32[] = {
    0x1.921fb60000000p+0,
    -0x1.777a5c0000000p-25,
    -0x1.ee59da0000000p-50,
    0x1.98a2e00000000p-77,
};

/// pi/2 as a sum of f64
constexpr double halfPiParts64[] = {
    0x1.921fb54442d18p+0,
    0x1.1a62633145c07p-54,
    -0x1.f1976b7ed8fbcp-110,
};

/// 2/3 as a sum of two f64
constexpr double twoThirdsParts64[] = {
    0x1.5555555555555p-1,
    0x1.5555555555555p-55,
};

/// 2/pi in binary, after the point, most significant word first
constexpr uint64_t twoOverPi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
};

} // namespace tile::math

#endif
