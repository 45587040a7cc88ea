// The launcher's knowledge of a binary: the compiler fills this model, JSON carries it (see
// manifest/Manifest.md).
#ifndef TILE_MANIFEST_MANIFEST_H
#define TILE_MANIFEST_MANIFEST_H

#include "manifest/Dtype.h"
#include "manifest/Error.h"
#include "manifest/Expr.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tile::runtime {

/// Value of a compile-time parameter, of a default or of a fill. A dtype or function is its name.
/// Integers above the signed range, which u64 alone has, are unsigned.
using Constant = std::variant<bool, int64_t, double, std::string, uint64_t>;

/// A named dimension or stride. Strides that only the ABI names are called "param.stride.axis".
struct Dim {
  std::string name;
  int64_t min = 0;
  int64_t max = int64_t(1) << 30;
  /// The value to tune for; never checked.
  std::optional<int64_t> opt;
  int64_t multipleOf = 1;
  /// Source line and text of the contract that gave the range; 0 and empty where the defaults hold.
  unsigned line = 0;
  std::string contract;
};

enum class Access : uint8_t { In, Out, InOut };

/// A parameter of the ABI, in source order; those dropped by `if COND` are absent.
struct Param {
  enum class Kind : uint8_t { Tensor, Scalar };
  std::string name;
  Kind kind = Kind::Tensor;
  Dtype dtype = Dtype::F32;
  unsigned line = 0;

  // Tensors.
  Access access = Access::In;
  /// Alignment of the first element's address that the kernel relies on, in bytes.
  unsigned align = 16;
  /// One expression for each dimension; their number is the rank.
  std::vector<Expr> dims;
  /// None: dense and row-major. Else one for each dimension, in elements; an empty entry stands for
  /// any stride (`*`).
  std::optional<std::vector<std::optional<Expr>>> strides;
  /// The value that the launcher writes to every element before the kernel starts.
  std::optional<Constant> fill;

  // Scalars.
  std::optional<Constant> defaultValue;
  /// Range of an integral scalar that dims, grid or contracts use; empty: not checked.
  std::optional<int64_t> min, max;
  std::string contract;
  unsigned contractLine = 0;
};

/// A condition that is checked before each launch.
struct Contract {
  Expr condition;
  std::string text;
  unsigned line = 0;
};

/// Part of the condition under which a variant takes a call; the kernel's other contracts are
/// checked after that.
struct Fact {
  /// Over dimensions, strides and integral scalars; not looked at where `param` is given.
  Expr condition = 1;
  /// A tensor parameter whose first element's address is a multiple of `align` bytes.
  std::string param;
  unsigned align = 0;
  std::string text;
  unsigned line = 0;
};

/// How a kernel's copies by TMA see a tensor parameter; the launcher encodes it for the driver.
struct TensorMap {
  std::string param;
  /// The tensor's dimensions, the fastest (stride 1) first, and the extents of one copy in that
  /// order, in elements. A dimension that is listed twice in a row is cut: the first of the two has
  /// as many positions as the box, the second begins a box before the tensor.
  std::vector<unsigned> order, box;
  /// 0, 32, 64 or 128 bytes.
  unsigned swizzle = 0;
  /// How far the positions of a copy are apart along each dimension, in that order, 1 along the
  /// first; empty: 1 along all.
  std::vector<unsigned> steps = {};
};

/// One machine argument. A parameter passes a pointer or the scalar's value, a dimension a 64-bit
/// integer, a tensor map its 128 bytes; scratch is a pointer to memory that the launcher keeps.
struct Argument {
  enum class Kind : uint8_t { Param, Dim, TensorMap, Scratch };
  Kind kind = Kind::Param;
  std::string name;
  /// Which of the kernel's tensor maps.
  unsigned index = 0;
};

