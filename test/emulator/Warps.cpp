// What threads of a warp do together, and how they branch and end.
//
//   lanes      0 1 2 3 4 5 6 7        an instruction that names lanes 0 to 7
//   have come  x x x x . . x x        lane 4 is elsewhere, lane 5 has ended
//
// The instruction waits (Park) for lane 4, which may still come, and not for lane 5. If lane 4
// never comes, the kernel hangs, as it may on the hardware; the machine says where each warp is.
#include "test/emulator/Decoder.h"

namespace emu {
namespace {

uint32_t memberMask(Warp &w, uint32_t offset, uint32_t m) {
  return offset == none ? m : w.at<uint32_t>(offset)[__builtin_ctz(m)];
}
/// Whether threads are missing that the instruction names: they may still come.
bool isIncomplete(Warp &w, uint32_t members, uint32_t m) { return (members & w.live & ~m) != 0; }

/// list: d, predicate or none. a: value, b: lane or distance, c: clamp and segment, e: members.
Step shuffle(Warp &w, const Op &op, uint32_t m) {
  if (isIncomplete(w, memberMask(w, op.e, m), m))
    return Step::Park;
  uint32_t from[32], result = 0;
  const uint32_t *a = w.at<uint32_t>(op.a), *b = w.at<uint32_t>(op.b), *c = w.at<uint32_t>(op.c);
  memcpy(from, a, sizeof from);
  uint32_t *d = w.at<uint32_t>(op.d);
  char mode = char(op.imm);
  eachLane(m, [&](int i) {
    int segment = int(c[i] >> 8 & 31), clamp = int(c[i] & 31), by = int(b[i] & 31);
    int top = (i & segment) | (clamp & ~segment), low = i & segment, source = i;
    bool inside = false;
    if (mode == 'u')
      source = i - by, inside = source >= top;
    else if (mode == 'd')
      source = i + by, inside = source <= top;
    else if (mode == 'b')
      source = i ^ by, inside = source <= top;
    else
      source = low | (by & ~segment), inside = source <= top;
    if (!inside)
      source = i;
    // The value of a thread that does not take part is undefined.
    d[i] = m >> source & 1 ? from[source] : canonicalNaN;
    result |= uint32_t(inside) << i;
  });
  if (op.list != none) {
    uint32_t &p = *w.at<uint32_t>(op.list);
    p = (p & ~m) | (result & m);
  }
  return Step::Next;
}

Step vote(Warp &w, const Op &op, uint32_t m) {
  uint32_t members = memberMask(w, op.e, m);
  if (isIncomplete(w, members, m))
    return Step::Park;
  uint32_t value = *w.at<uint32_t>(op.a);
  if (op.c != none)
    value = ~value;
  value &= m;
  if (op.imm == 'b') {
    eachLane(m, [&](int i) { w.at<uint32_t>(op.d)[i] = value; });
    return Step::Next;
  }
  bool result = op.imm == 'l' ? value == m : op.imm == 'y' ? value != 0 : value == 0 || value == m;
  uint32_t &p = *w.at<uint32_t>(op.d);
  p = result ? p | m : p & ~m;
  return Step::Next;
}

Step reduce(Warp &w, const Op &op, uint32_t m) {
  if (isIncomplete(w, memberMask(w, op.e, m), m))
    return Step::Park;
  const uint32_t *a = w.at<uint32_t>(op.a);
  uint32_t result = a[__builtin_ctz(m)];
  bool isSigned = op.sign;
  eachLane(m & (m - 1), [&](int i) {
    uint32_t b = a[i];
    bool less = isSigned ? int32_t(b) < int32_t(result) : b < result;
    switch (op.imm) {
    case 0:
      result += b;
      break;
    case 1:
      result = less ? b : result;
      break;
    case 2:
      result = less ? result : b;
      break;
    case 3:
      result &= b;
      break;
    case 4:
      result |= b;
      break;
    default:
      result ^= b;
    }
  });
  eachLane(m, [&](int i) { w.at<uint32_t>(op.d)[i] = result; });
  return Step::Next;
}

template <class T> Step match(Warp &w, const Op &op, uint32_t m) {
  if (isIncomplete(w, memberMask(w, op.e, m), m))
    return Step::Park;
  const T *a = w.at<T>(op.a);
  uint32_t same[32] = {};
  eachLane(m, [&](int i) { eachLane(m, [&](int k) { same[i] |= uint32_t(a[i] == a[k]) << k; }); });
  if (op.imm) { // .all
    bool together = same[__builtin_ctz(m)] == m;
    eachLane(m, [&](int i) { w.at<uint32_t>(op.d)[i] = together ? m : 0; });
    if (op.list != none) {
      uint32_t &p = *w.at<uint32_t>(op.list);
      p = together ? p | m : p & ~m;
    }
    return Step::Next;
  }
  eachLane(m, [&](int i) { w.at<uint32_t>(op.d)[i] = same[i]; });
  return Step::Next;
}

Step elect(Warp &w, const Op &op, uint32_t m) {
  uint32_t members = memberMask(w, op.e, m);
  if (isIncomplete(w, members, m))
    return Step::Park;
  int leader = __builtin_ctz(members & m);
  eachLane(m, [&](int i) { w.at<uint32_t>(op.d)[i] = uint32_t(leader); });
  uint32_t &p = *w.at<uint32_t>(op.list);
  p = (p & ~m) | (1u << leader & m);
  return Step::Next;
}

Step nothing(Warp &, const Op &, uint32_t) { return Step::Next; }

Step fail(Warp &w, const Op &op, uint32_t m) {
  fault(LaunchFailed, w, op, __builtin_ctz(m), "the kernel trapped");
}

/// Splits `d|p` into both registers.
void decodePair(Decoder &d, Op &op, const Operand &to) {
  bool isPair = to.kind == Operand::Pair;
  op.d = d.result(isPair ? to.parts[0] : to, 32);
  op.list = isPair ? d.result(to.parts[1], 1) : none;
}

bool decodeTogether(Decoder &d, Op &op) {
  const std::string &name = d.name(), &type = d.last();
  if (name == "shfl" && d.has("sync") && type == "b32") {
    d.allow({"sync", "up", "down", "bfly", "idx"});
    decodePair(d, op, d.operand(0));
    op.a = d.source(1, 32);
    op.b = d.source(2, 32);
    op.c = d.source(3, 32);
    op.e = d.source(4, 32);
    op.imm = d.has("up") ? 'u' : d.has("down") ? 'd' : d.has("bfly") ? 'b' : 'i';
    op.run = shuffle;
    return true;
  }
  if (name == "vote" && d.has("sync")) {
    d.allow({"sync", "all", "any", "uni", "ballot"});
    bool negated = false, ballot = d.has("ballot");
    op.d = d.result(0, ballot ? 32 : 1);
    op.a = d.predicate(d.operand(1), negated);
    op.c = negated ? 0 : none;
    op.e = d.source(2, 32);
    op.imm = ballot ? 'b' : d.has("all") ? 'l' : d.has("any") ? 'y' : 'u';
    op.run = vote;
    return true;
  }
  if (name == "redux" && d.has("sync") && (type == "s32" || type == "u32" || type == "b32")) {
    d.allow({"sync", "add", "min", "max", "and", "or", "xor"});
    op.d = d.result(0, 32);
    op.a = d.source(1, 32);
    op.e = d.source(2, 32);
    op.sign = type == "s32";
    op.imm = d.has("add")   ? 0
             : d.has("min") ? 1
             : d.has("max") ? 2
             : d.has("and") ? 3
             : d.has("or")  ? 4
                            : 5;
    op.run = reduce;
    return true;
  }
  if (name == "match" && d.has("sync")) {
    d.allow({"sync", "any", "all"});
    decodePair(d, op, d.operand(0));
    op.a = d.source(1, Decoder::bitsOf(type));
    op.e = d.source(2, 32);
    op.imm = d.has("all");
    op.run = Decoder::bitsOf(type) == 32 ? match<uint32_t> : match<uint64_t>;
    return true;
  }
  if (name == "elect") {
    decodePair(d, op, d.operand(0));
    op.e = d.source(1, 32);
    op.run = elect;
    return op.list != none;
  }
  if (name == "activemask") {
    op.d = d.result(0, 32);
    op.run = [](Warp &w, const Op &o, uint32_t m) {
      eachLane(m, [&](int i) { w.at<uint32_t>(o.d)[i] = m; });
      return Step::Next;
    };
    return true;
  }
  return false;
}

} // namespace

bool decodeWarp(Decoder &d, Op &op) {
  const std::string &name = d.name();
  if (decodeTogether(d, op))
    return true;
  if (name == "bra") {
    op.kind = Op::Branch;
    op.target = uint32_t(d.operand(0).value);
    op.run = nothing;
    return true;
  }
  if (name == "ret" || name == "exit") {
    op.run = [](Warp &w, const Op &o, uint32_t m) {
      exitThreads(w, o, m);
      return Step::Exit;
    };
    return true;
  }
  if (name == "trap" || name == "brkpt") {
    op.run = fail;
    return true;
  }
  if (name == "nanosleep") {
    op.run = [](Warp &, const Op &, uint32_t) { return Step::Yield; };
    return true;
  }
  if (name == "membar" || name == "griddepcontrol" || name == "pmevent") {
    op.run = nothing;
    return true;
  }
  if (name == "setmaxnreg") { // how many registers a warp has is not modelled
    op.run = nothing;
    op.converge = true;
    return true;
  }
  return false;
}

} // namespace emu
