// Executes a grid: blocks one after another (a cluster's together), their warps in turns.
//
//   cluster 0:  warp 0 | warp 1 | .. | warp 0 | warp 1 | ..   until all of its threads have ended
//   cluster 1:                                                then this one, unless nothing moves
//
// A warp runs until it waits, or for a number of instructions. Its threads go on in groups that are
// at the same instruction, the one that is farthest behind first, so those that a branch has parted
// meet again behind it. If no event has happened for some rounds (what others could wait for counts
// as an event), the next cluster starts beside those that wait: its blocks may be what they wait
// for. With none left to start, the kernel hangs, and the message says where each warp is.
//
// Everything is in a fixed order: a kernel that is wrong is wrong in the same way each time.
#include "test/emulator/Machine.h"

#include <cinttypes>
#include <cstdio>

namespace emu {

std::string hex(uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "0x%" PRIx64, value);
  return text;
}

void fault(int code, const Warp &warp, const Op &op, int lane, const std::string &text) {
  std::string who = lane < 0 ? "warp " + std::to_string(warp.number)
                             : "thread " + std::to_string(warp.number * 32 + unsigned(lane));
  throw Fault(code, "kernel " + warp.kernel->name + ", block " + std::to_string(warp.block->index) +
                        ", " + who + ", PTX line " + std::to_string(op.line) + ": " + text);
}

void exitThreads(Warp &w, const Op &op, uint32_t lanes) {
  finishCopies(w, lanes);
  for (const BulkCopy &store : w.stores)
    if ((lanes >> store.lane & 1) && !store.isRead)
      fault(LaunchFailed, w, op, int(store.lane),
            "the thread ends while its bulk copy of line " + std::to_string(store.line) +
                " may still read shared memory: expected a wait before");
  if (!w.products.empty())
    fault(LaunchFailed, w, op, -1, "the warp ends while products by wgmma are in flight");
  w.live &= ~lanes;
  ++w.block->grid->events;
  if (w.live)
    return;
  --w.block->liveWarps;
  // Barriers of all threads do not wait for those that have ended.
  for (Block::Named &barrier : w.block->named)
    if (barrier.arrived && !barrier.expected && barrier.arrived >= w.block->liveWarps * 32) {
      barrier.arrived = 0;
      ++barrier.phase;
    }
}

static void fillSpecial(Warp &w, Special which, uint32_t lane0, uint32_t step) {
  uint32_t offset = w.kernel->specials[which];
  if (offset)
    for (uint32_t lane = 0; lane < 32; ++lane)
      w.at<uint32_t>(offset)[lane] = lane0 + lane * step;
}

static void startWarp(Warp &w, Block &block, unsigned number) {
  Grid &grid = *block.grid;
  w.block = &block;
  w.kernel = grid.kernel;
  w.number = number;
  w.file = grid.kernel->file;
  unsigned count = grid.threads[0] * grid.threads[1] * grid.threads[2], first = number * 32;
  w.live = count - first >= 32 ? all : (1u << (count - first)) - 1;
  w.local.assign(size_t(grid.kernel->localBytes) * 32, 0xff);
  if (grid.kernel->readsByProxy)
    w.unfencedLanes.assign((block.shared.size() + 15) / 16, 0);
  uint64_t index = block.index;
  fillSpecial(w, LaneId, 0, 1);
  fillSpecial(w, WarpId, number, 0);
  fillSpecial(w, CtaidX, uint32_t(index % grid.blocks[0]), 0);
  fillSpecial(w, CtaidY, uint32_t(index / grid.blocks[0] % grid.blocks[1]), 0);
  fillSpecial(w, CtaidZ, uint32_t(index / grid.blocks[0] / grid.blocks[1]), 0);
  fillSpecial(w, NtidX, grid.threads[0], 0);
  fillSpecial(w, NctaidX, grid.blocks[0], 0);
  fillSpecial(w, ClusterRank, block.rank, 0);
  fillSpecial(w, ClusterSize, grid.cluster, 0);
  fillSpecial(w, ClusterId, uint32_t(index / grid.cluster), 0);
  fillSpecial(w, SharedBytes, grid.dynamicBytes, 0);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t thread = first + lane;
    auto set = [&](Special which, uint32_t value) {
      if (uint32_t offset = grid.kernel->specials[which])
        w.at<uint32_t>(offset)[lane] = value;
    };
    set(TidX, thread % grid.threads[0]);
    set(TidY, thread / grid.threads[0] % grid.threads[1]);
    set(TidZ, thread / grid.threads[0] / grid.threads[1]);
    set(LaneBelow, (1u << lane) - 1);
  }
}

void Grid::startCluster() {
  std::vector<Block *> cluster;
  for (unsigned rank = 0; rank < this->cluster && started < total; ++rank) {
    auto block = std::make_unique<Block>();
    block->grid = this;
    block->index = started++;
    block->rank = rank;
    uint32_t bytes = dynamicBytes ? kernel->dynamicShared + dynamicBytes : kernel->sharedBytes;
    block->shared.assign(bytes, 0xff);
    if (kernel->readsByProxy)
      block->dirty.assign((bytes + 15) / 16, 0), block->handedAt.assign((bytes + 15) / 16, 0);
    unsigned count = threads[0] * threads[1] * threads[2];
    block->warps.resize((count + 31) / 32);
    block->liveWarps = unsigned(block->warps.size());
    for (unsigned i = 0; i < block->warps.size(); ++i)
      startWarp(block->warps[i], *block, i);
    cluster.push_back(block.get());
    active.push_back(std::move(block));
  }
  for (Block *block : cluster)
    block->cluster = cluster;
}

