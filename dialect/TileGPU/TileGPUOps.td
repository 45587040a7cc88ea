// Operations of the tile_gpu dialect.
#ifndef TILE_GPU_OPS
#define TILE_GPU_OPS

include "dialect/TileGPU/TileGPUOpBase.td"
include "dialect/TileGPU/CopyOps.td"
include "dialect/TileGPU/PartOps.td"
include "dialect/TileGPU/RingOps.td"
include "dialect/TileGPU/TmaOps.td"
include "dialect/TileGPU/WgmmaOps.td"

def TileGPU_ConvertLayoutOp : TileGPU_Op<"convert_layout", [Pure, TileGPU_OwnsSharedMemory]> {
  let summary = "the same tile, held by other threads";
  let description = [{
    ```mlir
    %b = tile_gpu.convert_layout %a : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #fragments>
    ```
  }];
  let arguments = (ins TileGPU_DealtTile:$source);
  let results = (outs TileGPU_DealtTile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TileGPU_WarpReduceOp : TileGPU_Op<"warp_reduce", [Pure]> {
  let summary = "what each warp comes to when it reduces its own part of a tile";
  let description = [{
    As `tile.reduce` without its exchange between warps. The axis, or without one all of them as
    one, counts the warps that lie along it. `join_warps` does the rest.
    ```mlir
    %p = tile_gpu.warp_reduce max %x axis 1
        : tensor<16x512xf32, #rows> -> tensor<16x4xf32, #warps>
    ```
  }];
  let arguments = (ins Tile_ReduceKind:$kind, TileGPU_Tile:$source, OptionalAttr<I64Attr>:$axis);
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = [{
    $kind $source (`axis` $axis^)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TileGPU_JoinWarpsOp : TileGPU_Op<"join_warps", [Pure, TileGPU_OwnsSharedMemory]> {
  let summary = "combine what the warps have come to in several reductions, at one barrier";
  let description = [{
    `kinds` are those of reductions, `axes` the axis of each part that counts warps; it is dropped.
    ```mlir
    %m, %s = tile_gpu.join_warps %p, %q {kinds = array<i32: 2, 0>, axes = array<i64: 1, 0>}
        : (tensor<16x4xf32, #warps>, tensor<4xf32, #line>) -> (tensor<16xf32, #rows>, f32)
    ```
  }];
  let arguments = (ins Variadic<TileGPU_Tile>:$parts, DenseI32ArrayAttr:$kinds,
      DenseI64ArrayAttr:$axes);
  let results = (outs Variadic<Tile_TileOrScalar>:$results);
  let assemblyFormat = "$parts attr-dict `:` functional-type($parts, $results)";
  let hasVerifier = 1;
}

def TileGPU_WarpAllOp : TileGPU_Op<"warp_all", [Pure]> {
  let summary = "true for a warp if the mask is true for all elements that it holds";
  let description = [{
    Warps may differ: what stands under it must be for each warp to do alone.
    ```mlir
    %all = tile_gpu.warp_all %mask : tensor<128xi1, #rows>
    ```
  }];
  let arguments = (ins TileGPU_DealtTile:$mask);
  let results = (outs I1:$result);
  let assemblyFormat = "$mask attr-dict `:` type($mask)";
}

def TileGPU_LocalAllocOp
    : TileGPU_Op<"local_alloc", [MemoryEffects<[MemAlloc, MemWrite]>, TileGPU_OwnsSharedMemory]> {
  let summary = "store a tile to fresh shared memory";
  let description = [{
    ```mlir
    %m = tile_gpu.local_alloc %t
        : tensor<128x64xf16, #rows> -> !tile_gpu.memdesc<128x64xf16, #shared>
    ```
  }];
  let arguments = (ins TileGPU_DealtTile:$source);
  let results = (outs TileGPU_MemDescType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def TileGPU_PrivateStoreOp : TileGPU_Op<"private_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "store a tile where each thread finds what it holds again";
  let description = [{
    Each thread's elements lie side by side, all of its registers, in an order that nobody else
    knows: what `private_load` of the same layout reads. No barrier stands between the two.
    ```mlir
    tile_gpu.private_store %t into %m
        : tensor<4096xf16, #rows>, !tile_gpu.memdesc<2048xi32, #shared>
    ```
  }];
  let arguments = (ins TileGPU_DealtTile:$source, TileGPU_MemDescType:$memory);
  let assemblyFormat = "$source `into` $memory attr-dict `:` type($source) `,` type($memory)";
  let hasVerifier = 1;
}

def TileGPU_PrivateLoadOp : TileGPU_Op<"private_load", [MemoryEffects<[MemRead]>]> {
  let summary = "read what each thread has stored itself";
  let description = [{
    ```mlir
    %t = tile_gpu.private_load %m
        : !tile_gpu.memdesc<2048xi32, #shared> -> tensor<4096xf16, #rows>
    ```
  }];
  let arguments = (ins TileGPU_MemDescType:$memory);
  let results = (outs TileGPU_DealtTile:$result);
  let assemblyFormat = "$memory attr-dict `:` type($memory) `->` type($result)";
  let hasVerifier = 1;
}

def TileGPU_MemDescPermuteOp : TileGPU_Op<"memdesc_permute", [Pure]> {
  let summary = "a tile in shared memory with its dimensions reordered; nothing moves";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the source; the layout's order
    changes with it.
    ```mlir
    %t = tile_gpu.memdesc_permute %m {permutation = array<i64: 1, 0>}
       : !tile_gpu.memdesc<128x64xf16, #rows> -> !tile_gpu.memdesc<64x128xf16, #columns>
    ```
  }];
  let arguments = (ins TileGPU_MemDescType:$source, DenseI64ArrayAttr:$permutation);
  let results = (outs TileGPU_MemDescType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def TileGPU_MemDescJoinOp : TileGPU_Op<"memdesc_join", [Pure]> {
  let summary = "tiles in shared memory that lie one behind the other, as one; nothing moves";
  let description = [{
    Along `dim` the result has the sources' positions one after the other, in a layout in which
    their bytes follow each other. The sources are neighbours in the slot of a ring; before there
    are rings, they are fetched one right after the other, and read by the same operation first.
    ```mlir
    %m = tile_gpu.memdesc_join %a, %b {dim = 1 : i64}
        : !tile_gpu.memdesc<64x64xf16, #s> -> !tile_gpu.memdesc<64x128xf16, #s>
    ```
  }];
  let arguments = (ins Variadic<TileGPU_MemDescType>:$sources, I64Attr:$dim);
  let results = (outs TileGPU_MemDescType:$result);
  let assemblyFormat = "$sources attr-dict `:` type($sources) `->` type($result)";
  let extraClassDeclaration = [{
    /// Whether tiles of type `part`, one behind the other, lie as `whole` with its extents along
    /// `dim` does.
    static bool follow(MemDescType part, MemDescType whole, int64_t dim);
  }];
  let hasVerifier = 1;
}

def TileGPU_UnpackOp : TileGPU_Op<"unpack", [Pure]> {
  let summary = "the two integers of 4 bits in each byte";
  let description = [{
    Elements 2i and 2i + 1 along the last dimension are the lower and the upper half of the source's
    element i. A thread holds both in neighbouring registers; nothing moves.
    ```mlir
    %w = tile_gpu.unpack %b : tensor<128x32xi8, #bytes> -> tensor<128x64xi4, #halves>
    ```
  }];
  let arguments = (ins TileGPU_Tile:$source);
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def TileGPU_LocalLoadOp : TileGPU_Op<"local_load", [MemoryEffects<[MemRead]>]> {
  let summary = "read a tile, or a part of one, from shared memory into registers";
  let description = [{
    With `offsets` the part that begins there, at multiples of the part's extents.
    ```mlir
    %a = tile_gpu.local_load %m
        : !tile_gpu.memdesc<128x64xf16, #shared> -> tensor<128x64xf16, #fragments>
    %p = tile_gpu.local_load %m at [0, 16]
        : !tile_gpu.memdesc<128x64xf16, #shared> -> tensor<128x16xf16, #part>
    ```
  }];
  let arguments = (ins TileGPU_MemDescType:$source,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$offsets);
  let results = (outs TileGPU_DealtTile:$result);
  let assemblyFormat = "$source (`at` $offsets^)? attr-dict `:` type($source) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$source), [{
    build($_builder, $_state, result, source, ::llvm::ArrayRef<int64_t>());
  }]>];
  let hasVerifier = 1;
}

def TileGPU_ExtractPartOp : TileGPU_Op<"extract_part", [Pure]> {
  let summary = "a part of a tile whose elements the same threads hold";
  let description = [{
    The result's layout gives each thread elements that it holds already; nothing moves.
    ```mlir
    %p = tile_gpu.extract_part %a at [0, 16]
        : tensor<128x64xf16, #fragments> -> tensor<128x16xf16, #part>
    ```
  }];
  let arguments = (ins TileGPU_DealtTile:$source, DenseI64ArrayAttr:$offsets);
  let results = (outs TileGPU_DealtTile:$result);
  let assemblyFormat = "$source `at` $offsets attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def TileGPU_JoinPartsOp : TileGPU_Op<"join_parts", [Pure]> {
  let summary = "a tile of parts side by side, whose elements the same threads hold";
  let description = [{
    The opposite of `extract_part`: each thread holds what it held of the parts; nothing moves.
    ```mlir
    %a = tile_gpu.join_parts %p, %q {dim = 1 : i64} : tensor<128x16xf16, #part>,
        tensor<128x16xf16, #part> -> tensor<128x32xf16, #fragments>
    ```
  }];
  let arguments = (ins Variadic<TileGPU_DealtTile>:$parts, I64Attr:$dim);
  let results = (outs TileGPU_DealtTile:$result);
  let assemblyFormat = "$parts attr-dict `:` type($parts) `->` type($result)";
  let hasVerifier = 1;
}

def TileGPU_ShiftOp : TileGPU_Op<"shift", [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "a tile moved by one position along a dimension";
  let description = [{
    Along `dim` lies one element of `edge` for each block of so many elements of `source`. Element i
    of a block is element i + `offset` (1 or -1) of the same block of the source, and the edge's
    where that has none. Elements move between a thread's registers and, where blocks are wider,
    between lanes (ShiftPlan.h).
    ```mlir
    %b = tile_gpu.shift %a, %e {dim = 1, offset = -1}
        : tensor<4x128xf32, #rows>, tensor<4x1xf32, #edge>
    ```
  }];
  let arguments = (ins TileGPU_Tile:$source, TileGPU_Tile:$edge, I64Attr:$dim, I64Attr:$offset);
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = "$source `,` $edge attr-dict `:` type($source) `,` type($edge)";
  let hasVerifier = 1;
}

def TileGPU_MmaOp : TileGPU_Op<"mma", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix product on tensor cores, operands in registers (mma.sync)";
  let description = [{
    a is [.., M, K] and b is [.., K, N] in the fragments' operand layouts, acc is [.., M, N] in the
    accumulator's layout; leading dimensions, if any, are batches, in the highest bits of the
    registers' numbers. f32 operands are rounded to tf32; 8-bit integers have a sign but for
    `unsigned_a` and `unsigned_b`. With `promote`, sums leave the tensor core after so many terms of
    K and are added to acc in its own precision. `valid` = [m, n, k]: as of `tile.dot`.

    8-bit floats that the target's tensor cores do not know are widened to f16 by the threads: their
    fragments are dealt out as those of 8 bits all the same.
    ```mlir
    %d = tile_gpu.mma %a, %b, %c
        : tensor<64x32xf16, #a>, tensor<32x64xf16, #b>, tensor<64x64xf32, #c>
    ```
  }];
  let arguments = (ins TileGPU_DealtTile:$a, TileGPU_DealtTile:$b, TileGPU_DealtTile:$acc,
      UnitAttr:$unsigned_a, UnitAttr:$unsigned_b, OptionalAttr<I64Attr>:$promote,
      OptionalAttr<DenseI64ArrayAttr>:$valid);
  let results = (outs TileGPU_DealtTile:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`unsigned_a` $unsigned_a^)? (`unsigned_b` $unsigned_b^)?
    (`promote` $promote^)? attr-dict `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def TileGPU_FmaDotOp
    : TileGPU_Op<"fma_dot", [MemoryEffects<[MemRead]>, AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix product by scalar multiply-add, operands in shared memory";
  let description = [{
    For full-precision f32, f64 where tensor cores have none, and tiles too small for them. Operands
    are converted to the accumulator's element type, exactly; integers by sign, or by zeros with
    `unsigned_a` and `unsigned_b`. acc is [.., M, N] in a blocked layout, leading dimensions are
    batches. `valid` = [m, n, k]: as of `tile.dot`.
    ```mlir
    %d = tile_gpu.fma_dot %a, %b, %c
       : !tile_gpu.memdesc<64x32xf32, #shared>, !tile_gpu.memdesc<32x64xf32, #shared>,
           tensor<64x64xf32, #blocked>
    ```
  }];
  let arguments = (ins TileGPU_MemDescType:$a, TileGPU_MemDescType:$b, TileGPU_DealtTile:$acc,
      UnitAttr:$unsigned_a, UnitAttr:$unsigned_b, OptionalAttr<DenseI64ArrayAttr>:$valid);
  let results = (outs TileGPU_DealtTile:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`unsigned_a` $unsigned_a^)? (`unsigned_b` $unsigned_b^)? attr-dict
    `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def TileGPU_BarrierOp : TileGPU_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait for all threads of the block, and for their accesses to shared memory";
  let description = [{
    ```mlir
    tile_gpu.barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif
