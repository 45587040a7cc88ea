// Parts of a split loop: each thread stores its own registers to scratch memory, the tile's count
// says who is last, and that program's threads load what their counterparts in the other parts have
// stored.
//
// Scratch memory has a record for each program: 128 bytes, of which part 0's hold the tile's count,
// then the sums. A thread's words lie at [piece of up to 16 bytes][thread], so that a warp's
// accesses are contiguous.
//
//   record of (tile, part)   | header: 128 bytes | sum 0                               | sum 1 ...
//   part 0's header          | count: u32 | count of groups: u32 | 0 .. |
//   a sum                    | piece 0 of thread 0 .. T-1 | piece 1 of thread 0 .. T-1 | ...
//
// Where parts are merged in groups first, the header of a group's first part has the group's count,
// and its record then holds the group's sums.
//
// The count goes 0, 1, .. parts - 1, and wraps to 0 with the last part: the header is as it was
// before the launch, which the next launch relies on (launch/core/Scratch.h). Every layout of the
// sums is that of the part that stores them; all parts have the same.
#include "dialect/AttributeNames.h"
#include "dialect/ProductNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Convert/Reduction.h"
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"
#include "passes/TileGPU/PartCount.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

constexpr int64_t headerBytes = 128;

/// The record of part `part` of those that `op` merges, the first of which is `first`.
Value getRecordOf(OpBuilder &b, Location loc, Operation *op, Value first, Value part) {
  if (auto every = op->getAttrOfType<IntegerAttr>(everyName))
    part = arith::MulIOp::create(b, loc, part, constantIndex(b, loc, every.getInt()));
  return arith::AddIOp::create(b, loc, first, part);
}

/// A tile's registers as 32-bit words.
/// In the order of registers: packed if the tile fills words, else a word for each.
Value toWords(OpBuilder &b, Location loc, Value vector) {
  Value stored = toStoredVector(b, loc, vector);
  auto type = cast<VectorType>(stored.getType());
  int64_t count = type.getNumElements(), bits = type.getElementTypeBitWidth();
  if (count * bits < 32) { // a word for each element
    if (isa<FloatType>(type.getElementType()))
      stored = arith::BitcastOp::create(b, loc, type.clone(b.getIntegerType(bits)), stored);
    return arith::ExtUIOp::create(b, loc, type.clone(b.getI32Type()), stored);
  }
  return vector::BitCastOp::create(b, loc, VectorType::get(count * bits / 32, b.getI32Type()),
                                   stored);
}

/// The words of a tile of type `type`, back in its registers.
Value fromWords(OpBuilder &b, Location loc, Value words, VectorType type) {
  Type element = type.getElementType();
  // As toStoredVector has it.
  Type stored =
      element.isIndex() ? Type(b.getI64Type())
      : element.isInteger(1) || (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8)
          ? Type(b.getI8Type())
          : element;
  int64_t bits = stored.getIntOrFloatBitWidth();
  if (type.getNumElements() * bits < 32) {
    words = arith::TruncIOp::create(b, loc, type.clone(b.getIntegerType(bits)), words);
    if (isa<FloatType>(stored))
      words = arith::BitcastOp::create(b, loc, type.clone(stored), words);
  } else {
    words = vector::BitCastOp::create(b, loc, type.clone(stored), words);
  }
  return fromStoredVector(b, loc, words, element);
}

