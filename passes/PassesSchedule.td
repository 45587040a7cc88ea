// Passes for GPUs behind the layouts: copies, blocks and warps, products in flight, shared memory.
#ifndef TILE_PASSES_SCHEDULE
#define TILE_PASSES_SCHEDULE

include "mlir/Pass/PassBase.td"

def TileGPUKeepTiles : Pass<"tile-gpu-keep-tiles", "::mlir::ModuleOp"> {
  let summary = "keep in shared memory what a later loop over the same blocks loads again";
  let description = [{
    Of loops in one block that make the same trips, a tile that one loads, of memory that nothing
    writes, and later ones load in the same layout, goes to `tile_gpu.local_slots`, one for each of
    the first trips: by `tile_gpu.private_store`, which asks for no barrier. Later loops read it
    there; in trips beyond the slots they load it. Where a thread's part is pieces of 16 bytes and
    the rows expected take several trips, the first loop copies it there ahead of time, by
    `tile_gpu.async_copy` of each thread for itself (`tile_gpu.private`), and reads it too.
    ```mlir
    scf.for %n = %c0 to %N step %c4096 { %a = tile.load %x[%n]; … }
    scf.for %n = %c0 to %N step %c4096 { %b = tile.load %x[%n]; … }
    // becomes
    %s = tile_gpu.local_slots : !tile_gpu.slots<3, …>
    scf.for … { %a = tile.load %x[%n]; scf.if %has { tile_gpu.private_store %a into %slot }; … }
    scf.for … { %b = scf.if %has { tile_gpu.private_load %slot } else { tile.load %x[%n] }; … }
    ```
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect", "::mlir::arith::ArithDialect",
      "::mlir::scf::SCFDialect"];
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
    store whose ends cut only rows goes with a map that cuts them, too; with another end it stays
    for the tiles that it cuts.
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

def TileGPUJoinProducts : Pass<"tile-gpu-join-products", "::mlir::ModuleOp"> {
  let summary = "multiply one tile by several fetched ones at once";
  let description = [{
    Products by wgmma of a loop's body with the same first operand, whose second operands are
    fetched by TMA and whose sums the loop carries from zero, become one product of up to 256
    columns: its second operand is `tile_gpu.memdesc_join` of the fetched tiles, its sum one
    variable of the loop, of which `tile_gpu.extract_part` makes the old ones behind the loop.
    ```mlir
    %p = tile_gpu.wgmma %a, %b, %g
    %q = tile_gpu.wgmma %a, %c, %u
    // becomes
    %m = tile_gpu.memdesc_join %b, %c {dim = 1 : i64}
    %r = tile_gpu.wgmma %a, %m, %gu
    ```
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect", "::mlir::arith::ArithDialect",
      "::mlir::scf::SCFDialect"];
}

def TileGPUCutProducts : Pass<"tile-gpu-cut-products", "::mlir::ModuleOp"> {
  let summary = "multiply by some columns at a time where registers hold no more results";
  let description = [{
    A product by wgmma that begins a sum of its own in each trip of a loop, and whose result meets
    nothing but arithmetic by elements, becomes products of some of the columns each (`column`),
    with the arithmetic on these behind it, where a thread has no registers for the whole result
    beside what else it holds. `tile_gpu.join_parts` makes one tile of what the loop carries on.
    ```mlir
    %p = tile_gpu.wgmma %a, %b, %zero
    %n = arith.addf %acc, %p
    // becomes
    %p0 = tile_gpu.wgmma %a, %b column 0, %zero
    %n0 = arith.addf %acc0, %p0
    %p1 = tile_gpu.wgmma %a, %b column 128, %zero
    %n1 = arith.addf %acc1, %p1
    %n = tile_gpu.join_parts %n0, %n1 {dim = 1 : i64}
    ```
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect", "::mlir::arith::ArithDialect",
      "::mlir::scf::SCFDialect"];
}

def TileGPUFetchGathers : Pass<"tile-gpu-fetch-gathers", "::mlir::ModuleOp"> {
  let summary = "have the producer's threads copy gathered operands beside tiles that TMA fetches";
  let description = [{
    In a loop with a `tile_gpu.tma_fetch`, a gather whose tile only products by wgmma read becomes a
    fetch that never brings anything, and a `tile_gpu.async_copy` that fills its tile. Its positions
    must be computed without exchange between threads, of memory that nothing writes; padding must
    be 0. Kernels with clusters, split loops or maps that programs write have no such producer.
    ```mlir
    %m = tile_gpu.local_alloc %gathered : …
    // becomes
    %m = tile_gpu.tma_fetch %d [%c0, %c0] when %false : …
    scf.if %true {
      tile_gpu.async_copy %v[%c0, %k] at[%rows : …] into %m …
    } {tile_gpu.rare}
    ```
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect", "::mlir::arith::ArithDialect",
      "::mlir::scf::SCFDialect"];
}

def TileGPUPipelineCopies : Pass<"tile-gpu-pipeline-copies", "::mlir::ModuleOp"> {
  let summary = "copy operands of a loop's products to shared memory some trips ahead (cp.async)";
  let description = [{
    On targets with cp.async. In an innermost loop, loads and gathers whose tile goes to shared
    memory for a product become `tile_gpu.async_copy` into a ring of `tile_gpu.local_slots`: those
    of the first trips stand before the loop, each trip waits for its own copies, then for the
    block, and starts those of `stages` - 1 trips ahead; of `stages` - 2 where products by wgmma may
    stay in flight till the next trip, which the loop's `tile_gpu.schedule` says then. As many
    stages as `stages(n)` says, else as the time of a copy takes, where trips and shared memory
    allow it. Padding must be 0, the memory such as nothing writes while the kernel runs; what stays
    synchronous is remarked upon (R0406).
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

def TileGPUMulticast : Pass<"tile-gpu-multicast", "::mlir::ModuleOp"> {
  let summary = "load tiles that neighbouring programs share once for a cluster of two or four";
  let description = [{
    For kernels `with cluster(2)`: a `tile_gpu.tma_fetch` whose coordinates and control flow are the
    same in both programs of a pair is marked `multicast`, its tensor map cut to what half a tile
    needs. `cluster(4)` makes squares, pairs along two axes. Where nothing is shared, a remark says
    so.
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

def TileGPUScheduleLoops : Pass<"tile-gpu-schedule-loops", "::mlir::ModuleOp"> {
  let summary = "decide when loops issue their products and wait for them";
  let description = [{
    Writes `tile_gpu.schedule` on every loop with products by wgmma, of however many. Of a trip's
    products some need others' results (a single one beside much arithmetic is in flight, so that
    two warpgroups take turns): they are left to the next trip, which has them in flight
    beside its first; or all are issued as soon as their operands are there, and waited for where
    their results are used. In loops of consumers, whose operands lie in rings: products that
    nothing but the next trip's touches stay in flight till then, where one warpgroup is alone; two
    take turns, and wait for the next trip's tile under their last product. A loop that has a
    schedule keeps it, but for what rings add.
    ```mlir
    scf.for … { … } {tile_gpu.schedule = #tile_gpu.schedule<[(stage = 0, order = 0, flight = 0),
        (stage = 1, order = 1, flight = 0)], scale_under, turns, peek>}
    ```
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect"];
}

def TileGPUApplySchedule : Pass<"tile-gpu-apply-schedule", "::mlir::ModuleOp"> {
  let summary = "realise the schedules of loops";
  let description = [{
    Realises `tile_gpu.schedule`. A loop with products of stage 1 gets a prologue and an epilogue;
    their b comes from a `tile_gpu.tma_fetch`, and fetches that are copied get a `tile_gpu.ring`
    number, by which the copies share a ring. Products with a flight become `async`, in the
    schedule's order, and a `tile_gpu.wgmma_wait` stands before the first use of each.
    ```mlir
    %s = tile_gpu.wgmma %q, %k, %zero async : …
    %o = tile_gpu.wgmma %p, %v, %acc async : …
    %scores = tile_gpu.wgmma_wait %s {pending = 1 : i64} : …
    ```
    In loops of consumers, slots go back one trip later where products stay in flight for one, once
    the wait behind the next trip's says that theirs are done; `turn_wait` and `turn_pass` enclose
    the products of a turn; a peek is a `ring_peek` before the last wait, and what is computed
    before it stays there.
    ```mlir
    %p = tile_gpu.wgmma %a, %b, %acc async : …
    %s = tile_gpu.wgmma_wait %p {pending = 1 : i64} : …
    %second = arith.cmpi ne, %i, %lower : index
    scf.if %second { tile_gpu.ring_release %ring : … }
    ```
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect", "::mlir::arith::ArithDialect",
      "::mlir::scf::SCFDialect"];
}

def TileGPUMakePersistent : Pass<"tile-gpu-make-persistent", "::mlir::ModuleOp"> {
  let summary = "let each block take several programs";
  let description = [{
    For kernels `with persistent`: a loop over programs around the body, `tile.program_id` computed
    from its number. What all programs share (arithmetic on dimensions, loads of memory that is not
    written) stands before the loop. The launcher starts as many blocks as the GPU holds at once.
    On GPUs without TMA no warp loads ahead of a program's end: there kernels stay as they are,
    unless programs share a load or a tile. The CPU ignores the attribute.
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
    multiprocessor, at most as many as a launch has for each.
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect", "::mlir::arith::ArithDialect",
      "::mlir::scf::SCFDialect"];
}

def TileGPUPrefetchCoordinates : Pass<"tile-gpu-prefetch-coordinates", "::mlir::ModuleOp"> {
  let summary = "prefetch the coordinates of the next program's copies";
  let description = [{
    Where the coordinates of a persistent kernel's copies come from tiles, the consumers compute
    them. So that the copies of the next program run under the work of this one, they do so one
    program ahead, and carry the scalars to the next trip; with them small tiles that the next
    program loads at places known by then, of 8 registers a thread in all.
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
    Where a loop of the programs makes more trips in some than in others, or none, a block does not
    run every n-th program but the next that nobody has: the producer counts in scratch memory and
    tells the consumers, but for programs that both sides leave alone by one test, which it passes
    over. Where these send the next program's coordinates ahead, its number is taken
    and received at the start of this one.
    ```mlir
    scf.while (%p = %block) : (index) -> index {
      %exists = arith.cmpi slt, %p, %total : index
      scf.condition(%exists) %p : index
    } do {
    ^bb0(%program: index):
      …
      %next = tile_gpu.program_take %total
      tile_gpu.program_send %next, %ring : !tile_gpu.ring<1>
      scf.yield %next : index
    }
    ```
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect", "::mlir::arith::ArithDialect",
      "::mlir::scf::SCFDialect"];
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
    A maximum or minimum across lanes in a loop that only decides selections, each of which has an
    arm without it, stands in such a branch too: the warp skips it where each lane's own part of it
    decides for that arm.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
      "::tile::gpu::TileGPUDialect"];
}

def TileGPUSpreadLoads : Pass<"tile-gpu-spread-loads", "::mlir::ModuleOp"> {
  let summary = "load a vector that all lanes of a warp need once a warp";
  let description = [{
    In innermost loops for which a producer will fetch: a load of one dimension whose every element
    four lanes or more hold, 16 elements or more each, of memory that nothing writes, behind a
    product of the trip. Lanes share the elements out, at the beginning of the trip, and
    `tile_gpu.convert_layout` spreads them, by way of shared memory of the warp's own.
    ```mlir
    %x = tile.load %v[%k] … -> tensor<128xf32, #by_columns>
    // becomes
    %c = tile.load %v[%k] … -> tensor<128xf32, #by_lanes>
    …
    %x = tile_gpu.convert_layout %c : tensor<128xf32, #by_lanes> -> tensor<128xf32, #by_columns>
    ```
  }];
}

def TileGPUPrefetchLoads : Pass<"tile-gpu-prefetch-loads", "::mlir::ModuleOp"> {
  let summary = "load what a loop's next trip needs into registers at the beginning of this one";
  let description = [{
    In innermost loops whose threads exchange what they hold in each trip (a reduction, a scan), or
    whose trips compute with a tile that the one before left and store it. Loads of memory that
    nothing writes, whose places follow from the counter, are carried from trip to trip, where a
    thread holds 16 registers of them at most, all programs run at once even so, and are too few to
    hide each other's waits or to keep memory busy. And in innermost loops for which a producer will
    fetch, if the registers that its consumers get are enough: tiles and numbers that feed no
    operand, of memory that nothing writes, or that the same trip alone writes. There what is made
    of this trip's first, if it is few registers, stands ahead of the next one's loads, which so
    take the same registers. `tile_gpu.ahead` keeps them where they are.
    ```mlir
    scf.for %k = %c0 to %n step %c512 { %x = tile.load %v[%k] …; %s = tile.reduce sum %x … }
    // becomes
    %first = tile.load %v[%c0] … {tile_gpu.ahead}
    scf.for %k = %c0 to %n step %c512 iter_args(%x = %first) {
      %next = tile.load %v[%k + %c512] … {tile_gpu.ahead}
      %s = tile.reduce sum %x …
      scf.yield %next
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
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

def TileGPUJoinReductions : Pass<"tile-gpu-join-reductions", "::mlir::ModuleOp"> {
  let summary = "let reductions that do not wait for each other exchange at one barrier";
  let description = [{
    Of each block without products and copies. What a reduction across warps is needed for is put
    off while other reductions can begin; then one `tile_gpu.join_warps` ends them all. Nothing
    passes an operation with effects, and the tiles that live longer so must fit in 64 registers of
    a thread, or take no more than before.
    ```mlir
    %m = tile.reduce max %a : tensor<2048xf32, #rows> -> f32
    %n = tile.reduce max %b : tensor<2048xf32, #rows> -> f32
    // becomes
    %p = tile_gpu.warp_reduce max %a : tensor<2048xf32, #rows> -> tensor<4xf32, #warps>
    %q = tile_gpu.warp_reduce max %b : tensor<2048xf32, #rows> -> tensor<4xf32, #warps>
    %m, %n = tile_gpu.join_warps %p, %q {kinds = array<i32: 2, 2>, axes = array<i64: 0, 0>} …
    ```
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect"];
}

def TileGPUShiftLoads : Pass<"tile-gpu-shift-loads", "::mlir::ModuleOp"> {
  let summary = "take tiles that lie one position beside a loaded one from its registers";
  let description = [{
    Of loads of one block that differ by one position along one dimension, of memory that nothing
    writes, one is made as it stands, by preference one whose rows begin at multiples of a vector.
    The others take its elements, and load those at the edges of the blocks that a thread holds,
    along the dimension of stride 1 a warp.
    ```mlir
    %b = tile.load %x[%i, %before] … -> tensor<4x128xf32, #rows>
    // becomes
    %e = tile.load %x[%i, %before] … -> tensor<4x1xf32, #edge>
    %b = tile_gpu.shift %a, %e {dim = 1, offset = -1}
    ```
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect", "::mlir::arith::ArithDialect"];
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

def TileGPULoadEarly : Pass<"tile-gpu-load-early", "::mlir::ModuleOp"> {
  let summary = "put loads that branch at run time ahead of the arithmetic between them";
  let description = [{
    ptxas moves no load ahead of a branch, and loads with `tile_gpu.vector_if` have one. Those of
    memory that nothing writes move to the beginning of the operations around them that work on a
    thread's own registers, with what says where they load, where arithmetic stands between three or
    more of them and a thread has registers for all.
    ```mlir
    %a = tile.load %x[%n] {tile_gpu.vector_if = 8} …
    %b = math.exp %a
    %c = tile.load %y[%n] {tile_gpu.vector_if = 8} …
    // becomes
    %a = tile.load %x[%n] {tile_gpu.vector_if = 8} …
    %c = tile.load %y[%n] {tile_gpu.vector_if = 8} …
    %b = math.exp %a
    ```
  }];
}

def TileGPUStoreInParts : Pass<"tile-gpu-store-in-parts", "::mlir::ModuleOp"> {
  let summary = "compute and store tiles in parts, with what they need of memory";
  let description = [{
    In a kernel with `tile_gpu.store_parts`, which it takes away, what a store writes is computed in
    so many parts, along a dimension of which each thread has positions in all of them: loads that
    it needs, conversions of layouts, element-wise work, and the store. Of tiles that are there, as
    a product's result, parts are taken.
    ```mlir
    %r = tile.load %x[%m, %n] … -> tensor<128x128xf16, #rows>
    %y = arith.addf %acc, %r
    tile.store %y, %v[%m, %n]
    // becomes, twice
    %r0 = tile.load %x[%m, %n] … -> tensor<64x128xf16, #rows>
    %a0 = tile_gpu.extract_part %acc at [0, 0]
    %y0 = arith.addf %a0, %r0
    tile.store %y0, %v[%m, %n]
    ```
  }];
  let dependentDialects = ["::tile::gpu::TileGPUDialect", "::mlir::arith::ArithDialect"];
}

def TileGPUAllocateShared : Pass<"tile-gpu-allocate-shared", "::mlir::ModuleOp"> {
  let summary = "place tiles and scratch in shared memory";
  let description = [{
    Every operation that needs shared memory gets its place as `tile_gpu.offset`:
    `tile_gpu.local_alloc` from there to the last use of its memory, conversions of layouts and
    reductions across warps for themselves alone. What is never needed at the same time shares
    bytes. Where that is more than the GPU has, the largest conversions go in rounds
    (`tile_gpu.rounds`), through half of the bytes or less. The kernel's total is its
    `tile_gpu.shared_bytes`; more than the GPU has then is an error. A kernel with products takes
    the `tile_gpu.planned_bytes` by which it was chosen where it needs fewer and that costs no block
    of the multiprocessor.
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

#endif
