// Joining of packages: names of files are kept apart, ambiguous variants refused.
#include "formats/Link.h"

#include <algorithm>
#include <set>

namespace tile::runtime {

/// The values that an extent or scalar can have.
/// Of anything but a number or a name: unknown, hence all values.
static std::pair<int64_t, int64_t> rangeOf(const Kernel &kernel, const Expr &expr) {
  if (expr.isInteger())
    return {expr.getInteger(), expr.getInteger()};
  if (expr.isName())
    for (const Dim &dim : kernel.dims)
      if (dim.name == expr.getName())
        return {dim.min, dim.max};
  return {INT64_MIN, INT64_MAX};
}

/// A call is told from another by dtypes, ranks, fixed extents and ranges: if none of these
/// differs, both take it. Conservative: expressions are not compared.
bool mayOverlap(const Kernel &a, const Kernel &b) {
  if (a.params.size() != b.params.size())
    return false;
  for (size_t i = 0; i < a.params.size(); ++i) {
    const Param &p = a.params[i], &q = b.params[i];
    if (p.kind != q.kind || p.dtype != q.dtype || p.dims.size() != q.dims.size())
      return false;
    if (p.kind == Param::Kind::Scalar && (p.min.value_or(INT64_MIN) > q.max.value_or(INT64_MAX) ||
                                          q.min.value_or(INT64_MIN) > p.max.value_or(INT64_MAX)))
      return false;
    for (size_t axis = 0; axis < p.dims.size(); ++axis) {
      auto [low, high] = rangeOf(a, p.dims[axis]);
      auto [otherLow, otherHigh] = rangeOf(b, q.dims[axis]);
      if (low > otherHigh || otherLow > high)
        return false;
    }
  }
  return true;
}

static Error compare(const Kernel &a, const Kernel &b, const std::string &target,
                     const std::string &nameA, const std::string &nameB) {
  auto names = [](const Kernel &kernel) {
    std::vector<std::string> list;
    for (const Param &param : kernel.params)
      list.push_back(param.name);
    return list;
  };
  // Kernels of different names never compete.
  if (a.name != b.name)
    return {};
  if (names(a) != names(b))
    return Error(TILE_ERROR_INSTANCE,
                 "'" + nameA + "' and '" + nameB + "' have different kernels of the name '" +
                     a.name + "': " + describe(a) + " and " + describe(b) + "; rename one");
  // Specialised variants stand in front of generic ones in either package, so that only variants of
  // one sort can be ambiguous.
  if (a.facts.empty() != b.facts.empty() || !mayOverlap(a, b))
    return {};
  auto variant = [](const Kernel &kernel) {
    return kernel.variant.empty() ? std::string("its generic variant")
                                  : "the variant " + kernel.variant;
  };
  return Error(
      TILE_ERROR_INSTANCE,
      "for " + target + " a call of '" + a.name + "' could mean " + variant(a) + " of '" + nameA +
          "' or " + variant(b) + " of '" + nameB +
          "'; give them ranges that do not overlap, or build one of the two with --no-generic");
}

/// The same code under the same description.
/// Linked twice, a module counts once.
static bool equal(const PackageModule &a, const PackageModule &b) {
  if (a.cpu != b.cpu || a.files.size() != b.files.size() ||
      toJson(a.manifest) != toJson(b.manifest))
    return false;
  for (size_t i = 0; i < a.files.size(); ++i)
    if (a.files[i].kind != b.files[i].kind || a.files[i].bytes != b.files[i].bytes)
      return false;
  return true;
}

/// A path that is not taken: "code/sm_90a.cubin", "code/sm_90a-2.cubin".
/// The number goes ahead of the ending, by which files are known.
static std::string freePath(const std::string &path, std::set<std::string> &taken) {
  std::string candidate = path;
  size_t dot = path.rfind('.');
  if (dot == std::string::npos || path.find('/', dot) != std::string::npos)
    dot = path.size();
  for (unsigned number = 2; !taken.insert(candidate).second; ++number)
    candidate = path.substr(0, dot) + "-" + std::to_string(number) + path.substr(dot);
  return candidate;
}

/// Modules keep the order of packages, and within a package theirs; variants that both packages
/// have are refused, not chosen among.
Error linkPackages(const std::vector<Package> &packages, const std::vector<std::string> &names,
                   Package &joined) {
  std::vector<size_t> origins; // of each joined module
  std::set<std::string> taken;
  for (size_t i = 0; i < packages.size(); ++i) {
    for (PackageModule module : packages[i].modules) {
      if (std::any_of(joined.modules.begin(), joined.modules.end(),
                      [&](const PackageModule &known) { return equal(known, module); }))
        continue;
      for (size_t other = 0; other < joined.modules.size(); ++other) {
        // Within a package the compiler has seen to it.
        if (origins[other] == i || joined.modules[other].manifest.target != module.manifest.target)
          continue;
        for (const Kernel &a : joined.modules[other].manifest.kernels)
          for (const Kernel &b : module.manifest.kernels)
            if (Error error =
                    compare(a, b, module.manifest.target, names[origins[other]], names[i]))
              return error;
      }
      joined.modules.push_back(std::move(module));
      origins.push_back(i);
    }
    for (const PackageFile &source : packages[i].sources)
      if (std::none_of(joined.sources.begin(), joined.sources.end(), [&](const PackageFile &known) {
            return known.path == source.path && known.bytes == source.bytes;
          }))
        joined.sources.push_back(source);
  }
  // Paths change only now, since equality compares kinds and bytes: the same code under two paths
  // is the same.
  for (PackageModule &module : joined.modules)
    for (PackageFile &file : module.files)
      file.path = freePath(file.path, taken);
  for (PackageFile &source : joined.sources)
    source.path = freePath(source.path, taken);
  return {};
}

} // namespace tile::runtime
