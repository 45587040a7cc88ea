// Names that the front end, the lowering for the CPU and the debugger share: probes, the places of
// a kernel at which `tilec debug` looks.
#ifndef TILE_DIALECT_PROBENAMES_H
#define TILE_DIALECT_PROBENAMES_H

#include "llvm/ADT/StringRef.h"

namespace tile {

/// Of a tile.print that only `tilec debug` makes: its values go to the debugger instead of standard
/// error, and this is the place's number in the debugger's table (i64). Without values it stands
/// before a statement. `format` is the variable that has the value, empty for one in between.
inline constexpr llvm::StringLiteral probeSiteName = "probe";
/// The variable's dtype as the language spells it (string).
inline constexpr llvm::StringLiteral probeDtypeName = "probe_dtype";

/// The symbol that the debugger defines for a probe: its data, whose address comes first in each
/// call; a statement begins (site), an element (site, its number, value), all elements were given
/// (site).
inline constexpr llvm::StringLiteral probeDataName = "tile_probe_data";
inline constexpr llvm::StringLiteral probeStopName = "tile_probe_stop";
inline constexpr llvm::StringLiteral probeFloatName = "tile_probe_float";
inline constexpr llvm::StringLiteral probeIntegerName = "tile_probe_integer";
inline constexpr llvm::StringLiteral probeDoneName = "tile_probe_done";

} // namespace tile

#endif
