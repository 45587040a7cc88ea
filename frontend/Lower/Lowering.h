// The lowering of one kernel's body, put together from its parts.
#ifndef TILE_FRONTEND_LOWER_LOWERING_H
#define TILE_FRONTEND_LOWER_LOWERING_H

#include "frontend/Lower/Accesses.h"
#include "frontend/Lower/Calls.h"
#include "frontend/Lower/Control.h"
#include "frontend/Lower/Conversions.h"
#include "frontend/Lower/DebugCalls.h"
#include "frontend/Lower/ElementCalls.h"
#include "frontend/Lower/Emitter.h"
#include "frontend/Lower/Expressions.h"
#include "frontend/Lower/FlatViews.h"
#include "frontend/Lower/JoinCalls.h"
#include "frontend/Lower/Loops.h"
#include "frontend/Lower/OrderCalls.h"
#include "frontend/Lower/Positions.h"
#include "frontend/Lower/RandomCalls.h"
#include "frontend/Lower/ScanCalls.h"
#include "frontend/Lower/SplitLoops.h"
#include "frontend/Lower/Statements.h"
#include "frontend/Lower/Tables.h"
#include "frontend/Lower/TileCalls.h"

namespace tile {

struct Lowering {
  Lowering(const Modules &modules, const ast::KernelDecl &kernel, const ElaborateOptions &options,
           DiagnosticEngine &diagnostics, mlir::MLIRContext *context);
  Lowering(const Lowering &) = delete;

  const ElaborateOptions &options;
  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  Expressions expressions;
  Conversions conversions;
  Emitter emitter;
  Positions positions;
  Tables tables;
  Accesses accesses;
  Calls functions;
  ElementCalls elementCalls;
  TileCalls tileCalls;
  ScanCalls scanCalls;
  JoinCalls joinCalls;
  OrderCalls orderCalls;
  RandomCalls randomCalls;
  FlatViews flatViews;
  DebugCalls debugCalls;
  Statements stmts;
  Control control;
  Loops loops;
  SplitLoops splitLoops;
  ForeignCode foreign;
  Operands operands;
  KernelSema sema;
};

} // namespace tile

#endif
