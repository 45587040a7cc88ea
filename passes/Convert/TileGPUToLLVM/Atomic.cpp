// Atomics: one instruction for each element where PTX has one for the dtype, else a loop around
// compare-and-swap. Of the threads that hold an element one changes it and hands what was there to
// the others through shared memory.
//
// LLVM's atomicrmw prints neither order nor scope for NVPTX, so the instructions are inline PTX.
// See docs/Memory.md.
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Convert/Reduction.h"
#include "passes/Convert/TileGPUToLLVM/GlobalAccess.h"
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// One kind of atomic on one dtype: emits the change of single elements.
class Update {
public:
  Update(AtomicOp op, Type element, bool addsBF16, OpBuilder &b)
      : op(op), element(element), addsBF16(addsBF16), b(b), loc(op.getLoc()) {
    bits = element.getIntOrFloatBitWidth();
    scope = op.getScope() == MemoryScope::System ? "sys." : "gpu.";
    suffix = getInstruction();
  }

  Type getBitsType() { return b.getIntegerType(bits); }

  /// Changes the element at `address` where `predicate` (null: always); the bits that it held, 0
  /// where it is not touched. Nothing comes back unless `returns`.
  Value emit(Value address, Value value, Value expected, Value predicate, bool returns) {
    if (returns && changesNothing())
      return emitRead(address, predicate);
    if (!suffix.empty())
      return emitInstruction(address, toBits(value), expected ? toBits(expected) : Value(),
                             predicate, returns);
    if (!predicate)
      return emitLoop(address, value, expected);
    auto branch =
        scf::IfOp::create(b, loc, TypeRange{getBitsType()}, predicate, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loc, emitLoop(address, value, expected));
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, arith::ConstantIntOp::create(b, loc, 0, bits).getResult());
    return branch.getResult(0);
  }

  /// Adds the neighbours `values`, 2 or 4 numbers of f32, to what lies from `address` on; nothing
  /// comes back.
  void emitVector(Value address, ArrayRef<Value> values, Value predicate) {
    std::string code = predicate ? "@$" + std::to_string(values.size() + 1) + " " : "",
                constraints = "l", list;
    SmallVector<Value> operands{address};
    for (Value value : values) {
      list += (list.empty() ? "$" : ", $") + std::to_string(operands.size());
      constraints += ",f";
      operands.push_back(value);
    }
    if (predicate) {
      constraints += ",b";
      operands.push_back(predicate);
    }
    code += "red." + getOrder() + scope + "global.add.v" + std::to_string(values.size()) +
            ".f32 [$0], {" + list + "};";
    inlinePTX(b, loc, Type(), operands, code, constraints + ",~{memory}");
  }

