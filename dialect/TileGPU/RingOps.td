// Warp specialisation: a producer that copies, consumers that compute, and the rings of buffers
// between them.
#ifndef TILE_GPU_RING_OPS
#define TILE_GPU_RING_OPS

include "dialect/TileGPU/TmaOps.td"

def TileGPU_RingType : TypeDef<TileGPU_Dialect, "Ring"> {
  let mnemonic = "ring";
  let summary = "buffers that a producer fills and consumers empty, in order";
  let description = [{
    `stages` slots of one tile of each of `tiles`, with a full and an empty mbarrier a slot.
  }];
  let parameters = (ins "int64_t":$stages,
      OptionalArrayRefParameter<"::tile::gpu::MemDescType">:$tiles);
  let assemblyFormat = "`<` $stages (`,` $tiles^)? `>`";
}

def TileGPU_RingOp
    : TileGPU_Op<"ring", [MemoryEffects<[MemAlloc, MemWrite]>, TileGPU_OwnsSharedMemory]> {
  let summary = "a ring in shared memory, every slot empty";
  let description = [{
    Producer and consumers each keep their own position, which starts at slot 0. A slot is empty
    once each warpgroup of the consumers has released it, or, with `per_warp`, each warp. A ring of
    no tiles passes scalars: from the consumers to the producer, or, with `per_warp`, programs from
    the producer to each warp of the consumers. With `clustered`, blocks of a cluster fill slots of
    each other, so a slot is empty once the consumers of all of them have released it: two, or, with
    `across = 3`, three of a cluster of four, a block and those whose ranks differ from its own in
    one bit.
    ```mlir
    %r = tile_gpu.ring : !tile_gpu.ring<4, !tile_gpu.memdesc<128x64xf16, #s>,
        !tile_gpu.memdesc<64x256xf16, #s>>
    ```
  }];
  let arguments = (ins UnitAttr:$per_warp, UnitAttr:$clustered, OptionalAttr<I64Attr>:$across);
  let results = (outs TileGPU_RingType:$result);
  let assemblyFormat = [{
    (`per_warp` $per_warp^)? (`clustered` $clustered^)? attr-dict `:` type($result)
  }];
}

def TileGPU_RingAcquireOp : TileGPU_Op<"ring_acquire", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "producer: the next slot, once it is empty";
  let description = [{
    Waits for the slot, announces the bytes of its tiles on its full barrier, and moves the producer
    on. The tiles are then to be filled by tma_load on `barrier`. With `when`, a condition for each
    tile, bytes are announced of those alone for which it holds; the others are filled by a
    ring_fill on `barrier`, which then is the one that hands the slot over.
    ```mlir
    %a, %b, %full = tile_gpu.ring_acquire %r
        : !tile_gpu.ring<4, …> -> !tile_gpu.memdesc<…>, !tile_gpu.memdesc<…>
    ```
  }];
  let arguments = (ins TileGPU_RingType:$ring, Variadic<I1>:$when);
  let results = (outs Variadic<TileGPU_MemDescType>:$tiles, TileGPU_BarrierType:$barrier);
  let assemblyFormat = "$ring (`when` $when^)? attr-dict `:` type($ring) `->` type($tiles)";
  let hasVerifier = 1;
}

def TileGPU_RingFillOp : TileGPU_Op<"ring_fill", [MemoryEffects<[MemRead, MemWrite]>, SingleBlock,
    NoTerminator, TileGPU_OwnsSharedMemory]> {
  let summary = "producer: what no tma_load brings into a slot";
  let description = [{
    Where `when` holds, two warps of the producer's warpgroup, idle otherwise, make the copies of
    the body, by a layout of two warps, while the producer's thread waits for them. They have their
    operands from it by way of shared memory. Either way the slot is full once the bytes that its
    ring_acquire has announced are there.

    With `wide`, all threads of the producer's warpgroup run its side, and make the copies always,
    by a layout of four warps. The slot is full when these are there too: nobody waits for them
    here.
    ```mlir
    tile_gpu.ring_fill %full when %missing {
      tile_gpu.async_copy %v[%m, %k] into %a {…} : …
    }
    ```
  }];
  let arguments = (ins TileGPU_BarrierType:$barrier, I1:$when, UnitAttr:$wide);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$barrier `when` $when (`wide` $wide^)? attr-dict-with-keyword $body";
  let hasRegionVerifier = 1; // copies of the body are verified before
}

def TileGPU_RingWaitOp : TileGPU_Op<"ring_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "consumer: the next slot, once it is full";
  let description = [{
    With `full` it is known to be: a ring_peek has waited for it.
    ```mlir
    %a, %b = tile_gpu.ring_wait %r
        : !tile_gpu.ring<4, …> -> !tile_gpu.memdesc<…>, !tile_gpu.memdesc<…>
    ```
  }];
  let arguments = (ins TileGPU_RingType:$ring, UnitAttr:$full);
  let results = (outs Variadic<TileGPU_MemDescType>:$tiles);
  let assemblyFormat = "$ring (`full` $full^)? attr-dict `:` type($ring) `->` type($tiles)";
}

def TileGPU_RingPeekOp : TileGPU_Op<"ring_peek", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "consumer: waits until the next slot is full, and leaves it to the next ring_wait";
  let description = [{
    ```mlir
    tile_gpu.ring_peek %r : !tile_gpu.ring<4, …>
    ```
  }];
  let arguments = (ins TileGPU_RingType:$ring);
  let assemblyFormat = "$ring attr-dict `:` type($ring)";
}

def TileGPU_RingReleaseOp : TileGPU_Op<"ring_release", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "consumer: gives the oldest slot that it holds back to the producer";
  let description = [{
    ```mlir
    tile_gpu.ring_release %r : !tile_gpu.ring<4, …>
    ```
  }];
  let arguments = (ins TileGPU_RingType:$ring);
  let assemblyFormat = "$ring attr-dict `:` type($ring)";
}