/// Where the sums of a part lie.
/// Both sides of the hand-over compute the same places, from types alone: layouts must agree, and
/// `agrees` tells where several splits of a kernel would not.
class Record {
public:
  Record(Operation *op, OpBuilder &b, ValueRange sums) : b(b), loc(op->getLoc()) {
    bytes = headerBytes;
    for (Value sum : sums) {
      auto tile = cast<RankedTensorType>(sum.getType());
      LinearLayout layout = getLayout(tile);
      threads = layout.getNumWarps() * 32;
      auto type = getRegisterType(tile);
      int64_t bits =
          type.getElementType().isIndex() ? 64 : std::max(8u, type.getElementTypeBitWidth());
      int64_t words = type.getNumElements() * bits < 32 ? type.getNumElements()
                                                        : type.getNumElements() * bits / 32;
      Place &place = places.emplace_back(Place{bytes, words, type, {}});
      int64_t width = std::min<int64_t>(words, 4);
      SmallVector<bool> padding = findPadding(op, layout, words);
      for (int64_t first = 0; first < words; first += width) {
        auto piece = llvm::to_vector(llvm::seq(first, first + width));
        if (!llvm::all_of(piece, [&](int64_t word) { return padding[size_t(word)]; }))
          place.pieces.push_back(std::move(piece));
      }
      bytes += int64_t(place.pieces.size()) * width * 4 * threads;
    }
    // Known from the first operation that is lowered; the launcher allocates programs * bytes.
    auto function = op->getParentOfType<func::FuncOp>();
    auto known = function->getAttrOfType<IntegerAttr>(scratchBytesName);
    agrees = !known || known.getInt() == bytes;
    function->setAttr(scratchBytesName, b.getI64IntegerAttr(bytes));
    scratch =
        function.getArgument(function->getAttrOfType<IntegerAttr>(scratchArgumentName).getInt());
  }

  /// False if other operations of the kernel have records of another size, so that counts would lie
  /// elsewhere.
  bool agrees = true;

  /// Words of a thread.
  int64_t getWords() const {
    int64_t words = 0;
    for (const Place &place : places)
      for (ArrayRef<int64_t> piece : place.pieces)
        words += int64_t(piece.size());
    return words;
  }

  /// The record `number`, an index.
  Value getPointer(Value number) {
    // All records of a large grid may be more than 4 GiB: the product has 64 bits.
    number = arith::MulIOp::create(b, loc, number, constantIndex(b, loc, bytes));
    return offset(scratch, arith::IndexCastOp::create(b, loc, b.getI64Type(), number));
  }

  /// Calls `access` with the pointer and the numbers of the words of each piece of sum `i`.
  /// Pieces of 16 bytes for each thread, threads side by side: a warp's access is 512 bytes in a
  /// row.
  void forEachPiece(Value record, unsigned i,
                    llvm::function_ref<void(Value, ArrayRef<int64_t>)> access) {
    int64_t width = std::min<int64_t>(places[i].words, 4);
    Value thread =
        arith::MulIOp::create(b, loc, getThreadId(b, loc), constantI32(b, loc, width * 4));
    Value own = offset(record, thread);
    for (auto [number, piece] : llvm::enumerate(places[i].pieces)) {
      int64_t at = places[i].offset + int64_t(number) * threads * width * 4;
      Value pointer = LLVM::GEPOp::create(b, loc, own.getType(), b.getI8Type(), own,
                                          ArrayRef<LLVM::GEPArg>{int32_t(at)});
      access(pointer, piece);
    }
  }

  /// Sum `i` as another part has left it.
  Value load(Value record, unsigned i) {
    SmallVector<Value> words(size_t(places[i].words)); // where there is only padding, 0
    forEachPiece(record, i, [&](Value pointer, ArrayRef<int64_t> numbers) {
      // Past the first cache, which may hold what was there before.
      // .cg goes to L2, which all processors share. An L1 is not kept coherent.
      size_t width = numbers.size();
      std::string results = "=r", code = "$0";
      for (size_t w = 1; w < width; ++w) {
        results += ",=r";
        code += ", $" + std::to_string(w);
      }
      Type type = width == 1 ? Type(b.getI32Type())
                             : LLVM::LLVMStructType::getLiteral(
                                   b.getContext(), SmallVector<Type>(width, b.getI32Type()));
      std::string suffix =
          width == 1 ? ".b32 $0" : ".v" + std::to_string(width) + ".b32 {" + code + "}";
      Value loaded = inlinePTX(b, loc, type, pointer,
                               "ld.global.cg" + suffix + ", [$" + std::to_string(width) + "];",
                               results + ",l,~{memory}");
      for (size_t w = 0; w < width; ++w)
        words[size_t(numbers[w])] =
            width == 1 ? loaded
                       : LLVM::ExtractValueOp::create(b, loc, loaded, int64_t(w)).getResult();
    });
    for (Value &word : words)
      if (!word)
        word = constantI32(b, loc, 0);
    Value vector = vector::FromElementsOp::create(
        b, loc, VectorType::get(words.size(), b.getI32Type()), words);
    return fromWords(b, loc, vector, places[i].type);
  }

