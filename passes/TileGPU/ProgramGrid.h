// From a program's number to its position on the grid.
#ifndef TILE_PASSES_TILEGPU_PROGRAMGRID_H
#define TILE_PASSES_TILEGPU_PROGRAMGRID_H

#include "dialect/Tile/TileDialect.h"
#include "mlir/IR/Builders.h"

namespace tile::gpu {

/// Clones what the grid region computes to where `builder` stands: the number of programs along
/// each axis, slowest first. `arguments` are the kernel's parameters there.
llvm::SmallVector<mlir::Value> cloneGridExtents(mlir::OpBuilder &builder, KernelOp kernel,
                                                mlir::ValueRange arguments);

/// The grid axes along which the blocks of a cluster lie: bit i of a block's rank is its place
/// among two programs along axis i of the result. Along the first, programs with neighbouring
/// numbers differ; clusters of four have a second one, clusters of two the first alone.
llvm::SmallVector<unsigned, 2> getClusterAxes(KernelOp kernel, int64_t blocks);

/// Where a cluster's blocks lie along an axis, the axis and its last program.
using LastPrograms = llvm::SmallVector<std::pair<unsigned, mlir::Value>, 2>;

/// Rounds extents along the axes of the kernel's clusters up to whole pairs. An odd last program is
/// run by both blocks of its pair: positions are to be clamped to the last ones, which are
/// returned.
LastPrograms roundToPairs(mlir::OpBuilder &builder, KernelOp kernel,
                          llvm::MutableArrayRef<mlir::Value> extents);

/// Clamps positions of splitProgram() to the last programs.
void clampToLast(mlir::OpBuilder &builder, mlir::Location loc, const LastPrograms &last,
                 llvm::MutableArrayRef<mlir::Value> axes);

/// The rows of a band of a kernel that asks for grouping and whose programs differ in length: all
/// of them where `programs` are few for so many `blocks`. Null where it asks for none.
mlir::Value getEvenBandRows(mlir::OpBuilder &builder, KernelOp kernel, mlir::ValueRange extents,
                            mlir::Value programs, mlir::Value blocks);

/// Positions along each axis of program `program`, the last axis fastest. Where the kernel asks for
/// grouping, the last two axes are walked in bands along the first of the two, of `bandRows` rows
/// if that is given. Positions are marked as not negative. What `once` makes, if it is given, holds
/// for all programs of a block: divisions by it are then a product by its reciprocal.
llvm::SmallVector<mlir::Value> splitProgram(mlir::OpBuilder &builder, KernelOp kernel,
                                            mlir::Value program, mlir::ValueRange extents,
                                            mlir::Value bandRows = {},
                                            mlir::OpBuilder *once = nullptr);

/// Quotient and remainder of a program's position, by a divisor that is the same for all programs,
/// and not less than 1; `once` makes its reciprocal.
std::pair<mlir::Value, mlir::Value> divideProgram(mlir::OpBuilder &builder, mlir::Location loc,
                                                  mlir::Value position, mlir::Value divisor,
                                                  mlir::OpBuilder &once);

} // namespace tile::gpu

#endif
