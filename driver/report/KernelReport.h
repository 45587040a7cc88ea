// The report of a kernel in the tile_gpu dialect, as JSON: layouts, shared memory, the
// schedule of a block. docs/Explain.md has the keys.
#ifndef TILE_DRIVER_REPORT_KERNELREPORT_H
#define TILE_DRIVER_REPORT_KERNELREPORT_H

#include "dialect/Tile/TileDialect.h"
#include "driver/report/Listing.h"

namespace tile::report {

/// The layouts of tiles in registers, {"registers": […]}, and in shared memory, {"shared": […]},
/// each once, with the lines that use it.
llvm::json::Object describeLayouts(KernelOp kernel, FileTable &files, Encodings &encodings);

/// The allocations in shared memory, and from which line of the kernel's text to which; after
/// allocation. `limit` is what a block may have.
llvm::json::Object describeSharedMemory(KernelOp kernel, FileTable &files, int64_t limit);

/// Peak rates, a nanosecond, of a block that is alone on a multiprocessor.
struct BlockRates {
  double copied = 1;                          ///< bytes that reach shared memory or registers
  double tensor16 = 1, tensor8 = 1, tf32 = 1; ///< operations of products
  double vector = 1, special = 1;             ///< elements: f32 additions; exp, division
  double latency = 700;                       ///< nanoseconds from asking for bytes to having them
};

/// The first trips of a block that is alone on its multiprocessor, by rates: who copies, computes
/// and waits when.
llvm::json::Object describeTimeline(KernelOp kernel, FileTable &files, const BlockRates &rates);

/// The schedules of loops with products: [{"line", "schedule": in words}].
llvm::json::Array describeSchedules(KernelOp kernel, FileTable &files);

/// "128x64xf16"
std::string nameTile(llvm::ArrayRef<int64_t> shape, mlir::Type elementType);

/// The line of the input that an operation comes from; 0 if none is known. In functions that were
/// inlined it is that of the outermost call.
unsigned getSourceLine(mlir::Operation *op, FileTable &files);

} // namespace tile::report

#endif
