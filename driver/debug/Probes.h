// The places of a kernel at which the debugger looks: statements, and values.
#ifndef TILE_DRIVER_DEBUG_PROBES_H
#define TILE_DRIVER_DEBUG_PROBES_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace tile::debug {

/// A place in a source.
struct SourceLine {
  std::string file;
  unsigned line = 0, column = 0;
  bool operator==(const SourceLine &other) const {
    return file == other.file && line == other.line && column == other.column;
  }
};

/// A probe, by its number.
struct Site {
  /// The place itself, then the calls through which it is reached, the innermost first.
  std::vector<SourceLine> places;
  bool isStatement = false;
  bool isFloat = false;
  std::string name;  ///< of the variable; empty: a value in between
  std::string dtype; ///< as the language spells it, for variables
  std::string op;    ///< that computed a value in between
  std::vector<int64_t> shape;
  std::vector<unsigned> operands; ///< sites of what the operation took, as far as they have one

  unsigned getDepth() const { return unsigned(places.size()); }
};

/// Adds a probe behind every operation that computes floats, numbers all probes, and describes
/// them.
std::vector<Site> placeProbes(mlir::ModuleOp module);

} // namespace tile::debug

#endif
