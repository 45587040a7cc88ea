// Numbers as bits of a dtype: defaults, fills and scalar arguments.
#ifndef TILE_MANIFEST_ENCODE_H
#define TILE_MANIFEST_ENCODE_H

#include "manifest/Manifest.h"

namespace tile::runtime {

/// Bits of `value` in a float dtype, rounded to nearest even; f8 saturates to finite.
uint64_t encodeFloat(double value, Dtype dtype);
/// The value that these bits of a float dtype stand for.
double decodeFloat(uint64_t bits, Dtype dtype);
/// Bits of a constant in any dtype. None, with the reason in `error`, when an integer dtype cannot
/// hold it or it is no number.
std::optional<uint64_t> encode(const Constant &value, Dtype dtype, std::string &error);
/// The value of a scalar of an integral dtype (u64 above the signed range: None).
std::optional<int64_t> decodeInteger(uint64_t bits, Dtype dtype);

} // namespace tile::runtime

#endif
