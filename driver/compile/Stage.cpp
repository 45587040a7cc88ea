// Names and file endings of the stages.
#include "driver/compile/Stage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace tile {

ArrayRef<StringRef> getStageNames() {
  static const StringRef names[] = {"ast", "tile",  "tile-opt", "gpu", "llvm",
                                    "ptx", "cubin", "sass",     "obj"};
  return names;
}

std::optional<Stage> findStage(StringRef name) {
  ArrayRef<StringRef> names = getStageNames();
  const StringRef *found = llvm::find(names, name);
  if (found == names.end())
    return std::nullopt;
  return Stage(found - names.begin());
}

std::optional<Stage> stageOfFile(StringRef path) {
  return StringSwitch<std::optional<Stage>>(sys::path::extension(path))
      .Case(".ast", Stage::Ast)
      .Case(".mlir", Stage::Tile)
      .Case(".ll", Stage::LLVM)
      .Case(".ptx", Stage::PTX)
      .Case(".cubin", Stage::Cubin)
      .Case(".sass", Stage::Sass)
      .Case(".o", Stage::Obj)
      .Default(std::nullopt);
}

StringRef getEnding(Stage stage) {
  switch (stage) {
  case Stage::Ast:
    return ".ast";
  case Stage::Tile:
    return ".tile.mlir";
  case Stage::TileOpt:
    return ".tile-opt.mlir";
  case Stage::GPU:
    return ".gpu.mlir";
  case Stage::LLVM:
    return ".ll";
  case Stage::PTX:
    return ".ptx";
  case Stage::Cubin:
    return ".cubin";
  case Stage::Sass:
    return ".sass";
  case Stage::Obj:
    return ".o";
  }
  return "";
}

} // namespace tile
