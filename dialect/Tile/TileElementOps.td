// Element-wise operations that upstream does not have: they keep their meaning on scalars, tiles
// and vectors alike.
#ifndef TILE_ELEMENT_OPS
#define TILE_ELEMENT_OPS

include "dialect/Tile/TileOpBase.td"

def Tile_LookupOp : Tile_Op<"lookup", !listconcat([Pure], ElementwiseMappable.traits)> {
  let summary = "elements of a constant table at positions of the run";
  let description = [{
    `table` has rank 1. Positions are clamped to it, so none is out of bounds. A constant tile is a
    lookup at its own positions; `take` from one is a lookup at the positions that are asked for.
    ```mlir
    %x = tile.lookup %p in dense<[-1.0, 0.0, 1.0]> : tensor<3xf32>
        : tensor<8x64xi32> -> tensor<8x64xf32>
    ```
  }];
  let arguments = (ins SignlessIntegerOrIndexLike:$position, ElementsAttr:$table);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$position `in` $table attr-dict `:` type($position) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_RandomBitsOp : Tile_Op<"random_bits", !listconcat([Pure], ElementwiseMappable.traits)> {
  let summary = "32 random bits for each position, by Philox4x32-10";
  let description = [{
    Word p % 4 of the block that the generator of Salmon et al., "Parallel random numbers: as easy
    as 1, 2, 3" (SC'11), makes of the counter p / 4 under the key `seed`. Both are 64 bits without
    sign; the counter's upper half is zero. The same on every target.
    ```mlir
    %b = tile.random_bits %seed, %p : tensor<256xi64>, tensor<256xi64> -> tensor<256xi32>
    ```
  }];
  let arguments = (ins SignlessIntegerLike:$seed, SignlessIntegerLike:$position);
  let results = (outs SignlessIntegerLike:$result);
  let assemblyFormat = [{
    $seed `,` $position attr-dict `:` type($seed) `,` type($position) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_RoundFloat8Op : Tile_Op<"round_float8", !listconcat([Pure], ElementwiseMappable.traits)> {
  let summary = "floats as 8-bit floats, saturated to finite";
  let description = [{
    Rounded once, to nearest even. What is beyond the largest finite number, infinity too, becomes
    that number; NaN stays NaN. Unlike `arith.truncf`, of which infinity stays infinity where the
    format has one, and which is folded away behind an `arith.extf`.
    ```mlir
    %y = tile.round_float8 %x : tensor<64xf32> -> tensor<64xf8E5M2>
    ```
  }];
  let arguments = (ins FloatLike:$source);
  let results = (outs FloatLike:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif
