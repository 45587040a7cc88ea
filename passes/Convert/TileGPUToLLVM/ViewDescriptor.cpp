// tile_gpu.view_descriptor: a tensor map that a program writes itself.
//
// The map is put together in shared memory, then goes to scratch memory, where the hardware reads
// it. A fence orders the writing, and what an earlier launch or map left in caches, before
// copies by the map.
//
// Consumers that store by a map wait for a slot that the producer has filled behind that fence,
// which lies on the way from the writing to the copy, whoever starts that; they find the map's
// place by counting along.
//
//   scratch   | count | map 0: block 0: copy 0 .. n-1 | block 1 | .. | map 1: ..      128 bytes
//   each
//
// Copies by the last n-1 maps may still be under way; so the next one goes to the next place.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"
#include "passes/TileGPU/SharedLifetimes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

struct LowerViewDescriptor : OpConversionPattern<ViewDescriptorOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ViewDescriptorOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto function = op->getParentOfType<func::FuncOp>();
    auto argument = function->getAttrOfType<IntegerAttr>(scratchArgumentName);
    std::optional<int64_t> offset = getSharedOffset(op);
    if (!offset || !argument || !op.getNumber() || !op.getCopies())
      return op.emitError("internal: expected memory for the map");
    int64_t copies = *op.getCopies();
    // The place of the latest map, in a variable that LLVM promotes to a register.
    Value place;
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(&function.getBody().front());
      place = LLVM::AllocaOp::create(rewriter, loc, LLVM::LLVMPointerType::get(getContext()),
                                     rewriter.getI32Type(), constantI32(rewriter, loc, 1));
      Operation *initial =
          LLVM::StoreOp::create(rewriter, loc, constantI32(rewriter, loc, 0), place);
      if (isWriter(op)) {
        // Behind all variables: in a block of their own LLVM would leave them in memory.
        Operation *last = place.getDefiningOp();
        for (auto variable : function.getBody().front().getOps<LLVM::AllocaOp>())
          if (last->isBeforeInBlock(variable))
            last = variable;
        rewriter.setInsertionPointAfter(last == place.getDefiningOp() ? initial : last);
        prepare(op, rewriter, getSharedPointer(rewriter, loc, *offset));
      }
    }
    auto getPointer = [&]() -> Value {
      Value latest = LLVM::LoadOp::create(rewriter, loc, rewriter.getI32Type(), place);
      Value block = NVVM::BlockIdXOp::create(rewriter, loc, rewriter.getI32Type());
      Value number = arith::AddIOp::create(
          rewriter, loc,
          arith::MulIOp::create(rewriter, loc, block, constantI32(rewriter, loc, copies)), latest);
      number =
          arith::MulIOp::create(rewriter, loc, number, constantI32(rewriter, loc, tensorMapBytes));
      return advance(rewriter, loc,
                     advance(rewriter, loc, function.getArgument(argument.getInt()),
                             int32_t(getMapOffset(*op.getNumber(), copies))),
                     number);
    };
    auto branch = scf::IfOp::create(rewriter, loc, adaptor.getWhen(), /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      Value next = arith::AddIOp::create(
          rewriter, loc, LLVM::LoadOp::create(rewriter, loc, rewriter.getI32Type(), place),
          constantI32(rewriter, loc, 1));
      next = arith::AndIOp::create(rewriter, loc, next, constantI32(rewriter, loc, copies - 1));
      LLVM::StoreOp::create(rewriter, loc, next, place);
      if (isWriter(op))
        write(op, adaptor, rewriter, getSharedPointer(rewriter, loc, *offset), getPointer());
    }
    Value pointer = LLVM::AddrSpaceCastOp::create(
        rewriter, loc, LLVM::LLVMPointerType::get(getContext()), getPointer());
    if (isWriter(op))
      fence(op, adaptor.getWhen(), pointer, rewriter);
    rewriter.replaceOp(op, pointer);
    return success();
  }

