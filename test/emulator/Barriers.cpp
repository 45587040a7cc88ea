// Barriers of blocks and clusters, mbarriers, fences.
//
// A barrier counts arrivals and phases. Who waits keeps the phase that it arrived in and goes on as
// soon as the barrier has another, so one that is slow cannot miss the end of a phase, and one that
// is fast cannot take the next phase's end for this one's.
//
// Writes by threads and reads by the copy engine or wgmma go by different ways. For each 16 bytes
// of shared memory there is a mask of the lanes that wrote and have not fenced; such a read by the
// other way is a mistake, whatever the bytes are (checkFenced). Noted are st, stmatrix and cp.async
// to the block's own memory, not atomics nor stores to other blocks; checked when the read is done,
// so in late mode at the wait. Copies by cp.async that an mbarrier is told of (noinc) are fenced by
// those who read them, after their wait.
#include "test/emulator/Decoder.h"

namespace emu {

void settle(Grid &grid, MBarrier &barrier) {
  ++grid.events;
  if (barrier.pending || barrier.bytes)
    return;
  ++barrier.phase;
  barrier.pending = barrier.expected;
}

Block &blockAt(Warp &w, const Op &op, int lane, uint64_t address) {
  uint64_t rank = address >> 24;
  if (rank == 0)
    return *w.block;
  if (rank > w.block->cluster.size())
    fault(IllegalAddress, w, op, lane,
          "the address " + hex(address) + " is in shared memory of a block outside of the cluster");
  Block &block = *w.block->cluster[rank - 1];
  if (!block.liveWarps)
    fault(IllegalAddress, w, op, lane,
          "the address " + hex(address) + " is in shared memory of block " +
              std::to_string(rank - 1) + " of the cluster, which has ended");
  return block;
}

uint8_t *sharedAt(Warp &w, const Op &op, int lane, uint64_t address, uint32_t bytes) {
  std::vector<uint8_t> &memory = blockAt(w, op, lane, address).shared;
  uint64_t offset = (address & 0xFFFFFF) - sharedBase;
  if (offset + bytes > memory.size() || offset + bytes < bytes)
    fault(IllegalAddress, w, op, lane,
          std::to_string(bytes) + " bytes at " + hex(address) +
              " lie outside of shared memory, which has " + std::to_string(memory.size()) +
              " bytes from " + hex(sharedBase));
  return &memory[offset];
}

MBarrier &barrierAt(Warp &w, const Op &op, int lane, uint64_t address, Block *&owner) {
  owner = &blockAt(w, op, lane, address);
  auto found = owner->barriers.find(uint32_t(address & 0xFFFFFF));
  if (found == owner->barriers.end())
    fault(IllegalInstruction, w, op, lane, "there is no mbarrier at " + hex(address));
  return found->second;
}

void checkNoBarrier(Warp &w, const Op &op, int lane, const Block &block, uint64_t address,
                    uint32_t bytes) {
  if (block.isBarrier.empty())
    return;
  uint32_t offset = uint32_t(address & 0xFFFFFF) - sharedBase;
  for (uint32_t cell = offset / 8; cell <= (offset + bytes - 1) / 8; ++cell)
    if (block.isBarrier[cell])
      fault(IllegalInstruction, w, op, lane,
            "it writes over the mbarrier at " + hex(sharedBase + cell * 8) +
                ", which is not invalidated");
}

void checkFenced(Warp &w, const Op &op, Block &block, uint32_t offset, uint32_t bytes) {
  if (block.dirty.empty())
    return;
  for (uint32_t cell = offset / 16; cell <= (offset + bytes - 1) / 16; ++cell)
    if (block.dirty[cell])
      for (Warp &other : block.warps)
        if (other.unfencedLanes[cell])
          fault(LaunchFailed, w, op, -1,
                "it reads shared memory at " + hex(sharedBase + cell * 16) + ", which thread " +
                    std::to_string(other.number * 32 +
                                   unsigned(__builtin_ctz(other.unfencedLanes[cell]))) +
                    " has written without fence.proxy.async since");
  for (uint32_t cell = offset / 16; cell <= (offset + bytes - 1) / 16; ++cell)
    for (int lane = 0; block.handedAt[cell] && lane < 32; ++lane)
      if ((w.live >> lane & 1) && w.fencedAt[lane] <= block.handedAt[cell])
        fault(LaunchFailed, w, op, lane,
              "it reads shared memory at " + hex(sharedBase + cell * 16) +
                  ", where cp.async has told an mbarrier of its bytes, without "
                  "fence.proxy.async since");
}

void handOver(Warp &w, uint32_t lanes) {
  if (w.unfencedLanes.empty())
    return;
  uint64_t now = ++w.block->fenceClock;
  size_t kept = 0;
  for (uint32_t cell : w.unfencedCells) {
    uint32_t &unfenced = w.unfencedLanes[cell];
    if (unfenced & lanes)
      w.block->handedAt[cell] = now;
    unfenced &= ~lanes;
    if (unfenced)
      w.unfencedCells[kept++] = cell;
    else
      --w.block->dirty[cell];
  }
  w.unfencedCells.resize(kept);
}

namespace {

uint64_t addressOf(Warp &w, const Op &op, int lane) {
  return ((op.addressBits == 32 ? uint64_t(w.at<uint32_t>(op.a)[lane])
                                : w.at<uint64_t>(op.a)[lane] & ~windowMask) +
          uint64_t(op.imm)) &
         0xFFFFFFFFu;
}

//===--- bar --------------------------------------------------------------===//

void finishNamed(Block &block, Block::Named &barrier, uint32_t expected) {
  if (barrier.arrived < expected)
    return;
  barrier.arrived = 0;
  barrier.expected = 0;
  barrier.result = barrier.votes;
  barrier.votes = 0;
  ++barrier.phase;
  ++block.grid->events;
}

enum BarMode { Sync, Arrive };

Step bar(Warp &w, const Op &op, uint32_t m) {
  uint32_t number = w.at<uint32_t>(op.a)[__builtin_ctz(m)];
  if (number > 15)
    fault(IllegalInstruction, w, op, -1, "there is no barrier " + std::to_string(number));
  Block::Named &barrier = w.block->named[number];
  if (!w.arrived) {
    uint32_t count = op.b == none ? 0 : w.at<uint32_t>(op.b)[__builtin_ctz(m)];
    if (op.b != none && (count == 0 || count % 32 || count > w.block->warps.size() * 32))
      fault(IllegalInstruction, w, op, -1,
            "a barrier of " + std::to_string(count) +
                " threads: expected whole warps, no more than the block has");
    if (barrier.arrived && barrier.expected != count)
      fault(IllegalInstruction, w, op, -1,
            "barrier " + std::to_string(number) + " is awaited by " +
                std::to_string(barrier.expected) + " and by " + std::to_string(count) +
                " threads (0: all)");
    barrier.expected = count;
    barrier.arrived += 32;
    w.arrived = true;
    w.phase = barrier.phase;
    ++w.block->grid->events;
    finishNamed(*w.block, barrier, count ? count : w.block->liveWarps * 32);
    if (op.count == Arrive) {
      w.arrived = false;
      return Step::Next;
    }
  }
  if (barrier.phase == w.phase)
    return Step::Wait;
  w.arrived = false;
  return Step::Next;
}

Step syncWarp(Warp &w, const Op &op, uint32_t m) {
  uint32_t members = w.at<uint32_t>(op.a)[__builtin_ctz(m)];
  return (members & w.live & ~m) ? Step::Park : Step::Next;
}

//===--- barrier.cluster --------------------------------------------------===//

uint32_t clusterWarps(Block &block) {
  uint32_t warps = 0;
  for (Block *one : block.cluster)
    warps += one->liveWarps;
  return warps;
}
Step arriveCluster(Warp &w, const Op &, uint32_t) {
  Block &first = *w.block->cluster[0];
  w.clusterPhase = first.clusterPhase;
  ++w.block->grid->events;
  if (++first.clusterArrived >= clusterWarps(first)) {
    first.clusterArrived = 0;
    ++first.clusterPhase;
  }
  return Step::Next;
}
Step waitCluster(Warp &w, const Op &, uint32_t) {
  return w.block->cluster[0]->clusterPhase == w.clusterPhase ? Step::Wait : Step::Next;
}

//===--- mbarrier ---------------------------------------------------------===//

Step initialise(Warp &w, const Op &op, uint32_t m) {
  eachLane(m, [&](int i) {
    uint64_t address = addressOf(w, op, i);
    uint32_t count = w.at<uint32_t>(op.b)[i];
    sharedAt(w, op, i, address, 8);
    if (address % 8 || count == 0 || count >= 1u << 20)
      fault(IllegalInstruction, w, op, i,
            "an mbarrier at " + hex(address) + " for " + std::to_string(count) +
                " arrivals: expected a multiple of 8, and 1 to 2^20 - 1");
    checkNoBarrier(w, op, i, *w.block, address, 8);
    w.block->isBarrier.resize((w.block->shared.size() + 7) / 8);
    w.block->isBarrier[(address - sharedBase) / 8] = 1;
    MBarrier fresh;
    fresh.expected = fresh.pending = count;
    w.block->barriers[uint32_t(address)] = fresh;
  });
  return Step::Next;
}
Step invalidate(Warp &w, const Op &op, uint32_t m) {
  eachLane(m, [&](int i) {
    Block *owner = nullptr;
    uint64_t address = addressOf(w, op, i);
    barrierAt(w, op, i, address, owner);
    owner->barriers.erase(uint32_t(address & 0xFFFFFF));
    owner->isBarrier[((address & 0xFFFFFF) - sharedBase) / 8] = 0;
  });
  return Step::Next;
}

/// imm: offset. count: 1: arrives, 2: expects bytes. b: bytes. c: arrivals.
Step arrive(Warp &w, const Op &op, uint32_t m) {
  eachLane(m, [&](int i) {
    Block *owner = nullptr;
    MBarrier &barrier = barrierAt(w, op, i, addressOf(w, op, i), owner);
    if (op.d != none)
      w.at<uint64_t>(op.d)[i] = barrier.phase;
    if (op.count & 2)
      barrier.bytes += w.at<uint32_t>(op.b)[i];
    if (barrier.bytes >= 1 << 20)
      fault(IllegalInstruction, w, op, i,
            "the mbarrier expects " + std::to_string(barrier.bytes) + " bytes, beyond 2^20 - 1");
    if (op.count & 1) {
      uint32_t count = op.c == none ? 1 : w.at<uint32_t>(op.c)[i];
      if (count > barrier.pending)
        fault(IllegalInstruction, w, op, i, "more arrivals than the mbarrier's phase has");
      barrier.pending -= count;
      settle(*w.block->grid, barrier);
    }
  });
  return Step::Next;
}

/// Whether the phase of that parity has ended. The wait is what copies are done for.
Step testWait(Warp &w, const Op &op, uint32_t m) {
  uint32_t &p = *w.at<uint32_t>(op.d);
  bool failed = false;
  eachLane(m, [&](int i) {
    Block *owner = nullptr;
    uint64_t address = addressOf(w, op, i);
    MBarrier &barrier = barrierAt(w, op, i, address, owner);
    auto isDone = [&] {
      return op.bits == 64 ? barrier.phase != w.at<uint64_t>(op.b)[i]
                           : (barrier.phase & 1) != (w.at<uint32_t>(op.b)[i] & 1);
    };
    if (!isDone()) {
      deliver(*owner, uint32_t(address & 0xFFFFFF));
      finishCopiesFor(*owner, uint32_t(address & 0xFFFFFF));
    }
    p = isDone() ? p | 1u << i : p & ~(1u << i);
    failed |= !isDone();
  });
  return failed ? Step::Yield : Step::Next;
}

Step mapAddress(Warp &w, const Op &op, uint32_t m) {
  eachLane(m, [&](int i) {
    uint32_t rank = w.at<uint32_t>(op.b)[i];
    if (rank >= w.block->cluster.size())
      fault(IllegalAddress, w, op, i, "the cluster has no block " + std::to_string(rank));
    if (op.bits == 32)
      w.at<uint32_t>(op.d)[i] = (w.at<uint32_t>(op.a)[i] & 0xFFFFFF) | (rank + 1) << 24;
    else
      w.at<uint64_t>(op.d)[i] =
          (w.at<uint64_t>(op.a)[i] & (windowMask | 0xFFFFFF)) | uint64_t(rank + 1) << 24;
  });
  return Step::Next;
}

Step fenceProxy(Warp &w, const Op &, uint32_t m) {
  size_t kept = 0;
  for (uint32_t cell : w.unfencedCells) {
    uint32_t &lanes = w.unfencedLanes[cell];
    lanes &= ~m;
    if (lanes)
      w.unfencedCells[kept++] = cell;
    else
      --w.block->dirty[cell];
  }
  w.unfencedCells.resize(kept);
  uint64_t now = ++w.block->fenceClock;
  eachLane(m, [&](int i) { w.fencedAt[i] = now; });
  return Step::Next;
}
Step nothing(Warp &, const Op &, uint32_t) { return Step::Next; }

bool decodeMBarrier(Decoder &d, Op &op) {
  d.allow({"init", "inval", "arrive", "arrive_drop", "expect_tx", "try_wait", "test_wait", "parity",
           "shared", "shared::cta", "shared::cluster", "release", "acquire", "relaxed", "cta",
           "cluster"});
  bool isWait = d.has("try_wait") || d.has("test_wait"), isArrive = d.has("arrive");
  if (isWait) {
    op.d = d.result(0, 1);
    d.address(d.operand(1), op);
    op.bits = d.has("parity") ? 32 : 64;
    op.b = d.source(2, op.bits);
    op.run = testWait;
    return true;
  }
  size_t i = isArrive ? 1 : 0;
  if (isArrive && d.operand(0).kind == Operand::Address)
    i = 0; // without a state
  else if (isArrive && d.operand(0).kind != Operand::Sink)
    op.d = d.result(0, 64);
  d.address(d.operand(i), op);
  bool hasMore = d.operands() > i + 1;
  if (d.has("init")) {
    op.b = d.source(i + 1, 32);
    op.run = initialise;
  } else if (d.has("inval")) {
    op.run = invalidate;
  } else if (isArrive || d.has("expect_tx")) {
    op.count = uint32_t(isArrive) | uint32_t(d.has("expect_tx")) << 1;
    if (d.has("expect_tx"))
      op.b = d.source(i + 1, 32);
    else if (hasMore)
      op.c = d.source(i + 1, 32);
    op.run = arrive;
  }
  return op.run != nullptr;
}

} // namespace

bool decodeBarrier(Decoder &d, Op &op) {
  const std::string &name = d.name();
  if (name == "mbarrier")
    return decodeMBarrier(d, op);
  if (name == "mapa") {
    op.bits = uint8_t(Decoder::bitsOf(d.last()));
    op.d = d.result(0, op.bits);
    op.a = d.source(1, op.bits);
    op.b = d.source(2, 32);
    op.run = mapAddress;
    return true;
  }
  if (name == "fence") {
    op.run =
        d.has("proxy") && d.current().words[2].compare(0, 5, "async") == 0 ? fenceProxy : nothing;
    return true;
  }
  if (name == "barrier" && d.has("cluster")) {
    op.run = d.has("arrive") ? arriveCluster : d.has("wait") ? waitCluster : nullptr;
    op.converge = true;
    return op.run != nullptr;
  }
  if (name != "bar" && name != "barrier")
    return false;
  if (d.has("warp")) {
    op.a = d.source(0, 32);
    op.run = syncWarp;
    return true;
  }
  d.allow({"cta", "sync", "arrive", "aligned"});
  op.converge = true;
  op.a = d.source(0, 32);
  if (d.operands() > 1)
    op.b = d.source(1, 32);
  op.count = d.has("arrive") ? Arrive : Sync;
  op.run = bar;
  return true;
}

} // namespace emu