/// The threads that go on together: those with the lowest counter among the ones that do not wait
/// for others of the warp. `turn` picks another group where one has run for long.
static uint32_t chooseGroup(const Warp &w, uint32_t turn, uint32_t &pc, uint32_t &limit) {
  uint32_t ready = w.live & ~w.parked, best = none;
  for (uint32_t skipped = 0, after = 0;; ++skipped) {
    uint32_t least = none;
    for (uint32_t m = ready; m; m &= m - 1) {
      uint32_t at = w.pc[__builtin_ctz(m)];
      if (at >= after && at < least)
        least = at;
    }
    if (least == none)
      break;
    best = least;
    if (skipped == turn)
      break;
    after = least + 1;
  }
  uint32_t group = 0;
  limit = none;
  for (uint32_t m = w.live; m; m &= m - 1) {
    int lane = __builtin_ctz(m);
    if (w.pc[lane] == best)
      group |= 1u << lane;
    else if (w.pc[lane] > best && w.pc[lane] < limit)
      limit = w.pc[lane];
  }
  pc = best;
  return group;
}

void Grid::runWarp(Warp &w) {
  const Op *code = kernel->code.data();
  uint32_t turn = w.turn;
  w.isWaiting = false;
  for (int budget = turn ? 64 : 2048; w.live && budget > 0;) {
    if ((w.live & ~w.parked) == 0 && w.steps != w.unparkedAt) {
      w.unparkedAt = w.steps; // those that they wait for may have ended since
      w.parked = 0;
    }
    if ((w.live & ~w.parked) == 0) {
      uint32_t first = __builtin_ctz(w.live);
      fault(LaunchFailed, w, code[w.pc[first]], int(first),
            "the warp's threads wait for each other at different instructions");
    }
    uint32_t pc = 0, limit = 0, group = chooseGroup(w, turn, pc, limit), begin = pc;
    w.parked &= ~group;
    Step step = Step::Next;
    while (budget-- > 0) {
      const Op &op = code[pc];
      uint32_t m = group;
      if (op.guard != none) {
        uint32_t p = *w.at<uint32_t>(op.guard);
        m &= op.guardNegated ? ~p : p;
      }
      executed += unsigned(__builtin_popcount(group));
      if (op.kind == Op::Branch) {
        if (m == group) {
          pc = op.target;
          if (group == w.live)
            continue;
          break;
        }
        ++pc;
        if (m == 0) {
          if (pc == limit)
            break;
          continue;
        }
        for (uint32_t k = m; k; k &= k - 1)
          w.pc[__builtin_ctz(k)] = op.target;
        group &= ~m;
        break;
      }
      if (m) {
        if (op.converge && m != w.live) {
          step = Step::Park;
          break;
        }
        step = !w.products.empty() && passOn(w, op, m) ? Step::Next : op.run(w, op, m);
        if (step != Step::Next) {
          if (step == Step::Yield)
            ++pc;
          if (step == Step::Exit) {
            group &= ~m;
            ++pc;
          }
          if (step == Step::Wait)
            w.waitLine = op.line;
          break;
        }
      }
      if (++pc == limit)
        break;
    }
    for (uint32_t k = group; k; k &= k - 1)
      w.pc[__builtin_ctz(k)] = pc;
    w.steps += pc != begin || step == Step::Exit;
    if (step == Step::Park) {
      w.parked |= group;
      w.waitLine = code[pc].line;
      continue;
    }
    if (step == Step::Yield)
      w.waitLine = code[pc - 1].line;
    if (step == Step::Wait || step == Step::Yield) {
      w.isWaiting = true;
      // Others of the warp may have something to do meanwhile.
      w.turn = group != w.live ? turn + 1 : 0;
      if (w.turn > 8)
        w.turn = 0;
      return;
    }
    if (turn)
      break;
  }
  w.turn = turn ? 0 : w.live ? 1 : 0;
}

void Grid::describeDeadlock() {
  std::string text = "kernel " + kernel->name + " does not go on:";
  for (const auto &block : active)
    for (const Warp &w : block->warps)
      if (w.live)
        text += " block " + std::to_string(block->index) + " warp " + std::to_string(w.number) +
                (w.isWaiting ? " waits at" : " runs around") + " PTX line " +
                std::to_string(w.isWaiting ? w.waitLine
                                           : kernel->code[w.pc[__builtin_ctz(w.live)]].line) +
                ";";
  throw Fault(Timeout, text);
}

void Grid::run() {
  total = uint64_t(blocks[0]) * blocks[1] * blocks[2];
  uint64_t seen = 0;
  unsigned idle = 0;
  while (started < total || !active.empty()) {
    if (active.empty())
      startCluster();
    bool allWait = true;
    for (auto &block : active)
      for (Warp &w : block->warps)
        if (w.live) {
          runWarp(w);
          allWait &= w.isWaiting || !w.live;
        }
    for (size_t i = 0; i < active.size(); ++i) {
      bool isDone = true;
      for (Block *one : active[i]->cluster)
        isDone &= one->liveWarps == 0;
      if (!isDone)
        continue;
      unsigned size = unsigned(active[i]->cluster.size());
      for (auto block = active.begin() + long(i); block != active.begin() + long(i + size);
           ++block) {
        checkWarpgroups(**block);
        for (Warp &w : (*block)->warps)
          finishStores(w);
      }
      active.erase(active.begin() + long(i), active.begin() + long(i + size));
      break;
    }
    // Nothing that anybody could wait for has happened: another block may be missing.
    idle = events != seen ? 0 : idle + 1;
    seen = events;
    if (idle < (allWait ? 64u : 4096u))
      continue;
    idle = 0;
    if (started < total && active.size() < 64)
      startCluster();
    else
      describeDeadlock();
  }
}

} // namespace emu
