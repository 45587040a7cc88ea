// The stages of a compilation as text, each line with the places of the source that it comes from.
#ifndef TILE_DRIVER_REPORT_LISTING_H
#define TILE_DRIVER_REPORT_LISTING_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <string>
#include <vector>

namespace tile::report {

/// A line of a source file: the file's number in a FileTable, and the line's, from 1.
struct Place {
  unsigned file = 0, line = 0;
  bool operator==(const Place &other) const { return file == other.file && line == other.line; }
};

/// Whether two paths end alike, at the border of a folder: debug information may name a file by its
/// whole path.
bool isSameFile(llvm::StringRef a, llvm::StringRef b);

/// The files that places name, in the order in which they come up. The first is the input.
class FileTable {
public:
  unsigned getNumber(llvm::StringRef name);
  const std::vector<std::string> &getNames() const { return names; }

private:
  std::vector<std::string> names;
};

/// The text of one stage.
struct Listing {
  std::string stage, title;
  std::vector<std::string> lines;
  std::vector<std::vector<Place>> places; ///< of each line: the innermost first, then its calls

  /// {"stage", "title", "text", "places": [[line, file, line, …], …]}: a row for each line that has
  /// places.
  llvm::json::Object toJson() const;
};

/// The places of an operation's location, the innermost first, each once.
std::vector<Place> getPlaces(mlir::Location location, FileTable &files);

/// A module of any dialect. Long encodings are written as #L0, #S0, …, numbered by `shorten`.
class Encodings;
Listing listModule(mlir::ModuleOp module, llvm::StringRef stage, llvm::StringRef title,
                   FileTable &files, Encodings &encodings);

/// PTX, by its .loc directives, which are left out of the text.
Listing listPTX(llvm::StringRef text, FileTable &files);

/// Reads the output of nvdisasm with -g -c, by its "//## File" comments, which are left out.
Listing listSass(llvm::StringRef text, FileTable &files);

/// Short names for the encodings that listings and drawings share: the text of an attribute by its
/// name, in the order in which they come up.
class Encodings {
public:
  /// Replaces each #tile_gpu.linear<…> and #tile_gpu.shared<…> of `text` by its name.
  std::string shorten(llvm::StringRef text);
  std::string getName(llvm::StringRef attribute);

private:
  std::map<std::string, std::string> names;
  unsigned linear = 0, shared = 0;
};

} // namespace tile::report

#endif
