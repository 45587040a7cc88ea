// JSON that comes from outside: parsed in time and memory linear in its length, under limits, and
// refused where two readers could read it differently.
#ifndef TILE_MANIFEST_JSON_H
#define TILE_MANIFEST_JSON_H

#include "manifest/Manifest.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace tile::runtime {

using Json = nlohmann::ordered_json;

/// The limits of a document; docs/Packages.md lists all of them.
struct JsonLimits {
  uint64_t bytes = uint64_t(16) << 20;
  /// Numbers, strings, constants, arrays and objects together.
  uint64_t values = uint64_t(1) << 20;
  unsigned depth = 100;
};

/// The cost of parsing, for tests that it grows as the document does.
struct JsonCost {
  uint64_t values = 0, keys = 0;
  /// Of keys with each other, in search of one that an object has twice.
  uint64_t comparisons = 0;
};

/// The document. None, with the reason in `error`, for what is no JSON, exceeds a limit, or has an
/// object with a key twice or a string with a zero byte.
std::optional<Json> parseJson(std::string_view text, std::string &error,
                              const JsonLimits &limits = {}, JsonCost *cost = nullptr);

/// The records of all kernels, a list.
Json kernelsAsJson(const Manifest &manifest);
/// The target and kernels of an object whose version stands under `versionKey`: a manifest, or a
/// package's module.
std::optional<Manifest> readKernels(const Json &object, const char *versionKey, std::string &error);

} // namespace tile::runtime

#endif
