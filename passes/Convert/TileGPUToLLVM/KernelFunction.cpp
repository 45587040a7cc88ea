// A kernel as the function that one thread runs: ABI, program number, grid axes.
//
//   parameters  | the source's, in order | i64 of each dimension | scratch | tensor maps |
//                 pointers and scalars     as the launch binds it  pointer   128 bytes each
//
// Scratch memory is there for parts of split loops and for programs that are dealt out at run time.
// A launcher fills the list from the manifest's `arguments`, which has the same order.
#include "passes/Convert/TileGPUToLLVM/KernelFunction.h"
#include "dialect/AttributeNames.h"
#include "dialect/JoinedNames.h"
#include "dialect/RowNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"
#include "passes/TileGPU/LaunchFit.h"
#include "passes/TileGPU/LaunchState.h"
#include "passes/TileGPU/ProgramGrid.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

/// The tensor maps that the kernel uses, each once, in the order of the program's text. Descriptors
/// without a use go.
/// Descriptors may be duplicated by passes; their maps are compared as attributes, so that equal
/// ones are passed once.
static SmallVector<Attribute> collectTensorMaps(KernelOp kernel) {
  llvm::SetVector<Attribute> maps;
  SmallVector<tile::gpu::DescriptorOp> descriptors;
  kernel.getBody().walk<WalkOrder::PreOrder>(
      [&](tile::gpu::DescriptorOp op) { descriptors.push_back(op); });
  for (tile::gpu::DescriptorOp op : descriptors) {
    if (op->use_empty())
      op.erase();
    else
      maps.insert(op.getMap());
  }
  return maps.takeVector();
}

/// Gives each map that programs write as many places for a block that none is written while copies
/// by it are under way. The producer writes maps for programs ahead, of which each has a slot at
/// least, and one that waits for its first; the consumers store by that of their program, and by
/// the one before. Returns the bytes of scratch memory that they take, 0 if there are none.
static int64_t placeViewMaps(KernelOp kernel) {
  int64_t slots = 0, count = 0;
  kernel.getBody().walk([&](tile::gpu::RingOp ring) {
    slots += ring.getType().getTiles().empty() ? 0 : ring.getType().getStages();
  });
  int64_t copies = llvm::PowerOf2Ceil(slots + 3);
  Builder builder(kernel);
  kernel.getBody().walk<WalkOrder::PreOrder>([&](tile::gpu::ViewDescriptorOp op) {
    count = std::max(count, int64_t(op.getNumber().value_or(0)) + 1);
    op.setCopiesAttr(builder.getI64IntegerAttr(copies));
  });
  return count ? tile::gpu::getMapOffset(count, copies) : 0;
}

