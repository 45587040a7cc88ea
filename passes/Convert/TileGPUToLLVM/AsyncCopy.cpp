// tile_gpu.local_slots, slot, async_copy, async_commit and async_wait: copies to shared memory by
// cp.async, in groups.
//
//   slots   | slot 0 | slot 1 | .. | slot n-1 |      getSlotStride bytes apart
//
// A thread's copies go in the order of its groups, and async_wait is about the thread's own groups:
// what others have copied is there behind the barrier that follows. Pieces have 16, 8 or 4 bytes,
// as wide as the tensor's alignment, where need be the launch's, and the slot's layout allow;
// elements of less than 4 bytes that stand alone go through a register, and are there when the copy
// ends.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Convert/TileGPUToLLVM/GlobalAccess.h"
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"
#include "passes/Convert/TileGPUToLLVM/RaggedPieces.h"
#include "passes/Convert/TileGPUToLLVM/RotatedRows.h"
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// cp.async up to its addresses, with a policy of the second-level cache if it `keeps`.
/// 16 bytes go past the first-level cache, which has nothing to gain from what is read once.
static std::string getCopyInstruction(unsigned bytes, bool keeps) {
  return std::string("cp.async.") + (bytes == 16 ? "cg" : "ca") + ".shared.global" +
         (keeps         ? ".L2::cache_hint"
          : bytes == 16 ? ".L2::128B"
                        : "");
}

/// Whether a copy has the policy that `cache:` asks for. One that may have to write zeros has none:
/// ptxas 13.0 makes an instruction of it that an H100 and an H200 refuse as illegal.
static bool mayKeep(std::optional<StringRef> cache, bool exists) {
  return cache == StringRef("keep") && exists;
}

void tile::gpu::copyPiece(OpBuilder &builder, Location loc, Value target, Value source,
                          unsigned bytes, Value exists, Value when,
                          std::optional<StringRef> cache) {
  SmallVector<Value> operands{sharedAddress(builder, loc, target), source};
  std::string constraints = "r,l";
  auto add = [&](Value value, const char *constraint) {
    operands.push_back(value);
    constraints += std::string(",") + constraint;
    return "$" + std::to_string(operands.size() - 1);
  };
  bool keeps = mayKeep(cache, !exists);
  std::string code = getCopyInstruction(bytes, keeps) + " [$0], [$1], " + std::to_string(bytes);
  if (exists) {
    Value size = arith::SelectOp::create(builder, loc, exists, constantI32(builder, loc, bytes),
                                         constantI32(builder, loc, 0));
    code += ", " + add(size, "r");
  }
  if (keeps)
    code += ", " + add(createCachePolicy(builder, loc, *cache), "l");
  if (when)
    code = "@" + add(when, "b") + " " + code;
  inlinePTX(builder, loc, {}, operands, code + ";", constraints + ",~{memory}");
}

namespace {

/// Bytes of a piece that cp.async copies, at least.
constexpr unsigned leastPiece = 4;

/// Elements that wait in registers at a time.
constexpr size_t mostElements = 16;

/// Copies at a time by the producer's warps, which have few registers.
constexpr size_t fillElements = 24;

bool isInFill(Operation *op) {
  for (; op; op = op->getParentOp())
    if (isa<RingFillOp>(op) || op->hasAttr(fillName))
      return true;
  return false;
}

/// A condition that always holds, which no compiler sees.
Value makeOpaqueTrue(OpBuilder &builder, Location loc) {
  Value blocks = inlinePTX(builder, loc, builder.getI32Type(), {}, "mov.u32 $0, %nctaid.x;", "=r");
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, blocks,
                               constantI32(builder, loc, 0));
}

/// An element of 1 or 2 bytes that goes by way of a register: too narrow for cp.async.
struct Element {
  Value target, source, exists, when; // conditions: null where they always hold
  unsigned bytes;
};

Value orTrue(OpBuilder &builder, Location loc, Value condition) {
  return condition ? condition
                   : Value(arith::ConstantOp::create(builder, loc, builder.getI1Type(),
                                                     builder.getBoolAttr(true)));
}

