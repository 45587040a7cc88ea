// Limits of what makes the compiler work or remember without end. docs/language/Launch.md, L4, has
// the table; each is reported as E0420 (or by the code that L4 names), and has a test that reaches
// it. Others stand where they are checked: nesting and height of expressions in
// frontend/Parse/Parser.h (E0110), tokens of a file in Parse/TokenCheck.h, depth of imports in
// Parse/Imports.cpp (E0224), elements of a tile in TypeRules.cpp (E0312); calls are E0325.
#ifndef TILE_FRONTEND_SEMA_LIMITS_H
#define TILE_FRONTEND_SEMA_LIMITS_H

#include <cstddef>
#include <cstdint>

namespace tile::limits {

/// Trips of one `const for`, and of all of them in one instance of a kernel.
constexpr uint64_t constTrips = 4096;
constexpr uint64_t constTripsInAll = 65536;

/// Members of a set of values.
constexpr int64_t setMembers = 1024;

/// Versions of a kernel that one compilation makes: instances, each with its variants.
constexpr size_t versions = 1024;

/// Combinations of the sets of a `tune` clause, before its conditions.
constexpr size_t tuneCombinations = 65536;

/// Parameters of a kernel, each tensor of an array counted.
constexpr size_t parameters = 512;

/// Operators inside each other in an expression that a launch computes. The launcher's stack has
/// room for 60 (launch/ValidatorBuilder.cpp), and contracts put a few more around it.
constexpr unsigned launchOperators = 56;

/// Programs that share a split loop where the launch decides on their number.
constexpr int64_t splitParts = 64;

/// Calls inside calls, and calls that one kernel inlines.
constexpr size_t callDepth = 100;
constexpr size_t inlinedCalls = 10000;

/// Regions inside each other that stand for what follows an early exit.
constexpr unsigned exitDepth = 200;

} // namespace tile::limits

#endif
