// Verifies the attributes in which a source makes requests.
#include "dialect/Tile/RequestedState.h"
#include "dialect/AttributeNames.h"
#include "dialect/AttributeSpec.h"
#include "dialect/ProgramNames.h"
#include "dialect/RequestLimits.h"
#include "dialect/VersionNames.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace tile;

static bool isKernel(Operation *op) { return isa<KernelOp>(op); }
static bool isKernelOrFunction(Operation *op) { return isKernel(op) || isFunction(op); }
static bool isLoop(Operation *op) { return isa<LoopLikeOpInterface>(op); }
static bool isView(Operation *op) { return isa<ViewOp>(op); }
static bool isDictionary(Attribute value) { return isa<DictionaryAttr>(value); }
static bool isKernelOrLoop(Operation *op) { return isKernel(op) || isLoop(op); }

static bool isFloatMode(Attribute value) {
  auto mode = dyn_cast<StringAttr>(value);
  return mode && (mode == "strict" || mode == "contract" || mode == "fast");
}
static bool isCluster(Attribute value) {
  auto blocks = dyn_cast<DenseI64ArrayAttr>(value);
  return blocks && blocks.size() == 2 && blocks[0] >= 1 && blocks[1] >= 1;
}
static bool isListOfNames(Attribute value) {
  auto names = dyn_cast<ArrayAttr>(value);
  return names && llvm::all_of(names, [](Attribute name) { return isa<StringAttr>(name); });
}
static bool isListOfPairs(Attribute value) {
  auto pairs = dyn_cast<ArrayAttr>(value);
  return pairs && llvm::all_of(pairs, [](Attribute pair) {
           return isListOfNames(pair) && cast<ArrayAttr>(pair).size() == 2;
         });
}

static constexpr StringLiteral aKernel = "a kernel", aLoop = "a loop",
                               itsFunction = "a kernel or its function",
                               kernelOrLoop = "a kernel or a loop", unit = "a unit attribute";

// frontend/Sema/Attributes.cpp has read them off the source. Later on tile-gpu-fit-launch brings
// occupancy and maxreg to what the target can do, tile-gpu-specialize-warps sets an occupancy that
// is left open, a second try sets num_warps or occupancy (Compiler::tryOtherLaunch); split and
// unroll are removed where they are done.
static const AttributeSpec specs[] = {
    {requestedWarpsName, isNumber<1, limits::warps>, "an i64 from 1 to 32", isKernel, aKernel},
    {stagesName, isNumber<1, limits::stages>, "an i64 from 1 to 8", isKernelOrLoop, kernelOrLoop},
    {groupedName, isNumber<1, limits::grouped>, "an i64 from 1 to 1024", isKernel, aKernel},
    {consumersName, isNumber<1, limits::consumers>, "an i64 from 1 to 4", isKernel, aKernel},
    {occupancyName, isNumber<1, limits::occupancy>, "an i64 from 1 to 32", isKernelOrFunction,
     itsFunction},
    {requestedName, isListOfNames, "an array of strings", isKernel, aKernel},
    {maxRegistersName, isNumber<1, limits::mostRegisters>, "an i64 from 1 to 255",
     isKernelOrFunction, itsFunction},
    {clusterName, isCluster, "two positive numbers", isKernel, aKernel},
    {persistentName, isUnit, unit, isKernel, aKernel},
    {floatModeName, isFloatMode, "\"strict\", \"contract\" or \"fast\"", isKernelOrFunction,
     itsFunction},
    {mayAliasName, isListOfPairs, "an array of pairs of strings", isKernelOrFunction, itsFunction},
    {flattenName, isUnit, unit, isLoop, aLoop},
    {splitName, isNumber<1, limits::split>, "an i64 from 1 to 1024", isLoop, aLoop},
    {splitAutomaticName, isUnit, unit, isLoop, aLoop},
    {tripsName, isNumber<1, limits::trips>, "an i64 from 1 to 2^30", isLoop, aLoop},
    {hintsName, isDictionary, "a dictionary", isKernel, aKernel},
    {unevenName, isDictionary, "a dictionary", isKernel, aKernel},
    {guessedName, isListOfNames, "an array of strings", isKernel, aKernel},
    {tunedName, isUnit, unit, isKernel, aKernel},
    {flatName, isUnit, unit, isView, "a view"},
    {unrollName, isNumber<1, limits::unroll>, "an i64 from 1 to 1024", isLoop, aLoop},
};

/// Discardable attributes of our prefix only: those of other dialects are theirs.
static LogicalResult verifyOperation(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (attribute.getName().getValue().starts_with("tile.") &&
        failed(verifyAttribute(op, attribute, specs)))
      return failure();
  return success();
}

LogicalResult tile::verifyRequests(KernelOp kernel) {
  if (failed(verifyOperation(kernel)))
    return failure();
  WalkResult result = kernel.getBody().walk([](Operation *op) {
    return failed(verifyOperation(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
