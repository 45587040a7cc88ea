// Kernels, their grid, and the run-time values they are launched with.
#ifndef TILE_KERNEL_OPS
#define TILE_KERNEL_OPS

include "dialect/Tile/TileOpBase.td"

def Tile_KernelOp : Tile_Op<"kernel", [IsolatedFromAbove, Symbol]> {
  let summary = "one instance of a kernel, every compile-time parameter bound";
  let description = [{
    The body region's block arguments are the parameters in source order: `!tile.ptr<T>` for a
    tensor, a scalar type for a scalar. `params` names them. `dims` are the named dimensions and
    strides that the launcher passes after the parameters, in this order, as 64-bit integers;
    `tile.dim` reads one. `constexprs` records what was bound.

    The grid region computes the number of programs along each axis, from `tile.dim` and constants
    alone (and scalar parameters, which it receives as block arguments like the body), and ends in
    `tile.yield`. Programs are numbered with the last axis fastest. The body ends in `tile.return`.

    ```mlir
    tile.kernel @scale
        params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>]
        dims [#tile.dim<"N", 1, 1048576, opt = 4096, multiple_of = 1>]
        constexprs [#tile.constexpr<"BLOCK", 1024 : i64>]
        grid {
        ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
          %n = tile.dim #tile.dim<"N", 1, 1048576, opt = 4096, multiple_of = 1>
          %c1024 = arith.constant 1024 : index
          %programs = arith.ceildivsi %n, %c1024 : index
          tile.yield %programs : index
        } body {
        ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
          ...
          tile.return
        }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
      TypedArrayAttrBase<Tile_ParamAttr, "parameters">:$params,
      TypedArrayAttrBase<Tile_DimAttr, "dimensions">:$dims,
      TypedArrayAttrBase<Tile_ConstexprAttr, "bound compile-time parameters">:$constexprs);
  let regions = (region SizedRegion<1>:$grid, SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `params` $params `dims` $dims `constexprs` $constexprs attr-dict-with-keyword `grid`
    $grid `body` $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The contract of dimension `name`, or null.
    ::tile::DimAttr getDimNamed(::llvm::StringRef name);
    ::tile::ParamAttr getParam(unsigned i) {
      return ::llvm::cast<::tile::ParamAttr>(getParams()[i]);
    }
    unsigned getNumAxes() { return getGrid().front().getTerminator()->getNumOperands(); }
  }];
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ParentOneOf<["KernelOp"]>]> {
  let summary = "the grid's extents, slowest axis first";
  let description = [{
    Ends a kernel's grid region. A negative extent counts as 0; without operands there is one
    program.
    ```mlir
    tile.yield %rows, %columns : index, index
    ```
  }];
  let arguments = (ins Variadic<Index>:$extents);
  let assemblyFormat = "($extents^ `:` type($extents))? attr-dict";
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, Terminator, ParentOneOf<["KernelOp"]>]> {
  let summary = "end of a kernel's body";
  let description = [{
    ```mlir
    tile.return
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_DimOp : Tile_Op<"dim", [Pure, DeclareOpInterfaceMethods<InferIntRangeInterface,
    ["inferResultRanges"]>]> {
  let summary = "run-time value of a named dimension or stride";
  let description = [{
    Carries the contract of the kernel's dimension of that name, so that range and divisibility
    analyses see it.
    ```mlir
    %m = tile.dim #tile.dim<"M", 1, 65536, opt = 4096, multiple_of = 16>
    ```
  }];
  let arguments = (ins Tile_DimAttr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$dim attr-dict";
  let hasFolder = 1;
}

def Tile_ProgramIdOp : Tile_Op<"program_id", [Pure,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "this program's position along a grid axis";
  let description = [{
    0 <= result < extent of the axis. `axis` counts from the slowest.
    ```mlir
    %i = tile.program_id 0
    ```
  }];
  let arguments = (ins I64Attr:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = "$axis attr-dict";
  let hasVerifier = 1;
}

#endif
