// Operations that leave the language: output and checks of debug builds, and PTX written out.
#ifndef TILE_DEBUG_OPS
#define TILE_DEBUG_OPS

include "dialect/Tile/TileOpBase.td"

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "print a line to standard error, or one for each element";
  let description = [{
    `format` is C's: each value is an i64 or index (`%lld`, `%llu`), an f32 or an f64 (`%g`).
    `shape` is that of the tiles among the values, empty without one: each position below it prints
    a line of its own, whose number along each dimension (`%lld`) comes behind the first `position`
    values.
    ```mlir
    tile.print "k.tile:6: i=%lld [%lld]: x is %.7g\0A" position 1 shape [128]
        (%i, %x : index, tensor<128xf32>)
    ```
  }];
  let arguments = (ins StrAttr:$format, I64Attr:$position, DenseI64ArrayAttr:$shape,
      Variadic<Tile_TileOrScalar>:$values);
  let assemblyFormat = [{
    $format `position` $position `shape` $shape (`(` $values^ `:` type($values) `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "end the launch with an error unless a condition holds";
  let description = [{
    `file` and `line` say where the source has it.
    ```mlir
    tile.assert %c, "the row is empty" at "k.tile" 6
    ```
  }];
  let arguments = (ins I1:$condition, StrAttr:$message, StrAttr:$file, I64Attr:$line);
  let assemblyFormat = "$condition `,` $message `at` $file $line attr-dict";
}

def Tile_PtxOp : Tile_Op<"ptx", !listconcat([Pure], ElementwiseMappable.traits)> {
  let summary = "PTX for each element";
  let description = [{
    `code` names the result `$0` and the operands `$1`, `$2`, ...; a type of 16, 32 or 64 bits each.
    GPU targets only: elsewhere the front end puts what the program gives as its meaning.
    ```mlir
    %y = tile.ptx "tanh.approx.f32 $0, $1;" (%x) : (tensor<128xf32>) -> tensor<128xf32>
    ```
  }];
  let arguments = (ins StrAttr:$code, Variadic<Tile_TileOrScalar>:$operands);
  let results = (outs Tile_TileOrScalar:$result);
  let assemblyFormat = "$code `(` $operands `)` attr-dict `:` functional-type($operands, $result)";
}

#endif