  // Ordinary stores: the release of the count, behind the barrier, makes them visible.
  void store(Value record, unsigned i, Value sum) {
    Value words = toWords(b, loc, sum);
    forEachPiece(record, i, [&](Value pointer, ArrayRef<int64_t> numbers) {
      SmallVector<Value> operands = {pointer};
      std::string constraints = "l", code;
      for (auto [i, number] : llvm::enumerate(numbers)) {
        operands.push_back(vector::ExtractOp::create(b, loc, words, ArrayRef<int64_t>{number}));
        constraints += ",r";
        code += (i ? ", $" : "$") + std::to_string(i + 1);
      }
      std::string suffix = numbers.size() == 1 ? ".b32 [$0], $1;"
                                               : ".v" + std::to_string(numbers.size()) +
                                                     ".b32 [$0], {" + code + "};";
      inlinePTX(b, loc, Type(), operands, "st.global" + suffix, constraints + ",~{memory}");
    });
  }

private:
  struct Place {
    int64_t offset, words;
    VectorType type;
    SmallVector<SmallVector<int64_t>> pieces; // the words of each access
  };

  /// Which of a thread's words are padding in every thread, behind an extent that was rounded up.
  static SmallVector<bool> findPadding(Operation *op, const LinearLayout &layout, int64_t words) {
    SmallVector<bool> padding(size_t(words), false);
    auto padded =
        op->getParentOfType<func::FuncOp>()->getAttrOfType<DenseI64ArrayAttr>(paddedExtentsName);
    if (!padded || layout.getNumRegisters() != uint64_t(words)) // one element to a word
      return padding;
    Coord moved(layout.getRank(), 0); // what lanes and warps add
    for (InDim dim : {InDim::Lane, InDim::Warp})
      for (const Coord &basis : layout.getBases(dim))
        for (auto [d, step] : llvm::enumerate(basis))
          moved[d] |= step;
    for (auto [word, isPadding] : llvm::enumerate(padding)) {
      Coord first = layout.apply(unsigned(word), 0, 0);
      for (auto [d, size] : llvm::enumerate(layout.getShape()))
        for (int64_t extent : padded.asArrayRef())
          isPadding |= int64_t(llvm::PowerOf2Ceil(uint64_t(extent))) == size &&
                       first[d] >= extent && !(moved[d] & first[d]);
    }
    return padding;
  }

  Value offset(Value pointer, Value bytes) {
    return LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI8Type(), pointer,
                               ArrayRef<LLVM::GEPArg>{bytes});
  }

  OpBuilder &b;
  Location loc;
  SmallVector<Place> places;
  int64_t threads = 0, bytes = 0;
  Value scratch;
};

struct LowerPartArrive : OpConversionPattern<PartArriveOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(PartArriveOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    std::optional<int64_t> slot = getSharedOffset(op);
    if (!slot)
      return op.emitError("internal: expected " + sharedOffsetName.str() +
                          " from tile-gpu-allocate-shared, found none");
    Record record(op, b, op.getSums());
    if (!record.agrees)
      return op.emitError("internal: a kernel has several splits with sums of different sizes");
    Value own = record.getPointer(getRecordOf(b, loc, op, adaptor.getFirst(), adaptor.getPart()));
    Value most = arith::SubIOp::create(
        b, loc, arith::IndexCastOp::create(b, loc, b.getI32Type(), adaptor.getParts()),
        constantI32(b, loc, 1));
    // Every part stores, the last to arrive too: which one that will be is known only afterwards.
    for (auto [i, sum] : llvm::enumerate(adaptor.getSums()))
      record.store(own, i, sum);
    // All threads' stores, then the count: one thread releases what the barrier has gathered, and
    // what it acquires the next barrier hands on, so that no thread needs a fence of its own. The
    // count wraps to zero with the last part, for the next launch.
    BarrierOp::create(b, loc);
    Value place = getSharedPointer(b, loc, *slot);
    Value isOne = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, getThreadId(b, loc),
                                        constantI32(b, loc, 0));
    auto one = scf::IfOp::create(b, loc, isOne, /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(one.thenBlock());
      Value count = record.getPointer(adaptor.getFirst());
      if (op->hasAttr(everyName)) // beside the count of the first group
        count = LLVM::GEPOp::create(b, loc, count.getType(), b.getI8Type(), count,
                                    ArrayRef<LLVM::GEPArg>{int32_t(sizeof(uint32_t))});
      Value before = inlinePTX(b, loc, b.getI32Type(), {count, most},
                               "atom.acq_rel.gpu.global.inc.u32 $0, [$1], $2;", "=r,l,r,~{memory}");
      LLVM::StoreOp::create(b, loc, before, place);
    }
    BarrierOp::create(b, loc);
    // The same answer for all threads: the branch on it is uniform, and barriers may stand in it.
    Value before = LLVM::LoadOp::create(b, loc, b.getI32Type(), place);
    Value last = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, before, most);
    b.replaceOp(op, last);
    return success();
  }
};

struct LowerPartCombine : OpConversionPattern<PartCombineOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(PartCombineOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    Record record(op, b, op.getSums());
    auto loadAll = [&](Value part) {
      Value from = record.getPointer(getRecordOf(b, loc, op, adaptor.getFirst(), part));
      SmallVector<Value> sums;
      for (unsigned i = 0; i < op.getKinds().size(); ++i)
        sums.push_back(record.load(from, i));
      return sums;
    };
    auto combineAll = [&](ValueRange totals, ValueRange sums) {
      SmallVector<Value> combined;
      for (auto [total, sum, kind] : llvm::zip(totals, sums, op.getKinds()))
        combined.push_back(tile::combine(b, loc, ReduceKind(kind), total, sum));
      return combined;
    };
    // Part 0 is loaded even if it is the program's own: sums are added in the order of parts,
    // whoever came last.
    SmallVector<Value> first = loadAll(constantIndex(b, loc, 0));
    int64_t parts = op.getParts(), ahead = countStatesAhead(record.getWords(), parts);
    auto combineNext = [&](ValueRange totals, Value part, int64_t number) {
      SmallVector<SmallVector<Value>> next;
      for (int64_t i = 0; i < number; ++i)
        next.push_back(loadAll(arith::AddIOp::create(b, loc, part, constantIndex(b, loc, i))));
      SmallVector<Value> combined(totals);
      for (ArrayRef<Value> sums : next)
        combined = combineAll(combined, sums);
      return combined;
    };
    int64_t rounds = (parts - 1) / ahead;
    if (rounds == 1) {
      first = combineNext(first, constantIndex(b, loc, 1), ahead);
    } else {
      auto loop = scf::ForOp::create(b, loc, constantIndex(b, loc, 1),
                                     constantIndex(b, loc, 1 + rounds * ahead),
                                     constantIndex(b, loc, ahead), first);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      // Unrolled, ptxas would have the loads of more parts in flight, and registers for them.
      inlinePTX(b, loc, Type(), {}, ".pragma \"nounroll\";", "");
      scf::YieldOp::create(b, loc,
                           combineNext(loop.getRegionIterArgs(), loop.getInductionVar(), ahead));
      first = SmallVector<Value>(loop.getResults());
    }
    if (int64_t left = parts - 1 - rounds * ahead)
      first = combineNext(first, constantIndex(b, loc, 1 + rounds * ahead), left);
    b.replaceOp(op, first);
    return success();
  }
};

