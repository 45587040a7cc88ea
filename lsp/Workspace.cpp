// Files on disk are read when something is asked about them, and kept till one of them changes.
#include "lsp/Workspace.h"
#include "library/Library.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile;
using namespace tile::lsp;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

std::string tile::lsp::normalize(StringRef name) {
  llvm::SmallString<256> result(name);
  if (!name.starts_with(libraryPrefix))
    path::remove_dots(result, /*remove_dot_dot=*/true);
  return result.str().str();
}

Workspace::Workspace(std::string cache) : cache(std::move(cache)) {
  // Imports of an open file see the text in the editor, saved or not.
  shared.sources.setReader([this](StringRef path) -> std::optional<std::string> {
    auto found = documents.find(normalize(path));
    return found == documents.end() ? std::nullopt
                                    : std::optional(found->second->getText().str().str());
  });
}

Document *Workspace::find(StringRef path) {
  auto found = documents.find(path.str());
  return found == documents.end() ? nullptr : found->second.get();
}

Document &Workspace::open(const std::string &path, std::string text, int64_t version) {
  ++shared.revision;
  closed.erase(path);
  auto &place = documents[path];
  place = std::make_unique<Document>(shared, path, std::move(text), encoding, version);
  return *place;
}

void Workspace::close(const std::string &path) {
  ++shared.revision;
  documents.erase(path);
  uris.erase(path);
}

void Workspace::forgetFiles() {
  ++shared.revision;
  closed.clear();
  listed.reset();
}

std::vector<Document *> Workspace::getOpen() {
  std::vector<Document *> all;
  for (auto &[path, document] : documents)
    all.push_back(document.get());
  return all;
}

/// The search for the word spares parsing: most files do not mention it. Documents of closed files
/// stay until forgetFiles(), which the client's watcher of files brings about.
Document *Workspace::get(const std::string &path, StringRef word) {
  if (Document *document = find(path)) {
    if (!document->getText().str().contains(word))
      return nullptr;
    document->update();
    return document;
  }
  auto &place = closed[path];
  if (!place) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer || (*buffer)->getBufferSize() > SourceManager::maxFileSize) {
      closed.erase(path);
      return nullptr;
    }
    place = std::make_unique<Document>(shared, path, (*buffer)->getBuffer().str(), encoding, 0);
  }
  if (!place->getText().str().contains(word))
    return nullptr;
  place->update(/*withKernels=*/false);
  return place.get();
}

std::vector<std::string> Workspace::listFiles() {
  if (!listed) {
    listed.emplace();
    for (const std::string &root : roots) {
      std::error_code error;
      fs::recursive_directory_iterator it(root, error, /*follow_symlinks=*/false), end;
      // Of folders that hold something else altogether (a home directory) a part is seen.
      size_t visited = 0;
      for (; it != end && !error && listed->size() < mostFiles && ++visited < 100 * mostFiles;
           it.increment(error)) {
        if (path::filename(it->path()).starts_with("."))
          it.no_push();
        else if (it->type() == fs::file_type::regular_file &&
                 path::extension(it->path()) == ".tile")
          listed->push_back(it->path());
      }
    }
  }
  std::set<std::string> all(listed->begin(), listed->end());
  for (auto &[path, document] : documents)
    all.insert(path);
  return {all.begin(), all.end()};
}

/// Remembers the client's own spelling: answers name a file as the client does, or it opens it
/// twice.
std::string Workspace::toPath(StringRef uri) {
  std::string path = uri.str();
  if (uri.starts_with("file:")) {
    if (auto parsed = llvm::lsp::URIForFile::fromURI(uri))
      path = parsed->file().str();
    else
      llvm::consumeError(parsed.takeError());
  }
  uris[path] = uri.str();
  return path;
}

/// An editor cannot show what lies in the compiler: it gets a copy that is read-only.
std::optional<std::string> Workspace::writeLibraryFile(StringRef name) {
  for (const LibraryFile &file : getLibrary()) {
    if (file.name != name || cache.empty())
      continue;
    llvm::SmallString<256> full(cache);
    path::append(full, name);
    if (auto known = llvm::MemoryBuffer::getFile(full); known && (*known)->getBuffer() == file.text)
      return full.str().str();
    if (fs::create_directories(path::parent_path(full)))
      return std::nullopt;
    // The old one is read-only: opening it for writing would fail.
    fs::remove(full);
    std::error_code error;
    llvm::raw_fd_ostream out(full, error);
    if (!error)
      out << file.text;
    out.close();
    bool failed = error || out.has_error();
    out.clear_error();
    if (failed)
      return std::nullopt;
    fs::setPermissions(full, fs::all_read);
    return full.str().str();
  }
  return std::nullopt;
}

std::string Workspace::toUri(StringRef name) {
  if (auto known = uris.find(name.str()); known != uris.end())
    return known->second;
  std::string file = name.str();
  if (name.consume_front(libraryPrefix)) {
    std::optional<std::string> written = writeLibraryFile(name);
    if (!written)
      return "tile-library:/" + name.str();
    file = *written;
  }
  if (auto uri = llvm::lsp::URIForFile::fromFile(file))
    return uri->uri().str();
  else
    llvm::consumeError(uri.takeError());
  return file;
}
