// The .npy format: a magic string, a header that is a Python dict, then the elements.
//
//   bytes  0..5          6, 7       8..9 or 8..11           then          then
//          \x93 NUMPY    version    length of the header    the header    elements, row by row
//                                   (little endian)         in ASCII      or column by column
#include "formats/Npy.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <unistd.h>

namespace tile::runtime {

static constexpr std::string_view magic = "\x93NUMPY";
static constexpr int64_t maxRank = 32;

/// Checked for overflow by parseNpy, which is where shapes come from.
int64_t NpyArray::elementCount() const {
  // The other extents of an empty array may be as large as they like.
  int64_t count = 1;
  for (int64_t extent : shape)
    if (extent == 0)
      return 0;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

//===--- Header -----------------------------------------------------------===//

namespace {

/// The header's dict: `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }` with its keys
/// in any order.
/// Strict about what the format says, and no more: unknown keys are errors, as NumPy has them.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  std::string descr;
  bool fortran = false;
  std::vector<int64_t> shape;

  /// False, with the reason in `error`.
  bool parse(std::string &error) {
    bool hasDescr = false, hasOrder = false, hasShape = false;
    if (!take('{')) {
      error = "its header is no dictionary";
      return false;
    }
    while (!take('}')) {
      std::string key;
      if (!string(key) || !take(':')) {
        error = "its header is malformed";
        return false;
      }
      if ((key == "descr" && hasDescr) || (key == "fortran_order" && hasOrder) ||
          (key == "shape" && hasShape)) {
        error = "its header has '" + key + "' twice";
        return false;
      }
      bool good = false;
      if (key == "descr") {
        if (peek() == '[') {
          error = "it holds structured elements, which are not supported";
          return false;
        }
        good = hasDescr = string(descr);
      } else if (key == "fortran_order") {
        good = hasOrder = word("True") ? (fortran = true) : word("False");
      } else if (key == "shape") {
        good = hasShape = tuple();
      }
      if (!good) {
        error = "its header has a malformed or unknown entry '" + key + "'";
        return false;
      }
      if (!take(',') && peek() != '}') {
        error = "its header is malformed";
        return false;
      }
    }
    if (hasDescr && hasOrder && hasShape)
      return true;
    error = "its header lacks 'descr', 'fortran_order' or 'shape'";
    return false;
  }

private:
  char peek() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t'))
      ++at;
    return at < text.size() ? text[at] : '\0';
  }
  bool take(char c) {
    if (peek() != c)
      return false;
    ++at;
    return true;
  }
  bool word(std::string_view expected) {
    peek();
    if (text.substr(at, expected.size()) != expected)
      return false;
    at += expected.size();
    return true;
  }
  bool string(std::string &value) {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      return false;
    size_t end = text.find(quote, ++at);
    if (end == std::string_view::npos)
      return false;
    value = text.substr(at, end - at);
    at = end + 1;
    return true;
  }
  bool tuple() {
    if (!take('('))
      return false;
    while (!take(')')) {
      if (peek() < '0' || peek() > '9')
        return false;
      int64_t value = 0;
      for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
        if (__builtin_mul_overflow(value, int64_t(10), &value) ||
            __builtin_add_overflow(value, text[at] - '0', &value))
          return false;
      // Python 2 wrote a long as 3L.
      if (at < text.size() && text[at] == 'L')
        ++at;
      shape.push_back(value);
      if (!take(',') && peek() != ')')
        return false;
    }
    return true;
  }

  std::string_view text;
  size_t at = 0;
};

/// 8-bit floats stand in files as bytes.
bool isFloat8(Dtype dtype) { return dtypeBits(dtype) == 8 && !isIntegral(dtype); }

struct Descr {
  std::string_view text;
  Dtype dtype;
};
constexpr Descr descrs[] = {
#define DTYPE(name, spelling, bits, family, use, product, dlpack, xla, npy, ...) {npy, Dtype::name},
#include "manifest/Dtypes.def"
};

} // namespace