def TileGPU_RingSkipOp : TileGPU_Op<"ring_skip", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "consumer: passes by slots that another team of consumers reads";
  let description = [{
    All slots before them have been waited for and given back.
    ```mlir
    tile_gpu.ring_skip %r, %slots : !tile_gpu.ring<4, …>
    ```
  }];
  let arguments = (ins TileGPU_RingType:$ring, Index:$slots);
  let assemblyFormat = "$ring `,` $slots attr-dict `:` type($ring)";
}

def TileGPU_ScalarSendOp : TileGPU_Op<"scalar_send", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "consumers: hand a scalar, the same in all threads, to the producer";
  let description = [{
    ```mlir
    tile_gpu.scalar_send %r, %first : !tile_gpu.ring<2>, index
    ```
  }];
  let arguments = (ins TileGPU_RingType:$ring, AnyTypeOf<[Index, AnyInteger, AnyFloat]>:$value);
  let assemblyFormat = "$ring `,` $value attr-dict `:` type($ring) `,` type($value)";
}

def TileGPU_ScalarReceiveOp : TileGPU_Op<"scalar_receive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "producer: the next scalar of the consumers";
  let description = [{
    ```mlir
    %first = tile_gpu.scalar_receive %r : !tile_gpu.ring<2> -> index
    ```
  }];
  let arguments = (ins TileGPU_RingType:$ring);
  let results = (outs AnyTypeOf<[Index, AnyInteger, AnyFloat]>:$value);
  let assemblyFormat = "$ring attr-dict `:` type($ring) `->` type($value)";
}

def TileGPU_ProgramTakeOp : TileGPU_Op<"program_take", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "producer: the next program that no block has taken";
  let description = [{
    The block's first program is its own number; this takes one more from the count in scratch
    memory and returns it. A number of `total` or more means that none is left: each block takes one
    such number, after which the count is 0 again.
    ```mlir
    %p = tile_gpu.program_take %total
    ```
  }];
  let arguments = (ins Index:$total);
  let results = (outs Index:$program);
  let assemblyFormat = "$total attr-dict";
}

def TileGPU_ProgramSendOp : TileGPU_Op<"program_send", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "producer: hands a program's number to each warp of the consumers";
  let description = [{
    ```mlir
    tile_gpu.program_send %p, %r : !tile_gpu.ring<1>
    ```
  }];
  let arguments = (ins Index:$program, TileGPU_RingType:$ring);
  let assemblyFormat = "$program `,` $ring attr-dict `:` type($ring)";
}

def TileGPU_ProgramReceiveOp : TileGPU_Op<"program_receive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "consumers: the program that the producer has sent";
  let description = [{
    ```mlir
    %p = tile_gpu.program_receive %r : !tile_gpu.ring<1>
    ```
  }];
  let arguments = (ins TileGPU_RingType:$ring);
  let results = (outs Index:$program);
  let assemblyFormat = "$ring attr-dict `:` type($ring)";
}

def TileGPU_WarpSpecializeOp : TileGPU_Op<"warp_specialize", [SingleBlock, NoTerminator]> {
  let summary = "producer and consumers side by side";
  let description = [{
    `consumer` runs on the kernel's warps, `producer` on one thread of a further warpgroup, of which
    two other warps run the bodies of ring_fill. The last operation of a kernel's body; what stands
    before it both see.
    ```mlir
    tile_gpu.warp_specialize producer { … } consumer { … }
    ```
  }];
  let regions = (region SizedRegion<1>:$producer, SizedRegion<1>:$consumer);
  let assemblyFormat = "attr-dict-with-keyword `producer` $producer `consumer` $consumer";
}

class TileGPU_TurnOp<string opMnemonic, string text>
    : TileGPU_Op<opMnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = text;
  let description = [{
    Two to four warpgroups of consumers take turns in issuing products, so that one computes in
    registers while another one's products run. A kernel starts with `turn_start`, ends with
    `turn_end`, and all warpgroups take as many turns in between.
    ```mlir
    tile_gpu.turn_wait
    %s = tile_gpu.wgmma %q, %k, %zero async : …
    tile_gpu.turn_pass
    ```
  }];
  let assemblyFormat = "attr-dict";
}
def TileGPU_TurnStartOp : TileGPU_TurnOp<"turn_start", "the first turn is the first warpgroup's">;
def TileGPU_TurnWaitOp : TileGPU_TurnOp<"turn_wait", "wait for this warpgroup's turn">;
def TileGPU_TurnPassOp : TileGPU_TurnOp<"turn_pass", "the next warpgroup's turn has come">;
def TileGPU_TurnEndOp : TileGPU_TurnOp<"turn_end", "take the turn that was passed on last">;

def TileGPU_TeamOp : TileGPU_Op<"team", [Pure]> {
  let summary = "the number of the team of consumers that runs this";
  let description = [{
    Where a kernel has `tile_gpu.teams`, its consumers are there so many times, and each team
    computes programs of its own.
    ```mlir
    %team = tile_gpu.team
    ```
  }];
  let results = (outs Index:$team);
  let assemblyFormat = "attr-dict";
}

def TileGPU_BlockIdOp : TileGPU_Op<"block_id", [Pure]> {
  let summary = "the running block's number, and how many blocks run";
  let description = [{
    In a persistent kernel blocks take programs `block`, `block + blocks`, …
    ```mlir
    %block, %blocks = tile_gpu.block_id
    ```
  }];
  let results = (outs Index:$block, Index:$blocks);
  let assemblyFormat = "attr-dict";
}

#endif
