// Warpgroup matrix products of sm_90a (wgmma), synchronous or left in flight.
#ifndef TILE_GPU_WGMMA_OPS
#define TILE_GPU_WGMMA_OPS

include "dialect/TileGPU/TileGPUOpBase.td"

def TileGPU_WgmmaOp
    : TileGPU_Op<"wgmma", [MemoryEffects<[MemRead]>, AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix product by warpgroups, operands in shared memory, a perhaps in registers";
  let description = [{
    a is [M, K], b is [K, N], acc is [M, N] in the accumulator's layout with all warps along M (M a
    multiple of 64 for each warpgroup, N of 8). Shared operands are swizzled as the hardware wants
    them; an operand of 8-bit or 32-bit elements has K as its fastest dimension. f32 operands count
    as tf32; 8-bit integers have a sign but for `unsigned_a` and `unsigned_b`.

    Without `async` the result is there when the operation ends. With it, it is in flight: nothing
    but the accumulator of another wgmma and `tile_gpu.wgmma_wait` may use it, and the shared
    operands stay as they are, until the wait.

    `valid` = [m, n, k]: as of `tile.dot`. Instructions that compute padding alone are left out.

    With `from` k a is a part of a product's first operand, in registers: it meets the rows of b
    from k on, a multiple of its own extent along K. With `column` n the product is of b's columns
    from n on alone, a multiple of the accumulator's.
    ```mlir
    %d = tile_gpu.wgmma %a, %b, %c
        : !tile_gpu.memdesc<128x64xf16, #s>, !tile_gpu.memdesc<64x256xf16, #s>,
        tensor<128x256xf32, #acc>
    ```
    Source: PTX ISA, "Asynchronous warpgroup level matrix instructions".
  }];
  let arguments = (ins AnyTypeOf<[TileGPU_DealtTile, TileGPU_MemDescType]>:$a,
      TileGPU_MemDescType:$b, TileGPU_DealtTile:$acc, UnitAttr:$async, UnitAttr:$unsigned_a,
      UnitAttr:$unsigned_b, OptionalAttr<DenseI64ArrayAttr>:$valid, OptionalAttr<I64Attr>:$from,
      OptionalAttr<I64Attr>:$column);
  let results = (outs TileGPU_DealtTile:$result);
  let assemblyFormat = [{
    $a `,` $b (`from` $from^)? (`column` $column^)? `,` $acc (`async` $async^)?
    (`unsigned_a` $unsigned_a^)? (`unsigned_b` $unsigned_b^)? attr-dict `:`
    type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def TileGPU_WgmmaWaitOp : TileGPU_Op<"wgmma_wait",
    [MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["value", "result"]>]> {
  let summary = "wait till at most `pending` products are in flight";
  let description = [{
    Each asynchronous wgmma is a group of its own. The wait takes the tile that it completes and
    gives it back, so that nothing reads the registers before. `valid` is that of the product.
    ```mlir
    %s = tile_gpu.wgmma_wait %t {pending = 1 : i64} : tensor<128x128xf32, #acc>
    ```
  }];
  let arguments = (ins TileGPU_DealtTile:$value, I64Attr:$pending,
      OptionalAttr<DenseI64ArrayAttr>:$valid);
  let results = (outs TileGPU_DealtTile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def TileGPU_OptimizationBarrierOp : TileGPU_Op<"optimization_barrier",
    [MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["value", "result"]>]> {
  let summary = "the same tile, not before this place";
  let description = [{
    What is computed from the result stays behind the products that were issued before: nothing that
    optimises sees through it.
    ```mlir
    %now = tile_gpu.optimization_barrier %factor : tensor<128xf32, #row>
    ```
  }];
  let arguments = (ins TileGPU_DealtTile:$value);
  let results = (outs TileGPU_DealtTile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif
