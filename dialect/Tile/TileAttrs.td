// Attributes of the tile dialect: the contract of a kernel.
#ifndef TILE_ATTRS
#define TILE_ATTRS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "dialect/Tile/TileDialect.td"

class Tile_Attr<string name, string attrMnemonic> : AttrDef<Tile_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Tile_DimAttr : Tile_Attr<"Dim", "dim"> {
  let summary = "a named dimension or stride, and what the launcher guarantees of it";
  let description = [{
    `#tile.dim<"M", 1, 65536, opt = 4096, multiple_of = 16>`: min <= M <= max and
    M % multiple_of == 0 are checked at launch and are facts in the kernel. `opt` steers heuristics
    only.
  }];
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$min, "int64_t":$max, "int64_t":$opt,
      "int64_t":$multipleOf);
  let assemblyFormat = [{
    `<` $name `,` $min `,` $max `,` `opt` `=` $opt `,` `multiple_of` `=` $multipleOf `>`
  }];
  let genVerifyDecl = 1;
}

def Tile_ConstexprAttr : Tile_Attr<"Constexpr", "constexpr"> {
  let summary = "a compile-time parameter and the value it is bound to";
  let description = [{
    `#tile.constexpr<"BM", 128 : i64>`, `#tile.constexpr<"T", f16>`,
    `#tile.constexpr<"ACT", "gelu">`.
  }];
  let parameters = (ins StringRefParameter<>:$name, "::mlir::Attribute":$value);
  let assemblyFormat = "`<` $name `,` $value `>`";
}

def Tile_Access : I32EnumAttr<"Access", "how a kernel uses a tensor parameter",
    [I32EnumAttrCase<"In", 0, "in">, I32EnumAttrCase<"Out", 1, "out">,
    I32EnumAttrCase<"InOut", 2, "inout">, I32EnumAttrCase<"Scalar", 3, "scalar">]> {
  let cppNamespace = "::tile";
}

def Tile_ParamAttr : Tile_Attr<"Param", "param"> {
  let summary = "name, access and guaranteed alignment of a kernel parameter";
  let description = [{
    `#tile.param<"x", in, align = 16>`. Scalars have access `scalar` and align 1. Memory that is
    written overlaps no other parameter.
  }];
  let parameters = (ins StringRefParameter<>:$name, "::tile::Access":$access, "int64_t":$align);
  let assemblyFormat = "`<` $name `,` $access `,` `align` `=` $align `>`";
}

def Tile_ReduceKind : I32EnumAttr<"ReduceKind", "combining function of a reduction or scan",
    [I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">,
    I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"And", 4, "and">, I32EnumAttrCase<"Or", 5, "or">,
    I32EnumAttrCase<"MaxUnsigned", 6, "max_unsigned">,
    I32EnumAttrCase<"MinUnsigned", 7, "min_unsigned">]> {
  let cppNamespace = "::tile";
}

def Tile_ArgReduceKind : I32EnumAttr<"ArgReduceKind", "which extreme's position", [
    I32EnumAttrCase<"ArgMax", 0, "argmax">, I32EnumAttrCase<"ArgMin", 1, "argmin">]> {
  let cppNamespace = "::tile";
}

def Tile_DotPrecision : I32EnumAttr<"DotPrecision", "how the products of a dot are computed",
    [I32EnumAttrCase<"Full", 0, "full">, I32EnumAttrCase<"Fast", 1, "fast">,
    I32EnumAttrCase<"TF32", 2, "tf32">, I32EnumAttrCase<"TF32x3", 3, "tf32x3">]> {
  let cppNamespace = "::tile";
}

def Tile_AtomicKind : I32EnumAttr<"AtomicKind", "what an atomic does with the value in memory",
    [I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"And", 3, "and">,
    I32EnumAttrCase<"Or", 4, "or">, I32EnumAttrCase<"Xor", 5, "xor">,
    I32EnumAttrCase<"Exchange", 6, "xchg">, I32EnumAttrCase<"CompareExchange", 7, "cas">,
    I32EnumAttrCase<"MaxUnsigned", 8, "max_unsigned">,
    I32EnumAttrCase<"MinUnsigned", 9, "min_unsigned">]> {
  let cppNamespace = "::tile";
}

def Tile_MemoryOrder : I32EnumAttr<"MemoryOrder", "what an atomic orders beside itself", [
    I32EnumAttrCase<"Relaxed", 0, "relaxed">, I32EnumAttrCase<"Acquire", 1, "acquire">,
    I32EnumAttrCase<"Release", 2, "release">, I32EnumAttrCase<"AcqRel", 3, "acq_rel">]> {
  let cppNamespace = "::tile";
}

def Tile_MemoryScope : I32EnumAttr<"MemoryScope", "for whom an atomic is one", [
    I32EnumAttrCase<"GPU", 0, "gpu">, I32EnumAttrCase<"System", 1, "system">]> {
  let cppNamespace = "::tile";
}

def Tile_SubscriptKind : I32EnumAttr<"SubscriptKind", "what a sub-view does with one dimension",
    [I32EnumAttrCase<"Index", 0, "index">, I32EnumAttrCase<"All", 1, "all">,
    I32EnumAttrCase<"Slice", 2, "slice">]> {
  let cppNamespace = "::tile";
}

#endif