private:
  /// Operation and type as PTX spells them; empty where there is no such instruction.
  std::string getInstruction() {
    std::string width = std::to_string(bits);
    if (isa<FloatType>(element)) {
      if (op.getKind() != AtomicKind::Add)
        return "";
      if (element.isF16())
        return "add.noftz.f16";
      if (element.isBF16())
        return addsBF16 ? "add.noftz.bf16" : "";
      return "add.f" + width;
    }
    if (op.getKind() == AtomicKind::CompareExchange)
      return bits >= 16 ? "cas.b" + width : "";
    if (bits < 32)
      return "";
    switch (op.getKind()) {
    case AtomicKind::Add:
      return "add.u" + width;
    case AtomicKind::Max:
      return "max.s" + width;
    case AtomicKind::Min:
      return "min.s" + width;
    case AtomicKind::MaxUnsigned:
      return "max.u" + width;
    case AtomicKind::MinUnsigned:
      return "min.u" + width;
    case AtomicKind::And:
      return "and.b" + width;
    case AtomicKind::Or:
      return "or.b" + width;
    case AtomicKind::Xor:
      return "xor.b" + width;
    default:
      return "exch.b" + width;
    }
  }

  std::string getOrder() {
    switch (op.getOrder()) {
    case MemoryOrder::Acquire:
      return "acquire.";
    case MemoryOrder::Release:
      return "release.";
    case MemoryOrder::AcqRel:
      return "acq_rel.";
    case MemoryOrder::Relaxed:
      break;
    }
    return "relaxed.";
  }

  static const char *getConstraint(unsigned bits) {
    return bits == 64 ? "l" : bits == 32 ? "r" : "h";
  }

  /// True for `value`s that leave every element as it is: x | 0, x + 0, x ^ 0, x & -1.
  /// Such an atomic reads only. One that releases stays: it gives others what to acquire.
  bool changesNothing() {
    APInt constant;
    if (op.isRelease() || bits < 32 || !matchPattern(op.getValue(), m_ConstantInt(&constant)))
      return false;
    switch (op.getKind()) {
    case AtomicKind::Add:
    case AtomicKind::Or:
    case AtomicKind::Xor:
      return constant.isZero();
    case AtomicKind::And:
      return constant.isAllOnes();
    default:
      return false;
    }
  }

  /// A load, which many may do at once: of atomics on one line of the cache each waits for the one
  /// before it.
  Value emitRead(Value address, Value predicate) {
    std::string kind = getConstraint(bits), width = std::to_string(bits);
    SmallVector<Value> operands{address};
    std::string code = "ld." + getOrder() + scope + "global.b" + width + " $0, [$1];",
                constraints = "=&" + kind + ",l";
    if (predicate) {
      operands.push_back(predicate);
      code = "mov.b" + width + " $0, 0; @$2 " + code;
      constraints += ",b";
    }
    return inlinePTX(b, loc, getBitsType(), operands, code, constraints + ",~{memory}");
  }

  Value toBits(Value value) {
    return isa<FloatType>(value.getType())
               ? Value(arith::BitcastOp::create(b, loc, getBitsType(), value))
               : value;
  }
  Value fromBits(Value value) {
    return isa<FloatType>(element) ? Value(arith::BitcastOp::create(b, loc, element, value))
                                   : value;
  }

  Value emitInstruction(Value address, Value value, Value expected, Value predicate, bool returns) {
    // Without a result it is a reduction, which orders nothing behind itself.
    bool reduces = !returns && !op.isAcquire() && op.getKind() != AtomicKind::Exchange &&
                   op.getKind() != AtomicKind::CompareExchange;
    std::string kind = getConstraint(bits), constraints, code;
    unsigned next = 0;
    SmallVector<Value> operands{address};
    auto name = [&] { return "$" + std::to_string(next++); };
    std::string result = reduces ? "" : name(), place = name(), list;
    constraints = reduces ? "l" : "=&" + kind + ",l"; // 0 is written before inputs are read
    for (Value operand : {expected, value}) {
      if (!operand)
        continue;
      operands.push_back(operand);
      constraints += "," + kind;
      list += ", " + name();
    }
    if (predicate) {
      operands.push_back(predicate);
      constraints += ",b";
      if (!reduces)
        code = "mov.b" + std::to_string(bits) + " " + result + ", 0; ";
      code += "@" + name() + " ";
    }
    code += (reduces ? "red." : "atom.") + getOrder() + scope + "global." + suffix + " " +
            (reduces ? "" : result + ", ") + "[" + place + "]" + list + ";";
    constraints += ",~{memory}";
    return inlinePTX(b, loc, reduces ? Type() : getBitsType(), operands, code, constraints);
  }

  /// The new value of the element.
  Value change(Value before, Value value, Value expected) {
    switch (op.getKind()) {
    case AtomicKind::Add:
      return combine(b, loc, ReduceKind::Sum, before, value);
    case AtomicKind::Max:
      return combine(b, loc, ReduceKind::Max, before, value);
    case AtomicKind::Min:
      return combine(b, loc, ReduceKind::Min, before, value);
    case AtomicKind::And:
      return arith::AndIOp::create(b, loc, before, value);
    case AtomicKind::Or:
      return arith::OrIOp::create(b, loc, before, value);
    case AtomicKind::Xor:
      return arith::XOrIOp::create(b, loc, before, value);
    case AtomicKind::CompareExchange: {
      Value equal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, before, expected);
      return arith::SelectOp::create(b, loc, equal, value, before);
    }
    default: // 8- and 16-bit integers have no unsigned maximum: the front end asks for 32 bits
      return value;
    }
  }

  /// Compare-and-swap of the element, or of the two bytes of which it is one, until nobody has come
  /// between.
  Value emitLoop(Value address, Value value, Value expected) {
    unsigned wordBits = std::max(16u, bits);
    Type word = b.getIntegerType(wordBits);
    Value shift;
    if (bits == 8) {
      Value number = LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), address);
      Value one = arith::ConstantIntOp::create(b, loc, 1, 64);
      Value half = arith::AndIOp::create(b, loc, number, one);
      Value even = arith::SubIOp::create(b, loc, number, half);
      address = LLVM::IntToPtrOp::create(b, loc, address.getType(), even);
      shift = arith::ShLIOp::create(b, loc, arith::TruncIOp::create(b, loc, word, half),
                                    arith::ConstantIntOp::create(b, loc, 3, 16));
    }
    auto part = [&](Value whole) -> Value {
      if (!shift)
        return fromBits(whole);
      return arith::TruncIOp::create(b, loc, element, arith::ShRUIOp::create(b, loc, whole, shift));
    };
    auto replace = [&](Value whole, Value changed) -> Value {
      if (!shift)
        return toBits(changed);
      Value ones =
          arith::ShLIOp::create(b, loc, arith::ConstantIntOp::create(b, loc, 255, 16), shift);
      Value others = arith::AndIOp::create(
          b, loc, whole,
          arith::XOrIOp::create(b, loc, ones, arith::ConstantIntOp::create(b, loc, -1, 16)));
      return arith::OrIOp::create(
          b, loc, others,
          arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, word, changed), shift));
    };
    std::string kind = getConstraint(wordBits), width = std::to_string(wordBits);
    Value first = inlinePTX(b, loc, word, {address},
                            "ld.relaxed." + scope + "global.b" + width + " $0, [$1];",
                            "=" + kind + ",l,~{memory}");
    auto loop = scf::WhileOp::create(b, loc, TypeRange{word}, ValueRange{first});
    {
      OpBuilder::InsertionGuard guard(b);
      Block *before = b.createBlock(&loop.getBefore(), {}, {word}, {loc});
      Value seen = before->getArgument(0);
      Value changed = replace(seen, change(part(seen), value, expected));
      Value found =
          inlinePTX(b, loc, word, {address, seen, changed},
                    "atom." + getOrder() + scope + "global.cas.b" + width + " $0, [$1], $2, $3;",
                    "=" + kind + ",l," + kind + "," + kind + ",~{memory}");
      Value again = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, found, seen);
      scf::ConditionOp::create(b, loc, again, found);
      Block *after = b.createBlock(&loop.getAfter(), {}, {word}, {loc});
      scf::YieldOp::create(b, loc, after->getArguments());
    }
    return toBits(part(loop.getResult(0)));
  }

  AtomicOp op;
  Type element;
  bool addsBF16;
  OpBuilder &b;
  Location loc;
  unsigned bits;
  std::string scope, suffix;
};