/// NumPy's element type as a dtype, `expected` where only its bits can be stored.
/// bf16 and 8-bit floats have no type in NumPy: files hold their bits as unsigned integers, and the
/// kernel's dtype says what they are.
static Error decodeDescr(const std::string &descr, const std::string &name,
                         std::optional<Dtype> expected, Dtype &dtype) {
  auto fail = [&](const std::string &message) {
    return Error(TILE_ERROR_DTYPE, "'" + name + "' " + message);
  };
  std::string wanted = expected ? ", expected " + std::string(dtypeName(*expected)) : "";
  if (descr.empty())
    return fail("holds elements of no type" + wanted);
  bool marked = std::strchr("<>|=", descr[0]);
  std::string kind = marked ? descr.substr(1) : descr;
  // Single bytes have no order, whatever the mark.
  if (descr[0] == '>' && kind.size() > 1 && kind[1] != '1')
    return fail("holds big-endian elements '" + descr + "'" + wanted +
                "; convert it with .astype(x.dtype.newbyteorder('<'))");
  bool raw2 = kind == "u2" || kind == "V2", raw1 = kind == "u1" || kind == "V1";
  if (expected && dtypeBits(*expected) < 8 && (raw1 || kind == "i1")) {
    dtype = *expected;
    return {};
  }
  if (expected && ((*expected == Dtype::BF16 && raw2) || (isFloat8(*expected) && raw1))) {
    dtype = *expected;
    return {};
  }
  for (const Descr &entry : descrs)
    if (!kind.empty() && entry.text == kind) {
      dtype = entry.dtype;
      if (!expected || *expected == dtype)
        return {};
      return fail("holds " + std::string(dtypeName(dtype)) + wanted);
    }
  return fail("holds elements '" + descr + "'" +
              (wanted.empty() ? ", which is no dtype of tile" : wanted));
}

//===--- Reader -----------------------------------------------------------===//

/// Copies column-major elements of `size` bytes into row-major order.
/// In the order of the result; `offset` follows in the source, as an odometer turns. Linear, with
/// one copy for each element.
static void transpose(const char *from, char *to, const std::vector<int64_t> &shape, size_t size,
                      int64_t count) {
  std::vector<int64_t> index(shape.size()), strides(shape.size());
  int64_t stride = 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  int64_t offset = 0;
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * size, from + offset * size, size);
    for (size_t axis = shape.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < shape[axis])
        break;
      offset -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

/// Nothing of the file is trusted: lengths, extents and their product are checked before memory is
/// taken.
Error parseNpy(std::string_view bytes, const std::string &name, std::optional<Dtype> expected,
               NpyArray &array) {
  auto fail = [&](const std::string &message) {
    return Error(TILE_ERROR_IO, "'" + name + "' " + message);
  };
  if (bytes.substr(0, magic.size()) != magic)
    return fail(bytes.empty() ? "is empty, expected an .npy file"
                              : "is no .npy file: it does not begin with \\x93NUMPY");
  // Version, then the header's length in 2 bytes (version 1) or 4 (2 and 3), little endian.
  if (bytes.size() < 8)
    return fail("is truncated in its header");
  unsigned version = uint8_t(bytes[6]);
  if (version < 1 || version > 3)
    return fail("is of .npy version " + std::to_string(version) + ", expected 1, 2 or 3");
  size_t lengthBytes = version == 1 ? 2 : 4, length = 0;
  if (bytes.size() < 8 + lengthBytes)
    return fail("is truncated in its header");
  for (size_t i = lengthBytes; i-- > 0;)
    length = length << 8 | uint8_t(bytes[8 + i]);
  size_t begin = 8 + lengthBytes;
  if (length > bytes.size() - begin)
    return fail("is truncated in its header");
  HeaderParser header(bytes.substr(begin, length));
  std::string reason;
  if (!header.parse(reason))
    return fail("cannot be read: " + reason);
  if (int64_t(header.shape.size()) > maxRank)
    return fail("has more than 32 dimensions");
  Dtype dtype;
  if (Error error = decodeDescr(header.descr, name, expected, dtype))
    return error;

  // The file holds bytes where two elements share one.
  bool pairs = dtypeBits(dtype) < 8;
  size_t size = pairs ? 1 : dtypeBits(dtype) / 8;
  int64_t count = 1;
  bool empty = false;
  for (int64_t extent : header.shape)
    empty |= extent == 0;
  for (int64_t extent : header.shape)
    if (!empty && __builtin_mul_overflow(count, extent, &count))
      return fail("has more elements than 64 bits count");
  if (empty)
    count = 0;
  // Exactly as many bytes as the shape says: a longer file is as suspicious as a shorter one.
  size_t present = bytes.size() - begin - length;
  if (uint64_t(count) > std::numeric_limits<int64_t>::max() / size ||
      present != size_t(count) * size) {
    bool few = present / size < size_t(count);
    return fail((few ? "is truncated: " : "is too long: ") + std::to_string(count) +
                " elements of " + std::to_string(size) + " bytes expected, " +
                std::to_string(present) + " bytes found");
  }
  array.dtype = dtype;
  array.shape = header.shape;
  const char *data = bytes.data() + begin + length;
  array.data.resize(present);
  if (header.fortran && array.shape.size() > 1 && present) // strides of an empty array may not fit
    transpose(data, array.data.data(), array.shape, size, count);
  else if (present)
    std::memcpy(array.data.data(), data, present);
  // The last dimension counts elements, two for each byte.
  if (pairs && !array.shape.empty() &&
      __builtin_mul_overflow(array.shape.back(), int64_t(2), &array.shape.back()))
    return fail("has more elements than 64 bits count");
  return {};
}

