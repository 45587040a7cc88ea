// Which loads may take the value of another one: by their positions and their padding.
#include "passes/Analysis/EqualLoads.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

#include <functional>

using namespace mlir;

namespace tile {

/// Of two loads, or of a load and a store.
template <typename A, typename B>
static bool arePositionsEqual(A a, B b, llvm::function_ref<bool(Value, Value)> isSame) {
  auto areSame = [&](ValueRange left, ValueRange right) {
    return llvm::equal(left, right, isSame);
  };
  return a.getSizes() == b.getSizes() && a.getSteps() == b.getSteps() &&
         a.getHasEnd() == b.getHasEnd() && areSame(a.getStarts(), b.getStarts()) &&
         areSame(a.getEnds(), b.getEnds());
}

/// True if nobody can tell what `value`, a function of what `load` loaded, is where the load finds
/// no element: element-wise work on it is stored where the same positions do not exist either.
static bool hidesPadding(LoadOp load, Value value, unsigned depth = 0) {
  if (depth > 32)
    return false;
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto store = dyn_cast<StoreOp>(user)) {
      auto from = load.getView().getDefiningOp<ViewOp>(),
           to = store.getView().getDefiningOp<ViewOp>();
      if (use.get() != store.getValue() || !from || !to ||
          !arePositionsEqual(load, store, std::equal_to<Value>()))
        return false;
      for (unsigned d = 0; d < load.getSizes().size(); ++d)
        if (!load.getInBounds()[d] && from.getExtents()[d] != to.getExtents()[d])
          return false;
      return true;
    }
    return OpTrait::hasElementwiseMappableTraits(user) && user->getNumResults() == 1 &&
           hidesPadding(load, user->getResult(0), depth + 1);
  });
}

bool areAtSamePlace(LoadOp a, LoadOp b, llvm::function_ref<bool(Value, Value)> isSame) {
  return arePositionsEqual(a, b, isSame);
}

/// Of how a value is computed, the counter of `loop` being any loop's. What is computed in many
/// steps is itself alone.
static size_t hashValue(Value value, Operation *loop, unsigned depth = 0) {
  constexpr unsigned deepest = 6;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner()->getParentOp() == loop
               ? size_t(llvm::hash_value(argument.getArgNumber()))
               : size_t(llvm::hash_value(value.getAsOpaquePointer()));
  Operation *op = value.getDefiningOp();
  if (depth == deepest || op->getNumRegions() || !isMemoryEffectFree(op))
    return llvm::hash_value(value.getAsOpaquePointer());
  size_t hash = llvm::hash_combine(op->getName().getStringRef(), op->getAttrDictionary(),
                                   cast<OpResult>(value).getResultNumber());
  for (Value operand : op->getOperands())
    hash = llvm::hash_combine(hash, hashValue(operand, loop, depth + 1));
  return hash;
}

size_t hashPlace(LoadOp load) {
  Operation *loop = load->getParentOp();
  size_t hash = llvm::hash_combine(hashValue(load.getView(), loop), load.getSizes(),
                                   load.getSteps(), load.getHasEnd());
  for (ValueRange values : {ValueRange(load.getStarts()), ValueRange(load.getEnds())})
    for (Value value : values)
      hash = llvm::hash_combine(hash, hashValue(value, loop));
  return hash;
}

bool hidesPadding(LoadOp load) { return hidesPadding(load, load.getResult()); }

bool hasPaddingOf(LoadOp earlier, LoadOp load) {
  return earlier.getPad() == load.getPad() || hidesPadding(load);
}

} // namespace tile
