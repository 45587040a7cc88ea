// How the parts of the lowering find each other.
#include "frontend/Lower/Lowering.h"

using namespace tile;

Lowering::Lowering(const Modules &modules, const ast::KernelDecl &kernel,
                   const ElaborateOptions &options, DiagnosticEngine &diagnostics,
                   mlir::MLIRContext *context)
    : options(options), context(context), builder(context),
      expressions(modules, kernel, options, diagnostics, *this), conversions(*this), emitter(*this),
      positions(*this), tables(*this), accesses(*this), functions(*this), elementCalls(*this),
      tileCalls(*this), scanCalls(*this), joinCalls(*this), orderCalls(*this), randomCalls(*this),
      flatViews(*this), debugCalls(*this), stmts(*this), control(*this), loops(*this),
      splitLoops(*this), foreign(expressions), operands(expressions, foreign), sema(expressions) {}

// The evaluator of `expressions` is made before any part; other parts are only named here.
LowerPart::LowerPart(Lowering &lowering)
    : here(lowering.expressions.here), kernel(here.kernel), modules(here.modules),
      options(lowering.options), diagnostics(here.diagnostics), sources(here.sources),
      context(lowering.context), builder(lowering.builder), sema(lowering.sema),
      expressions(lowering.expressions), conversions(lowering.conversions),
      emitter(lowering.emitter), positions(lowering.positions), tables(lowering.tables),
      accesses(lowering.accesses), functions(lowering.functions),
      elementCalls(lowering.elementCalls), tileCalls(lowering.tileCalls),
      scanCalls(lowering.scanCalls), joinCalls(lowering.joinCalls), orderCalls(lowering.orderCalls),
      randomCalls(lowering.randomCalls), flatViews(lowering.flatViews),
      debugCalls(lowering.debugCalls), stmts(lowering.stmts), control(lowering.control),
      loops(lowering.loops), splitLoops(lowering.splitLoops), foreign(lowering.foreign),
      operands(lowering.operands) {}
