// tile-opt: runs passes and pipelines of the compiler on MLIR files, for tests and for looking
// inside.
#include "driver/Dialects.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tile::registerDialects(registry);
  mlir::registerTransformsPasses();
  mlir::arith::registerArithPasses();
  tile::registerTilePasses();
  tile::registerPipelines();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "the tile compiler's pass runner\n", registry));
}
