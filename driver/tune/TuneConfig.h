// Configurations as text and in files: what --config takes and `tilec tune` writes.
#ifndef TILE_DRIVER_TUNE_TUNECONFIG_H
#define TILE_DRIVER_TUNE_TUNECONFIG_H

#include "driver/Session.h"
#include "frontend/Lower/Elaborate.h"
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tile {

/// Extents by name: a shape that is tuned for.
using TuneShape = std::vector<std::pair<std::string, int64_t>>;

/// "BM=128,warps=8"; empty for the defaults.
std::string toText(const TuneConfig &config);
/// "M=4096,N=4096".
std::string toText(const TuneShape &shape);
/// Reads NAME=VALUE,... Nothing where an item has no '='.
std::optional<TuneConfig> parseConfig(llvm::StringRef text);

/// Reads NAME=N,... as toText() writes it.
std::optional<TuneShape> parseShape(llvm::StringRef text);

/// The configuration that won at a shape.
struct TuneEntry {
  TuneShape shape;
  TuneConfig config;
  double milliseconds = 0;
  std::vector<std::pair<TuneConfig, double>>
      others; ///< the result's other configurations, as far as they were measured here
};

/// The result of `tilec tune`: the file that --config reads. Format: docs/Tuning.md.
struct TuneResult {
  static constexpr int64_t schema = 1;
  std::string kernel, target, compiler;
  std::string source; ///< hash of what was tuned; another source makes the result stale
  TuneConfig best;    ///< for a shape that is not listed: the best on the whole
  std::vector<TuneEntry> entries;
};

std::string toJson(const TuneResult &result);
/// Nothing, with the reason in `error`, where the text is no such result.
std::optional<TuneResult> parseTuneResult(llvm::StringRef text, std::string &error);

/// The entry at the least distance to `shape`, in the logarithms of the extents; null if none has
/// its names.
const TuneEntry *findNearest(const TuneResult &result, const TuneShape &shape);

/// Hash of a kernel's source and what binds it.
std::string hashTuned(llvm::StringRef source, llvm::StringRef kernel,
                      const std::vector<NameValue> &defines);

/// The configurations of a result and where each was best, for a package that holds them all;
/// nothing where there is but one.
TunedConfigs listConfigs(const TuneResult &result);

/// The candidates of `tilec tune --config`: values of some names each, NAME=VALUE,... or a .json
/// file with a list of objects. False after an error.
bool readConfigList(const std::vector<std::string> &texts, Session &session,
                    std::vector<TuneConfig> &list);

/// Whether a configuration has all values of `wanted`.
bool fits(const TuneConfig &config, const TuneConfig &wanted);

/// The request of --config: one configuration, for a launch of these extents, or for packages and C
/// all that a result has. `isResult` says that it is what `tilec tune` found, which may not fit the
/// source any more. False after an error.
bool readConfig(const Options &options, llvm::StringRef source, const TuneShape &shape,
                Session &session, TuneConfig &config, TunedConfigs &tuned, bool &isResult);

} // namespace tile

#endif
