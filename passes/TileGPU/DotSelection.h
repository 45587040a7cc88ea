// How each dot of a kernel is computed, and by how many warps.
#ifndef TILE_PASSES_TILEGPU_DOTSELECTION_H
#define TILE_PASSES_TILEGPU_DOTSELECTION_H

#include "dialect/TileGPU/TileGPUDialect.h"

namespace tile::gpu {

/// Columns that products are cut into where registers hold no result of more, at least: an
/// instruction of fewer reads as much of a's 64 rows as of b.
constexpr int64_t cutColumns = 128;

/// Properties that a kernel's tiles share, and features of its target.
struct KernelShape {
  unsigned numWarps = 4;
  unsigned vector =
      4; ///< neighbours that a thread holds in blocked layouts: 16 bytes of the narrowest element
  bool rowsInWarps = false; ///< a dot's result is reduced along rows: all warps go along M
  bool reducesLast = false; ///< no dots, and tiles are reduced along their last dimension alone:
                            ///< whole rows in a warp
  const GPUTarget *target = nullptr; ///< null for the CPU, which has no tensor cores

  bool hasWgmma() const { return target && target->has(Feature::Wgmma); }
};

/// Bits that an element takes in memory; two integers of 4 bits share a byte.
unsigned getElementBits(mlir::Type type);

/// Registers of 32 bits that a thread holds of a tile with a layout; of a number its own.
int64_t countRegisters(mlir::Type type);

/// Vector width, warps and target of a kernel: warps as it asks for, else what gives each thread a
/// moderate share of the largest tile. `target` is null for the CPU.
KernelShape chooseShape(KernelOp kernel, const GPUTarget *target);

/// How a dot is computed.
enum class DotKind { Wgmma, Mma, Fma };
DotKind chooseDotKind(DotOp dot, const KernelShape &shape);

/// Why a dot cannot be computed by wgmma, to follow "because"; empty if it can, or if the target
/// has none.
std::string explainNoWgmma(DotOp dot, const KernelShape &shape);

/// True for a tile that goes to products as it was loaded.
bool isLoaded(mlir::Value tile);

/// True if a dot for wgmma has too few rows, or b alone is computed, in registers, or rows would be
/// padded that columns need not be, and it is computed transposed: the product of b's transpose and
/// a's.
bool isSwapped(DotOp dot);

/// True if a reshape joins dimensions before the last into rows, as they lie in memory: [8, 16, 64]
/// to [128, 64]. A copy from memory to a product's operand does that on its way.
bool joinsRows(ReshapeOp reshape);

/// Warps along M and N for a dot's result; for that of the transposed product where the dot is
/// swapped.
std::pair<unsigned, unsigned> chooseWarps(DotOp dot, const KernelShape &shape);

} // namespace tile::gpu

#endif