struct LowerAtomic : OpConversionPattern<AtomicOp> {
  LowerAtomic(const TypeConverter &converter, MLIRContext *context, const GPUTarget &target)
      : OpConversionPattern(converter, context), addsBF16(target.has(Feature::AtomicAddBF16)),
        hasVectors(target.has(Feature::VectorReductions)) {}

  LogicalResult matchAndRewrite(AtomicOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    auto tile = dyn_cast<RankedTensorType>(op.getType());
    Type element = getElementTypeOrSelf(op.getType());
    bool returns = !op.getResult().use_empty();
    int64_t sharedBytes = getAtomicBytes(op);
    std::optional<int64_t> slots = getSharedOffset(op);
    if (sharedBytes && !slots)
      return op.emitError("internal: expected " + sharedOffsetName.str() +
                          " from tile-gpu-allocate-shared, found none");

    // All threads' earlier accesses, then the release of one.
    if (op.isRelease())
      BarrierOp::create(b, loc);
    GlobalAccess<AtomicOp> access = makeGlobalAccess(op, adaptor, tile, b);
    Update update(op, element, addsBF16, b);
    Value value = adaptor.getValue().front();
    Value expected = op.getExpected() ? adaptor.getExpected().front() : Value();
    Value mask = op.getMask() ? adaptor.getMask().front() : Value();
    auto part = [&](Value whole, unsigned reg) -> Value {
      return whole && tile
                 ? Value(vector::ExtractOp::create(b, loc, whole, ArrayRef<int64_t>{int64_t(reg)}))
                 : whole;
    };

    Value owner = tile ? getOwnerPredicate(b, loc, access.getTileLayout())
                       : Value(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                                     getThreadId(b, loc), constantI32(b, loc, 0)));
    SmallVector<unsigned> distinct =
        tile ? getDistinctRegisters(access.getTileLayout()) : SmallVector<unsigned>{0};
    unsigned width = getVectorWidth(op);
    if (hasVectors && width > 1 && !returns && !mask && !op.isAcquire() &&
        op.getKind() == AtomicKind::Add && element.isF32()) {
      for (unsigned reg : distinct) {
        if (reg % width)
          continue;
        SmallVector<Value> values;
        for (unsigned i = 0; i < width; ++i)
          values.push_back(part(value, reg + i));
        update.emitVector(access.address(reg), values,
                          access.conjunction(access.exists(reg), owner));
      }
      b.eraseOp(op);
      return success();
    }
    SmallVector<Value> found;
    for (unsigned reg : distinct) {
      Value predicate =
          access.conjunction(tile ? access.exists(reg) : access.scalarExists(), owner);
      predicate = access.conjunction(predicate, part(mask, reg));
      Value address = tile ? access.address(reg) : access.scalarAddress();
      found.push_back(
          update.emit(address, part(value, reg), part(expected, reg), predicate, returns));
    }
    if (sharedBytes)
      share(b, loc, found, tile ? std::optional(access.getTileLayout()) : std::nullopt, *slots);
    else if (op.isAcquire()) // one thread's acquire, then all threads' later accesses
      BarrierOp::create(b, loc);
    if (!returns) {
      b.eraseOp(op);
      return success();
    }
    if (isa<FloatType>(element))
      for (Value &bits : found)
        bits = arith::BitcastOp::create(b, loc, element, bits);
    if (!tile) {
      b.replaceOp(op, found[0]);
      return success();
    }
    SmallVector<Value> registers;
    for (unsigned reg = 0; reg < access.getTileLayout().getNumRegisters(); ++reg) {
      size_t i = 0;
      while (access.getTileLayout().apply(distinct[i], 0, 0) !=
             access.getTileLayout().apply(reg, 0, 0))
        ++i;
      registers.push_back(found[i]);
    }
    b.replaceOpWithNewOp<vector::FromElementsOp>(op, getRegisterType(tile), registers);
    return success();
  }

