// Asynchronous copies by the threads that compute: rings of slots in shared memory, and groups of
// copies in order.
#ifndef TILE_GPU_COPY_OPS
#define TILE_GPU_COPY_OPS

include "dialect/Tile/TileTypes.td"
include "dialect/TileGPU/TileGPUOpBase.td"

def TileGPU_IndexTile : RankedTensorOf<[Index]>;

def TileGPU_SlotsType : TypeDef<TileGPU_Dialect, "Slots"> {
  let mnemonic = "slots";
  let summary = "several places in shared memory for tiles of one type";
  let parameters = (ins "int64_t":$count, "::tile::gpu::MemDescType":$tile);
  let assemblyFormat = "`<` $count `,` $tile `>`";
}

def TileGPU_LocalSlotsOp
    : TileGPU_Op<"local_slots", [MemoryEffects<[MemAlloc]>, TileGPU_OwnsSharedMemory]> {
  let summary = "fresh shared memory for several tiles of one type";
  let description = [{
    Accesses to different slots, and to one slot again and again, are ordered by whoever makes them:
    by `async_wait` and `barrier`. Barriers between slots and other shared memory are inserted as
    for any other tile.
    ```mlir
    %s = tile_gpu.local_slots : !tile_gpu.slots<3, !tile_gpu.memdesc<128x64xf16, #shared>>
    ```
  }];
  let results = (outs TileGPU_SlotsType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def TileGPU_SlotOp : TileGPU_Op<"slot", [Pure,
    TypesMatchWith<"the result is one of the slots' tiles", "slots", "result",
    "::llvm::cast<::tile::gpu::SlotsType>($_self).getTile()">]> {
  let summary = "one slot as a tile in shared memory; nothing moves";
  let description = [{
    ```mlir
    %m = tile_gpu.slot %s[%i] : !tile_gpu.slots<3, !tile_gpu.memdesc<128x64xf16, #shared>>
    ```
  }];
  let arguments = (ins TileGPU_SlotsType:$slots, Index:$index);
  let results = (outs TileGPU_MemDescType:$result);
  let assemblyFormat = "$slots `[` $index `]` attr-dict `:` type($slots)";
  let builders = [OpBuilder<(ins "::mlir::Value":$slots, "::mlir::Value":$index), [{
    build($_builder, $_state, ::llvm::cast<SlotsType>(slots.getType()).getTile(), slots, index);
  }]>];
}

def TileGPU_AsyncCopyOp
    : TileGPU_Op<"async_copy", [MemoryEffects<[MemRead, MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "start copying a tile of a tensor to shared memory (cp.async)";
  let description = [{
    What `tile.load` or `tile.gather` of the same subscripts would read goes to `memory`, without
    passing through registers; what does not exist, and what `mask` clears, becomes zero. `tile`
    says which thread copies which elements; `stored` is the same in the shape that lies in shared
    memory, register by register. Where `when` is false nothing is copied. A copy belongs to the
    group that the next `async_commit` closes, and is there for its own thread after the
    `async_wait` for that group, for other threads after a barrier behind that. `part = [i, n]`: of
    a thread's pieces only those whose number is i modulo n; n such copies make the whole.
    ```mlir
    tile_gpu.async_copy %v[%m, %k] into %s when %more
        {tile = tensor<128x64xf16, #rows>, stored = tensor<128x64xf16, #rows>,
         sizes = array<i64: 128, 64>, …}
        : !tile.view<?x?xf16>, !tile_gpu.memdesc<128x64xf16, #shared>
    ```
    Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async".
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Index>:$starts, Variadic<Index>:$ends,
      Variadic<TileGPU_IndexTile>:$positions, Optional<TileGPU_Tile>:$mask,
      TileGPU_MemDescType:$memory, Optional<I1>:$when, DenseI64ArrayAttr:$sizes,
      DenseI64ArrayAttr:$steps, DenseBoolArrayAttr:$has_end, DenseBoolArrayAttr:$in_bounds,
      TypeAttr:$tile, TypeAttr:$stored, OptionalAttr<StrAttr>:$cache,
      OptionalAttr<DenseI64ArrayAttr>:$part);
  let assemblyFormat = [{
    $view `[` $starts `]` (`ends` `[` $ends^ `]`)? (`at` `[` $positions^ `:` type($positions) `]`)?
    (`mask` $mask^ `:` type($mask))? `into` $memory (`when` $when^)? attr-dict
    `:` type($view) `,` type($memory)
  }];
  let extraClassDeclaration = [{
    bool isDropped(unsigned dim) { return getSizes()[dim] == -1; }
    bool isIndexed(unsigned dim) { return getSizes()[dim] == -2; }
    /// The type of the tile that is copied, with the layout that says which thread copies what.
    ::mlir::RankedTensorType getTileType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getTile());
    }
    /// The same in the shape of `memory`.
    ::mlir::RankedTensorType getStoredTile() {
      return ::llvm::cast<::mlir::RankedTensorType>(getStored());
    }
    /// For each dimension of the view the tile's dimension along which its range lies; -1 if it has
    /// no range.
    ::llvm::SmallVector<int64_t> getTileDims() {
      return ::tile::mapRangesToTile(getSizes(), getTileType().getRank());
    }
    /// Whether a thread's piece of this number is copied.
    bool copiesPiece(int64_t number) {
      std::optional<::llvm::ArrayRef<int64_t>> of = getPart();
      return !of || number % (*of)[1] == (*of)[0];
    }
  }];
  let hasVerifier = 1;
}

def TileGPU_AsyncCommitOp : TileGPU_Op<"async_commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "close a group of this thread's copies";
  let description = [{
    A group may be empty: then it is there at once.
    ```mlir
    tile_gpu.async_commit
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_AsyncWaitOp : TileGPU_Op<"async_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait till at most `pending` of this thread's latest groups are on their way";
  let description = [{
    With `fence` what has arrived is ordered before what wgmma reads behind the next barrier.
    ```mlir
    tile_gpu.async_wait {pending = 1 : i64}
    ```
  }];
  let arguments = (ins I64Attr:$pending, UnitAttr:$fence);
  let assemblyFormat = "(`fence` $fence^)? attr-dict";
}

#endif
