// Reading and writing of .npy files (NumPy's array format, versions 1 to 3).
#ifndef TILE_FORMATS_NPY_H
#define TILE_FORMATS_NPY_H

#include "manifest/Error.h"
#include "manifest/Manifest.h"

namespace tile::runtime {

/// An array in memory, dense and row-major whatever the order of the file.
struct NpyArray {
  Dtype dtype = Dtype::F32;
  std::vector<int64_t> shape;
  /// Little endian, elementCount() elements.
  std::vector<char> data;

  int64_t elementCount() const;
};

/// Reads `path`. With `expected`, any other dtype is TILE_ERROR_DTYPE: "'x.npy' holds f64, expected
/// f32". NumPy has no bf16 and no f8: where one is expected, '<u2' or 'V2' (bf16), and '|u1' or
/// 'V1' (f8), are taken as its bits. Errors: TILE_ERROR_IO (cannot be read, not an .npy file,
/// truncated, trailing bytes), TILE_ERROR_DTYPE (big endian, complex, structured, other).
Error readNpy(const std::string &path, std::optional<Dtype> expected, NpyArray &array);

/// Parses the bytes of an .npy file; `name` stands in messages.
Error parseNpy(std::string_view bytes, const std::string &name, std::optional<Dtype> expected,
               NpyArray &array);

/// The bytes of a version 1 .npy file of `data`, dense and row-major, of at most 32
/// dimensions. bf16 is written as '<u2', f8 as '|u1', which hold its bits; i4 and u4 are
/// TILE_ERROR_DTYPE.
Error formatNpy(Dtype dtype, const std::vector<int64_t> &shape, const void *data,
                std::string &bytes);

/// Writes `path`, through a temporary file beside it, so that a failure leaves nothing behind.
Error writeNpy(const std::string &path, Dtype dtype, const std::vector<int64_t> &shape,
               const void *data);

} // namespace tile::runtime

#endif
