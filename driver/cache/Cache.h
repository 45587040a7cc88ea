// The compile cache: outputs of a call, kept under a key in two steps. Flags, source and compiler
// give a first key, under which lies the list of files that the call read or missed; that list with
// the files' hashes gives the key of the outputs. Any number of processes may use one folder.
// docs/Packages.md has what a cache command must do. Callers of tile_compile.h and Python have
// another cache, runtime/src/compile/Cache.h, which keeps whole results of the compiler.
#ifndef TILE_DRIVER_CACHE_CACHE_H
#define TILE_DRIVER_CACHE_CACHE_H

#include "driver/cache/CacheStore.h"
#include "driver/support/Output.h"
#include <map>
#include <optional>

namespace tile {

/// What of the options can change a byte of what is written, for the cache's key: one line each,
/// "WORDS\tVALUE".
std::string describeFlags(const Options &options);

/// One compilation as the cache sees it. A cache that fails is no error: it only does not help.
class Cache {
public:
  /// Nothing is cached where the options name neither a folder nor a command, or ask for more than
  /// files.
  Cache(const Options &options, const std::string &input);

  bool isOn() const { return files.isOn() && !key.empty(); }
  /// The failure of the cache command, for a warning; empty if none.
  const std::string &getProblem() const { return files.getProblem(); }
  /// Why the folder is not used although it is there, for a warning; empty: it is.
  const std::string &getDistrust() const { return distrust; }
  /// Did the result of find() come by the command?
  bool wasRemote() const { return files.wasRemote(); }

  /// The files of an earlier call: name behind the output's path ("", ".json") to bytes. `sources`
  /// gets what was read.
  std::optional<std::map<std::string, std::string>> find(std::vector<std::string> &sources);

  /// Keeps what a call without any diagnostic wrote.
  void store(const std::map<std::string, std::string> &outputs, const SourceManager &sources);

  /// Why find() gave nothing, for --explain-cache.
  const std::string &getReason() const { return reason; }
  /// The key of the call before imports are read: 64 hexadecimal digits.
  const std::string &getKey() const { return key; }

private:
  void explainMiss();
  void rememberParts() const;
  void evict() const;

  const Options &options;
  CacheStore files;
  std::string key, reason, placeKey, distrust;
  std::map<std::string, std::string> parts; // what the key is made of, for explanations
};

} // namespace tile

#endif
