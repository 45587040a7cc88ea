// The stages of a compilation, in order. They are the kinds of --emit, the arguments of
// --stop-after and the names of dumps.
#ifndef TILE_DRIVER_COMPILE_STAGE_H
#define TILE_DRIVER_COMPILE_STAGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace tile {

enum class Stage { Ast, Tile, TileOpt, GPU, LLVM, PTX, Cubin, Sass, Obj };

/// "ast", "tile", "tile-opt", "gpu", "llvm", "ptx", "cubin", "sass", "obj", in the order of Stage.
llvm::ArrayRef<llvm::StringRef> getStageNames();
inline llvm::StringRef getStageName(Stage stage) { return getStageNames()[size_t(stage)]; }
std::optional<Stage> findStage(llvm::StringRef name);

/// The stage that a file of that name holds, by its ending.
std::optional<Stage> stageOfFile(llvm::StringRef path);

/// The usual ending of a stage's files, with the dot.
llvm::StringRef getEnding(Stage stage);

/// Only the stages ptx, cubin and obj are written together with a manifest.
inline bool hasManifest(Stage stage) { return stage >= Stage::PTX && stage != Stage::Sass; }
inline bool isBinary(Stage stage) { return stage == Stage::Cubin || stage == Stage::Obj; }

} // namespace tile

#endif
