// Every pass of the compiler: one definition here, one .cpp file, one folder of tests. One section for each folder.
#ifndef TILE_PASSES
#define TILE_PASSES

include "mlir/Pass/PassBase.td"

//===--- Tile: target-independent ----------------------------------------------------------------------------------===//

//===--- TileGPU: layouts, shared memory, tensor cores -------------------------------------------------------------===//

//===--- Convert: the CPU path -------------------------------------------------------------------------------------===//

//===--- Convert: the GPU path -------------------------------------------------------------------------------------===//

#endif
