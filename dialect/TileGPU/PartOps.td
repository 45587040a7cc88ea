// Operations of a split loop: programs that share a tile leave their parts of its sums, the last to
// arrive combines them.
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

#endif