private:
  /// Replaces what each thread found by what the owner of its elements did. Without a layout thread
  /// 0 owns the one element.
  static void share(OpBuilder &b, Location loc, MutableArrayRef<Value> found,
                    std::optional<LinearLayout> layout, int64_t offset) {
    unsigned lanes = 0, warps = 0, threads = 1;
    Value own = constantI32(b, loc, 0), owner = own;
    if (layout) {
      layout->getDuplicateMasks(lanes, warps);
      threads = 32 * layout->getNumWarps();
      own = getThreadId(b, loc);
      owner = arith::AndIOp::create(
          b, loc, own, constantI32(b, loc, int64_t(threads - 1) & ~int64_t(lanes | (warps << 5))));
    }
    auto slot = [&](size_t i, Value thread) -> Value {
      Value place = getSharedPointer(b, loc, offset);
      Value number = arith::AddIOp::create(b, loc, thread, constantI32(b, loc, i * threads));
      return LLVM::GEPOp::create(b, loc, place.getType(), found[i].getType(), place,
                                 ArrayRef<LLVM::GEPArg>{number});
    };
    {
      OpBuilder::InsertionGuard guard(b);
      if (!layout) {
        Value first =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, getThreadId(b, loc), own);
        b.setInsertionPointToStart(
            scf::IfOp::create(b, loc, first, /*withElseRegion=*/false).thenBlock());
      }
      for (auto [i, value] : llvm::enumerate(found))
        LLVM::StoreOp::create(b, loc, value, slot(i, own));
    }
    BarrierOp::create(b, loc);
    for (auto [i, value] : llvm::enumerate(found))
      value = LLVM::LoadOp::create(b, loc, value.getType(), slot(i, owner));
  }

  bool addsBF16, hasVectors; ///< atom.add.bf16, red.add.v2.f32
};

} // namespace

void tile::gpu::populateAtomicPatterns(const TypeConverter &converter, RewritePatternSet &patterns,
                                       const GPUTarget &target) {
  patterns.add<LowerAtomic>(converter, patterns.getContext(), target);
}
