// The files of a session: open documents, and those on disk around them.
#ifndef TILE_LSP_WORKSPACE_H
#define TILE_LSP_WORKSPACE_H

#include "lsp/Document.h"

#include "llvm/Support/JSON.h"

#include <set>

namespace tile::lsp {

/// A path without `..`.
std::string normalize(llvm::StringRef path);

class Workspace {
public:
  /// `cache`: a folder that the library's files may be written to, so that editors can show them.
  explicit Workspace(std::string cache);

  Shared shared;
  Encoding encoding = Encoding::utf16;
  std::vector<std::string> roots; ///< folders of the workspace

  Document *find(llvm::StringRef path);
  Document &open(const std::string &path, std::string text, int64_t version);
  void close(const std::string &path);
  /// Files outside of the editor have changed.
  void forgetFiles();
  std::vector<Document *> getOpen();

  /// An open document, or a file of the workspace as it is on disk; null if it cannot be read or
  /// does not mention the word. It is brought up to date, without its kernels if it is not open.
  Document *get(const std::string &path, llvm::StringRef word);
  /// All .tile files below the roots, at most `mostFiles`, and those that are open, by path.
  std::vector<std::string> listFiles();
  static constexpr size_t mostFiles = 2000;

  /// URIs as the client spells them. What is no file has its URI as its path.
  std::string toPath(llvm::StringRef uri);
  std::string toUri(llvm::StringRef path);

private:
  std::optional<std::string> writeLibraryFile(llvm::StringRef name);

  std::string cache;
  std::map<std::string, std::string> uris; // by path, of open documents
  std::map<std::string, std::unique_ptr<Document>> documents, closed;
  std::optional<std::vector<std::string>> listed;
};

} // namespace tile::lsp

#endif
