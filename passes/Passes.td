// Every pass of the compiler: one definition here, one .cpp file, one folder of tests. One section
// for each folder.
#ifndef TILE_PASSES
#define TILE_PASSES

include "mlir/Pass/PassBase.td"

//===--- Tile: target-independent -----------------------------------------===//

def BindDimensions : Pass<"tile-bind-dimensions", "::mlir::ModuleOp"> {
  let summary = "make named dimensions constants";
  let description = [{
    Replaces `tile.dim` of each named dimension by its number and takes the dimension out of the
    kernels' `dims`: the launcher no longer passes it. A number outside a kernel's contract is an
    error, as is a name that no kernel has.
    ```
    tile-opt --tile-bind-dimensions=values=M=1024,K=64
    ```
  }];
  let options = [ListOption<"values", "values", "std::string",
      "Dimensions to bind, as NAME=number">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ProveInBounds : Pass<"tile-prove-in-bounds", "::tile::KernelOp"> {
  let summary = "mark accesses that cannot leave their view";
  let description = [{
    Sets `in_bounds` for each dimension of tile.load, tile.store and tile.inside in which every
    position provably exists. Facts are the grid's extents, loops' bounds and steps, contracts
    (ranges and divisibility), minima and maxima, and ranges of integers. Of a dimension that stays
    masked a remark says so, and which contract would have helped.
  }];
  let options = [Option<"remarks", "remarks", "bool", "true", "Report accesses that keep a mask">];
}

def Simplify : Pass<"tile-simplify"> {
  let summary = "remove tile operations that do nothing or whose outcome is known";
  let description = [{
    Merges chains of permute, reshape and broadcast, moves splats through them, and removes masks
    that are constant and tile.inside of what is in bounds.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def ReduceStrength : Pass<"tile-reduce-strength"> {
  let summary = "cheaper float arithmetic where one operand is the same along a row";
  let description = [{
    By the operations' fastmath flags, which `fp("fast")` sets: a division by a splat or a broadcast
    becomes a product with one reciprocal (`arcp`), and exp of a difference to one becomes exp2 with
    the scale folded into a fused product (`afn`, `reassoc`, `contract`). A finite shift stays
    finite.
    ```mlir
    %r = tile.broadcast %sum : tensor<4x1xf32> -> tensor<4x64xf32>
    %y = arith.divf %x, %r fastmath<arcp> : tensor<4x64xf32>
    // becomes
    %i = arith.divf %one, %sum fastmath<arcp> : tensor<4x1xf32>
    %r = tile.broadcast %i : tensor<4x1xf32> -> tensor<4x64xf32>
    %y = arith.mulf %x, %r fastmath<arcp> : tensor<4x64xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
      "::mlir::tensor::TensorDialect"];
}

def PrintDivisibility : Pass<"test-print-divisibility"> {
  let summary = "report the known divisor of every integer value (for tests)";
  let description = [{
    A remark at each operation and loop gives what DivisibilityAnalysis knows of its results.
  }];
}

//===--- TileGPU: layouts, shared memory, tensor cores --------------------===//

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
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
      "::mlir::tensor::TensorDialect", "::tile::TileDialect", "::tile::gpu::TileGPUDialect"];
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

def TileGPUEliminateRedundantLoads
    : Pass<"tile-gpu-eliminate-redundant-loads", "::mlir::ModuleOp"> {
  let summary = "eliminate redundant loads of memory that nothing writes";
  let description = [{
    A load takes the value of an earlier one in its block with the same view and positions. Paddings
    may differ where nobody can tell: what comes of the load is stored only where the same positions
    do not exist.
  }];
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
  let summary = "sum up rows in each thread within a loop, and across threads after it";
  let description = [{
    A loop's `s = s * f + sum(x)` of rows that several lanes share, as in what a product leaves,
    where flags permit regrouping (`reassoc`) and s starts from 0: each lane keeps a sum of its own,
    as a further dimension of s, and they are added after the loop. f is one number a row, so the
    sums need no more than that.
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
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
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

def TileGPUUseTma : Pass<"tile-gpu-use-tma", "::mlir::ModuleOp"> {
  let summary = "copy tiles between tensors and shared memory by TMA";
  let description = [{
    On targets whose producer warps copy ahead (TargetSupport.h). A load whose tile goes to shared
    memory becomes `tile_gpu.tma_fetch`, the store of a product's tile `tile_gpu.tma_store`, where
    the contracts allow it: the tensor's fastest stride is 1 and the others are multiples of 16
    bytes, as are base and start, padding is 0, steps are 1, there is no mask. A load must read an
    `in` parameter of a kernel without `alias`, in no loop but those with counters; if no such load
    of the kernel stands in a loop, none is copied. A load's end inside the tensor becomes
    `tile_gpu.clear_from`. Of a product's operand that cannot be copied so a remark says why. A
    store with such an end stays for the tiles that it cuts.
    ```mlir
    %t = tile.load %v[%i, %k] pad %zero … : !tile.view<?x?xf16> -> tensor<128x64xf16, #rows>
    %m = tile_gpu.local_alloc %t
        : tensor<128x64xf16, #rows> -> !tile_gpu.memdesc<128x64xf16, #shared>
    // becomes
    %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 128],
        swizzle = 128>
    %m = tile_gpu.tma_fetch %d [%k, %i] : !tile_gpu.memdesc<128x64xf16, #shared>
    ```
  }];
  let options = [Option<"remarks", "remarks", "bool", "true",
      "Report operands that cannot be copied so">];
  let dependentDialects = ["::tile::gpu::TileGPUDialect", "::mlir::arith::ArithDialect",
      "::mlir::scf::SCFDialect"];
}

def TileGPUPipelineCopies : Pass<"tile-gpu-pipeline-copies", "::mlir::ModuleOp"> {
  let summary = "copy operands of a loop's products to shared memory some trips ahead (cp.async)";
  let description = [{
    On targets with cp.async. In an innermost loop, loads and gathers whose tile goes to shared
    memory for a product become `tile_gpu.async_copy` into a ring of `tile_gpu.local_slots`: those
    of the first trips stand before the loop, each trip waits for its own copies, then for the
    block, and starts those of `stages` - 1 trips ahead. As many stages as `stages(n)` says, else as
    the time of a copy takes, where trips and shared memory allow it. Padding must be 0, the memory
    such as nothing writes while the kernel runs; what stays synchronous is remarked upon (R0406).
    ```mlir
    %s = tile_gpu.local_slots : !tile_gpu.slots<3, …>
    tile_gpu.async_copy %v[%m, %lo] into %first when %c0 … ; tile_gpu.async_commit
    scf.for … {
      tile_gpu.async_wait {pending = 1 : i64}
      tile_gpu.barrier
      tile_gpu.async_copy %v[%m, %ahead] into %free when %exists … ; tile_gpu.async_commit
      %m = tile_gpu.slot %s[%i] : …
    ```
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect", "::mlir::arith::ArithDialect",
      "::mlir::scf::SCFDialect"];
}

def TileGPUGuardMasks : Pass<"tile-gpu-guard-masks", "::mlir::ModuleOp"> {
  let summary = "skip masks of positions where all of a tile passes them";
  let description = [{
    A selection of 16 registers or more by a mask that is made from positions (iota, comparisons,
    tile.inside) is done only where a comparison of the positions' extremes does not show at run
    time that all of the mask is true.
    ```mlir
    %r = scf.if %all_true -> tensor<128x128xf32, #l> { scf.yield %x } else { … scf.yield %masked }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
      "::tile::TileDialect"];
}

def TileGPUFitLaunch : Pass<"tile-gpu-fit-launch", "::mlir::ModuleOp"> {
  let summary = "bring occupancy and maxreg to what the target can do";
  let description = [{
    Threads, blocks and registers of a multiprocessor bound `tile.occupancy`; a product by wgmma
    needs its accumulator and some more of each thread, which bounds it too, and `tile.maxreg` from
    below. What is changed a warning says. A product for which the threads of one block have too few
    registers is an error.
    ```mlir
    tile.kernel @k ... attributes {tile.occupancy = 3, tile_gpu.num_warps = 4}
    // becomes, for a product of 64 x 128 and a producer
    tile.kernel @k ... attributes {tile.occupancy = 2, tile_gpu.num_warps = 4}
    ```
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect"];
}

def TileGPUOverlapDots : Pass<"tile-gpu-overlap-dots", "::mlir::ModuleOp"> {
  let summary = "run one iteration's first product beside the last one's second";
  let description = [{
    In a loop where a product's result becomes, through arithmetic and reductions, the register
    operand of a second one that the loop accumulates: the second is left to the next iteration,
    which has both in flight while it computes. The first iteration's first and the last one's
    second product stand before and behind the loop. Needs the second product's b from a
    `tile_gpu.tma_fetch`; fetches that are copied get a `tile_gpu.ring` number, by which the copies
    share a ring.
    ```mlir
    %s = tile_gpu.wgmma %q, %k, %zero async : …
    %o = tile_gpu.wgmma %p, %v, %acc async : …
    %scores = tile_gpu.wgmma_wait %s {pending = 1 : i64} : …
    ```
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect", "::mlir::arith::ArithDialect",
      "::mlir::scf::SCFDialect"];
}

def TileGPUIssueDotsEarly : Pass<"tile-gpu-issue-dots-early", "::mlir::ModuleOp"> {
  let summary = "leave products in flight until their results are needed";
  let description = [{
    In loops with three products and more: loads of tensors that nothing writes come first, then the
    products that need no other of the iteration; each further one stands behind the last operation
    that it needs. All are `async`, and a `tile_gpu.wgmma_wait` stands before the first use of each.
    ```mlir
    %s = tile_gpu.wgmma %k, %q, %zero async : …
    %dp = tile_gpu.wgmma %v, %do, %zero async : …
    %scores = tile_gpu.wgmma_wait %s {pending = 1 : i64} : …
    ```
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect"];
}

def TileGPUMulticast : Pass<"tile-gpu-multicast", "::mlir::ModuleOp"> {
  let summary = "load tiles that two neighbouring programs share once for a cluster of two blocks";
  let description = [{
    For persistent kernels `with cluster(2)`: a `tile_gpu.tma_fetch` whose coordinates and control
    flow are the same in both programs of a pair is marked `multicast`, its tensor map cut to what
    half a tile needs. Where nothing is shared, a remark says so.
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect"];
}

def TileGPUSetEvictionPolicies : Pass<"tile-gpu-set-eviction-policies", "::mlir::ModuleOp"> {
  let summary = "let the second-level cache evict first the tiles that a launch reads but once";
  let description = [{
    A `tile_gpu.tma_fetch` in a loop whose coordinates move with every loop around it and with the
    axes of the grid, but for one of two programs at most, brings bytes that nobody in this launch
    reads later: the weights of a product of few rows. How many programs an axis has is known at run
    time alone, so the fetch gets a condition, `once`; where that is always true, the cache word
    `stream`.
    ```mlir
    %few = arith.cmpi sle, %rows, %c2 : index
    %w = tile_gpu.tma_fetch %d [%n, %k] once %few : !tile_gpu.memdesc<64x128xf16, #shared>
    ```
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect", "::mlir::arith::ArithDialect"];
}

def TileGPUMakePersistent : Pass<"tile-gpu-make-persistent", "::mlir::ModuleOp"> {
  let summary = "let each block take several programs";
  let description = [{
    For kernels `with persistent`: a loop over programs around the body, `tile.program_id` computed
    from its number. What all programs share (arithmetic on dimensions, loads of memory that is not
    written) stands before the loop. The launcher starts as many blocks as the GPU holds at once.
    ```mlir
    %block, %blocks = tile_gpu.block_id
    scf.for %program = %block to %programs step %blocks { … }
    ```
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect", "::mlir::arith::ArithDialect",
      "::mlir::scf::SCFDialect"];
}

def TileGPUSpecializeWarps : Pass<"tile-gpu-specialize-warps", "::mlir::ModuleOp"> {
  let summary = "split kernels into a producer that copies and consumers that compute";
  let description = [{
    Every `tile_gpu.tma_fetch` becomes a slot of a ring, which a producer in a warpgroup of its own
    fills ahead of the consumers. The producer gets the loops, branches and index arithmetic that
    its copies need. Fetches that are first used by one operation share a ring, and so do loops that
    follow each other and fetch tiles of the same types. A ring in a loop has as many stages as fit
    into shared memory, at most 8, or as `stages(n)` says. Where the source leaves the schedule of a
    kernel of one warpgroup open, `tile.occupancy` is set to the blocks that may share a
    multiprocessor.
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect", "::mlir::arith::ArithDialect",
      "::mlir::scf::SCFDialect"];
}

def TileGPUPrefetchCoordinates : Pass<"tile-gpu-prefetch-coordinates", "::mlir::ModuleOp"> {
  let summary = "prefetch the coordinates of the next program's copies";
  let description = [{
    Where the coordinates of a persistent kernel's copies come from tiles, the consumers compute
    them. So that the copies of the next program run under the work of this one, they do so one
    program ahead, and carry the scalars to the next trip.
    ```mlir
    %next = arith.addi %p, %step : index
    %sent = scf.if %exists -> index {
      …
      tile_gpu.scalar_send %ring, %first : !tile_gpu.ring<2>, index
      scf.yield %first : index
    } …
    ```
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect", "::mlir::arith::ArithDialect",
      "::mlir::scf::SCFDialect"];
}

def TileGPUScheduleTilesDynamically
    : Pass<"tile-gpu-schedule-tiles-dynamically", "::mlir::ModuleOp"> {
  let summary =
      "schedule the tiles of a persistent kernel dynamically where programs differ in length";
  let description = [{
    Where a loop of the programs makes more trips in some than in others, a block does not run every
    n-th program but the next that nobody has: the producer counts in scratch memory and tells the
    consumers.
    ```mlir
    scf.while (%p = %block) : (index) -> index {
      %exists = arith.cmpi slt, %p, %total : index
      scf.condition(%exists) %p : index
    } do {
    ^bb0(%program: index):
      …
      %next = tile_gpu.program_take %ring, %total : !tile_gpu.ring<1>
      scf.yield %next : index
    }
    ```
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect", "::mlir::arith::ArithDialect",
      "::mlir::scf::SCFDialect"];
}

def TileGPUKeepDotsInFlight : Pass<"tile-gpu-keep-dots-in-flight", "::mlir::ModuleOp"> {
  let summary = "leave a loop's product in flight while the next iteration's is issued";
  let description = [{
    In loops of the consumers whose one product is added to a variable of the loop and reads slots
    of rings. Slots go back one iteration later, once the wait behind the next product says that
    theirs is done.
    ```mlir
    %r = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero)
        -> (tensor<64x256xf32, #acc>) {
      %a, %b = tile_gpu.ring_wait %ring : …
      %p = tile_gpu.wgmma %a, %b, %acc async : …
      %s = tile_gpu.wgmma_wait %p {pending = 1 : i64} : tensor<64x256xf32, #acc>
      %second = arith.cmpi ne, %i, %lower : index
      scf.if %second { tile_gpu.ring_release %ring : … }
      scf.yield %s : tensor<64x256xf32, #acc>
    }
    %sum = tile_gpu.wgmma_wait %r {pending = 0 : i64} : tensor<64x256xf32, #acc>
    %some = arith.cmpi slt, %lower, %upper : index
    scf.if %some { tile_gpu.ring_release %ring : … }
    ```
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect", "::mlir::arith::ArithDialect",
      "::mlir::scf::SCFDialect"];
}

def TileGPUTakeTurns : Pass<"tile-gpu-take-turns", "::mlir::ModuleOp"> {
  let summary = "let two warpgroups of consumers issue their products in turn";
  let description = [{
    In loops of the consumers where several products are in flight while the warpgroup computes in
    registers: one warpgroup's products run under the other's arithmetic.
    ```mlir
    tile_gpu.turn_wait
    %s = tile_gpu.wgmma %q, %k, %zero async : …
    %o = tile_gpu.wgmma %p, %v, %acc async : …
    tile_gpu.turn_pass
    ```
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect"];
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

def TileGPUWaitAhead : Pass<"tile-gpu-wait-ahead", "::mlir::ModuleOp"> {
  let summary = "wait for the next iteration's tile before the last product";
  let description = [{
    A loop in which two warpgroups take turns, issues two products and waits for one after the
    other, all its rings of two slots or more, waits for the tile that its next iteration starts
    with right before it waits for the second product, and has done what it computes from the first
    by then.
    ```mlir
    %p = tile_gpu.optimization_barrier %exponentials : tensor<128x128xf32, #acc>
    scf.if %more { tile_gpu.ring_peek %r : … }
    %acc = tile_gpu.wgmma_wait %d {pending = 0 : i64} : …
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
      "::tile::gpu::TileGPUDialect"];
}

def TileGPURescaleLazily : Pass<"tile-gpu-rescale-lazily", "::mlir::ModuleOp"> {
  let summary = "rescale a tile lazily: not where all factors are 1";
  let description = [{
    A product in a loop of a tile of 64 registers or more by factors of an eighth of them at most,
    which are a selection of 1 and something else, of this iteration or the one before, is done by
    each warp only if one of its factors is not 1.
    ```mlir
    %all = tile_gpu.warp_all %is_one : tensor<128xi1, #rows>
    %r = scf.if %all -> tensor<128x128xf32, #l> { scf.yield %x } else { … scf.yield %product }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
      "::tile::gpu::TileGPUDialect"];
}

def TileGPUApplyLoopAttributes : Pass<"tile-gpu-apply-loop-attributes", "::mlir::ModuleOp"> {
  let summary = "unroll loops as asked, and report attributes that have no effect";
  let description = [{
    A loop with `tile.unroll` = n takes n of its trips at once, with a loop for what is left; one of
    a pipelined loop stays as it is. What the source asks for and no pass took up (stages,
    consumers, flatten) is a warning with the reason, or a remark where the target lacks the
    feature.
    ```mlir
    scf.for %i = %lo to %hi step %s { … } {tile.unroll = 4 : i64}
    ```
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect", "::mlir::scf::SCFDialect",
      "::mlir::arith::ArithDialect"];
}

def TileGPUVectorizeAccesses : Pass<"tile-gpu-vectorize-accesses", "::mlir::ModuleOp"> {
  let summary = "choose how many neighbours each access moves at once";
  let description = [{
    Sets `tile_gpu.vector` on loads and stores of tiles: neighbours in a thread's registers that are
    proven, by the contracts, to be aligned together and to exist or not exist together. Where the
    contract does not prove it but it may hold at run time, `tile_gpu.vector_if` holds the width to
    use after a run-time check that all threads decide alike, and `tile_gpu.fastest` the tile's
    dimension along which neighbours lie. `tile_gpu.read_only` is for loads of memory that nothing
    writes, but for those ahead of a barrier whose results are used behind it: read-only loads may
    be moved there.
  }];
}

def TileGPUAllocateShared : Pass<"tile-gpu-allocate-shared", "::mlir::ModuleOp"> {
  let summary = "place tiles and scratch in shared memory";
  let description = [{
    Every operation that needs shared memory gets its place as `tile_gpu.offset`:
    `tile_gpu.local_alloc` from there to the last use of its memory, conversions of layouts and
    reductions across warps for themselves alone. What is never needed at the same time shares
    bytes. The kernel's total is its `tile_gpu.shared_bytes`; more than the GPU has is an error.
  }];
}

def TileGPUInsertBarriers : Pass<"tile-gpu-insert-barriers", "::mlir::ModuleOp"> {
  let summary = "insert the barriers that shared memory needs";
  let description = [{
    Puts a `tile_gpu.barrier` before an operation that reads or writes bytes of shared memory which
    other threads may still be writing or reading since the last barrier, also from one iteration of
    a loop to the next. Runs after allocation; nothing may move operations with `tile_gpu.offset`
    afterwards.
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect"];
}

//===--- Convert: both paths ----------------------------------------------===//

def ExpandMath : Pass<"tile-expand-math"> {
  let summary = "replace elementary functions by arithmetic";
  let description = [{
    Rewrites `math` operations on f16, bf16, f32 and f64 (scalars and vectors) into `arith`
    operations, `math.fma` and the few operations that processors have themselves, so that no code
    calls libm or libdevice. f16 and bf16 are computed in f32 and rounded once. docs/Math.md has the
    errors. On the GPU exp, exp2 and rsqrt build on NVIDIA's approximate instructions;
    `fastmath<afn>` permits them alone, also for sin, cos and tanh.
    ```mlir
    %y = math.tanh %x : vector<8xf32>
    ```
  }];
  let options = [Option<"processor", "processor", "std::string", "\"cpu\"",
      "What executes the result: cpu or gpu">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
      "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def ExpandFloat8 : Pass<"tile-expand-float8"> {
  let summary =
      "keep 8-bit floats as bytes, and convert them by integer code or the GPU's instructions";
  let description = [{
    LLVM has no 8-bit floats: f8E4M3FN and f8E5M2 become i8 in scalars, vectors and memory,
    `arith.extf` from them, `arith.truncf` to them and `tile.round_float8` arithmetic on bits. Both
    round to nearest even and saturate to finite; NaN stays. Where the target has instructions for
    pairs, vectors use them, and scalars take the arithmetic; where it has none from integers to
    bf16, these conversions are expanded too, so that they round once.
    ```mlir
    %y = arith.truncf %x : vector<8xf32> to vector<8xf8E4M3FN>
    ```
  }];
  let options = [Option<"processor", "processor", "std::string", "\"cpu\"",
                        "What executes the result: cpu, or gpu: the module's target">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
      "::mlir::NVVM::NVVMDialect", "::mlir::vector::VectorDialect"];
}

//===--- Convert: the CPU path --------------------------------------------===//

def ConvertTileToLinalg : Pass<"convert-tile-to-linalg", "::mlir::ModuleOp"> {
  let summary = "lower kernels to functions over a range of programs, tiles to linalg on tensors";
  let description = [{
    A `tile.kernel @k` becomes `func.func @k(%args: !llvm.ptr, %begin: i64, %end: i64)`, which runs
    the programs [begin, end). `args[i]` points to the i-th machine argument. A load becomes a copy
    of the part that exists into scratch at its place in program order, a store a copy out of it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
      "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
      "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
      "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def CPUFuseElementwise : Pass<"tile-cpu-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "turn element-wise operations on tiles into linalg.generic and fuse chains of them";
  let description = [{
    A producer is fused where it has one use, or costs no more to compute again than to read back;
    never from outside a loop into it.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
      "::mlir::affine::AffineDialect"];
}

def CPUBufferize : Pass<"tile-cpu-bufferize", "::mlir::func::FuncOp"> {
  let summary = "give tiles scratch memory";
  let description = [{
    One-shot bufferization. Copies are `linalg.copy`; a loop may carry a buffer made inside it.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
      "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect"];
}

def CPUPlaceScratch : Pass<"tile-cpu-place-scratch", "::mlir::func::FuncOp"> {
  let summary = "move all scratch of a kernel to the function's entry";
  let description = [{
    A buffer that a loop carries gets memory of its own, into which each iteration's value is
    copied; then no buffer outlives an iteration under another name, and each is allocated once for
    the whole call: small ones on the stack, the others on the heap, freed at the end.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect"];
}

def CPULowerDot : Pass<"tile-cpu-lower-dot", "::mlir::func::FuncOp"> {
  let summary =
      "lower matrix products of scratch tiles to loops around a block of vector registers";
  let description = [{
    Works on `linalg.matmul` and `linalg.batch_matmul` on memrefs of static shape. What no block
    divides is done by blocks of the extents that are left, so nothing is padded, and the code's
    size does not depend on the extents.
  }];
  let options = [Option<"vectorBits", "vector-bits", "int64_t", "256",
      "Width of the target's vector registers in bits">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
      "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def CPUStoreBoolAsByte : Pass<"tile-cpu-store-bool-as-byte", "::mlir::func::FuncOp"> {
  let summary = "keep tiles of bool in memory as bytes";
  let description = [{
    Runs once all accesses are `memref.load` and `memref.store`. Any byte but 0 reads as true.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def CPUExpandBF16 : Pass<"tile-cpu-expand-bf16", "::mlir::func::FuncOp"> {
  let summary = "compute bf16 operations in f32 and round each result by integer code";
  let description = [{
    f32 holds more than twice the digits of bf16, so rounding twice gives what rounding once would
    for `+ - * /` and `sqrt`. Conversions from f64 and wide integers go through a result made odd.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def CPULowerToLLVM : Pass<"tile-cpu-lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "convert arith, cf, func, math, memref and vector to the LLVM dialect at once";
  let description = [{
    One full conversion with upstream's patterns; `index` is 64 bits wide. What is left is an error.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

//===--- Convert: the GPU path --------------------------------------------===//

def ConvertTileGPUToVector : Pass<"convert-tile-gpu-to-vector", "::mlir::ModuleOp"> {
  let summary = "lower kernels to functions of one thread";
  let description = [{
    A tile becomes one vector of the registers that a thread holds, views become pointers, extents
    and strides, accesses become predicated global accesses. Each kernel becomes a `func.func` that
    knows its number of threads.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
      "::mlir::NVVM::NVVMDialect", "::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect",
      "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect"];
}

def ConvertThreadToLLVM : Pass<"convert-tile-thread-to-llvm", "::mlir::ModuleOp"> {
  let summary = "lower functions of one thread to the LLVM and NVVM dialects";
  let description = [{
    One full conversion with upstream's patterns; functions that were kernels get NVVM's attributes.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif
