// Passes for GPUs up to the layouts: splitting and versions of loops, reductions, shapes and
// extents, and what gives each tile its layout.
#ifndef TILE_PASSES_LAYOUTS
#define TILE_PASSES_LAYOUTS

include "mlir/Pass/PassBase.td"

def TileGPUWidenTiles : Pass<"tile-gpu-widen-tiles", "::mlir::ModuleOp"> {
  let summary = "one program for neighbouring ones, one trip for several, where tiles are small";
  let description = [{
    In kernels that multiply in a loop, and whose source has neither a tune clause nor a schedule of
    its own. Where what neighbouring programs compute are tiles side by side, one program computes
    tiles twice as long, and `tile_gpu.joined_programs` says so to the launch; where trips add up
    products, one trip adds up those of two. Axes and loops double one after the other, as long as
    the cost model expects less time. Where programs are fewer than half of the multiprocessors, a
    launch shares a loop's trips among several, as with `split`, if the model expects a fifth less
    time. With options these decide, not the model.
    ```mlir
    %p = tile.program_id 0
    %m = arith.muli %p, %c64
    %a = tile.load %v[%m, %k] … -> tensor<64x64xf16>
    // becomes
    %q = tile.program_id 0
    %p = arith.muli %q, %c2
    %m = arith.muli %p, %c64
    %a = tile.load %v[%m, %k] … -> tensor<128x64xf16>
    ```
  }];
  let options = [
    ListOption<"programs", "programs", "int64_t", "Programs that become one, along each axis">,
    Option<"trips", "trips", "int64_t", "1", "Trips that become one, of each loop that allows it">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def TileGPUSplitLoops : Pass<"tile-gpu-split-loops", "::mlir::ModuleOp"> {
  let summary = "share the trips of a loop among programs";
  let description = [{
    A loop with `tile.split = n` makes a part of its trips in each of n programs; what it carries
    goes through scratch memory to the last of them, which does what follows the loop. See
    docs/Split.md.
    ```mlir
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<64x64xf32>) { ... }
        {tile.split = 4}
    // becomes
    %p = scf.for %k = %first to %end step %c1 iter_args(%a = %zero) -> (tensor<64x64xf32>) { ... }
    %last = tile_gpu.part_arrive %p at %tile, %part of 4 : tensor<64x64xf32>
    scf.if %last {
      %s = tile_gpu.part_combine %p at %tile of 4 {kinds = array<i32: 0>}
          : tensor<64x64xf32> -> tensor<64x64xf32>
    ```
    Under `tile.cluster` of as many blocks, two, four or eight parts are a cluster where the target
    has such: each merges a slice of the states that it reads from the others' shared memory.
    ```mlir
    %place = tile_gpu.part_share %p : tensor<64x64xf32>
    %a = tile_gpu.part_read 0 of 4 at %place slice %part {dims = array<i64: 0>} : tensor<16x64xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
      "::mlir::tensor::TensorDialect", "::tile::TileDialect", "::tile::gpu::TileGPUDialect"];
}

def TileGPUSharePrograms : Pass<"tile-gpu-share-programs", "::mlir::ModuleOp"> {
  let summary = "have the blocks of a cluster work on one program";
  let description = [{
    Of a kernel whose loops over blocks carry sums and extrema alone, and of which a launch has few
    programs, or whose rows one block's shared memory cannot keep. Each block makes its share of
    every loop's trips, and merges the states of all. A kernel of one loop that adds up and stores
    nothing gets `tile.split` instead. See docs/Split.md.
    ```mlir
    %s = scf.for %n = %c0 to %N step %c1024 iter_args(%a = %zero) -> (f32) { ... }
    // becomes
    %p = scf.for %n = %first to %end step %c1024 iter_args(%a = %zero) -> (f32) { ... }
    %tile = tensor.splat %p : tensor<1xf32>
    %place = tile_gpu.part_share %tile : tensor<1xf32>
    %a = tile_gpu.part_read 0 of 4 at %place slice %part {dims = array<i64: -1>} : tensor<1xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
      "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect", "::tile::TileDialect",
      "::tile::gpu::TileGPUDialect"];
}

def TileGPUVersionRowLoops : Pass<"tile-gpu-version-row-loops", "::mlir::ModuleOp"> {
  let summary =
      "multiversion the loops over a row: one version without loops, for rows of one block";
  let description = [{
    Loops `for n in blocks(N, BLOCK)` in a kernel's body, of which a later one loads what an earlier
    one did, run once where N is at most BLOCK. The kernel's rest, from the first of them on, is put
    twice under a test of that: once with each loop's body in its place, so that a row can stay in
    registers, and once as it is. The test also asks that N is a multiple of the 16 bytes that
    accesses move. Contracts save the parts of the test that they settle.
    ```mlir
    scf.for %n = %c0 to %N step %c4096 { use(load %x[%n]) }
    scf.for %n = %c0 to %N step %c4096 { use(load %x[%n]) }
    // becomes
    scf.if %short { use(load %x[%c0]); use(load %x[%c0]) } else { both loops }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
      "::tile::TileDialect"];
}

def TileGPUPeelTails : Pass<"tile-gpu-peel-tails", "::mlir::ModuleOp"> {
  let summary = "peel the last block, which may be cut off, off loops whose functions ask for it";
  let description = [{
    Of an innermost loop without products that goes to the end of a dimension, and whose body
    reduces or scans by a function what `tile.inside` tells apart, the trips over whole blocks are
    left to the loop: there all positions exist, which are constants from then on. What is left over
    is the body once, under a test.
    ```mlir
    scf.for %n = %c0 to %N step %c512 { reduce_by(select(inside(%x[%n]), 1, 0), load %x[%n]) }
    // becomes
    scf.for %n = %c0 to %whole step %c512 { reduce_by(1, load %x[%n]) }
    scf.if %whole < %N { reduce_by(select(inside(%x[%whole]), 1, 0), load %x[%whole]) }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
      "::tile::TileDialect"];
}

def TileGPUEliminateRedundantLoads
    : Pass<"tile-gpu-eliminate-redundant-loads", "::mlir::ModuleOp"> {
  let summary = "eliminate redundant loads of memory that nothing writes";
  let description = [{
    A load takes the value of an earlier one in its block with the same view and positions. Paddings
    may differ where nobody can tell: what comes of the load is stored only where the same positions
    do not exist.
  }];
}

def TileGPURotateRows : Pass<"tile-gpu-rotate-rows", "::mlir::ModuleOp"> {
  let summary = "move rows that begin anywhere in aligned vectors";
  let description = [{
    In a kernel whose rows are known not to be aligned, whose tensors' rows all begin alike, and
    whose tiles are lines of one extent of which nothing knows the order, tiles go round in their
    registers by what the program's row lies behind a multiple of 16 bytes. The first run decides
    (`tile_gpu.rotation`), before layouts; the second, in a kernel that has the decision, moves the
    beginnings of accesses back.
    ```mlir
    %x = tile.load %v[%row, %n] … -> tensor<4096xbf16, #line>
    // becomes
    %r = arith.andi (%row * %stride), 7
    %x = tile.load %v[%row, %n - %r] {tile_gpu.rotated = 8} …
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TileGPUDeferReductions : Pass<"tile-gpu-defer-reductions", "::mlir::ModuleOp"> {
  let summary =
      "reduce in each thread what a loop reduces block by block, and across threads after the loop";
  let description = [{
    Where the operations' flags permit regrouping (`reassoc`), a sum that a loop carries,
    `s = s + sum(x)`, becomes a sum of each thread's own. So does a running maximum with sums that
    follow it, `t = max(m, max(x))` and `s = s * exp(m - t) + sum(exp(x - t))`, since exp(a - b)
    exp(b - c) = exp(a - c): each thread follows its own maximum, and their sums are brought to the
    largest after the loop. The maximum must start finite. So no barrier is left in the loop.

    Reductions that a selection by one number needs in one arm alone are made in a branch.
    ```mlir
    %r = scf.for ... iter_args(%s = %s0) -> f32
        { %b = tile.reduce sum %x : tensor<4096xf32> -> f32; yield %s + %b }
    // becomes, of 128 threads
    %t = scf.for ... iter_args(%s = %zeros) -> tensor<128xf32>
        { %b = sums of %x as tensor<8x128x4xf32>; yield %s + %b }
    %r = arith.addf %s0, (tile.reduce sum %t) : f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
      "::mlir::tensor::TensorDialect", "::tile::TileDialect"];
}

def TileGPUDeferRowSums : Pass<"tile-gpu-defer-row-sums", "::mlir::ModuleOp"> {
  let summary = "reduce rows in each thread within a loop, and across threads after it";
  let description = [{
    A loop's `s = s + sum(x)` or `m = max(m, max(x))` along an axis, or of a line, that several
    lanes or warps share: each lane keeps a number of its own, as a further dimension of s, and they
    are reduced after the loop. So is `s = s * f + sum(x)`, where flags permit regrouping
    (`reassoc`): f is one number a row, so the sums need no more than that. Sums start from 0, and
    nothing else in the loop sees s.
    ```mlir
    %r = scf.for ... iter_args(%s = %zeros) -> tensor<64xf32>
        { %b = tile.reduce sum %x axis 1; yield %s * %f + %b }
    // becomes, with four lanes to a row
    %t = scf.for ... iter_args(%s = %zeros) -> tensor<64x4xf32>
        { %b = sums of %x as tensor<64x8x4x2xf32>; yield %s * %f + %b }
    %r = tile.reduce sum %t axis 1 : tensor<64x4xf32> -> tensor<64xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tile::TileDialect"];
}

def TileGPUNarrowReductions : Pass<"tile-gpu-narrow-reductions", "::mlir::ModuleOp"> {
  let summary = "take maxima and minima of f16 and bf16 before widening them";
  let description = [{
    Widening is exact and keeps order; the processor has the extrema of two 16-bit floats as one
    instruction.
    ```mlir
    %w = arith.extf %x : tensor<64xf16> to tensor<64xf32>
    %m = tile.reduce max %w : tensor<64xf32> -> f32
    // becomes
    %n = tile.reduce max %x : tensor<64xf16> -> f16
    %m = arith.extf %n : f16 to f32
    ```
    A sum of bools or small integers that were widened to 64 bits is taken in 32, if those hold the
    sum of all of the tile.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TileGPUFuseExactProducts : Pass<"tile-gpu-fuse-exact-products", "::mlir::ModuleOp"> {
  let summary = "products that are exact and the sums that they enter, in one operation";
  let description = [{
    The same result in half the instructions: an fma rounds as the sum did, since nothing was
    rounded before. A product is exact if both factors are widened from f16 (or 8 bits), or if one
    is a power of two and the other a `tile.dot` of such numbers. Sums of exact products by
    tile.reduce get `tile_gpu.exact_products`, and are lowered as under `fp("contract")`.
    ```mlir
    %p = arith.mulf %two, %dot : tensor<64x64xf32>
    %d = arith.subf %norm, %p : tensor<64x64xf32>
    // becomes
    %d = math.fma %minus_two, %dot, %norm : tensor<64x64xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def TileGPUExpandShapes : Pass<"tile-gpu-expand-shapes", "::mlir::ModuleOp"> {
  let summary = "slices and concatenations of tiles as takes and selections";
  let description = [{
    A part of a dimension that is one of few equal powers of two is selected where the elements lie;
    other slices read at computed positions. Tiles of one extent are joined by repeating and
    selecting, others by reading at positions.
    ```mlir
    %c = tensor.concat dim(0) %a, %b : (tensor<3xf32>, tensor<5xf32>) -> tensor<8xf32>
    // becomes
    %x = tile.take %a[%i] axis 0 : tensor<3xf32>, tensor<8xi32> -> tensor<8xf32>
    %y = tile.take %b[%j] axis 0 : tensor<5xf32>, tensor<8xi32> -> tensor<8xf32>
    %c = arith.select %second, %y, %x : tensor<8xi1>, tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tile::TileDialect"];
}

def TileGPUPadExtents : Pass<"tile-gpu-pad-extents", "::mlir::ModuleOp"> {
  let summary = "round the extents of tiles up to powers of two";
  let description = [{
    Layouts map bits to bits, so they need powers of two. Accesses get an end, so that positions
    past the old extent read as padding and are not stored; reductions and dots see their identity
    there.
    ```mlir
    %s = tile.reduce sum %t : tensor<100xf32> -> f32
    // becomes
    %m = arith.select %inside, %t, %zero : tensor<128xi1>, tensor<128xf32>
    %s = tile.reduce sum %m : tensor<128xf32> -> f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tile::TileDialect"];
}

def TileGPULoadNibblesAsBytes : Pass<"tile-gpu-load-nibbles-as-bytes", "::mlir::ModuleOp"> {
  let summary = "load tiles of i4 as tiles of i8 and unpack them in registers";
  let description = [{
    Where an access of a whole tensor begins and ends at bytes, which its positions' divisors tell.
    Other accesses of i4 read the byte of each element.
    ```mlir
    %b = tile.load %bytes[%n, %half] ... : !tile.view<?x?xi8> -> tensor<128x32xi8>
    %w = tile_gpu.unpack %b : tensor<128x32xi8> -> tensor<128x64xi4>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
      "::tile::gpu::TileGPUDialect"];
}

def TileGPUAssignLayouts : Pass<"tile-gpu-assign-layouts", "::mlir::ModuleOp"> {
  let summary = "give every tile a layout, and turn dots into tensor-core or scalar products";
  let description = [{
    Loads and reductions take blocked layouts, dots the fragments of tensor cores; what depends on
    them follows, and what depends on neither (constants, positions, masks, broadcasts) is repeated
    in the layout each user needs. Where layouts still differ, `tile_gpu.convert_layout` is
    inserted. Dot operands go through swizzled shared memory unless each thread already holds its
    fragment. Dots become wgmma where the target, types and extents allow it, else mma.sync, else
    scalar code. Sets `tile_gpu.num_warps` on the kernel.
  }];
  let options = [Option<"remarks", "remarks", "bool", "true",
      "Report dots that cannot use the fastest instructions">];
  let dependentDialects = ["::tile::gpu::TileGPUDialect", "::mlir::arith::ArithDialect"];
}

def TileGPUExpandTF32x3 : Pass<"tile-gpu-expand-tf32x3", "::mlir::ModuleOp"> {
  let summary = "put three products of tf32 in place of one in precision tf32x3";
  let description = [{
    Each operand is split into its upper bits, which tf32 holds exactly, and the rest; what both
    rests give is left out. Products too small for tensor cores stay, and are computed in f32.
    ```mlir
    %c = tile.dot %a, %b, %acc precision tf32x3
        : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif
