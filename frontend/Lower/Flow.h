// How control leaves a list of statements: at its end, or early by `break`, `continue`, `return`.
#ifndef TILE_FRONTEND_LOWER_FLOW_H
#define TILE_FRONTEND_LOWER_FLOW_H

#include "frontend/Lower/Emitted.h"

namespace tile {

/// Whether control leaves by one kind of statement.
struct Exit {
  enum When { Never, Sometimes, Always };
  When when = Never;
  /// Of Sometimes: a bool of the run. Null where nobody asked for it (FlowNeeds).
  mlir::Value flag;

  explicit operator bool() const { return when != Never; }
};

/// The ways out of a list of statements that has been lowered.
struct Flow {
  Exit breaks, continues, returns;
  bool falls = true;                   // the end may be reached
  SemValue value = SemValue::ofVoid(); // of its `return`s
  Range valueRange;

  static constexpr Exit Flow::*kinds[] = {&Flow::breaks, &Flow::continues, &Flow::returns};

  static Flow leaving(Exit Flow::*kind) {
    Flow flow;
    (flow.*kind).when = Exit::Always;
    flow.falls = false;
    return flow;
  }
  /// May control leave before the end?
  bool leaves() const { return breaks || continues || returns; }
};

/// What must be known, once the run has reached the end of a list of statements.
struct FlowNeeds {
  bool breaks = false, continues = false, returns = false; // whether control left so
  bool vars = false;                                       // the values of outer variables

  static FlowNeeds all() { return {true, true, true, true}; }
  /// Of a loop's body: whether to go on does not depend on how a trip ended.
  static FlowNeeds ofTrip() { return {true, false, true, true}; }
  bool needs(Exit Flow::*kind) const {
    return kind == &Flow::breaks ? breaks : kind == &Flow::continues ? continues : returns;
  }
};

} // namespace tile

#endif
