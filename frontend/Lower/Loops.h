// Loops, at run time and at compile time.
#ifndef TILE_FRONTEND_LOWER_LOOPS_H
#define TILE_FRONTEND_LOWER_LOOPS_H

#include "frontend/Lower/Control.h"
#include "frontend/Lower/Flow.h"
#include "frontend/Lower/LowerPart.h"

namespace tile {

class Loops : LowerPart {
public:
  explicit Loops(Lowering &lowering) : LowerPart(lowering) {}

  Flow lowerFor(const ast::ForStmt &stmt);
  Flow lowerWhile(const ast::WhileStmt &stmt);

private:
  /// What a loop that may be left early carries beyond its variables, before the first trip and
  /// after each: whether it has been left, whether by `return` where `break` is possible too, and
  /// what is returned. `yielded` begins with the variables.
  struct Leaving {
    llvm::SmallVector<mlir::Value> initial, yielded;
    bool tellsReturns = false;
    SemValue value = SemValue::ofVoid();
  };
  Flow lowerConstFor(const ast::ForStmt &stmt);
  Flow lowerConstBlocks(const ast::ForStmt &stmt);
  Flow lowerConstTrips(const ast::ForStmt &stmt, uint64_t trips,
                       llvm::function_ref<SemValue(uint64_t)> variable);
  /// The trips of a `const for`; nothing, after an error, where they are too many.
  std::optional<uint64_t> constTrips(const ast::ForStmt &stmt, int64_t low, int64_t high,
                                     int64_t step, bool inclusive);
  void refuseAttributes(const std::vector<ast::Attribute> &attributes, const llvm::Twine &subject);
  Leaving endLeavingTrip(const Flow &trip, llvm::ArrayRef<Binding *> vars, mlir::Block *body,
                         mlir::Operation *loop);
  /// What follows from `results` of such a loop: its variables, then the rest of what it carries.
  Flow leaveLoop(const Flow &trip, const Leaving &leaving, llvm::ArrayRef<Binding *> vars,
                 mlir::ValueRange results);
  /// Makes a loop that can be left, by `break` or `return`, of one whose body lacks its end: an
  /// scf.while that carries whether it has been left. A `for` pays for that: passes for scf.for,
  /// TMA and pipelining among them, leave it alone.
  Flow leaveFor(mlir::scf::ForOp loop, const Flow &trip, llvm::ArrayRef<Binding *> vars);
  Flow leaveWhile(mlir::scf::WhileOp loop, const Flow &trip, llvm::ArrayRef<Binding *> vars);
  bool readLoopAttributes(const std::vector<ast::Attribute> &attributes,
                          llvm::SmallVectorImpl<mlir::NamedAttribute> &out);

  uint64_t tripsInAll = 0; // of `const for`, in the instance at hand
};

} // namespace tile

#endif
