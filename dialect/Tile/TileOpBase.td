// What the operation files share.
#ifndef TILE_OP_BASE
#define TILE_OP_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialect/Tile/TileDialect.td"
include "dialect/Tile/TileTypes.td"
include "dialect/Tile/TileAttrs.td"

class Tile_Op<string opMnemonic, list<Trait> traits = []> : Op<Tile_Dialect, opMnemonic, traits>;

def Tile_Scalar : AnyTypeOf<[AnySignlessInteger, AnyFloat, Index], "scalar">;
def Tile_Tile : Type<And<[AnyRankedTensor.predicate, HasStaticShapePred]>,
    "tile (ranked tensor of static shape)", "::mlir::RankedTensorType">;
def Tile_Position
    : AnyTypeOf<[I32, Index, RankedTensorOf<[I32, Index]>], "i32 or index scalar or tile">;
def Tile_TileOrScalar : AnyTypeOf<[Tile_Tile, Tile_Scalar], "tile or scalar">;

#endif