struct LaunchInfo {
  /// Threads of one block; 1 on the CPU.
  unsigned threads = 1;
  /// Dynamic shared memory of one block, at most.
  unsigned sharedBytes = 0;
  /// What a launch needs of these bytes, where that depends on its extents.
  std::optional<Expr> sharedTaken;
  unsigned registers = 0;
  unsigned spillBytes = 0;
  /// Blocks take several programs each: launch as many as run at once.
  bool persistent = false;
  /// Scratch memory that each program needs; its first 128 bytes are zero before the first launch.
  /// On the CPU: that each thread needs, whatever stands in it.
  unsigned scratchBytes = 0;
  /// All programs share the memory of one.
  bool scratchShared = false;
  /// Blocks of a cluster; the grid is rounded to whole ones.
  unsigned cluster = 1;
};

/// One instance of a kernel: every compile-time parameter bound.
struct Kernel {
  /// The source name, shared by all instances, and the symbol in the binary.
  std::string name, symbol;
  std::string file;
  unsigned line = 0;
  std::string doc;
  /// Compile-time parameters in source order.
  std::vector<std::pair<std::string, Constant>> constants;
  std::vector<Dim> dims;
  std::vector<Param> params;
  std::vector<Contract> contracts;
  /// Of a variant: its name ("decode", "N=1024"), and what must hold for it to be chosen. The
  /// variants of a kernel stand in the order in which they are tried, one without facts last.
  std::string variant;
  std::vector<Fact> facts;
  /// Number of programs along each axis, slowest axis first. Empty: one program.
  std::vector<Expr> grid;
  std::vector<Argument> arguments;
  std::vector<TensorMap> tensorMaps;
  /// Pairs of parameters whose memory may overlap although one of them is written.
  std::vector<std::pair<std::string, std::string>> aliases;
  LaunchInfo launch;
};

/// A file by its content.
struct Binary {
  uint64_t bytes = 0;
  /// As contentHash writes it.
  std::string hash;
};

struct Manifest {
  std::string compiler;
  /// "sm_80", "sm_90a" or "cpu".
  std::string target;
  std::vector<Kernel> kernels;
  /// The file that this describes. Absent where there is none (`--print-abi`), and in packages,
  /// which describe each of their files.
  std::optional<Binary> binary = std::nullopt;
  /// Of code for the CPU: the level of x86-64 that it needs, "x86-64-v3"; empty where it is not for
  /// such a level.
  std::string cpu = {};
};

/// The version of the format that is written and read. Earlier ones are refused: 2 does not say
/// which binary it belongs to, code for the CPU of 3 gets its memory by itself, unchecked, and code
/// of 4 would get none from a reader of 3.
constexpr int manifestVersion = 4;

/// Most parameters, and most named dimensions and strides, that a kernel may have: a CUDA kernel
/// takes at most 32764 bytes of arguments.
constexpr size_t maxKernelNames = 4096;

Binary identify(std::string_view bytes);
/// Is `bytes` the file that the manifest describes? TILE_ERROR_BINARY where it is not, or the
/// manifest does not say. `name` stands in messages.
Error checkBinary(const Manifest &manifest, std::string_view bytes, const std::string &name);

/// JSON in a fixed order of keys: equal manifests give equal bytes. Ends in a newline.
std::string toJson(const Manifest &manifest);
/// The same for the manifest that stands beside `binary`.
std::string toJson(Manifest manifest, std::string_view binary);
/// Reads what `toJson` writes. None, with what is wrong and where in `error`, if the text is no
/// JSON, of another format or version, misses a key, or refers to a name that it does not declare.
std::optional<Manifest> parseManifest(std::string_view json, std::string &error);

/// "f16", "128", "true", as in messages and in the manifest's `constants`.
std::string toString(const Constant &constant);
/// "softmax[T = f16, BLOCK = 1024](x: in f16[M, N], y: out f16[M, N])".
std::string describe(const Kernel &kernel);

} // namespace tile::runtime

#endif
