// Copies of tiles by the tensor memory accelerator (TMA) of sm_90, and the tensor maps that
// describe them.
#ifndef TILE_GPU_TMA_OPS
#define TILE_GPU_TMA_OPS

include "dialect/Tile/TileTypes.td"
include "dialect/TileGPU/TileGPUOpBase.td"

def TileGPU_TensorMapAttr : TileGPU_Attr<"TensorMap", "tensor_map"> {
  let summary = "what the launcher encodes a tensor map from";
  let description = [{
    `param` is the kernel's parameter. `order` lists the tensor's dimensions, the fastest (stride 1)
    first; `box` has the extents of one copy in that order, in elements; `swizzle` is 0, 32, 64 or
    128 bytes. Positions outside the tensor read as 0 and are not written. With `steps`, a box takes
    every n-th position of each dimension from its first one on: n from 1 to 8, 1 of the fastest.

    A dimension that `order` lists twice in a row is cut: the hardware sees it as two dimensions of
    one stride. The first has as many positions as the box, the second as many as the tensor and the
    box together, and begins a box before the tensor. So a box that begins at s of b in the first
    and at p in the second covers positions p - b + s and on, of which only b - s exist.
    ```mlir
    #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 128], swizzle = 128>
    #tile_gpu.tensor_map<param = 1, order = [1, 0, 0], box = [64, 128, 1], swizzle = 128>
    #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 128], swizzle = 128, steps = [1, 2]>
    ```
    Source: CUDA Driver API, cuTensorMapEncodeTiled.
  }];
  let parameters = (ins "int64_t":$param, ArrayRefParameter<"int64_t">:$order,
      ArrayRefParameter<"int64_t">:$box, "int64_t":$swizzle,
      OptionalArrayRefParameter<"int64_t">:$steps);
  let assemblyFormat = [{
    `<` `param` `=` $param `,` `order` `=` `[` $order `]` `,` `box` `=` `[` $box `]` `,` `swizzle`
    `=` $swizzle (`,` `steps` `=` `[` $steps^ `]`)? `>`
  }];
  let builders = [AttrBuilder<(ins "int64_t":$param, "llvm::ArrayRef<int64_t>":$order,
      "llvm::ArrayRef<int64_t>":$box, "int64_t":$swizzle), [{
    return $_get($_ctxt, param, order, box, swizzle, llvm::ArrayRef<int64_t>());
  }]>];
  let extraClassDeclaration = [{
    /// How far positions of dimension `i` of the box are apart in the tensor.
    int64_t getStep(unsigned i) const { return getSteps().empty() ? 1 : getSteps()[i]; }
  }];
  let genVerifyDecl = 1;
}

def TileGPU_DescriptorType : TypeDef<TileGPU_Dialect, "Descriptor"> {
  let mnemonic = "descriptor";
  let summary = "a tensor map in the kernel's parameter space";
}

def TileGPU_BarrierType : TypeDef<TileGPU_Dialect, "MBarrier"> {
  let mnemonic = "mbarrier";
  let summary = "an mbarrier in shared memory";
}

def TileGPU_DescriptorOp : TileGPU_Op<"descriptor", [Pure]> {
  let summary = "the tensor map that the launcher made";
  let description = [{
    Equal maps are one parameter of the kernel's function, behind the dimensions.
    ```mlir
    %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 128],
        swizzle = 128>
    ```
  }];
  let arguments = (ins TileGPU_TensorMapAttr:$map);
  let results = (outs TileGPU_DescriptorType:$result);
  let assemblyFormat = "$map attr-dict";
}

def TileGPU_ViewDescriptorOp : TileGPU_Op<"view_descriptor", [Pure, AttrSizedOperandSegments,
    TileGPU_OwnsSharedMemory]> {
  let summary = "a tensor map that the program writes for itself";
  let description = [{
    Of a view of flat memory, whose place and shape the launcher does not know: its first element is
    `start` elements behind `base`; `extents` and `strides`, in elements, are those of the map's
    dimensions, the fastest first, whose stride is 1. Where `when` is false nothing is written, and
    nobody may copy by it. One thread runs it, the one that makes the copies. The map lies in the
    block's part of scratch memory; the next ones lie behind it, as copies by this one may still be
    under way (docs/Hopper.md): `copies` of them, of the kernel's map `number`
    (convert-tile-gpu-to-vector decides on both).
    ```mlir
    %d = tile_gpu.view_descriptor %a[%start] extents[%k, %m] strides[%c1, %k] when %aligned
        #tile_gpu.tensor_map<param = 0, order = [2, 1], box = [64, 128], swizzle = 128>
        : !tile.ptr<f16>
    ```
    Source: PTX ISA, "tensormap.replace" and "fence.proxy.tensormap".
  }];
  let arguments = (ins Tile_PointerType:$base, Index:$start, Variadic<Index>:$extents,
      Variadic<Index>:$strides, I1:$when, TileGPU_TensorMapAttr:$map, OptionalAttr<I64Attr>:$number,
      OptionalAttr<I64Attr>:$copies);
  let results = (outs TileGPU_DescriptorType:$result);
  let assemblyFormat = [{
    $base `[` $start `]` `extents` `[` $extents `]` `strides` `[` $strides `]` `when` $when $map
    attr-dict `:` type($base)
  }];
  let hasVerifier = 1;
}

