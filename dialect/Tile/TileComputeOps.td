// Tile operations that upstream has only in destination-passing form, or not at all.
#ifndef TILE_COMPUTE_OPS
#define TILE_COMPUTE_OPS

include "dialect/Tile/TileOpBase.td"

def Tile_IotaOp : Tile_Op<"iota", [Pure]> {
  let summary = "positions of an index range";
  let description = [{
    Element i is start + i * step; the tile has rank 1 and element type index.
    ```mlir
    %p = tile.iota %start step 1 : tensor<128xindex>
    ```
  }];
  let arguments = (ins Index:$start, I64Attr:$step);
  let results = (outs RankedTensorOf<[Index]>:$result);
  let assemblyFormat = "$start `step` $step attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "repeat a tile along dimensions of extent 1, or along new leading ones";
  let description = [{
    Shapes are aligned at the right as in NumPy. A scalar becomes a tile by `tensor.splat` instead.
    ```mlir
    %b = tile.broadcast %t : tensor<128x1xf32> -> tensor<128x64xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure]> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    ```mlir
    %r = tile.reshape %t : tensor<128xf32> -> tensor<128x1xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_PermuteOp : Tile_Op<"permute", [Pure]> {
  let summary = "a tile with its dimensions reordered";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the source. A transpose is
    `array<i64: 1, 0>`.
    ```mlir
    %t = tile.permute %s {permutation = array<i64: 1, 0>} : tensor<128x64xf16> -> tensor<64x128xf16>
    ```
  }];
  let arguments = (ins Tile_Tile:$source, DenseI64ArrayAttr:$permutation);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "combine a tile's elements along one axis, or along all of them";
  let description = [{
    Without `axis` the result is a scalar. Operands are regrouped, never reordered. `max` and `min`
    propagate NaN and take -0.0 < 0.0; on integers they are signed unless `_unsigned`. `and`/`or`
    are bitwise. f16 and bf16 are summed in f32: the source has been extended before.
    ```mlir
    %m = tile.reduce max %t axis 1 : tensor<128x64xf32> -> tensor<128xf32>
    %s = tile.reduce sum %t : tensor<64xf32> -> f32
    ```
  }];
  let arguments = (ins Tile_ReduceKind:$kind, Tile_Tile:$source, OptionalAttr<I64Attr>:$axis);
  let results = (outs Tile_TileOrScalar:$result);
  let assemblyFormat = [{
    $kind $source (`axis` $axis^)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ArgReduceOp : Tile_Op<"arg_reduce", [Pure]> {
  let summary = "position of the largest or smallest element along an axis";
  let description = [{
    Ties take the lowest position; a NaN counts as the extreme. Without `axis` the position is in
    row-major order over the whole tile. The result's element type is index.
    ```mlir
    %p = tile.arg_reduce argmax %t axis 1 : tensor<128x64xf32> -> tensor<128xindex>
    ```
  }];
  let arguments = (ins Tile_ArgReduceKind:$kind, Tile_Tile:$source, OptionalAttr<I64Attr>:$axis);
  let results = (outs Tile_TileOrScalar:$result);
  let assemblyFormat = [{
    $kind $source (`axis` $axis^)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ScanOp : Tile_Op<"scan", [RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "combine each element with all before it along an axis";
  let description = [{
    Element i of the result is x[0] . x[1] . ... . x[i] (with `reverse` x[i] . ... . x[n - 1]) for
    the associative function that the region computes: for n tiles it gets n left, then n right
    scalars and yields n. Operands are regrouped, never reordered. The region holds element-wise
    operations on scalars alone.
    ```mlir
    %s = tile.scan %t axis 0 : tensor<256xi32> -> tensor<256xi32> {
    ^bb0(%left: i32, %right: i32):
      %sum = arith.addi %left, %right : i32
      tile.scan_yield %sum : i32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Tile>:$sources, I64Attr:$axis, UnitAttr:$reverse);
  let results = (outs Variadic<Tile_Tile>:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    $sources `axis` $axis (`reverse` $reverse^)? attr-dict
    `:` type($sources) `->` type($results) $combiner
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// May `op` stand in the region? It is element-wise on scalars, or a constant.
    static bool isCombinable(::mlir::Operation *op);
  }];
}

def Tile_ReduceByOp
    : Tile_Op<"reduce_by", [RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "combine a tile's elements along an axis by any associative function";
  let description = [{
    x[0] . x[1] . ... . x[n - 1] along `axis`, which is dropped, for the function that the region
    computes: for n tiles it gets n left, then n right scalars and yields n. Operands are regrouped,
    never reordered. The region is that of a scan.
    ```mlir
    %s = tile.reduce_by %t axis 1 : tensor<8x256xi32> -> tensor<8xi32> {
    ^bb0(%left: i32, %right: i32):
      %sum = arith.addi %left, %right : i32
      tile.scan_yield %sum : i32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Tile>:$sources, I64Attr:$axis);
  let results = (outs Variadic<Tile_TileOrScalar>:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    $sources `axis` $axis attr-dict `:` type($sources) `->` type($results) $combiner
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_ScanYieldOp
    : Tile_Op<"scan_yield", [Pure, Terminator, ParentOneOf<["ScanOp", "ReduceByOp"]>]> {
  let summary =
      "what the left and the right scalars of a scan or of a reduction by a function combine to";
  let description = [{
    ```mlir
    tile.scan_yield %sum : i32
    ```
  }];
  let arguments = (ins Variadic<Tile_Scalar>:$values);
  let assemblyFormat = "$values `:` type($values) attr-dict";
}

def Tile_MergePartsOp
    : Tile_Op<"merge_parts", [RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "merge the states that the parts of a split loop end with";
  let description = [{
    Takes all results of a loop with `tile.split`. Where several programs share the loop's trips,
    the results are the states of all parts, merged in the order of the parts by the associative
    function that the region computes: for n values it gets n of the earlier parts, then n of the
    next part, and yields n. The state that the loop begins with changes nothing. Where one program
    makes all trips, the results are the operands.
    ```mlir
    %m = tile.merge_parts %top : tensor<4xf32> -> tensor<4xf32> {
    ^bb0(%left: tensor<4xf32>, %right: tensor<4xf32>):
      %top = arith.maximumf %left, %right : tensor<4xf32>
      tile.merge_yield %top : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_TileOrScalar>:$states);
  let results = (outs Variadic<Tile_TileOrScalar>:$results);
  let regions = (region SizedRegion<1>:$merge);
  let assemblyFormat = "$states attr-dict `:` type($states) `->` type($results) $merge";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_MergeYieldOp : Tile_Op<"merge_yield", [Pure, Terminator, HasParent<"MergePartsOp">]> {
  let summary = "the state that two states of parts merge to";
  let description = [{
    ```mlir
    tile.merge_yield %top, %den : tensor<4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<Tile_TileOrScalar>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def Tile_TakeOp : Tile_Op<"take", [Pure]> {
  let summary = "elements of a tile along an axis at positions of the run";
  let description = [{
    Positions are clamped to the axis. With a scalar position the axis is dropped. A tile of
    positions has the result's shape: the source's dimensions before the axis, then those of the
    positions, then the source's behind it; element (a, p, b) of the result is
    source[a, position[a, p, b], b].
    ```mlir
    %x = tile.take %t[%i] axis 0 : tensor<256xi32>, index -> i32
    %y = tile.take %t[%p] axis 0 : tensor<16xf32>, tensor<8x64xi32> -> tensor<8x64xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$source, Tile_Position:$position, I64Attr:$axis);
  let results = (outs Tile_TileOrScalar:$result);
  let assemblyFormat = [{
    $source `[` $position `]` `axis` $axis attr-dict
    `:` type($source) `,` type($position) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_SortOp : Tile_Op<"sort", [Pure]> {
  let summary = "a tile's integers in ascending order along an axis";
  let description = [{
    Integers are compared as signed. Equal ones cannot be told apart, so there is no question of
    stability: what sorts by keys packs each key with its position (key above, position below) and
    takes what belongs to them afterwards. With `first` only so many of the smallest come out in
    order, and what stands behind them may be anything.
    ```mlir
    %s = tile.sort %t axis 1 : tensor<8x256xi64> -> tensor<8x256xi64>
    %k = tile.sort %t axis 1 first 4 : tensor<8x256xi64> -> tensor<8x256xi64>
    ```
  }];
  let arguments = (ins RankedTensorOf<[I32, I64]>:$source, I64Attr:$axis,
      OptionalAttr<I64Attr>:$first);
  let results = (outs RankedTensorOf<[I32, I64]>:$result);
  let assemblyFormat = [{
    $source `axis` $axis (`first` $first^)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_HistogramOp : Tile_Op<"histogram", [Pure]> {
  let summary = "how often each of 0 ... n - 1 occurs in a tile";
  let description = [{
    Element i of the result is the number of elements that are i; those that are negative or n and
    above are not counted.
    ```mlir
    %h = tile.histogram %t : tensor<1024xi32> -> tensor<256xi32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[I32]>:$source);
  let results = (outs RankedTensorOf<[I32]>:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix product of the last two dimensions, added to acc";
  let description = [{
    [.., M, K] x [.., K, N] + [.., M, N]; leading dimensions are batches. Products and sums are in
    the element type of `acc`. A transposed operand is a `tile.permute`. 8-bit integers of an
    operand are extended by sign, by zeros where it is unsigned: `unsigned_a`, `unsigned_b`.

    `valid` = [m, n, k] gives the product's own extents where tiles were padded: elements of the
    result outside m x n are padding and may have any value, and terms of K from k on are not added,
    whatever the operands hold there.
    ```mlir
    %c = tile.dot %a, %b, %acc precision full
        : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$a, Tile_Tile:$b, Tile_Tile:$acc, Tile_DotPrecision:$precision,
      UnitAttr:$unsigned_a, UnitAttr:$unsigned_b, OptionalAttr<DenseI64ArrayAttr>:$valid);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc `precision` $precision (`unsigned_a` $unsigned_a^)?
    (`unsigned_b` $unsigned_b^)? attr-dict `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

#endif
