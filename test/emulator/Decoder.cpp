// Lays out a warp's register file and turns each instruction into an operation.
//
// The file is laid out once for a kernel: 64 bytes that nothing uses (so that offset 0 is no
// register), declared registers, then constants and special registers as instructions first name
// them. `file` has what all warps start with; what differs between warps is filled in at the start.
// Unknown instructions, modifiers and operand widths are refused here, with the line of the PTX,
// and not when they are executed.
#include "test/emulator/Decoder.h"

namespace emu {

Decoder::Decoder(const Module &module, const Function &function, const Globals &globals)
    : module(module), function(function) {
  layOut(globals);
}

void Decoder::fail(const std::string &text) const {
  throw BadPtx(instruction ? instruction->line : 0,
               "'" + (instruction ? instruction->opcode() : function.name) + "': " + text);
}

const Operand &Decoder::operand(size_t i) const {
  if (i >= instruction->operands.size())
    fail("it has too few operands");
  return instruction->operands[i];
}

unsigned Decoder::bitsOf(const std::string &type) {
  if (type == "f16x2" || type == "bf16x2" || type == "s16x2" || type == "u16x2")
    return 32;
  if (type == "bf16" || type == "e4m3x2" || type == "e5m2x2")
    return 16;
  if (type == "pred")
    return 1;
  if (type.size() < 2 || !strchr("bsuf", type[0]))
    return 0;
  char *end = nullptr;
  unsigned long bits = strtoul(type.c_str() + 1, &end, 10);
  return *end ? 0 : unsigned(bits);
}

uint32_t Decoder::grow(uint32_t bytes) {
  uint32_t step = bytes < 64 ? bytes : 64, offset = (kernel.fileBytes + step - 1) / step * step;
  kernel.fileBytes = offset + bytes;
  kernel.file.resize(kernel.fileBytes, 0xff); // a register that nothing has written is a NaN
  return offset;
}

void Decoder::layOut(const Globals &globals) {
  grow(64);
  kernel.name = function.name;
  std::copy(function.threads, function.threads + 3, kernel.threads);
  for (unsigned bits : function.registers)
    offsets.push_back(grow(bits == 1 ? 4 : bits < 16 ? 64 : bits * 4));
  for (auto &[name, address] : globals)
    symbols[name] = address;
  uint32_t at = 0;
  for (const Variable &param : function.params) {
    at = uint32_t((at + param.align - 1) / param.align * param.align);
    kernel.params.push_back(param);
    kernel.paramOffsets.push_back(at);
    symbols[param.name] = at;
    at += uint32_t(param.bytes);
  }
  auto place = [&](const Variable &v, uint32_t &size, uint64_t base) {
    size = uint32_t((size + v.align - 1) / v.align * v.align);
    symbols[v.name] = base + size;
    size += uint32_t(v.bytes);
  };
  for (const auto *list : {&module.variables, &function.variables})
    for (const Variable &v : *list) {
      if (v.space == "shared" && !v.isExtern)
        place(v, kernel.sharedBytes, sharedBase);
      else if (v.space == "local")
        place(v, kernel.localBytes, 0);
      else if (v.space == "param" && !symbols.count(v.name)) { // of a call; all calls share it
        Variable argument = v;
        argument.align = argument.bytes = 8;
        place(argument, kernel.localBytes, 0);
      }
    }
  uint32_t dynamic = (kernel.sharedBytes + 1023) / 1024 * 1024;
  kernel.dynamicShared = dynamic;
  for (const Variable &v : module.variables)
    if (v.space == "shared" && v.isExtern)
      symbols[v.name] = sharedBase + dynamic;
}

unsigned Decoder::widthOf(const Operand &operand) const {
  return operand.kind == Operand::Register ? function.registers[size_t(operand.value)] : 0;
}

uint32_t Decoder::constant(uint64_t value, unsigned bits) {
  if (bits < 64)
    value &= (uint64_t(1) << bits) - 1;
  auto [known, isNew] = constants.try_emplace({value, bits}, 0);
  if (!isNew)
    return known->second;
  uint32_t offset = known->second = grow(bits == 1 ? 4 : bits < 16 ? 64 : bits * 4);
  uint8_t *to = &kernel.file[offset];
  if (bits == 1)
    memset(to, value ? 0xff : 0, 4);
  else
    for (unsigned lane = 0, bytes = bits < 16 ? 2 : bits / 8; lane < 32; ++lane) {
      memset(to + lane * bytes, 0, bytes);
      memcpy(to + lane * bytes, &value, bytes < 8 ? bytes : 8);
    }
  return offset;
}

uint64_t Decoder::symbol(const Operand &operand) const {
  auto found = symbols.find(operand.name);
  if (found == symbols.end())
    fail("there is no register or variable '" + operand.name + "'");
  return found->second + uint64_t(operand.value);
}

uint32_t Decoder::special(const std::string &name) {
  static const std::map<std::string, Special> names = {{"%tid.x", TidX},
                                                       {"%tid.y", TidY},
                                                       {"%tid.z", TidZ},
                                                       {"%ntid.x", NtidX},
                                                       {"%ctaid.x", CtaidX},
                                                       {"%ctaid.y", CtaidY},
                                                       {"%ctaid.z", CtaidZ},
                                                       {"%nctaid.x", NctaidX},
                                                       {"%laneid", LaneId},
                                                       {"%warpid", WarpId},
                                                       {"%cluster_ctarank", ClusterRank},
                                                       {"%cluster_ctaid.x", ClusterRank},
                                                       {"%cluster_nctarank", ClusterSize},
                                                       {"%cluster_nctaid.x", ClusterSize},
                                                       {"%clusterid.x", ClusterId},
                                                       {"%lanemask_lt", LaneBelow},
                                                       {"%dynamic_smem_size", SharedBytes}};
  auto found = names.find(name);
  if (found == names.end())
    fail("the special register '" + name + "' is not emulated");
  uint32_t &offset = kernel.specials[found->second];
  if (!offset)
    offset = grow(128);
  return offset;
}

uint32_t Decoder::source(const Operand &o, unsigned bits) {
  switch (o.kind) {
  case Operand::Register:
    if (widthOf(o) != bits)
      fail("a register of " + std::to_string(widthOf(o)) + " bits where " + std::to_string(bits) +
           " were expected");
    return offsets[size_t(o.value)];
  case Operand::Special:
    if (bits != 32)
      fail("a special register of 32 bits where " + std::to_string(bits) + " were expected");
    return special(o.name);
  case Operand::Symbol:
    return constant(symbol(o), bits);
  case Operand::Integer:
    return constant(uint64_t(o.value), bits);
  case Operand::F32:
    if (bits == 64)
      return constant(emu::bitsOf<uint64_t>(double(emu::bitsOf<float>(uint32_t(o.value)))), 64);
    return constant(uint64_t(o.value), bits);
  case Operand::F64:
    if (bits == 32)
      return constant(emu::bitsOf<uint32_t>(float(emu::bitsOf<double>(uint64_t(o.value)))), 32);
    return constant(uint64_t(o.value), bits);
  default:
    fail("an operand of another kind was expected");
  }
}

uint32_t Decoder::result(const Operand &o, unsigned bits) {
  if (o.kind == Operand::Sink)
    return grow(bits == 1 ? 4 : bits < 16 ? 64 : bits * 4);
  if (o.kind != Operand::Register)
    fail("a register was expected");
  return source(o, bits);
}

uint32_t Decoder::predicate(const Operand &o, bool &negated) {
  negated = o.negated;
  return source(o, 1);
}

void Decoder::address(const Operand &o, Op &op) {
  if (o.kind != Operand::Address)
    fail("an address in brackets was expected");
  const Operand &base = o.parts[0];
  op.imm = o.value;
  op.addressBits = base.kind == Operand::Register ? uint8_t(widthOf(base)) : 64;
  if (op.addressBits != 32 && op.addressBits != 64)
    fail("an address has 32 or 64 bits");
  op.a = source(base, op.addressBits);
}

Space Decoder::space() const {
  for (const std::string &word : instruction->words) {
    if (word == "global")
      return Global;
    if (word == "shared" || word == "shared::cta")
      return Shared;
    if (word == "shared::cluster")
      return SharedCluster;
    if (word == "local")
      return Local;
    if (word == "param" || word == "param::entry")
      return Param;
    if (word == "const")
      return Const;
  }
  return Generic;
}

void Decoder::list(const Operand &o, unsigned bits, bool isResult, Op &op) {
  auto add = [&](const Operand &one) {
    uint32_t offset = isResult ? result(one, bits) : source(one, bits);
    kernel.lists.push_back(offset);
    op.hasList = true;
    ++op.count;
  };
  if (o.kind == Operand::Vector)
    for (const Operand &part : o.parts)
      add(part);
  else
    add(o);
}

void Decoder::allow(std::initializer_list<const char *> words) const {
  for (size_t i = 1; i < instruction->words.size(); ++i) {
    bool isKnown = bitsOf(instruction->words[i]) != 0;
    for (const char *word : words)
      isKnown |= instruction->words[i] == word;
    if (!isKnown)
      fail("'." + instruction->words[i] + "' is not emulated");
  }
}

Kernel Decoder::run() {
  static constexpr bool (*families[])(Decoder &, Op &) = {
      decodeMove,   decodeInteger, decodeFloat32, decodeFloat16, decodeCompare,   decodeConvert,
      decodeCall,   decodeMemory,  decodeAtomic,  decodeWarp,    decodeTensorMap, decodeBarrier,
      decodeMatrix, decodeWgmma,   decodeCopy,    decodeBulk};
  for (const Instruction &one : function.body) {
    instruction = &one;
    Op op;
    op.line = one.line;
    op.list = uint32_t(kernel.lists.size());
    if (one.guard >= 0) {
      op.guard = offsets[size_t(one.guard)];
      op.guardNegated = one.guardNegated;
    }
    bool isKnown = false;
    for (auto *family : families)
      if ((isKnown = family(*this, op)))
        break;
    if (!isKnown)
      fail("this instruction is not emulated");
    kernel.readsByProxy |= name() == "wgmma" || has("bulk_group");
    kernel.code.push_back(op);
  }
  Op end; // a function may end without `ret`
  end.run = [](Warp &w, const Op &op, uint32_t mask) {
    exitThreads(w, op, mask);
    return Step::Exit;
  };
  end.line = function.body.empty() ? 0 : function.body.back().line;
  kernel.code.push_back(end);
  return std::move(kernel);
}

} // namespace emu
