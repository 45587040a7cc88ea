// The interface by which an operation says what it needs of shared memory.
#ifndef TILE_GPU_SHARED_MEMORY_INTERFACE
#define TILE_GPU_SHARED_MEMORY_INTERFACE

include "mlir/IR/OpBase.td"

def TileGPU_SharedMemoryOpInterface : OpInterface<"SharedMemoryOpInterface"> {
  let cppNamespace = "::tile::gpu";
  let description = [{
    An operation that owns shared memory: tiles that it allocates, or scratch through which its
    threads exchange values. Allocation, barriers and the passes that plan with shared memory ask
    this interface and name no operation. Operations of tile_gpu implement it themselves; those of
    the tile dialect, which knows no shared memory, by external models (`SharedMemoryModels.cpp`).
    An operation without the interface needs none.
  }];
  let methods = [
    InterfaceMethod<"The use and its size, for the layouts that the operation's types have now.",
                    "::tile::gpu::SharedNeed", "getSharedNeed">
  ];
}

#endif
