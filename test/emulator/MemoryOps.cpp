// Loads, stores, atomics and conversions of addresses. Every address is checked.
#include "test/emulator/Decoder.h"

namespace emu {
namespace {

uint64_t addressOf(Warp &w, const Op &op, int lane) {
  return (op.addressBits == 32 ? uint64_t(w.at<uint32_t>(op.a)[lane])
                               : w.at<uint64_t>(op.a)[lane]) +
         uint64_t(op.imm);
}

const char *spaceName(uint8_t space) {
  static const char *const names[] = {"generic", "global", "shared", "shared::cluster",
                                      "local",   "param",  "const"};
  return names[space];
}

/// The bytes at an address of any space.
uint8_t *bytesAt(Warp &w, const Op &op, int lane, uint64_t address, uint32_t bytes) {
  uint8_t space = op.space;
  if (address % bytes)
    fault(Misaligned, w, op, lane,
          "the address " + hex(address) + " is no multiple of " + std::to_string(bytes));
  if (space == Generic) {
    uint64_t window = address & windowMask;
    space = window == sharedWindow  ? SharedCluster
            : window == localWindow ? Local
            : window == paramWindow ? Param
                                    : Global;
    if (space != Global)
      address &= ~windowMask;
  }
  switch (space) {
  case Shared:
  case SharedCluster:
    if (op.addressBits == 32)
      address &= 0xFFFFFFFFu;
    return sharedAt(w, op, lane, address, bytes);
  case Local:
    if (address + bytes <= w.kernel->localBytes && address + bytes >= bytes)
      return &w.local[size_t(lane) * w.kernel->localBytes + address];
    break;
  case Param: { // parameters of a call lie in local memory
    std::vector<uint8_t> &params = w.block->grid->params;
    if (address + bytes <= params.size() && address + bytes >= bytes)
      return &params[address];
    break;
  }
  default:
    if (w.block->grid->memory->contains(address, bytes))
      return reinterpret_cast<uint8_t *>(address);
  }
  fault(IllegalAddress, w, op, lane,
        std::to_string(bytes) + " bytes at " + hex(address) + " of " + spaceName(space) +
            " memory lie outside of every allocation");
}

template <unsigned bytes> uint64_t loadBytes(const uint8_t *from) {
  uint64_t value = 0;
  memcpy(&value, from, bytes);
  return value;
}
uint64_t loadOf(const uint8_t *from, unsigned bytes) {
  return bytes == 4   ? loadBytes<4>(from)
         : bytes == 8 ? loadBytes<8>(from)
         : bytes == 2 ? loadBytes<2>(from)
                      : loadBytes<1>(from);
}
void writeLane(Warp &w, uint32_t offset, unsigned bits, int lane, uint64_t value) {
  if (bits == 32)
    w.at<uint32_t>(offset)[lane] = uint32_t(value);
  else if (bits == 64)
    w.at<uint64_t>(offset)[lane] = value;
  else
    w.at<uint16_t>(offset)[lane] = uint16_t(value);
}
uint64_t readLane(Warp &w, uint32_t offset, unsigned bits, int lane) {
  return bits == 32   ? w.at<uint32_t>(offset)[lane]
         : bits == 64 ? w.at<uint64_t>(offset)[lane]
                      : w.at<uint16_t>(offset)[lane];
}

Step load(Warp &w, const Op &op, uint32_t m) {
  const uint32_t *list = &w.kernel->lists[op.list];
  uint32_t bytes = op.bits / 8;
  eachLane(m, [&](int i) {
    const uint8_t *from = bytesAt(w, op, i, addressOf(w, op, i), bytes * op.vector);
    for (unsigned k = 0; k < op.vector; ++k, from += bytes) {
      uint64_t value = loadOf(from, bytes);
      if (op.sign)
        value = uint64_t(int64_t(value << (64 - op.bits)) >> (64 - op.bits));
      writeLane(w, list[k], op.wide, i, value);
    }
  });
  return Step::Next;
}

} // namespace

void markUnfenced(Warp &w, uint32_t lanes, uint32_t offset) {
  if (!w.unfencedLanes.size())
    return;
  uint32_t cell = offset / 16;
  if (!w.unfencedLanes[cell]) {
    w.unfencedCells.push_back(cell);
    ++w.block->dirty[cell];
  }
  w.unfencedLanes[cell] |= lanes;
}

namespace {

/// Notes that a thread has written shared memory by the generic proxy.
void markDirty(Warp &w, const Op &op, int lane, uint64_t address, uint32_t bytes) {
  uint32_t offset = uint32_t(address & 0xFFFFFF) - sharedBase;
  if (op.space == Generic ? (address & windowMask) != sharedWindow
                          : op.space != Shared && op.space != SharedCluster)
    return;
  checkNoBarrier(w, op, lane, blockAt(w, op, lane, address & ~windowMask), address, bytes);
  if ((address & ~windowMask) >> 24)
    return;
  markUnfenced(w, 1u << lane, offset);
}

Step store(Warp &w, const Op &op, uint32_t m) {
  const uint32_t *list = &w.kernel->lists[op.list];
  uint32_t bytes = op.bits / 8;
  bool mayBeShared = op.space == Shared || op.space == SharedCluster || op.space == Generic;
  ++w.block->grid->events;
  eachLane(m, [&](int i) {
    uint64_t address = addressOf(w, op, i);
    uint8_t *to = bytesAt(w, op, i, address, bytes * op.vector);
    if (mayBeShared)
      markDirty(w, op, i, op.addressBits == 32 ? uint32_t(address) : address, bytes * op.vector);
    for (unsigned k = 0; k < op.vector; ++k, to += bytes) {
      uint64_t value = readLane(w, list[k], op.wide, i);
      memcpy(to, &value, bytes);
    }
  });
  return Step::Next;
}

//===--- Atomics ----------------------------------------------------------===//

enum Action : uint8_t { Add, And, Or, Xor, Min, Max, Exchange, Swap, Increment, Decrement };
/// Subnormal numbers are flushed by f32 additions in global memory, not in shared memory.
enum Kind : uint8_t { Unsigned, Signed, F32, F32Flushed, F64, Half, Brain };

template <class H> uint64_t addPair(uint64_t a, uint64_t b, unsigned bits) {
  uint64_t low = H::store(H::load(uint16_t(a)) + H::load(uint16_t(b)));
  if (bits == 32)
    low |= uint64_t(H::store(H::load(uint16_t(a >> 16)) + H::load(uint16_t(b >> 16)))) << 16;
  return low;
}

uint64_t act(Action action, Kind kind, unsigned bits, uint64_t old, uint64_t b, uint64_t c) {
  auto sign = [bits](uint64_t v) { return int64_t(v << (64 - bits)) >> (64 - bits); };
  switch (action) {
  case Add:
    if (kind == F32 || kind == F32Flushed) {
      float x = bitsOf<float>(uint32_t(old)), y = bitsOf<float>(uint32_t(b));
      return bitsOf<uint32_t>(canonical(kind == F32 ? x + y : flush(flush(x) + flush(y))));
    }
    if (kind == F64)
      return bitsOf<uint64_t>(bitsOf<double>(old) + bitsOf<double>(b));
    if (kind == Half)
      return addPair<F16>(old, b, bits);
    if (kind == Brain)
      return addPair<BF16>(old, b, bits);
    return old + b;
  case And:
    return old & b;
  case Or:
    return old | b;
  case Xor:
    return old ^ b;
  case Min:
    return kind == Signed ? (sign(old) < sign(b) ? old : b) : std::min(old, b);
  case Max:
    return kind == Signed ? (sign(old) > sign(b) ? old : b) : std::max(old, b);
  case Exchange:
    return b;
  case Swap:
    return old == b ? c : old;
  case Increment:
    return old >= b ? 0 : old + 1;
  case Decrement:
    return old == 0 || old > b ? b : old - 1;
  }
  return old;
}

Step atomic(Warp &w, const Op &op, uint32_t m) {
  Action action = Action(op.count & 255);
  Kind kind = Kind(op.count >> 8);
  uint32_t bytes = op.bits / 8;
  ++w.block->grid->events;
  eachLane(m, [&](int i) {
    for (unsigned k = 0; k < op.vector; ++k) {
      uint64_t address = addressOf(w, op, i);
      uint8_t *at = bytesAt(w, op, i, address, bytes * op.vector) + k * bytes;
      uint64_t old = loadOf(at, bytes),
               b = readLane(w, w.kernel->lists[op.list + k], op.wide, i) &
                   (op.bits == 64 ? ~uint64_t(0) : (uint64_t(1) << op.bits) - 1),
               c = op.c == none ? 0 : readLane(w, op.c, op.wide, i),
               value = act(action, kind, op.bits, old, b, c);
      memcpy(at, &value, bytes);
      if (op.d != none)
        writeLane(w, op.d, op.wide, i, old);
    }
  });
  return Step::Next;
}

bool decodeAddressOf(Decoder &d, Op &op) {
  // Global addresses are generic ones; the others get or lose their window's highest bits.
  Space space = d.space();
  uint64_t window = space == Shared || space == SharedCluster ? sharedWindow
                    : space == Local                          ? localWindow
                    : space == Param                          ? paramWindow
                                                              : 0;
  bool to = d.has("to");
  unsigned bits = Decoder::bitsOf(d.last());
  if (bits != 64)
    return false;
  op.d = d.result(0, 64);
  op.a = d.source(1, 64);
  op.imm = int64_t(window);
  if (!window)
    op.run = [](Warp &w, const Op &o, uint32_t m) {
      return unary<uint64_t, uint64_t>(w, o, m, [](uint64_t a) { return a; });
    };
  else if (to)
    op.run = [](Warp &w, const Op &o, uint32_t m) {
      return unary<uint64_t, uint64_t>(w, o, m, [](uint64_t a) { return a & ~windowMask; });
    };
  else
    op.run = [](Warp &w, const Op &o, uint32_t m) {
      uint64_t add = uint64_t(o.imm);
      return unary<uint64_t, uint64_t>(w, o, m, [add](uint64_t a) { return a | add; });
    };
  return true;
}

unsigned vectorOf(const Decoder &d) {
  return d.has("v4") ? 4 : d.has("v2") ? 2 : d.has("v8") ? 8 : 1;
}

} // namespace

bool decodeMemory(Decoder &d, Op &op) {
  const std::string &name = d.name();
  auto nothing = [](Warp &, const Op &, uint32_t) { return Step::Next; };
  if (name == "cvta")
    return decodeAddressOf(d, op);
  if (name == "prefetch" || name == "prefetchu" || name == "discard" || name == "applypriority") {
    op.run = nothing;
    return true;
  }
  if (name == "createpolicy") {
    op.d = d.result(0, 64);
    op.a = d.constant(0, 64);
    op.run = [](Warp &w, const Op &o, uint32_t m) {
      return unary<uint64_t, uint64_t>(w, o, m, [](uint64_t a) { return a; });
    };
    return true;
  }
  if (name != "ld" && name != "st")
    return false;
  for (const std::string &word : d.current().words) {
    static const char *const known[] = {
        "ld",    "st",      "global",       "shared",  "shared::cta", "shared::cluster",
        "local", "param",   "param::entry", "const",   "nc",          "cg",
        "ca",    "cs",      "lu",           "cv",      "wb",          "wt",
        "weak",  "relaxed", "acquire",      "release", "volatile",    "gpu",
        "cta",   "sys",     "cluster",      "v2",      "v4",          "v8"};
    bool good = Decoder::bitsOf(word) != 0 || word.compare(0, 4, "L1::") == 0 ||
                word.compare(0, 4, "L2::") == 0;
    for (const char *one : known)
      good |= word == one;
    if (!good)
      d.fail("'." + word + "' is not emulated");
  }
  bool isLoad = name == "ld";
  const std::string &type = d.last();
  op.bits = uint8_t(Decoder::bitsOf(type));
  op.sign = type[0] == 's';
  op.vector = uint8_t(vectorOf(d));
  op.space = d.space();
  d.address(d.operand(isLoad ? 1 : 0), op);
  const Operand &value = d.operand(isLoad ? 0 : 1),
                &first = value.kind == Operand::Vector ? value.parts[0] : value;
  if (op.bits < 8 || op.bits > 64)
    return false;
  unsigned wide = 0;
  for (const Operand &part :
       value.kind == Operand::Vector ? value.parts : std::vector<Operand>{first})
    wide = std::max(wide, d.widthOf(part));
  wide = std::max({wide, 16u, unsigned(op.bits)});
  op.wide = uint8_t(wide);
  d.list(value, wide, isLoad, op);
  if (op.count != op.vector)
    d.fail("the vector's length is not that of the instruction");
  // Arguments of a function that is called are in memory of the thread.
  if (op.space == Param && !isLoad)
    op.space = Local;
  op.run = isLoad ? load : store;
  return true;
}

bool decodeAtomic(Decoder &d, Op &op) {
  static const std::map<std::string, Action> actions = {
      {"add", Add}, {"and", And},       {"or", Or},    {"xor", Xor},       {"min", Min},
      {"max", Max}, {"exch", Exchange}, {"cas", Swap}, {"inc", Increment}, {"dec", Decrement}};
  bool returns = d.name() == "atom";
  if (!returns && (d.name() != "red" || d.has("async")))
    return false;
  d.allow({"global",
           "shared",
           "shared::cta",
           "shared::cluster",
           "relaxed",
           "acquire",
           "release",
           "acq_rel",
           "cta",
           "cluster",
           "gpu",
           "sys",
           "noftz",
           "v2",
           "v4",
           "v8",
           "L2::cache_hint",
           "add",
           "and",
           "or",
           "xor",
           "min",
           "max",
           "exch",
           "cas",
           "inc",
           "dec"});
  const std::string &type = d.last();
  Action action = Add;
  bool found = false;
  for (const std::string &word : d.current().words)
    if (auto known = actions.find(word); known != actions.end()) {
      action = known->second;
      found = true;
    }
  if (!found)
    return false;
  Kind kind = type == "f32"                        ? F32
              : type == "f64"                      ? F64
              : type == "f16" || type == "f16x2"   ? Half
              : type == "bf16" || type == "bf16x2" ? Brain
              : type[0] == 's'                     ? Signed
                                                   : Unsigned;
  if (kind >= F32 && action != Add && action != Exchange)
    return false;
  op.bits = uint8_t(Decoder::bitsOf(type));
  op.wide = op.bits;
  op.space = d.space();
  op.vector = uint8_t(vectorOf(d));
  if (kind == F32 && op.space == Global)
    kind = F32Flushed;
  size_t i = returns ? 1 : 0;
  if (returns && op.vector == 1)
    op.d = d.result(0, op.bits);
  else if (returns)
    return false;
  d.address(d.operand(i), op);
  d.list(d.operand(i + 1), op.bits, false, op);
  if (op.count != op.vector)
    d.fail("the vector's length is not that of the instruction");
  if (action == Swap)
    op.c = d.source(i + 2, op.bits);
  op.count = uint32_t(action) | uint32_t(kind) << 8;
  op.run = atomic;
  return op.bits >= 16;
}

} // namespace emu
