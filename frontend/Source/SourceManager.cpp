// The files of one compilation and their line tables.
#include "frontend/Source/SourceManager.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>

using namespace tile;

std::optional<FileID> SourceManager::addFile(llvm::StringRef path, std::string &error) {
  if (std::optional<std::string> held = reader ? reader(path) : std::nullopt)
    if (held->size() <= maxFileSize)
      return addText(path, *held);
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/false);
  if (!buffer) {
    error = buffer.getError().message();
    return std::nullopt;
  }
  if ((*buffer)->getBufferSize() > maxFileSize) {
    error = "the file is larger than 4 MiB";
    return std::nullopt;
  }
  return add(path == "-" ? "<stdin>" : path, std::move(*buffer));
}

FileID SourceManager::addText(llvm::StringRef name, llvm::StringRef text) {
  return add(name, llvm::MemoryBuffer::getMemBufferCopy(text, name));
}

FileID SourceManager::add(llvm::StringRef name, std::unique_ptr<llvm::MemoryBuffer> buffer) {
  File file{name.str(), std::move(buffer), {0}};
  llvm::StringRef text = file.buffer->getBuffer();
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n')
      file.lineStarts.push_back(uint32_t(i + 1));
  files.push_back(std::move(file));
  return FileID(files.size() - 1);
}

void SourceManager::release(FileID file) {
  if (size_t(file) < files.size())
    files[size_t(file)] = {{}, llvm::MemoryBuffer::getMemBuffer(""), {0}};
}

const SourceManager::File *SourceManager::find(FileID file) const {
  return size_t(file) < files.size() ? &files[size_t(file)] : nullptr;
}

llvm::StringRef SourceManager::name(FileID file) const {
  const File *found = find(file);
  return found ? llvm::StringRef(found->name) : llvm::StringRef();
}

llvm::StringRef SourceManager::text(FileID file) const {
  const File *found = find(file);
  return found ? found->buffer->getBuffer() : llvm::StringRef();
}

llvm::StringRef SourceManager::text(Range range) const {
  return text(range.file).slice(range.begin, range.end);
}

LineColumn SourceManager::lineColumn(FileID file, uint32_t offset) const {
  const File *found = find(file);
  if (!found)
    return {};
  offset = std::min<uint32_t>(offset, found->buffer->getBufferSize());
  auto next = llvm::upper_bound(found->lineStarts, offset);
  return {unsigned(next - found->lineStarts.begin()), offset - *std::prev(next) + 1};
}

Range SourceManager::lineRange(FileID file, unsigned line) const {
  const File *found = find(file);
  if (!found || line == 0 || line > found->lineStarts.size())
    return {};
  llvm::StringRef text = found->buffer->getBuffer();
  uint32_t begin = found->lineStarts[line - 1];
  uint32_t end =
      line < found->lineStarts.size() ? found->lineStarts[line] - 1 : uint32_t(text.size());
  if (end > begin && text[end - 1] == '\r')
    --end;
  return {file, begin, end};
}

std::string SourceManager::describe(Range range) const {
  if (!range.isValid())
    return {};
  LineColumn place = begin(range);
  return (name(range.file) + ":" + llvm::Twine(place.line) + ":" + llvm::Twine(place.column)).str();
}
