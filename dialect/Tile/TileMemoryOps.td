// Views of memory and accesses through them.
#ifndef TILE_MEMORY_OPS
#define TILE_MEMORY_OPS

include "dialect/Tile/TileOpBase.td"

def Tile_ViewOp : Tile_Op<"view", [Pure, AttrSizedOperandSegments]> {
  let summary = "a tensor parameter as a view";
  let description = [{
    Extents and strides are in elements, slowest dimension first. A tensor of i4 may be viewed as
    i8, pairs of elements.
    ```mlir
    %v = tile.view %x [%m, %n] strides [%n, %c1] : !tile.ptr<f16> -> !tile.view<?x?xf16>
    ```
  }];
  let arguments = (ins Tile_PointerType:$base, Variadic<Index>:$extents, Variadic<Index>:$strides);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = [{
    $base `[` $extents `]` `strides` `[` $strides `]` attr-dict `:` type($base) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_SubviewOp : Tile_Op<"subview", [Pure, AttrSizedOperandSegments]> {
  let summary = "part of a view";
  let description = [{
    For each dimension of the source `kinds` says: 0 (index) drops it at the next of `indices`,
    where an index out of bounds makes the whole result empty (all extents 0; a rank-0 result reads
    as padding); 1 (all) keeps it; 2 (slice) keeps the window [low, high) with both ends clamped
    into the source, empty if reversed.
    ```mlir
    %s = tile.subview %v indices [%b] lows [%lo] highs [%hi] {kinds = array<i32: 0, 2, 1>}
       : !tile.view<?x?x?xf16> -> !tile.view<?x?xf16>
    ```
  }];
  let arguments = (ins Tile_ViewType:$source, Variadic<Index>:$indices, Variadic<Index>:$lows,
      Variadic<Index>:$highs, DenseI32ArrayAttr:$kinds);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = [{
    $source `indices` `[` $indices `]` `lows` `[` $lows `]` `highs` `[` $highs `]` attr-dict
    `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::tile::SubscriptKind getKind(unsigned dim) {
      return static_cast<::tile::SubscriptKind>(getKinds()[dim]);
    }
  }];
}

def Tile_PermuteViewOp : Tile_Op<"permute_view", [Pure]> {
  let summary = "a view with its dimensions reordered";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the source.
    ```mlir
    %t = tile.permute_view %v {permutation = array<i64: 1, 0>}
        : !tile.view<?x?xf16> -> !tile.view<?x?xf16>
    ```
  }];
  let arguments = (ins Tile_ViewType:$source, DenseI64ArrayAttr:$permutation);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ExtentOp : Tile_Op<"extent", [Pure]> {
  let summary = "extent of a view along a dimension";
  let description = [{
    ```mlir
    %n = tile.extent %v 1 : !tile.view<?x?xf16>
    ```
  }];
  let arguments = (ins Tile_ViewType:$source, I64Attr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$source $dim attr-dict `:` type($source)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

// Every access is described alike. For dimension d of the view:
//   sizes[d] == -1: one element at position starts[d]; the dimension is dropped from the tile;
//   sizes[d] == -2: the positions stand in the next of the index tiles, in operations that have any
//     (TileIndexedOps.td);
//   else: sizes[d] elements at starts[d] + i * steps[d]; they are the tile's next dimension.
// A position exists if 0 <= position < extent and, where has_end[d], position < the next of `ends`.
// in_bounds[d] is set once it is proven that every position of dimension d exists.
class Tile_AccessOp<string opMnemonic, list<Trait> traits = []>
    : Tile_Op<opMnemonic, traits # [AttrSizedOperandSegments]> {
  dag access = (ins Tile_ViewType:$view, Variadic<Index>:$starts, Variadic<Index>:$ends,
      DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$steps, DenseBoolArrayAttr:$has_end,
      DenseBoolArrayAttr:$in_bounds);
  let hasVerifier = 1;
  code accessMethods = [{
    /// The end of dimension `dim`, or null where only the view's extent bounds it.
    ::mlir::Value getEnd(unsigned dim) {
      if (!getHasEnd()[dim]) return {};
      unsigned n = 0;
      for (unsigned d = 0; d < dim; ++d) n += getHasEnd()[d];
      return getEnds()[n];
    }
    bool isDropped(unsigned dim) { return getSizes()[dim] == -1; }
    bool isIndexed(unsigned dim) { return getSizes()[dim] == -2; }
    bool allInBounds() { return ::llvm::all_of(getInBounds(), [](bool b) { return b; }); }
    /// Shape of the tile accessed; empty for one element.
    ::llvm::SmallVector<int64_t> getTileShape() { return ::tile::getShapeOf(getTileType()); }
    /// For each dimension of the view the tile's dimension along which its range lies; -1 if it has
    /// no range.
    ::llvm::SmallVector<int64_t> getTileDims() { return ::tile::mapRangesToTile(getSizes(),
        getTileShape().size()); }
  }];
}

def Tile_LoadOp : Tile_AccessOp<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "read a tile, or one element, from a view";
  let description = [{
    Positions that do not exist, and those that `mask` clears, read as `pad` (a scalar of the view's
    element type). Loads and stores of one program to one tensor happen in program order.
    ```mlir
    %t = tile.load %v [%m, %k] ends [%e] pad %zero
        {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>,
         has_end = array<i1: false, true>, in_bounds = array<i1: false, false>}
        : !tile.view<?x?xf16> -> tensor<128x64xf16>
    ```
  }];
  let arguments = !con(access, (ins Tile_Scalar:$pad, Optional<Tile_TileOrScalar>:$mask,
      OptionalAttr<StrAttr>:$cache));
  let results = (outs Tile_TileOrScalar:$result);
  let assemblyFormat = [{
    $view `[` $starts `]` (`ends` `[` $ends^ `]`)? `pad` $pad `:` type($pad)
    (`mask` $mask^ `:` type($mask))? attr-dict
    `:` type($view) `->` type($result)
  }];
  let extraClassDeclaration = accessMethods # [{
    ::mlir::Type getTileType() { return getResult().getType(); }
  }];
}

def Tile_StoreOp : Tile_AccessOp<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "write a tile, or one element, to a view";
  let description = [{
    Positions that do not exist, and those that `mask` clears, are left alone.
    ```mlir
    tile.store %t, %v [%m, %n] {sizes = …, steps = …, has_end = …, in_bounds = …}
        : tensor<128x64xf16>, !tile.view<?x?xf16>
    ```
  }];
  let arguments = !con((ins Tile_TileOrScalar:$value), access,
      (ins Optional<Tile_TileOrScalar>:$mask, OptionalAttr<StrAttr>:$cache));
  let assemblyFormat = [{
    $value `,` $view `[` $starts `]` (`ends` `[` $ends^ `]`)? (`mask` $mask^ `:` type($mask))?
    attr-dict
    `:` type($value) `,` type($view)
  }];
  let extraClassDeclaration = accessMethods # [{
    ::mlir::Type getTileType() { return getValue().getType(); }
  }];
}

def Tile_InsideOp : Tile_AccessOp<"inside", [Pure]> {
  let summary = "which positions of an access exist";
  let description = [{
    The bool tile of the positions that a load or store of the same subscripts would touch.
    ```mlir
    %i = tile.inside %v[%m, %k]
        {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>,
         in_bounds = array<i1: false, true>} : !tile.view<?x?xf16> -> tensor<128x64xi1>
    ```
  }];
  let arguments = !con(access, (ins));
  let results = (outs Tile_TileOrScalar:$result);
  let assemblyFormat = [{
    $view `[` $starts `]` (`ends` `[` $ends^ `]`)? attr-dict `:` type($view) `->` type($result)
  }];
  let extraClassDeclaration = accessMethods # [{
    ::mlir::Type getTileType() { return getResult().getType(); }
  }];
}

#endif