Error readNpy(const std::string &path, std::optional<Dtype> expected, NpyArray &array) {
  auto failed = [&] {
    return Error(TILE_ERROR_IO, "cannot read '" + path + "': " + std::strerror(errno));
  };
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path.c_str(), "rb"),
                                                        std::fclose);
  if (!file)
    return failed();
  std::string bytes;
  // One allocation where the size is known, so that large arrays are not copied while the string
  // grows.
  if (std::fseek(file.get(), 0, SEEK_END) == 0) {
    long size = std::ftell(file.get());
    std::rewind(file.get());
    if (size > 0 && size < std::numeric_limits<long>::max())
      bytes.reserve(size_t(size));
  }
  auto buffer = std::make_unique<char[]>(1 << 20);
  while (size_t got = std::fread(buffer.get(), 1, 1 << 20, file.get()))
    bytes.append(buffer.get(), got);
  if (std::ferror(file.get()))
    return failed();
  return parseNpy(bytes, path, expected, array);
}

//===--- Writer -----------------------------------------------------------===//

/// Magic, version, length and dict, padded so that the elements begin at a multiple of 64 bytes.
/// As NumPy does, so that elements may be mapped into memory.
static Error formatHeader(Dtype dtype, const std::vector<int64_t> &shape, std::string &bytes) {
  std::string descr;
  if (dtype == Dtype::BF16)
    descr = "u2";
  if (isFloat8(dtype))
    descr = "u1";
  for (const Descr &entry : descrs)
    if (entry.dtype == dtype && !entry.text.empty())
      descr = entry.text;
  if (descr.empty() || int64_t(shape.size()) > maxRank)
    return Error(TILE_ERROR_DTYPE, descr.empty()
                                       ? "an .npy file cannot hold " + std::string(dtypeName(dtype))
                                       : "an .npy file cannot hold more than 32 dimensions");
  std::string extents;
  for (int64_t extent : shape)
    extents += (extents.empty() ? "" : ", ") + std::to_string(extent);
  std::string dict = "{'descr': '" + std::string(dtypeBits(dtype) == 8 ? "|" : "<") + descr +
                     "', 'fortran_order': False, 'shape': (" + extents +
                     (shape.size() == 1 ? ",), }" : "), }");
  // 10 bytes stand ahead of the dict, one line feed ends it.
  dict.append((64 - (10 + dict.size() + 1) % 64) % 64, ' ');
  dict += '\n';
  bytes =
      std::string(magic) + '\x01' + '\0' + char(dict.size() & 0xff) + char(dict.size() >> 8) + dict;
  return {};
}

static size_t sizeInBytes(Dtype dtype, const std::vector<int64_t> &shape) {
  size_t size =
      dtypeBits(dtype) / 8; // of no dtype with two elements to a byte: those are never written
  for (int64_t extent : shape)
    size *= size_t(extent);
  return size;
}

Error formatNpy(Dtype dtype, const std::vector<int64_t> &shape, const void *data,
                std::string &bytes) {
  if (Error error = formatHeader(dtype, shape, bytes))
    return error;
  bytes.append(static_cast<const char *>(data), sizeInBytes(dtype, shape));
  return {};
}

Error writeNpy(const std::string &path, Dtype dtype, const std::vector<int64_t> &shape,
               const void *data) {
  std::string header;
  if (Error error = formatHeader(dtype, shape, header))
    return error;
  // The process's number keeps two writers of one file apart.
  // Appears whole or not at all: readers never see half a file.
  std::string temporary = path + "." + std::to_string(getpid()) + ".tmp";
  std::FILE *file = std::fopen(temporary.c_str(), "wb");
  if (!file)
    return Error(TILE_ERROR_IO, "cannot write '" + path + "': " + std::strerror(errno));
  size_t size = sizeInBytes(dtype, shape);
  bool good = std::fwrite(header.data(), 1, header.size(), file) == header.size() &&
              (size == 0 || std::fwrite(data, 1, size, file) == size);
  int reason = errno;
  if (std::fclose(file) != 0 && good) {
    good = false;
    reason = errno;
  }
  if (good && std::rename(temporary.c_str(), path.c_str()) != 0) {
    good = false;
    reason = errno;
  }
  if (good)
    return {};
  std::remove(temporary.c_str());
  return Error(TILE_ERROR_IO, "cannot write '" + path + "': " + std::strerror(reason));
}

} // namespace tile::runtime