struct LowerPartLoad : OpConversionPattern<PartLoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(PartLoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Record record(op, b, op.getStates());
    if (!record.agrees)
      return op.emitError("internal: a kernel has several splits with states of different sizes");
    Value from = record.getPointer(adaptor.getRecord());
    SmallVector<Value> states;
    for (unsigned i = 0; i < op.getStates().size(); ++i)
      states.push_back(record.load(from, i));
    b.replaceOp(op, states);
    return success();
  }
};

//===--- Parts that are a cluster -----------------------------------------===//

/// Orders the blocks' accesses to each other's shared memory: `arrive` releases, `wait` acquires.
void useClusterBarrier(OpBuilder &b, Location loc, StringRef what) {
  inlinePTX(b, loc, {}, {}, ("barrier.cluster." + what + ".aligned;").str(), "~{memory}");
}

struct LowerPartShare : OpConversionPattern<PartShareOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(PartShareOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    std::optional<int64_t> offset = getSharedOffset(op);
    if (!offset)
      return op.emitError("internal: expected " + sharedOffsetName.str() +
                          " from tile-gpu-allocate-shared, found none");
    PartStates places(op.getStates().getTypes());
    for (auto [i, state] : llvm::enumerate(adaptor.getStates()))
      storeTile(b, loc, state, getLayout(cast<RankedTensorType>(op.getStates()[i].getType())),
                places.layouts[i], getSharedPointer(b, loc, *offset + places.offsets[i]));
    useClusterBarrier(b, loc, "arrive");
    useClusterBarrier(b, loc, "wait");
    b.replaceOp(op, sharedAddress(b, loc, getSharedPointer(b, loc, *offset)));
    return success();
  }
};

struct LowerPartRead : OpConversionPattern<PartReadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(PartReadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    auto remote =
        LLVM::LLVMPointerType::get(getContext(), unsigned(NVVM::NVVMMemorySpace::SharedCluster));
    SmallVector<Type> wholes;
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      wholes.push_back(op.getWhole(i));
    PartStates places{TypeRange(wholes)};
    Value address =
        inlinePTX(b, loc, b.getI32Type(), {adaptor.getPlace(), constantI32(b, loc, op.getPart())},
                  "mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r");
    Value number = arith::IndexCastOp::create(b, loc, b.getI32Type(), adaptor.getSlice());
    SmallVector<Value> slices;
    for (auto [i, result] : llvm::enumerate(op.getSlices())) {
      auto type = cast<RankedTensorType>(result.getType());
      const SharedLayout &shared = places.layouts[i];
      ExtraOffset extra;
      if (int64_t dim = op.getDims()[i]; dim >= 0) {
        extra.index = number;
        for (int64_t slice = 1; slice < int64_t(op.getParts()); slice *= 2) {
          Coord first(size_t(type.getRank()), 0);
          first[size_t(dim)] = slice * type.getDimSize(unsigned(dim));
          extra.images.push_back(shared.getOffset(first));
        }
      }
      Value start = arith::AddIOp::create(b, loc, address, constantI32(b, loc, places.offsets[i]));
      Value base = LLVM::IntToPtrOp::create(b, loc, TypeRange(remote), ValueRange(start));
      slices.push_back(loadTile(b, loc, type.getElementType(), getLayout(type), shared, base,
                                /*matrices=*/false, extra));
    }
    b.replaceOp(op, slices);
    return success();
  }
};

/// Waiting for the others is the kernel's end (KernelFunction.cpp).
struct LowerPartRelease : OpConversionPattern<PartReleaseOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(PartReleaseOp op, OpAdaptor,
                                ConversionPatternRewriter &b) const override {
    useClusterBarrier(b, op.getLoc(), "arrive");
    b.eraseOp(op);
    return success();
  }
};

} // namespace

void tile::gpu::populatePartPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerPartArrive, LowerPartCombine, LowerPartLoad, LowerPartShare, LowerPartRead,
               LowerPartRelease>(converter, patterns.getContext());
}
