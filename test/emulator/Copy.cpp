// cp.async: copies of up to 16 bytes by each thread, in groups, done when the thread waits or at
// once.
//
//   a thread   | copy a | commit | copy b | commit | wait_group 1     | wait_group 0
//   group        0        1        1        2        a is done: its     b is done
//                                                    group is not one
//                                                    of the last 1
//
// "Late" leaves each copy to the last moment that the ISA allows, "soon" makes it at once. A kernel
// that reads a slot before its wait, or that of another thread's copy before the barrier, sees old
// bytes the one way.
#include "test/emulator/Decoder.h"

namespace emu {

static void copyNow(Warp &w, const Op &op, const AsyncCopy &copy) {
  if (copy.barrier) {
    handOver(w, 1u << copy.lane);
    Block *owner = nullptr;
    MBarrier &barrier = barrierAt(w, op, int(copy.lane), copy.barrier, owner);
    if (!barrier.pending)
      fault(IllegalInstruction, w, op, int(copy.lane),
            "more arrivals than the mbarrier's phase has");
    --barrier.pending;
    settle(*w.block->grid, barrier);
    return;
  }
  uint8_t *to = sharedAt(w, op, int(copy.lane), copy.to, copy.bytes);
  checkNoBarrier(w, op, int(copy.lane), *w.block, copy.to, copy.bytes);
  uint8_t bytes[16] = {};
  if (copy.size) {
    if (!w.block->grid->memory->contains(copy.from, copy.size))
      fault(IllegalAddress, w, op, int(copy.lane),
            std::to_string(copy.size) + " bytes at " + hex(copy.from) +
                " lie outside of every allocation");
    memcpy(bytes, reinterpret_cast<const void *>(copy.from), copy.size);
  }
  memcpy(to, bytes, copy.bytes);
  markUnfenced(w, 1u << copy.lane, copy.to - sharedBase);
  ++w.block->grid->events;
}

/// Does the copies that `isDue` says.
template <class F> static void finishIf(Warp &w, F isDue) {
  std::vector<AsyncCopy> due;
  size_t kept = 0;
  for (const AsyncCopy &copy : w.copies)
    if (isDue(copy))
      due.push_back(copy);
    else
      w.copies[kept++] = copy;
  w.copies.resize(kept);
  for (const AsyncCopy &copy : due) {
    Op op;
    op.line = copy.line;
    copyNow(w, op, copy);
  }
}

void finishCopies(Warp &w, uint32_t lanes) {
  finishIf(w, [&](const AsyncCopy &copy) { return (lanes >> copy.lane & 1) != 0; });
}

void finishCopiesFor(Block &owner, uint32_t barrier) {
  for (Warp &w : owner.warps) {
    size_t last[32] = {}; // of each lane: how many of the warp's copies its last arrival is behind
    for (size_t i = 0; i < w.copies.size(); ++i)
      if (w.copies[i].barrier == barrier)
        last[w.copies[i].lane] = i + 1;
    size_t i = 0;
    finishIf(w, [&](const AsyncCopy &copy) { return i++ < last[copy.lane]; });
  }
}

namespace {

/// a: the mbarrier's address.
Step arriveBehindCopies(Warp &w, const Op &op, uint32_t m) {
  eachLane(m, [&](int i) {
    uint64_t address = op.addressBits == 32 ? uint64_t(w.at<uint32_t>(op.a)[i])
                                            : w.at<uint64_t>(op.a)[i] & ~windowMask;
    AsyncCopy arrival{};
    arrival.lane = uint32_t(i);
    arrival.group = w.copyGroups[i];
    arrival.line = op.line;
    arrival.barrier = uint32_t(address + uint64_t(op.imm));
    Block *owner = nullptr;
    barrierAt(w, op, i, arrival.barrier, owner);
    if (w.block->grid->options.late)
      w.copies.push_back(arrival);
    else
      copyNow(w, op, arrival);
  });
  return Step::Next;
}

/// a: shared address and imm, b: global address and `e` as its offset, c: bytes to read or none.
Step copyAsync(Warp &w, const Op &op, uint32_t m) {
  uint32_t bytes = op.count;
  eachLane(m, [&](int i) {
    uint64_t to = op.addressBits == 32 ? uint64_t(w.at<uint32_t>(op.a)[i])
                                       : w.at<uint64_t>(op.a)[i] & ~windowMask;
    AsyncCopy copy;
    copy.lane = uint32_t(i);
    copy.group = w.copyGroups[i];
    copy.to = uint32_t(to + uint64_t(op.imm));
    copy.bytes = bytes;
    copy.size = op.c == none ? bytes : w.at<uint32_t>(op.c)[i];
    copy.from = w.at<uint64_t>(op.b)[i] + uint64_t(int64_t(int32_t(op.e)));
    copy.line = op.line;
    if (copy.size > bytes)
      fault(IllegalInstruction, w, op, i,
            std::to_string(copy.size) + " bytes of " + std::to_string(bytes) + " to copy");
    if (copy.to % bytes || (copy.size && copy.from % bytes))
      fault(Misaligned, w, op, i,
            "a copy of " + std::to_string(bytes) + " bytes from " + hex(copy.from) + " to " +
                hex(copy.to));
    sharedAt(w, op, i, copy.to, bytes);
    if (w.block->grid->options.late)
      w.copies.push_back(copy);
    else
      copyNow(w, op, copy);
  });
  return Step::Next;
}

} // namespace

bool decodeCopy(Decoder &d, Op &op) {
  if (d.name() != "cp" || !d.has("async") || d.has("bulk") || d.has("reduce"))
    return false;
  if (d.has("mbarrier")) {
    d.allow({"async", "mbarrier", "arrive", "noinc", "shared", "shared::cta"});
    if (!d.has("noinc"))
      d.fail("an arrival behind copies is one of those that the mbarrier counts (noinc)");
    d.address(d.operand(0), op);
    op.run = arriveBehindCopies;
    return true;
  }
  if (d.has("commit_group")) {
    op.run = [](Warp &w, const Op &, uint32_t m) {
      eachLane(m, [&](int i) { ++w.copyGroups[i]; });
      return Step::Next;
    };
    return true;
  }
  if (d.has("wait_group") || d.has("wait_all")) {
    op.imm = d.has("wait_all") ? 0 : d.operand(0).value;
    op.count = d.has("wait_all");
    op.run = [](Warp &w, const Op &o, uint32_t m) {
      if (o.count)
        eachLane(m, [&](int i) { ++w.copyGroups[i]; });
      finishIf(w, [&](const AsyncCopy &copy) {
        return (m >> copy.lane & 1) && copy.group + uint32_t(o.imm) < w.copyGroups[copy.lane];
      });
      return Step::Next;
    };
    return true;
  }
  d.allow({"async", "ca", "cg", "shared", "shared::cta", "global", "L2::64B", "L2::128B",
           "L2::256B", "L2::cache_hint"});
  d.address(d.operand(0), op);
  Op from;
  d.address(d.operand(1), from);
  if (from.addressBits != 64)
    return false;
  op.b = from.a;
  op.e = uint32_t(int32_t(from.imm));
  op.count = uint32_t(d.operand(2).value);
  if (op.count != 4 && op.count != 8 && op.count != 16)
    d.fail("a copy has 4, 8 or 16 bytes");
  if (d.has("cg") && op.count != 16)
    d.fail("a copy past the first cache has 16 bytes");
  size_t rest = d.operands() - (d.has("L2::cache_hint") ? 1 : 0);
  if (rest > 3)
    op.c = d.source(3, 32);
  op.run = copyAsync;
  return true;
}

} // namespace emu