/// All loads before all stores, so that their latencies overlap.
void copyElements(OpBuilder &builder, Location loc, ArrayRef<Element> elements) {
  SmallVector<Value> values;
  for (const Element &element : elements) {
    Value both = arith::AndIOp::create(builder, loc, orTrue(builder, loc, element.exists),
                                       orTrue(builder, loc, element.when));
    std::string type = element.bytes == 1 ? "u8" : "u16";
    values.push_back(inlinePTX(builder, loc, builder.getI16Type(), {element.source, both},
                               "mov.b16 $0, 0; @$2 ld.global." + type + " $0, [$1];",
                               "=&h,l,b,~{memory}"));
  }
  for (auto [element, value] : llvm::zip(elements, values))
    inlinePTX(
        builder, loc, {},
        {sharedAddress(builder, loc, element.target), value, orTrue(builder, loc, element.when)},
        std::string("@$2 st.shared.") + (element.bytes == 1 ? "u8" : "u16") + " [$0], $1;",
        "r,h,b,~{memory}");
}

/// Whether pieces of `width` elements of each thread lie side by side in both memories.
bool hasPieces(GlobalAccess<AsyncCopyOp> &access, const SharedAccess &places, AsyncCopyOp op,
               unsigned width) {
  Type element = access.getElement();
  unsigned fastest = getVectorWidth(op, fastestName);
  if (isNibble(element) || !op->hasAttr(fastestName) || !access.canCount(fastest))
    return false;
  unsigned bits = getStoredType(element).getIntOrFloatBitWidth(), bytes = width * bits / 8;
  if (!isRagged(bits, width))
    return false;
  for (uint32_t image : places.getThreadImages())
    if (image % bytes)
      return false;
  for (unsigned reg = 0; reg < access.getTileLayout().getNumRegisters(); ++reg) {
    unsigned first = reg - reg % width;
    if (places.getOffset(first) % bytes ||
        places.getOffset(reg) != places.getOffset(first) + (reg - first) * bits / 8 ||
        access.distance(first, reg, fastest) != reg - first)
      return false;
  }
  return true;
}

/// All pieces of a thread, each of `wide` elements, by copies of the widest of `widths` that the
/// launch allows, the last of which always is; what is too narrow to be copied by registers.
void copyPieces(OpBuilder &builder, AsyncCopyOp op, GlobalAccess<AsyncCopyOp> &access,
                const SharedAccess &places, Value memory, unsigned wide, ArrayRef<unsigned> widths,
                Value when) {
  Location loc = op.getLoc();
  RaggedAccess how;
  how.bits = getStoredType(access.getElement()).getIntOrFloatBitWidth();
  how.words = wide * how.bits / 32;
  unsigned fastest = getVectorWidth(op, fastestName);
  RaggedCopy copy;
  copy.when = when;
  copy.exist = !access.exists(0);
  bool keeps = mayKeep(op.getCache(), copy.exist);
  for (unsigned width : widths) {
    RaggedWay way;
    if (width != widths.back())
      way.fits = access.canVectorize(width, fastest);
    unsigned bytes = width * how.bits / 8;
    if (bytes >= leastPiece) {
      way.bytes = bytes;
      way.instruction = getCopyInstruction(bytes, keeps);
    }
    copy.ways.push_back(way);
  }
  bool byRegisters = !copy.ways.back().bytes;
  if (byRegisters && op->hasAttr(windowsName))
    how.inside = access.canLoadWindows(fastest, wide * how.bits / 8);
  if (copy.ways.front().bytes && keeps)
    copy.policy = createCachePolicy(builder, loc, *op.getCache());
  SharedAddresses addresses(builder, loc, memory, places.getThreadImages());
  llvm::SmallDenseSet<uint32_t> seen; // registers may repeat an earlier one's element
  SmallVector<RaggedPiece> pieces;
  SmallVector<SharedPlace> targets;
  llvm::SmallDenseMap<Value, Value> integers; // of pointers; looked up only
  unsigned first = 0;
  for (unsigned reg = 0; reg < access.getTileLayout().getNumRegisters(); reg += wide) {
    if (!seen.insert(places.getOffset(reg)).second || !op.copiesPiece(seen.size() - 1))
      continue;
    // What is loaded must not be read where nothing is copied.
    addRaggedPiece(pieces, first, access, fastest, reg, byRegisters ? when : Value());
    auto [pointer, added] = addresses.split(places.getOffset(reg));
    Value &address = integers[pointer];
    if (!address)
      address = sharedAddress(builder, loc, pointer);
    targets.push_back({address, added});
  }
  copyRagged(builder, loc, pieces, how, targets, copy);
}