/// True if the kernel leaves copies out of shared memory running when it has issued its last
/// operation.
/// The bulk copy reads shared memory on its own after the thread has gone on.
static bool leavesCopies(KernelOp kernel) {
  return kernel.getBody()
      .walk([](tile::gpu::TmaStoreOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Lets one thread ask for the tensor maps, so that the first copies find them in the cache.
static void prefetchTensorMaps(OpBuilder &b, Location loc, ValueRange maps) {
  if (maps.empty())
    return;
  Value thread = NVVM::ThreadIdXOp::create(b, loc, b.getI32Type());
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 32);
  Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread, zero);
  auto branch = scf::IfOp::create(b, loc, first, /*withElseRegion=*/false);
  OpBuilder inside = branch.getThenBodyBuilder();
  for (Value map : maps)
    NVVM::PrefetchOp::create(inside, loc, NVVM::PrefetchCacheLevelAttr(),
                             NVVM::CacheEvictionPriorityAttr(), map, Value(), b.getUnitAttr());
}

FailureOr<func::FuncOp> tile::gpu::makeKernelFunction(KernelOp kernel) {
  FailureOr<int64_t> warps = getLaunchedWarps(kernel);
  if (failed(warps) || failed(verifyLaunchState(kernel)))
    return failure();
  Location loc = kernel.getLoc();
  OpBuilder b(kernel);
  Block &body = kernel.getBody().front();
  SmallVector<Type> inputs(body.getArgumentTypes());
  inputs.append(kernel.getDims().size(), b.getI64Type());
  auto parts = kernel->getAttr(gpu::splitPartsName);
  bool isDynamic = kernel->hasAttr(gpu::dynamicScheduleName);
  int64_t mapBytes = placeViewMaps(kernel);
  auto isCluster = kernel->getAttr(gpu::splitClusterName); // whose parts need no memory
  bool hasRecords = parts && !isCluster;
  bool hasScratch = hasRecords || isDynamic || mapBytes;
  if (hasScratch)
    inputs.push_back(LLVM::LLVMPointerType::get(b.getContext(), 1));
  // Behind everything that the caller of a plain kernel passes, so that the source's arguments keep
  // their numbers.
  SmallVector<Attribute> maps = collectTensorMaps(kernel);
  inputs.append(maps.size(), LLVM::LLVMPointerType::get(b.getContext()));
  auto function = func::FuncOp::create(b, loc, kernel.getSymName(), b.getFunctionType(inputs, {}));
  int64_t threads = *warps * 32;
  if (auto teams = kernel->getAttrOfType<IntegerAttr>(gpu::teamsName)) {
    threads *= teams.getInt();
    function->setAttr(gpu::teamsName, teams);
    function->setAttr(gpu::teamBytesName, kernel->getAttr(gpu::teamBytesName));
  }
  if (auto producer = kernel->getAttrOfType<IntegerAttr>(gpu::producerThreadsName)) {
    // Threads of consumers and producer: the block's size at launch.
    threads += producer.getInt();
    function->setAttr(gpu::producerThreadsName, producer);
  }
  if (auto wide = kernel->getAttr(gpu::wideProducerName))
    function->setAttr(gpu::wideProducerName, wide);
  function->setAttr(gpu::numThreadsName, b.getI64IntegerAttr(threads));
  if (auto occupancy = kernel->getAttr(occupancyName))
    function->setAttr(occupancyName, occupancy);
  if (auto registers = kernel->getAttr(maxRegistersName))
    function->setAttr(maxRegistersName, registers);
  if (auto cluster = kernel->getAttr(gpu::blocksOfClusterName))
    function->setAttr(gpu::blocksOfClusterName, cluster);
  if (auto axes = kernel->getAttr(gpu::pairedAxesName))
    function->setAttr(gpu::pairedAxesName, axes);
  if (auto joined = kernel->getAttr(gpu::joinedProgramsName))
    function->setAttr(gpu::joinedProgramsName, joined);
  if (auto bytes = kernel->getAttr(gpu::sharedBytesName))
    function->setAttr(gpu::sharedBytesName, bytes);
  if (auto byRow = kernel->getAttr(gpu::sharedByRowName))
    function->setAttr(gpu::sharedByRowName, byRow);
  if (auto mode = kernel->getAttr(floatModeName))
    function->setAttr(floatModeName, mode);
  if (parts)
    function->setAttr(gpu::splitPartsName, parts);
  if (isCluster)
    function->setAttr(gpu::splitClusterName, isCluster);
  if (auto padded = kernel->getAttr(gpu::paddedExtentsName))
    function->setAttr(gpu::paddedExtentsName, padded);
  if (auto ahead = kernel->getAttr(gpu::splitAheadName))
    function->setAttr(gpu::splitAheadName, ahead);
  if (auto programs = kernel->getAttr(gpu::splitProgramsName))
    function->setAttr(gpu::splitProgramsName, programs);
  // Of split loops the size is known when their records are laid out (Part.cpp).
  if (!hasRecords && hasScratch) // one count, and maps
    function->setAttr(gpu::scratchBytesName, b.getI64IntegerAttr(std::max<int64_t>(mapBytes, 8)));
  if (hasScratch)
    function->setAttr(gpu::scratchArgumentName,
                      b.getI64IntegerAttr(body.getNumArguments() + kernel.getDims().size()));
  if (!maps.empty())
    function->setAttr(gpu::tensorMapsName, b.getArrayAttr(maps));
  bool mayAlias = kernel->hasAttr(mayAliasName);
  for (unsigned i = 0; i < kernel.getParams().size(); ++i) {
    ParamAttr param = kernel.getParam(i);
    if (param.getAccess() == Access::Scalar)
      continue;
    function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                        b.getI64IntegerAttr(param.getAlign()));
    // noalias where the launcher has checked that tensors do not overlap (docs/Launcher.md).
    if (mayAlias)
      continue;
    function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
    if (param.getAccess() == Access::In)
      function.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(), b.getUnitAttr());
  }

  Block *entry = function.addEntryBlock();
  b.setInsertionPointToStart(entry);
  prefetchTensorMaps(b, loc, entry->getArguments().take_back(maps.size()));
  llvm::StringMap<Value> dims;
  for (auto [i, attr] : llvm::enumerate(kernel.getDims())) {
    Value argument = entry->getArgument(body.getNumArguments() + i);
    Value index = arith::IndexCastOp::create(b, loc, b.getIndexType(), argument);
    // The bounds of its contract are checked at launch.
    auto dim = cast<DimAttr>(attr);
    if (dim.getMin() >= 0)
      index.getDefiningOp()->setAttr(gpu::nonNegativeName, b.getUnitAttr());
    // A range of all 64-bit numbers has equal ends, and no such attribute.
    if (APInt low(64, dim.getMin(), /*isSigned=*/true),
        end = APInt(64, dim.getMax(), /*isSigned=*/true) + 1;
        low != end)
      function.setArgAttr(body.getNumArguments() + i, LLVM::LLVMDialect::getRangeAttrName(),
                          LLVM::ConstantRangeAttr::get(b.getContext(), low, end));
    dims[dim.getName()] = index;
  }
  auto bindDims = [&](Region &region) {
    region.walk([&](DimOp op) {
      op.getResult().replaceAllUsesWith(dims.lookup(op.getDim().getName()));
      op.erase();
    });
  };
  bindDims(kernel.getGrid());
  bindDims(kernel.getBody());

  // A persistent block computes the extents itself: tile-gpu-make-persistent has put them into the
  // body.
  bool persistent = kernel->hasAttr(gpu::persistentGridName);
  if (persistent) {
    // The body has its own loop over programs.
    function->setAttr(gpu::persistentGridName, b.getUnitAttr());
  } else {
    SmallVector<Value> extents =
        cloneGridExtents(b, kernel, entry->getArguments().take_front(body.getNumArguments()));
    Value block = NVVM::BlockIdXOp::create(b, loc, b.getI32Type());
    Value program = arith::IndexCastOp::create(b, loc, b.getIndexType(), block);
    program.getDefiningOp()->setAttr(gpu::nonNegativeName, b.getUnitAttr());
    LastPrograms last = roundToPairs(b, kernel, extents);
    SmallVector<Value> axes = splitProgram(b, kernel, program, extents);
    clampToLast(b, loc, last, axes);
    kernel.getBody().walk([&](ProgramIdOp op) {
      op.getResult().replaceAllUsesWith(axes[op.getAxis()]);
      op.erase();
    });
  }
  for (auto [from, to] :
       llvm::zip(body.getArguments(), entry->getArguments().take_front(body.getNumArguments())))
    from.replaceAllUsesWith(to);
  Operation *terminator = body.getTerminator();
  bool copies = leavesCopies(kernel);
  entry->getOperations().splice(entry->end(), body.getOperations(), body.begin(),
                                terminator->getIterator());
  b.setInsertionPointToEnd(entry);
  // The block's shared memory must not go to another block while it is still read.
  // Reading must have ended, writing need not: the grid's end waits for writes.
  if (copies)
    NVVM::CpAsyncBulkWaitGroupOp::create(b, terminator->getLoc(), b.getI32IntegerAttr(0),
                                         b.getUnitAttr());
  // Nor while other blocks of the cluster read it: each has arrived when it was done.
  if (isCluster)
    inlinePTX(b, terminator->getLoc(), {}, {}, "barrier.cluster.wait.aligned;", "~{memory}");
  func::ReturnOp::create(b, terminator->getLoc());
  kernel.erase();
  return function;
}
