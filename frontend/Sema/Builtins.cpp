// The table of built-in functions.
#include "frontend/Sema/Builtins.h"

#include <climits>

using namespace tile;

using F = Builtin::Family;

static const Builtin table[] = {
    {"exp", F::Unary, 1, 1, {}},
    {"exp2", F::Unary, 1, 1, {}},
    {"expm1", F::Unary, 1, 1, {}},
    {"log", F::Unary, 1, 1, {}},
    {"log2", F::Unary, 1, 1, {}},
    {"log1p", F::Unary, 1, 1, {}},
    {"sqrt", F::Unary, 1, 1, {}},
    {"rsqrt", F::Unary, 1, 1, {}},
    {"sin", F::Unary, 1, 1, {}},
    {"cos", F::Unary, 1, 1, {}},
    {"tan", F::Unary, 1, 1, {}},
    {"tanh", F::Unary, 1, 1, {}},
    {"erf", F::Unary, 1, 1, {}},
    {"floor", F::Unary, 1, 1, {}},
    {"ceil", F::Unary, 1, 1, {}},
    {"round", F::Unary, 1, 1, {}},
    {"trunc", F::Unary, 1, 1, {}},
    {"sigmoid", F::Unary, 1, 1, {}},
    {"isnan", F::Unary, 1, 1, {}},
    {"isinf", F::Unary, 1, 1, {}},
    {"isfinite", F::Unary, 1, 1, {}},
    {"pow", F::Binary, 2, 2, {}},
    {"minnum", F::Binary, 2, 2, {}},
    {"maxnum", F::Binary, 2, 2, {}},
    {"mulhi", F::Binary, 2, 2, {}},
    {"cdiv", F::Binary, 2, 2, {}},
    {"abs", F::Element, 1, 1, {}},
    {"sign", F::Element, 1, 1, {}},
    {"popcount", F::Element, 1, 1, {}},
    {"clz", F::Element, 1, 1, {}},
    {"next_pow2", F::Element, 1, 1, {}},
    {"identity", F::Element, 1, 1, {}},
    {"clamp", F::Element, 3, 3, {}},
    {"fma", F::Element, 3, 3, {}},
    {"where", F::Element, 3, 3, {}},
    {"min", F::MinMax, 1, 2, {"axis", "keep"}},
    {"max", F::MinMax, 1, 2, {"axis", "keep"}},
    {"sum", F::Reduce, 1, 1, {"axis", "keep"}},
    {"prod", F::Reduce, 1, 1, {"axis", "keep"}},
    {"any", F::Reduce, 1, 1, {"axis", "keep"}},
    {"all", F::Reduce, 1, 1, {"axis", "keep"}},
    {"count", F::Reduce, 1, 1, {"axis", "keep"}},
    {"argmax", F::Reduce, 1, 1, {"axis", "keep"}},
    {"argmin", F::Reduce, 1, 1, {"axis", "keep"}},
    {"load", F::Access, 1, 1, {"pad", "mask", "cache"}},
    {"store", F::Access, 2, 2, {"mask", "cache"}},
    {"inside", F::Access, 1, 1, {}},
    {"gather", F::Access, 1, 1, {"pad", "mask", "cache"}},
    {"scatter", F::Access, 2, 2, {"mask", "cache"}},
    {"atomic_add", F::Access, 2, 2, {"mask", "order", "scope"}},
    {"atomic_max", F::Access, 2, 2, {"mask", "order", "scope"}},
    {"atomic_min", F::Access, 2, 2, {"mask", "order", "scope"}},
    {"atomic_and", F::Access, 2, 2, {"mask", "order", "scope"}},
    {"atomic_or", F::Access, 2, 2, {"mask", "order", "scope"}},
    {"atomic_xor", F::Access, 2, 2, {"mask", "order", "scope"}},
    {"atomic_xchg", F::Access, 2, 2, {"mask", "order", "scope"}},
    {"atomic_cas", F::Access, 3, 3, {"mask", "order", "scope"}},
    {"zeros", F::Shape, 2, 2, {}},
    {"full", F::Shape, 3, 3, {}},
    {"iota", F::Shape, 1, 1, {}},
    {"reshape", F::Shape, 2, 2, {}},
    {"permute", F::Shape, 2, 2, {}},
    {"broadcast", F::Shape, 2, 2, {}},
    {"block", F::Range, 2, 2, {}},
    {"blocks", F::Range, 2, 3, {}},
    {"at", F::Range, 2, 2, {"step", "end"}},
    {"scan", F::Scan, 2, 2, {"axis", "reverse"}},
    {"cumsum", F::Scan, 1, 1, {"axis", "reverse"}},
    {"cumprod", F::Scan, 1, 1, {"axis", "reverse"}},
    {"reduce", F::Scan, 2, 2, {"axis", "keep"}},
    {"take", F::Other, 2, 2, {"axis"}},
    {"dot", F::Other, 2, 3, {"precision"}},
    {"bitcast", F::Other, 2, 2, {}},
    {"ptx", F::Debug, 2, UINT_MAX, {"fallback"}},
    {"print", F::Debug, 1, UINT_MAX, {}},
    {"assert", F::Debug, 1, 2, {}},
    {"lowest", F::Other, 1, 1, {}},
    {"highest", F::Other, 1, 1, {}},
    {"static_assert", F::Other, 1, 2, {}},
    {"present", F::Other, 1, 1, {}},
    {"view", F::Other, 3, 4, {}},
    {"concat", F::Join, 1, 1, {"axis"}},
    {"stack", F::Join, 1, 1, {"axis"}},
    {"repeat", F::Join, 2, 2, {"axis"}},
    {"flip", F::Join, 1, 1, {"axis"}},
    {"sort", F::Order, 1, 1, {"axis", "descending"}},
    {"topk", F::Order, 2, 2, {"axis"}},
    {"histogram", F::Order, 2, 2, {"mask"}},
    {"rand", F::Random, 2, 2, {}},
    {"randn", F::Random, 2, 2, {}},
    {"randint", F::Random, 4, 4, {}},
    {"random_bits", F::Random, 2, 2, {}},
};

const Builtin *tile::findBuiltin(llvm::StringRef name) {
  for (const Builtin &entry : table)
    if (name == entry.name)
      return &entry;
  return nullptr;
}

const std::vector<std::string> &tile::builtinNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Builtin &entry : table)
      if (entry.family != F::Later)
        all.push_back(entry.name);
    return all;
  }();
  return names;
}
