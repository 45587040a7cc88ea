// The parts of the lowering of a kernel's body: each has its own class, and all share what is here.
#ifndef TILE_FRONTEND_LOWER_LOWERPART_H
#define TILE_FRONTEND_LOWER_LOWERPART_H

#include "dialect/Tile/TileDialect.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Lower/Elaborate.h"
#include "frontend/Lower/Emitted.h"
#include "frontend/Sema/KernelSema.h"
#include "frontend/Sema/Operands.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace tile {

struct Lowering;
class Accesses;
class Calls;
class Control;
class Conversions;
class DebugCalls;
class ElementCalls;
class Emitter;
class Expressions;
class FlatViews;
class JoinCalls;
class Loops;
class OrderCalls;
class Positions;
class RandomCalls;
class ScanCalls;
class SplitLoops;
class Statements;
class Tables;
class TileCalls;

/// A part of the lowering: what it shares with the others, and the others by name.
class LowerPart {
protected:
  explicit LowerPart(Lowering &lowering);

  KernelContext &here;
  const ast::KernelDecl &kernel;
  const Modules &modules;
  const ElaborateOptions &options;
  DiagnosticEngine &diagnostics;
  const SourceManager &sources;
  mlir::MLIRContext *context;
  mlir::OpBuilder &builder;
  KernelSema &sema;

  Expressions &expressions;
  Conversions &conversions;
  Emitter &emitter;
  Positions &positions;
  Tables &tables;
  Accesses &accesses;
  Calls &functions;
  ElementCalls &elementCalls;
  TileCalls &tileCalls;
  ScanCalls &scanCalls;
  JoinCalls &joinCalls;
  OrderCalls &orderCalls;
  RandomCalls &randomCalls;
  FlatViews &flatViews;
  DebugCalls &debugCalls;
  Statements &stmts;
  Control &control;
  Loops &loops;
  SplitLoops &splitLoops;
  ForeignCode &foreign;
  Operands &operands;
};

} // namespace tile

#endif
