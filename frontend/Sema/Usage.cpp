// How the built-ins are called whose arguments stand in another order elsewhere.
#include "frontend/Sema/Builtins.h"

#include <utility>

using namespace tile;

llvm::StringRef tile::usageOf(llvm::StringRef builtin) {
  static constexpr std::pair<const char *, const char *> usages[] = {
      {"zeros", "zeros(f32, [M, N])"},
      {"full", "full(f32, [M, N], 1.0)"},
      {"iota", "iota(64), or iota(r) of a range"},
      {"reshape", "reshape(x, [M, N])"},
      {"permute", "permute(x, [1, 0])"},
      {"broadcast", "broadcast(x, [M, N])"},
      {"block", "block(i, 64)"},
      {"blocks", "blocks(N, 64)"},
      {"at", "at(start, 64)"},
      {"scan", "scan(f, x, axis: 0)"},
      {"reduce", "reduce(f, x, axis: 0)"},
      {"cumsum", "cumsum(x, axis: 0)"},
      {"cumprod", "cumprod(x, axis: 0)"},
      {"take", "take(t, i, axis: 0)"},
      {"dot", "dot(a, b, acc)"},
      {"bitcast", "bitcast(x, u32)"},
      {"concat", "concat([a, b], axis: 0)"},
      {"stack", "stack([a, b], axis: 0)"},
      {"repeat", "repeat(x, 2, axis: 0)"},
      {"flip", "flip(x, axis: 0)"},
      {"sort", "sort(x, axis: 0)"},
      {"topk", "topk(x, 4, axis: 0)"},
      {"histogram", "histogram(x, 16)"},
      {"load", "load(x[n], pad: 0.0)"},
      {"store", "store(y[n], v)"},
      {"gather", "gather(x[ids, n])"},
      {"scatter", "scatter(y[ids, n], v)"},
      {"inside", "inside(x[n])"},
      {"atomic_add", "atomic_add(x[i], v)"},
      {"atomic_max", "atomic_max(x[i], v)"},
      {"atomic_min", "atomic_min(x[i], v)"},
      {"atomic_cas", "atomic_cas(x[i], old, new)"},
      {"where", "where(c, a, b)"},
      {"clamp", "clamp(x, lo, hi)"},
      {"fma", "fma(a, b, c)"},
      {"pow", "pow(x, y)"},
      {"cdiv", "cdiv(a, b)"},
      {"lowest", "lowest(f32)"},
      {"highest", "highest(f32)"},
      {"rand", "rand(seed, i)"},
      {"randn", "randn(seed, i)"},
      {"randint", "randint(seed, i, lo, hi)"},
      {"random_bits", "random_bits(seed, i)"},
  };
  for (auto [name, usage] : usages)
    if (builtin == name)
      return usage;
  return "";
}