struct LowerAsyncCopy : OpConversionPattern<AsyncCopyOp> {
  using OpConversionPattern::OpConversionPattern;
  using OneToNOpAdaptor = OpConversionPattern::OneToNOpAdaptor;
  LogicalResult matchAndRewrite(AsyncCopyOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    GlobalAccess<AsyncCopyOp> access = makeGlobalAccess(op, adaptor, op.getTileType(), rewriter);
    Value mask = op.getMask() ? adaptor.getMask().front() : Value();
    Value when = op.getWhen() ? adaptor.getWhen().front() : Value();
    LinearLayout layout = getLayout(op.getStoredTile());
    // Elements that several threads hold are copied by one of them.
    when = access.conjunction(when, getOwnerPredicate(rewriter, loc, layout));
    unsigned elementBytes = getSharedElementBytes(op.getStoredTile().getElementType()),
             count = layout.getNumRegisters();
    std::optional<PrivatePlace> own;
    std::optional<SharedAccess> places;
    if (op->hasAttr(privateName)) {
      own.emplace(rewriter, loc, adaptor.getMemory().front(), op.getStoredTile());
      if (access.getRotation()) {
        copyRotated(rewriter, op, access, *own, when);
        rewriter.eraseOp(op);
        return success();
      }
      if (hasRotatedEnd(op.getStoredTile(), op.getMemory().getType()))
        keepRotated(rewriter, loc, op.getStoredTile(), *own);
    } else {
      places.emplace(layout, getSharedLayout(op.getMemory().getType()));
    }
    bool fills = isInFill(op);
    unsigned proven = std::min(getVectorWidth(op), count),
             wide = std::min(getVectorWidth(op, vectorIfName), count);
    // Narrow ways are most of a kernel's code: LLVM sees one statement for several pieces. The
    // producer's warps have too few registers for that.
    bool joins = !own && !mask && !fills && hasPieces(access, *places, op, wide);
    auto copyAll = [&](unsigned width) {
      if (joins && width < wide)
        return copyPieces(rewriter, op, access, *places, adaptor.getMemory().front(), wide, width,
                          when);
      auto makeAddresses = [&] {
        return SharedAddresses(rewriter, loc, adaptor.getMemory().front(),
                               places->getThreadImages());
      };
      std::optional<SharedAddresses> addresses;
      if (!own)
        addresses.emplace(makeAddresses());
      llvm::SmallDenseSet<uint32_t> seen; // registers may repeat an earlier one's element
      SmallVector<Element> elements;
      auto copyPending = [&] {
        for (ArrayRef<Element> left = elements; !left.empty();) {
          size_t count = std::min<size_t>(left.size(), fills ? fillElements : mostElements);
          copyElements(rewriter, loc, left.take_front(count));
          left = left.drop_front(count);
        }
        elements.clear();
      };
      OpBuilder::InsertionGuard guard(rewriter);
      scf::IfOp group;
      for (unsigned reg = 0; reg < count; reg += width) {
        uint32_t offset = own ? reg * elementBytes : places->getOffset(reg);
        if (!seen.insert(offset).second || !op.copiesPiece(seen.size() - 1))
          continue;
        // Where registers are short, a few at a time, each group in a branch of its own: the
        // assembler would compute the addresses of all ahead.
        if (fills && (seen.size() - 1) % fillElements == 0) {
          copyPending();
          if (group)
            rewriter.setInsertionPointAfter(group);
          group = scf::IfOp::create(rewriter, loc, makeOpaqueTrue(rewriter, loc),
                                    /*withElseRegion=*/false);
          rewriter.setInsertionPointToStart(group.thenBlock());
          addresses.emplace(makeAddresses());
        }
        Value exists = access.exists(reg);
        if (mask)
          exists = access.conjunction(
              exists,
              vector::ExtractOp::create(rewriter, loc, mask, ArrayRef<int64_t>{int64_t(reg)}));
        unsigned bytes = width * elementBytes;
        Value target = own ? own->at(rewriter, loc, offset) : addresses->get(offset);
        if (bytes >= leastPiece)
          copyPiece(rewriter, loc, target, access.address(reg), bytes, exists, when, op.getCache());
        else
          elements.push_back({target, access.address(reg), exists, when, bytes});
      }
      copyPending();
    };
    OpBuilder::InsertionGuard guard(rewriter);
    // The widest pieces that rows allow. Where single elements would go by way of registers, rows
    // of 8 or 4 bytes take two or four times the copies instead; where products are by mma.sync,
    // whose fragments leave no registers for more ways, they do not.
    const GPUTarget *target = getTarget(op);
    bool byRegisters = proven * elementBytes < leastPiece;
    unsigned least = byRegisters && target && target->has(Feature::Wgmma)
                         ? std::max(1u, leastPiece / elementBytes)
                         : wide;
    bool shares = joins && canShareOperands(count / wide);
    // The widest way stays apart from elements that go by registers: a product that spills
    // took 1.14 of its time on an H200 with both in one statement.
    bool sharesWidest = shares && !byRegisters;
    for (unsigned width = sharesWidest ? 0 : wide; width > proven && width >= least; width /= 2) {
      if (shares && width < wide)
        break;
      Value condition = access.canVectorize(width, getVectorWidth(op, fastestName));
      auto branch = scf::IfOp::create(rewriter, loc, condition, /*withElseRegion=*/true);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      copyAll(width);
      rewriter.setInsertionPointToStart(branch.elseBlock());
    }
    if (shares && proven < wide) {
      SmallVector<unsigned> widths;
      for (unsigned width = sharesWidest ? wide : wide / 2; width > proven && width >= least;
           width /= 2)
        widths.push_back(width);
      widths.push_back(proven);
      copyPieces(rewriter, op, access, *places, adaptor.getMemory().front(), wide, widths, when);
    } else {
      copyAll(proven);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerAsyncCommit : OpConversionPattern<AsyncCommitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(AsyncCommitOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    inlinePTX(rewriter, op.getLoc(), {}, {}, "cp.async.commit_group;", "~{memory}");
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerAsyncWait : OpConversionPattern<AsyncWaitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(AsyncWaitOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    inlinePTX(rewriter, op.getLoc(), {}, {},
              "cp.async.wait_group " + std::to_string(op.getPending()) + ";", "~{memory}");
    if (op.getFence())
      fenceAsyncProxy(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerLocalSlots : OpConversionPattern<LocalSlotsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(LocalSlotsOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::optional<int64_t> offset = getSharedOffset(op);
    if (!offset)
      return op.emitError("internal: expected " + sharedOffsetName.str() +
                          " from tile-gpu-allocate-shared, found none");
    rewriter.replaceOp(op, getSharedPointer(rewriter, op.getLoc(), *offset));
    return success();
  }
};

struct LowerSlot : OpConversionPattern<SlotOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(SlotOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value index =
        arith::IndexCastOp::create(rewriter, loc, rewriter.getI32Type(), adaptor.getIndex());
    Value offset = arith::MulIOp::create(
        rewriter, loc, index, constantI32(rewriter, loc, getSlotStride(op.getSlots().getType())));
    Value base = adaptor.getSlots();
    rewriter.replaceOpWithNewOp<LLVM::GEPOp>(op, base.getType(), rewriter.getI8Type(), base,
                                             ArrayRef<LLVM::GEPArg>{offset});
    return success();
  }
};

} // namespace

void tile::gpu::populateCopyTypes(TypeConverter &converter) {
  converter.addConversion(
      [](SlotsType type) -> Type { return LLVM::LLVMPointerType::get(type.getContext(), 3); });
}

void tile::gpu::populateCopyPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerAsyncCopy, LowerAsyncCommit, LowerAsyncWait, LowerLocalSlots, LowerSlot>(
      converter, patterns.getContext());
}
