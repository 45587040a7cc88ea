// Where the compile cache keeps its files: a folder, a command that reaches further, or both.
#ifndef TILE_DRIVER_CACHE_CACHESTORE_H
#define TILE_DRIVER_CACHE_CACHESTORE_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace tile {

/// Why what lies in a folder could come from anybody: it belongs to another user, or everybody can
/// write to it. Empty for one that can be trusted.
std::string whyUnsafe(const std::string &folder);

/// Files by name. A store that fails is no error: it only does not help.
class CacheStore {
public:
  CacheStore() = default;
  /// `folder` and `command` may each be empty. The command is words, the first a program: `CMD get
  /// NAME FILE` writes FILE and exits with 0, or exits with 1 where it has no such name; `CMD put
  /// NAME FILE` keeps a copy of FILE. It has a minute for each.
  CacheStore(std::string folder, const std::string &command);

  bool isOn() const { return !folder.empty() || hasCommand(); }
  bool hasCommand() const { return !words.empty(); }

  /// From the folder, else from the command; then the folder gets it, too.
  std::optional<std::string> read(const std::string &name);
  void write(const std::string &name, llvm::StringRef bytes);
  /// In the folder alone. A file of another user counts only where the folder's group shares it.
  std::optional<std::string> readLocal(const std::string &name) const;
  void writeLocal(const std::string &name, llvm::StringRef bytes) const;
  void removeLocal(const std::string &name) const;
  /// Marks a file of the folder as used now, for eviction.
  void touch(const std::string &name) const;

  /// Did the command give what `read` returned last?
  bool wasRemote() const { return remote; }
  /// The failure of the command, which is then not called again. Empty if none.
  const std::string &getProblem() const { return problem; }
  const std::string &getFolder() const { return folder; }

private:
  std::string pathOf(llvm::StringRef name) const;
  /// Its exit code; none after a failure, which is noted.
  std::optional<int> call(llvm::StringRef verb, llvm::StringRef name, llvm::StringRef path);

  std::string folder, problem;
  std::vector<std::string> words;
  bool remote = false;
};

} // namespace tile

#endif
