// The dialects that the tools know: this project's, and those of MLIR that its passes read or
// write.
#ifndef TILE_DRIVER_DIALECTS_H
#define TILE_DRIVER_DIALECTS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace tile {

/// Adds every dialect and external interface model that a pass of the compiler may need. Loads
/// nothing.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace tile

#endif
