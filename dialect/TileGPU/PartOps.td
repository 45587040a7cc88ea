// Operations of a split loop: programs that share a tile leave their parts of its sums in scratch
// memory, where the last to arrive combines them; or, as blocks of a cluster, they read each
// other's shared memory, and each has a slice of the tile.
#ifndef TILE_GPU_PART_OPS
#define TILE_GPU_PART_OPS

include "dialect/TileGPU/TileGPUOpBase.td"

def TileGPU_PartArriveOp
    : TileGPU_Op<"part_arrive", [MemoryEffects<[MemRead, MemWrite]>, TileGPU_OwnsSharedMemory]> {
  let summary = "leave this part's sums in scratch memory; is it the last of its tile to do so?";
  let description = [{
    `parts` programs work on a tile together; `first` is the record in scratch memory of their
    first, `part` is this program's number among them. All threads get the same answer. Everything
    that the other parts have stored before they arrived can be read once it is true. The kernel is
    given scratch memory that was zero before its first launch; at its end the count of each tile is
    zero again.
    ```mlir
    %last = tile_gpu.part_arrive %sum at %first, %part of %parts : tensor<64x64xf32>
    ```
  }];
  let arguments = (ins Variadic<TileGPU_Tile>:$sums, Index:$first, Index:$part, Index:$parts);
  let results = (outs I1:$last);
  let assemblyFormat = "$sums `at` $first `,` $part `of` $parts attr-dict `:` type($sums)";
  let hasVerifier = 1;
}

def TileGPU_PartCombineOp : TileGPU_Op<"part_combine", [MemoryEffects<[MemRead]>]> {
  let summary = "the sums of all parts, combined in the order of the parts";
  let description = [{
    Stands where `part_arrive` of the same sums has said that this part is the last. `kinds` are
    those of reductions.
    ```mlir
    %total = tile_gpu.part_combine %sum at %first of 4 {kinds = array<i32: 0>} : tensor<64x64xf32>
    ```
  }];
  let arguments = (ins Variadic<TileGPU_Tile>:$sums, Index:$first, I64Attr:$parts,
      DenseI32ArrayAttr:$kinds);
  let results = (outs Variadic<TileGPU_Tile>:$totals);
  let assemblyFormat = "$sums `at` $first `of` $parts attr-dict `:` type($sums) `->` type($totals)";
  let hasVerifier = 1;
}

def TileGPU_PartLoadOp : TileGPU_Op<"part_load", [MemoryEffects<[MemRead]>]> {
  let summary = "the state that one part has left";
  let description = [{
    Stands where `part_arrive` of the same `states` has said that this part is the last. `states`
    are this part's own, in whose layouts the result is; `record` is the number of the record to
    read.
    ```mlir
    %state = tile_gpu.part_load %own at %record : tensor<64x64xf32> -> tensor<64x64xf32>
    ```
  }];
  let arguments = (ins Variadic<TileGPU_Tile>:$states, Index:$record);
  let results = (outs Variadic<TileGPU_Tile>:$results);
  let assemblyFormat = "$states `at` $record attr-dict `:` type($states) `->` type($results)";
  let hasVerifier = 1;
}

def TileGPU_PartShareOp
    : TileGPU_Op<"part_share", [MemoryEffects<[MemRead, MemWrite]>, TileGPU_OwnsSharedMemory]> {
  let summary = "show the other parts of a tile, blocks of one cluster, this part's state";
  let description = [{
    Leaves the states in shared memory and waits until all blocks of the cluster have done so. The
    result is the place of the states, the same in all blocks.
    ```mlir
    %place = tile_gpu.part_share %sum : tensor<64x64xf32>
    ```
  }];
  let arguments = (ins Variadic<TileGPU_Tile>:$states);
  let results = (outs I32:$place);
  let assemblyFormat = "$states attr-dict `:` type($states)";
  let hasVerifier = 1;
}

def TileGPU_PartReadOp : TileGPU_Op<"part_read", [MemoryEffects<[MemRead]>]> {
  let summary = "a slice of the states that one part shows";
  let description = [{
    The states that block `part` of the cluster has left at `place`; where `dims` names a dimension
    and not -1, the slice number `slice` of `parts` along it.
    ```mlir
    %s = tile_gpu.part_read 3 of 4 at %place slice %part {dims = array<i64: 0>} : tensor<16x64xf32>
    ```
  }];
  let arguments = (ins I32:$place, I64Attr:$part, I64Attr:$parts, Index:$slice,
      DenseI64ArrayAttr:$dims);
  let results = (outs Variadic<TileGPU_Tile>:$slices);
  let assemblyFormat = [{
    $part `of` $parts `at` $place `slice` $slice attr-dict `:` type($slices)
  }];
  let extraClassDeclaration = [{
    /// The type of the state that result `i` is a slice of, without a layout.
    ::mlir::RankedTensorType getWhole(unsigned i);
  }];
  let hasVerifier = 1;
}

def TileGPU_PartReleaseOp : TileGPU_Op<"part_release", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "this part has read what it needs of the others";
  let description = [{
    Stands behind the last `part_read`. A kernel with it ends when all blocks of the cluster have
    come there, so that no block's shared memory goes before others have read it.
  }];
  let assemblyFormat = "attr-dict";
}

#endif
