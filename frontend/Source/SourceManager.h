// Source text: the files of one compilation, byte ranges in them, and the way from an offset to
// line and column.
#ifndef TILE_FRONTEND_SOURCE_SOURCEMANAGER_H
#define TILE_FRONTEND_SOURCE_SOURCEMANAGER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tile {

/// Names a file of a SourceManager, in the order of adding. `none` stands for "no place in any
/// file".
enum class FileID : uint32_t { none = ~0u };

/// A half-open range of bytes [begin, end) of one file.
struct Range {
  FileID file = FileID::none;
  uint32_t begin = 0;
  uint32_t end = 0;

  bool isValid() const { return file != FileID::none; }
  uint32_t size() const { return end - begin; }

  /// The empty range at this one's start, or just past its end: where a fix-it inserts.
  Range atBegin() const { return {file, begin, begin}; }
  Range atEnd() const { return {file, end, end}; }

  /// The smallest range that covers both. An invalid one adds nothing; of two files, this one's
  /// wins.
  Range join(Range other) const {
    if (!isValid())
      return other;
    if (other.file != file)
      return *this;
    return {file, begin < other.begin ? begin : other.begin, end > other.end ? end : other.end};
  }

  bool operator==(const Range &other) const {
    return file == other.file && begin == other.begin && end == other.end;
  }
  bool operator!=(const Range &other) const { return !(*this == other); }
};

/// A place as people and debug information name it; both count from 1, columns in bytes.
struct LineColumn {
  unsigned line = 1;
  unsigned column = 1;
};

/// Owns the text of all files of a compilation. Texts never move, so StringRefs into them stay
/// valid.
class SourceManager {
public:
  /// Files beyond this size are refused: what is larger is not source text, and no input may
  /// exhaust memory.
  static constexpr uint64_t maxFileSize = uint64_t(4) << 20;

  /// Reads `path` (`-` is standard input). On failure returns nothing and says why in `error`.
  std::optional<FileID> addFile(llvm::StringRef path, std::string &error);

  /// Takes text that is already in memory; `name` is what diagnostics print.
  FileID addText(llvm::StringRef name, llvm::StringRef text);

  /// Frees the text of a file that nothing refers to any more; it reads as empty from then on, and
  /// its FileID is not given to another.
  void release(FileID file);

  /// Asked for the text of a path before the disk is: an editor holds files that are not saved.
  using Reader = std::function<std::optional<std::string>(llvm::StringRef path)>;
  void setReader(Reader newReader) { reader = std::move(newReader); }

  llvm::StringRef name(FileID file) const;
  llvm::StringRef text(FileID file) const;

  /// The text that `range` covers; empty for an invalid range.
  llvm::StringRef text(Range range) const;

  /// Line and column of a byte offset; offsets past the end give the end.
  LineColumn lineColumn(FileID file, uint32_t offset) const;
  LineColumn begin(Range range) const { return lineColumn(range.file, range.begin); }
  LineColumn end(Range range) const { return lineColumn(range.file, range.end); }

  /// The range of line number `line` (from 1) without its line break; empty past the last line.
  Range lineRange(FileID file, unsigned line) const;

  /// `file:line:col` of a range's start, `file` alone where the offset is unknown, empty for an
  /// invalid range.
  std::string describe(Range range) const;

  size_t size() const { return files.size(); }

  /// Paths at which an import was looked for in vain: with a file there the program would be
  /// another. A compile cache looks at them again.
  void noteAbsent(std::string path) { absent.insert(std::move(path)); }
  const std::set<std::string> &getAbsent() const { return absent; }

private:
  struct File {
    std::string name;
    std::unique_ptr<llvm::MemoryBuffer> buffer;
    std::vector<uint32_t> lineStarts; // offset of each line's first byte
  };

  FileID add(llvm::StringRef name, std::unique_ptr<llvm::MemoryBuffer> buffer);
  const File *find(FileID file) const;

  Reader reader;
  std::vector<File> files;
  std::set<std::string> absent;
};

} // namespace tile

#endif
