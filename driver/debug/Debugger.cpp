// Where a program stops, and how it is followed: the callbacks of its probes.
//
//   the kernel, compiled with probes        this class
//     statement at line 7            ->     atStatement: breakpoints, steps; stops here
//     a value, element by element    ->     atElement: kept as the site's latest value
//     the value is complete          ->     afterValue: watches, the first NaN; stops here
//
// The kernel runs on this thread: while it is stopped, a callback has not returned yet.
// The debugger neither reads the program's memory nor its stack: a variable is the list of elements
// that its probe handed over last. Only tensors are read where they lie (Values.cpp).
//
//   mode      stops at the next statement whose depth (number of calls around it, see Site) is
//   Step      any
//   Next      at most that of the last stop: calls are gone over
//   Finish    less than that of the last stop: the caller
//   Continue  none; breakpoints alone stop
#include "driver/debug/Debugger.h"
#include "dialect/ProbeNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace llvm;

namespace tile::debug {

//===--- Callbacks of the kernel ------------------------------------------===//

void Debugger::onStop(void *self, int64_t site) {
  static_cast<Debugger *>(self)->atStatement(unsigned(site));
}
void Debugger::onFloat(void *self, int64_t site, int64_t number, double value) {
  static_cast<Debugger *>(self)->atElement(unsigned(site), number, value);
}
void Debugger::onInteger(void *self, int64_t site, int64_t number, int64_t value) {
  static_cast<Debugger *>(self)->atElement(unsigned(site), number, double(value));
}
void Debugger::onDone(void *self, int64_t site) {
  static_cast<Debugger *>(self)->afterValue(unsigned(site));
}

/// The linker of the JIT binds these names to addresses: the debugger must stay where it is, and
/// outlive the code. dialect/ProbeNames.h has the names, for the passes that emit the calls.
std::vector<HostSymbol> Debugger::getSymbols() {
  return {{probeDataName, this, /*isFunction=*/false},
          {probeStopName, reinterpret_cast<void *>(&onStop)},
          {probeFloatName, reinterpret_cast<void *>(&onFloat)},
          {probeIntegerName, reinterpret_cast<void *>(&onInteger)},
          {probeDoneName, reinterpret_cast<void *>(&onDone)}};
}

//===--- Steps and breakpoints --------------------------------------------===//

/// Breakpoints stay from one run to the next, values do not.
void Debugger::begin(bool stops) {
  mode = stops ? Resume::Step : Resume::Continue;
  here.reset();
  special.reset();
  order.clear();
  for (Latest &each : latest)
    each.known = false;
  for (Breakpoint &breakpoint : breakpoints) {
    breakpoint.used = false;
    if (breakpoint.kind == Breakpoint::Kind::Change)
      (void)changed(breakpoint); // what is there now is no change
  }
}

/// `stopped` returns when the user goes on. The depth is taken behind the call: it is that of the
/// place where the user gave the command.
void Debugger::stop(Stop reason) {
  mode = stopped(reason);
  depth = here ? sites[*here].getDepth() : 0;
}

/// Stops once at most, though several reasons may hold. Watches come first, since the statement
/// before this one made the change; of two watches that saw a change, the second stops at the next
/// statement, because `seen` still has its old value.
void Debugger::atStatement(unsigned site) {
  here = site;
  special.reset();
  const SourceLine &place = sites[site].places.front();
  for (Breakpoint &breakpoint : breakpoints)
    if (breakpoint.kind == Breakpoint::Kind::Change && changed(breakpoint))
      return stop({"data breakpoint",
                   breakpoint.query.name + " has changed: " + show(breakpoint.query),
                   breakpoint.id});
  for (const Breakpoint &breakpoint : breakpoints)
    if (breakpoint.kind == Breakpoint::Kind::Line && breakpoint.line == place.line &&
        (breakpoint.file.empty() ? input : breakpoint.file) == place.file && holds(breakpoint))
      return stop({"breakpoint", "breakpoint " + std::to_string(breakpoint.id), breakpoint.id});
  unsigned now = sites[site].getDepth();
  if (mode == Resume::Step || (mode == Resume::Next && now <= depth) ||
      (mode == Resume::Finish && now < depth))
    stop({"step", "", 0});
}

/// The kernel calls this for the elements of a value in the order of their numbers, row by row,
/// from 0 to the last, and then afterValue: number 0 begins a value anew. Doubles hold all dtypes
/// exactly but integers of 64 bits beyond 2^53.
void Debugger::atElement(unsigned site, int64_t number, double value) {
  Latest &now = latest[site];
  if (number == 0)
    now.values.clear();
  now.values.push_back(value);
}

/// The first element that is NaN, or not finite.
std::optional<size_t> Debugger::findSpecial(unsigned site, bool infinity) const {
  if (!sites[site].isFloat)
    return std::nullopt;
  for (auto [i, value] : enumerate(latest[site].values))
    if (infinity ? std::isinf(value) : std::isnan(value))
      return i;
  return std::nullopt;
}

/// "(3, 5)": the position of an element that has this number.
static std::string toPosition(ArrayRef<int64_t> shape, size_t number) {
  std::vector<std::string> positions(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    positions[d] = std::to_string(number % size_t(shape[d]));
    number /= size_t(shape[d]);
  }
  return "(" + join(positions, ", ") + ")";
}

void Debugger::afterValue(unsigned site) {
  const Site &which = sites[site];
  latest[site].known = true;
  if (!which.name.empty()) {
    // A site occurs once, where its latest value stands in time: of several assignments to a name
    // the one that ran last counts, whatever their order in the text.
    llvm::erase(order, site);
    order.push_back(site);
  }
  for (Breakpoint &breakpoint : breakpoints) {
    bool infinity = breakpoint.kind == Breakpoint::Kind::Infinity;
    if ((breakpoint.kind != Breakpoint::Kind::NaN && !infinity) || breakpoint.used ||
        (!breakpoint.name.empty() && breakpoint.name != which.name))
      continue;
    std::optional<size_t> element = findSpecial(site, infinity);
    if (!element)
      continue;
    breakpoint.used = true;
    // A value in between has no statement of its own: the program stands at its place.
    here = site;
    special = site;
    specialElement = *element;
    std::string what = which.name.empty() ? "the result of " + which.op : which.name;
    return stop({"exception",
                 std::string("the first ") + (infinity ? "infinity" : "NaN") + ": " + what +
                     (which.shape.empty() ? "" : " at " + toPosition(which.shape, *element)),
                 breakpoint.id});
  }
}

/// A condition on a tile holds if it holds for one of its elements. One whose variable has no value
/// yet does not hold, and is no error: the variable may be set later.
bool Debugger::holds(const Breakpoint &breakpoint) const {
  if (breakpoint.comparison.empty())
    return true;
  std::string error;
  std::optional<Elements> found = getElements(breakpoint.query, error);
  if (!found)
    return false;
  return any_of(found->values, [&](double value) {
    StringRef how = breakpoint.comparison;
    double other = breakpoint.value;
    return how == "=="   ? value == other
           : how == "!=" ? value != other
           : how == "<"  ? value < other
           : how == "<=" ? value <= other
           : how == ">"  ? value > other
           : how == ">=" ? value >= other
                         : std::isnan(value);
  });
}

/// Remembers the elements that it compares, so that each change is reported once. NaN equals NaN
/// here, else a tensor with one would change at each statement.
bool Debugger::changed(Breakpoint &breakpoint) {
  std::string error;
  std::optional<Elements> found = getElements(breakpoint.query, error);
  if (!found)
    return false;
  if (seen.size() <= breakpoint.id)
    seen.resize(breakpoint.id + 1);
  std::vector<double> &before = seen[breakpoint.id];
  auto differs = [](double a, double b) { return a != b && !(std::isnan(a) && std::isnan(b)); };
  bool first = before.empty(), same = before.size() == found->values.size();
  for (size_t i = 0; same && i < before.size(); ++i)
    same = !differs(before[i], found->values[i]);
  before = found->values;
  return !first && !same;
}

//===--- Frames -----------------------------------------------------------===//

std::vector<SourceLine> Debugger::getFrames() const {
  return here ? sites[*here].places : std::vector<SourceLine>();
}

/// The calls around a place, from `frame` calls up: two places with the same are in one frame.
/// Call sites are part of the key: one function that is called at two places has two frames with
/// variables of their own. A site of a variable lies in the frame that its own calls name.
std::string Debugger::frameOf(const Site &site, size_t frame) const {
  std::string key;
  for (size_t i = frame + 1; i < site.places.size(); ++i)
    key += site.places[i].file + ":" + std::to_string(site.places[i].line) + ":" +
           std::to_string(site.places[i].column) + ";";
  return key;
}

std::vector<std::pair<std::string, unsigned>> Debugger::getVariables(size_t frame) const {
  std::vector<std::pair<std::string, unsigned>> found;
  if (!here || frame >= sites[*here].places.size())
    return found;
  std::string key = frameOf(sites[*here], frame);
  for (unsigned site : llvm::reverse(order)) // the latest value of a name counts
    if (frameOf(sites[site], 0) == key &&
        none_of(found, [&](const auto &known) { return known.first == sites[site].name; }))
      found.emplace_back(sites[site].name, site);
  llvm::sort(found);
  return found;
}

/// From the innermost frame outwards, so that a callee's name hides the caller's. The language
/// itself does not let a callee see those; for a debugger the caller's are worth having.
std::optional<unsigned> Debugger::findVariable(StringRef name) const {
  for (size_t frame = 0; here && frame < sites[*here].places.size(); ++frame)
    for (const auto &[known, site] : getVariables(frame))
      if (known == name)
        return site;
  return std::nullopt;
}

} // namespace tile::debug
