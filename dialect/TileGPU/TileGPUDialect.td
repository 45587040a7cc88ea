// The tile_gpu dialect, its attributes and types.
#ifndef TILE_GPU_DIALECT
#define TILE_GPU_DIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def TileGPU_Dialect : Dialect {
  let name = "tile_gpu";
  let cppNamespace = "::tile::gpu";
  let summary = "Tiles spread over the threads of a block, and tiles in shared memory";
  let description = [{
    A tile in registers is a ranked tensor whose encoding is `#tile_gpu.linear`: which thread holds
    which element. A tile in shared memory is a `!tile_gpu.memdesc`. Operations of the tile dialect
    keep their meaning on encoded tensors.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::tile::TileDialect"];
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// The row of the target called `name`, or null.
    const ::tile::GPUTarget *findTarget(::llvm::StringRef name) const;
    /// Makes further rows known in this context; they must outlive it. For tests.
    void addTargets(::tile::Rows<::tile::GPUTarget> rows) { extraTargets = rows; }

  private:
    ::tile::Rows<::tile::GPUTarget> extraTargets;
  }];
}

class TileGPU_Attr<string name, string attrMnemonic>
    : AttrDef<TileGPU_Dialect, name> { let mnemonic = attrMnemonic; }

def TileGPU_TargetAttr : TileGPU_Attr<"Target", "target"> {
  let summary = "the GPU that a module is compiled for";
  let description = [{
    A row of the table in `target/`, by its name. The module has it as `tile_gpu.target` from
    elaboration on, and passes ask `getTarget` for its features and limits.
    ```mlir
    module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} { ... }
    ```
  }];
  let parameters = (ins "const ::tile::GPUTarget *":$row);
  let hasCustomAssemblyFormat = 1;
}

def TileGPU_LinearAttr : TileGPU_Attr<"Linear", "linear"> {
  let summary = "which element of a tile each register of each thread holds";
  let description = [{
    Basis vectors of a linear layout, as `LinearLayout.h` explains. A 16x16 tile, 2 neighbours a
    thread, 4 warps:
    ```mlir
    #tile_gpu.linear<shape = [16, 16], register = [[0, 1]],
        lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
    ```
  }];
  // Bases are flat: rank numbers for each bit.
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
      ArrayRefParameter<"int64_t">:$registers, ArrayRefParameter<"int64_t">:$lanes,
      ArrayRefParameter<"int64_t">:$warps);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The layout itself.
    LinearLayout getLayout() const;
    /// The attribute for a layout.
    static LinearAttr get(::mlir::MLIRContext *context, const LinearLayout &layout);
  }];
}

def TileGPU_SharedAttr : TileGPU_Attr<"Shared", "shared"> {
  let summary = "how a tile lies in shared memory";
  let description = [{
    `order[0]` is the fastest dimension. The tile is cut along it into panels of `swizzle` bytes; in
    a panel, row r (the position along the other dimensions) takes `swizzle` bytes, and its 16-byte
    chunks are XORed with r mod 8 (128 bytes), r/2 mod 4 (64) or r/4 mod 2 (32), as TMA and wgmma
    have it. With swizzle 0 rows follow each other plainly.

    `used` gives the extents that hold something, where tiles were padded: copies bring no more, and
    what would lie behind them has no bytes. Only wgmma may read such a tile: it leaves padding out.
    ```mlir
    #tile_gpu.shared<order = [1, 0], swizzle = 128>
    #tile_gpu.shared<order = [1, 0], swizzle = 128, used = [64, 192]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$order, "int64_t":$swizzle,
      OptionalArrayRefParameter<"int64_t">:$used);
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$order, "int64_t":$swizzle), [{
    return $_get($_ctxt, order, swizzle, ::llvm::ArrayRef<int64_t>());
  }]>];
  let assemblyFormat = [{
    `<` `order` `=` `[` $order `]` `,` `swizzle` `=` $swizzle (`,` `used` `=` `[` $used^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

def TileGPU_ScheduleAttr : TileGPU_Attr<"Schedule", "schedule"> {
  let summary = "when a loop issues its products, and when it waits for them";
  let description = [{
    Stands on a loop as `tile_gpu.schedule`, written by `tile-gpu-schedule-loops` and realised by
    `tile-gpu-apply-schedule`. One entry for each wgmma of the loop's body, in the body's order:
    `stage` is the number of trips after its own in which the product is issued, `order` its place
    among the products that a trip issues, `flight` the number of trips after that in which its
    result is waited for. Flight 0 is the trip that issues it, where the result is first used; a
    product without `flight` is waited for at once. With `parts = n` a trip's only product is issued
    in n parts along K, each when its operand in registers is computed and the part before it is in
    flight; when it has been taken apart, there is an entry for each part. Words behind the entries:

    - `vectors_first`: fetched vectors are read before the products,
    - `scale_under`: the sums of staged products are scaled under the products of stage 0, by
      factors that registers keep until then; without it at the end of a trip,
    - `apart`: each product is issued where it stands, behind what is computed from the one before,
      whose registers it takes,
    - `turns`: warpgroups issue the products of a trip one after the other; of products that stand
      apart each in a turn of its own,
    - `peek`: the tile that the next trip begins with is waited for before the last product.
    ```mlir
    #tile_gpu.schedule<[(stage = 0, order = 0, flight = 0), (stage = 1, order = 1, flight = 0)],
        scale_under, turns, peek>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::tile::gpu::ProductPlace">:$products,
      "::tile::gpu::ScheduleWords":$words);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The schedule in words, for a message: products are numbered from 1 as they are issued.
    std::string describe() const;
  }];
}

def TileGPU_MemDescType : TypeDef<TileGPU_Dialect, "MemDesc"> {
  let mnemonic = "memdesc";
  let summary = "a tile in shared memory";
  let description = [{ ```mlir
    !tile_gpu.memdesc<128x64xf16, #tile_gpu.shared<order = [1, 0], swizzle = 128>>
    ``` }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
      "::tile::gpu::SharedAttr":$layout);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The extents that hold something: all of them, or `used`.
    ::llvm::ArrayRef<int64_t> getUsedShape() const {
      return getLayout().getUsed().empty() ? getShape() : getLayout().getUsed();
    }
    /// The same tile of which only `used` holds something.
    MemDescType withUsed(::llvm::ArrayRef<int64_t> used) const;
  }];
}

#endif