private:
  /// True for the producer's, false for those of consumers, who store by what it has written.
  static bool isWriter(ViewDescriptorOp op) {
    return llvm::none_of(op->getUsers(), llvm::IsaPred<TmaStoreOp>);
  }

  static bool copies(Operation &op) {
    return op.walk([](TmaLoadOp) { return WalkResult::interrupt(); }).wasInterrupted();
  }

  /// One fence behind the last of the maps that are written before the next copies: it waits for
  /// memory.
  static void fence(ViewDescriptorOp op, Value when, Value pointer,
                    ConversionPatternRewriter &rewriter) {
    for (Operation *next = op->getNextNode(); next && !copies(*next); next = next->getNextNode())
      if (auto later = dyn_cast<ViewDescriptorOp>(next); later && isWriter(later))
        return;
    SmallVector<Value> pointers;
    for (Operation *before = op->getPrevNode(); before && !copies(*before);
         before = before->getPrevNode())
      if (auto earlier = dyn_cast<ViewDescriptorOp>(before); earlier && isWriter(earlier)) {
        pointers.push_back(rewriter.getRemappedValue(earlier.getResult()));
        when = arith::OrIOp::create(rewriter, op.getLoc(), when,
                                    rewriter.getRemappedValue(earlier.getWhen()));
      }
    pointers.push_back(pointer);
    OpBuilder::InsertionGuard guard(rewriter);
    auto branch = scf::IfOp::create(rewriter, op.getLoc(), when, /*withElseRegion=*/false);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    std::string code = "fence.proxy.tensormap::generic.release.gpu;", prefetches, constraints;
    for (size_t i = 0; i < pointers.size(); ++i) {
      std::string operand = "[$" + std::to_string(i) + "]";
      code += " fence.proxy.tensormap::generic.acquire.gpu " + operand + ", 128;";
      // All at once: copies would wait for one after the other.
      prefetches += " prefetch.tensormap " + operand + ";";
      constraints += "l,";
    }
    code += prefetches;
    inlinePTX(rewriter, op.getLoc(), {}, pointers, code, constraints + "~{memory}");
  }

  static constexpr int64_t pieceBytes = 16;

  /// Sets a field of the map in shared memory: to `value`, or where that is null to a constant.
  static void replace(OpBuilder &b, Location loc, Value memory, const std::string &field,
                      Value value, int64_t constant = 0) {
    bool isWide = value && value.getType().isInteger(64);
    auto [name, index] = StringRef(field).split(' '); // of a dimension
    std::string code = ("tensormap.replace.tile." + name + ".shared::cta.b1024.b" +
                        (isWide ? "64" : "32") + " [$0], " + index + (index.empty() ? "" : ", "))
                           .str();
    SmallVector<Value> operands{sharedAddress(b, loc, memory)};
    if (value)
      operands.push_back(value);
    inlinePTX(b, loc, {}, operands, code + (value ? "$1;" : std::to_string(constant) + ";"),
              !value   ? "r,~{memory}"
              : isWide ? "r,l,~{memory}"
                       : "r,r,~{memory}");
  }

  /// What all maps of the view have in common, once for the block: one thread writes it, ahead of
  /// the barrier at which producer and consumers part.
  static void prepare(ViewDescriptorOp op, OpBuilder &b, Value memory) {
    Location loc = op.getLoc();
    auto first = scf::IfOp::create(b, loc, equals(b, loc, getThreadId(b, loc), 0),
                                   /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(first.thenBlock());
    TensorMapAttr map = op.getMap();
    Value zeros = arith::ConstantOp::create(
        b, loc, b.getZeroAttr(VectorType::get(pieceBytes / 4, b.getI32Type())));
    for (int64_t at = 0; at < tensorMapBytes; at += pieceBytes)
      LLVM::StoreOp::create(b, loc, zeros, advance(b, loc, memory, int32_t(at)), pieceBytes);
    auto set = [&](const std::string &field, int64_t value) {
      replace(b, loc, memory, field, {}, value);
    };
    size_t rank = map.getOrder().size();
    set("rank", int64_t(rank) - 1);
    for (size_t i = 0; i < rank; ++i) {
      replace(b, loc, memory, "box_dim " + std::to_string(i), constantI32(b, loc, map.getBox()[i]));
      replace(b, loc, memory, "element_stride " + std::to_string(i), constantI32(b, loc, 1));
    }
    // Types by their size: bits are copied as they are, and what does not exist is 0.
    constexpr int64_t types[] = {0, 1, 2, 4}; // u8, u16, u32, u64
    set("elemtype", types[llvm::Log2_64(getElementBytes(op))]);
    set("interleave_layout", 0);
    set("swizzle_mode", map.getSwizzle() ? llvm::Log2_64(map.getSwizzle() / 16) : 0);
    set("fill_mode", 0);
  }

  static int64_t getElementBytes(ViewDescriptorOp op) {
    return getSharedElementBytes(cast<PointerType>(op.getBase().getType()).getElementType());
  }

  /// Sets what is the view's own, and copies the map to `target`.
  static void write(ViewDescriptorOp op, OpAdaptor adaptor, OpBuilder &b, Value memory,
                    Value target) {
    Location loc = op.getLoc();
    Value base = advance(b, loc, adaptor.getBase(), adaptor.getStart(),
                         cast<PointerType>(op.getBase().getType()).getElementType());
    replace(b, loc, memory, "global_address",
            LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), base));
    for (size_t i = 0; i < op.getMap().getOrder().size(); ++i) {
      replace(b, loc, memory, "global_dim " + std::to_string(i),
              arith::IndexCastOp::create(b, loc, b.getI32Type(), adaptor.getExtents()[i]));
      if (i == 0)
        continue;
      Value stride = arith::IndexCastOp::create(b, loc, b.getI64Type(), adaptor.getStrides()[i]);
      stride = arith::MulIOp::create(b, loc, stride,
                                     arith::ConstantIntOp::create(b, loc, getElementBytes(op), 64));
      replace(b, loc, memory, "global_stride " + std::to_string(i - 1), stride);
    }
    auto words = VectorType::get(pieceBytes / 4, b.getI32Type());
    for (int64_t at = 0; at < tensorMapBytes; at += pieceBytes) {
      Value piece =
          LLVM::LoadOp::create(b, loc, words, advance(b, loc, memory, int32_t(at)), pieceBytes);
      LLVM::StoreOp::create(b, loc, piece, advance(b, loc, target, int32_t(at)), pieceBytes);
    }
  }
};

} // namespace

void tile::gpu::populateViewDescriptorPatterns(const TypeConverter &converter,
                                               RewritePatternSet &patterns) {
  patterns.add<LowerViewDescriptor>(converter, patterns.getContext());
}