def TileGPU_TmaFetchOp : TileGPU_Op<"tma_fetch",
    [MemoryEffects<[MemRead, MemAlloc, MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "a tile of a tensor, copied to fresh shared memory";
  let description = [{
    `coordinates` are the first element's position in the tensor, one for each dimension in the
    order of the map. The tile's fastest dimension is the map's; its other dimensions of extent
    above 1 follow in the map's order. tile-gpu-specialize-warps turns it into a tma_load by the
    producer. With `multicast` two blocks of a cluster fetch the same tile: those whose ranks differ
    in the bit `across`, 1 where it is left out or 2. Where `once` is true nobody in the launch
    reads these bytes later, so that the second-level cache need not keep them. Where `when` is
    there and false nothing is copied: the memory is for others to fill.
    ```mlir
    %m = tile_gpu.tma_fetch %d [%k, %m]
        : !tile_gpu.memdesc<128x64xf16, #tile_gpu.shared<order = [1, 0], swizzle = 128>>
    ```
  }];
  let arguments = (ins TileGPU_DescriptorType:$descriptor, Variadic<Index>:$coordinates,
      Optional<I1>:$once, Optional<I1>:$when, UnitAttr:$multicast,
      OptionalAttr<I64Attr>:$across);
  let results = (outs TileGPU_MemDescType:$result);
  let assemblyFormat = [{
    $descriptor `[` $coordinates `]` (`once` $once^)? (`when` $when^)? (`multicast` $multicast^)?
    attr-dict `:` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$descriptor,
      "::mlir::ValueRange":$coordinates, "::mlir::Value":$once), [{
    build($_builder, $_state, result, descriptor, coordinates, once, /*when=*/::mlir::Value(),
        /*multicast=*/false, /*across=*/::mlir::IntegerAttr());
  }]>];
  let hasVerifier = 1;
}

def TileGPU_ClearFromOp : TileGPU_Op<"clear_from", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "zero the end of a tile in shared memory";
  let description = [{
    Positions of `memory` from `limit` on along dimension `dim` become 0: where an access has an end
    that the tensor goes beyond. Each warpgroup clears all of them for itself and waits for no
    other; it does so only if there is such a position, which all threads decide alike.
    ```mlir
    tile_gpu.clear_from %m, %limit {dim = 0 : i64} : !tile_gpu.memdesc<128x64xf16, #s>
    ```
  }];
  let arguments = (ins TileGPU_MemDescType:$memory, Index:$limit, I64Attr:$dim);
  let assemblyFormat = "$memory `,` $limit attr-dict `:` type($memory)";
  let hasVerifier = 1;
}

def TileGPU_TmaLoadOp
    : TileGPU_Op<"tma_load", [MemoryEffects<[MemRead, MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "start copying a tile of a tensor to shared memory";
  let description = [{
    Issued by the running thread, which must be one alone; completes on `barrier`, which counts the
    tile's bytes. As many copies as the tile has panels of the swizzle's width, each of the map's
    box. With `multicast` each of the two blocks copies half of them to both, and the barrier counts
    all. `once`, `when` and `across` as in `tma_fetch`.
    ```mlir
    tile_gpu.tma_load %d [%k, %m] into %memory, %barrier : !tile_gpu.memdesc<128x64xf16, #s>
    ```
  }];
  let arguments = (ins TileGPU_DescriptorType:$descriptor, Variadic<Index>:$coordinates,
      TileGPU_MemDescType:$memory, TileGPU_BarrierType:$barrier, Optional<I1>:$once,
      Optional<I1>:$when, UnitAttr:$multicast, OptionalAttr<I64Attr>:$across);
  let assemblyFormat = [{
    $descriptor `[` $coordinates `]` `into` $memory `,` $barrier (`once` $once^)? (`when` $when^)?
    (`multicast` $multicast^)? attr-dict
    `:` type($memory)
  }];
  let hasVerifier = 1;
}

def TileGPU_TmaStoreOp
    : TileGPU_Op<"tma_store", [MemoryEffects<[MemRead, MemWrite]>, TileGPU_OwnsSharedMemory]> {
  let summary = "copy a tile of registers to a tensor through shared memory";
  let description = [{
    Waits till the staging memory's last copy has been read, stores the tile there (stmatrix where
    it fits), and starts the copy; does not wait for it. `columns` along the fastest dimension are
    staged at once, with `rows` of so many rows. Warpgroups whose rows are their own synchronise
    alone. With `ordered`, waits till the copy is written: in loops that may write the same place
    again. With `add`, what lies there is added to, each element as one step, in no order with other
    accesses. Where the map cuts
    the rows, their first coordinate is how many of the tile's are stored, from 0 on, and the
    second, not negative, is the first one's position. `stored`, multiples of the map's box, are the
    columns that are stored where the tile was padded. `folded` are the extents, powers of two, of
    the tensor's dimensions that the tile's rows are made of, in the map's order from its second
    dimension on; without, the rows are one dimension's.
    ```mlir
    tile_gpu.tma_store %t, %d [%n, %m] {columns = 128 : i64} : tensor<128x256xf16, #acc>
    tile_gpu.tma_store %t, %d [%n, %x, %y] {columns = 64 : i64, folded = array<i64: 16, 8>}
        : tensor<128x64xf16, #acc>
    ```
  }];
  let arguments = (ins TileGPU_DealtTile:$value, TileGPU_DescriptorType:$descriptor,
      Variadic<Index>:$coordinates, I64Attr:$columns, UnitAttr:$ordered, UnitAttr:$add,
      OptionalAttr<I64Attr>:$stored, OptionalAttr<DenseI64ArrayAttr>:$folded,
      OptionalAttr<I64Attr>:$rows);
  let assemblyFormat = "$value `,` $descriptor `[` $coordinates `]` attr-dict `:` type($value)";
  let hasVerifier = 1;
}

#endif
