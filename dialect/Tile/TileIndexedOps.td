// Accesses at positions of the run: gather, scatter, atomics.
#ifndef TILE_INDEXED_OPS
#define TILE_INDEXED_OPS

include "dialect/Tile/TileMemoryOps.td"

def Tile_IndexTile : RankedTensorOf<[Index]>;

// An access in which the positions along some dimensions (sizes[d] == -2, starts[d] is 0, steps[d]
// 1, no end) stand in tiles of index, one for each such dimension, of the shape of the tile that is
// moved. The front end has broadcast them: the shape that they have in common stands where the
// first of them stood, ranges keep their order around it. A position that is negative, or not below
// the extent, does not exist; nothing wraps around.
def Tile_GatherOp : Tile_AccessOp<"gather", [MemoryEffects<[MemRead]>]> {
  let summary = "read elements at positions of the run";
  let description = [{
    Rows `ids` of a matrix, columns 0 to 63:
    ```mlir
    %p = tile.broadcast %ids : tensor<8x1xindex> -> tensor<8x64xindex>
    %t = tile.gather %v[%c0, %c0] at[%p : tensor<8x64xindex>] pad %zero : f16
        {sizes = array<i64: -2, 64>, steps = array<i64: 1, 1>,
         has_end = array<i1: false, false>, in_bounds = array<i1: false, false>}
        : !tile.view<?x?xf16> -> tensor<8x64xf16>
    ```
  }];
  let arguments = !con(access, (ins Variadic<Tile_IndexTile>:$positions, Tile_Scalar:$pad,
      Optional<Tile_TileOrScalar>:$mask, OptionalAttr<StrAttr>:$cache));
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $view `[` $starts `]` (`ends` `[` $ends^ `]`)? `at` `[` $positions `:` type($positions) `]`
    `pad` $pad `:` type($pad)
    (`mask` $mask^ `:` type($mask))? attr-dict `:` type($view) `->` type($result)
  }];
  let extraClassDeclaration = accessMethods # [{
    ::mlir::Type getTileType() { return getResult().getType(); }
  }];
}

def Tile_ScatterOp : Tile_AccessOp<"scatter", [MemoryEffects<[MemWrite]>]> {
  let summary = "write elements at positions of the run";
  let description = [{
    Of several values for one position, one is left.
    ```mlir
    tile.scatter %t, %v[%c0, %c0] at[%p : tensor<8x64xindex>] {sizes = array<i64: -2, 64>, …}
        : tensor<8x64xf16>, !tile.view<?x?xf16>
    ```
  }];
  let arguments = !con((ins Tile_Tile:$value), access,
      (ins Variadic<Tile_IndexTile>:$positions, Optional<Tile_TileOrScalar>:$mask,
      OptionalAttr<StrAttr>:$cache));
  let assemblyFormat = [{
    $value `,` $view `[` $starts `]` (`ends` `[` $ends^ `]`)? `at` `[` $positions
    `:` type($positions) `]`
    (`mask` $mask^ `:` type($mask))? attr-dict `:` type($value) `,` type($view)
  }];
  let extraClassDeclaration = accessMethods # [{
    ::mlir::Type getTileType() { return getValue().getType(); }
  }];
}

def Tile_AtomicOp : Tile_AccessOp<"atomic", [MemoryEffects<[MemRead, MemWrite]>,
    AllTypesMatch<["value", "result"]>]> {
  let summary = "read, change and write elements, each as one step";
  let description = [{
    Every element that exists, and that `mask` does not clear, is changed once, in no order among
    them; the result is what it held before, 0 where nothing was done. `cas` writes `value` where
    the element equals `expected`, bit by bit. `max` and `min` propagate NaN. With `release`,
    everything that the program wrote before is seen by whom an `acquire` lets see the change;
    `scope` says who that may be.
    ```mlir
    %old = tile.atomic add acq_rel gpu %one, %v[] {sizes = array<i64>, …} : i32, !tile.view<i32>
    %was = tile.atomic cas relaxed gpu %new, %v[%c0] at[%p : tensor<8xindex>]
        expected %old : tensor<8xi32> {…} : tensor<8xi32>, !tile.view<?xi32>
    ```
  }];
  let arguments = !con((ins Tile_AtomicKind:$kind, Tile_MemoryOrder:$order, Tile_MemoryScope:$scope,
      Tile_TileOrScalar:$value), access, (ins Variadic<Tile_IndexTile>:$positions,
      Optional<Tile_TileOrScalar>:$expected, Optional<Tile_TileOrScalar>:$mask));
  let results = (outs Tile_TileOrScalar:$result);
  let assemblyFormat = [{
    $kind $order $scope $value `,` $view `[` $starts `]` (`ends` `[` $ends^ `]`)?
    (`at` `[` $positions^ `:` type($positions) `]`)? (`expected` $expected^ `:` type($expected))?
    (`mask` $mask^ `:` type($mask))? attr-dict `:` type($value) `,` type($view)
  }];
  let extraClassDeclaration = accessMethods # [{
    ::mlir::Type getTileType() { return getResult().getType(); }
    bool isAcquire() {
      return getOrder() == ::tile::MemoryOrder::Acquire ||
             getOrder() == ::tile::MemoryOrder::AcqRel;
    }
    bool isRelease() {
      return getOrder() == ::tile::MemoryOrder::Release ||
             getOrder() == ::tile::MemoryOrder::AcqRel;
    }
  }];
}

#endif
