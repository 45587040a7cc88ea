// The debugger: follows one program of a kernel by its probes, decides where to stop, and shows
// values. Terminal and debug adapter are its two faces.
#ifndef TILE_DRIVER_DEBUG_DEBUGGER_H
#define TILE_DRIVER_DEBUG_DEBUGGER_H

#include "codegen/Host.h"
#include "driver/debug/Probes.h"
#include "driver/run/RunArguments.h"
#include <functional>
#include <optional>

namespace tile::debug {

enum class Resume { Continue, Step, Next, Finish };

/// The elements of a tile, or one number.
struct Elements {
  std::vector<double> values;
  std::vector<int64_t> shape;
  bool isFloat = true;
};

/// "NAME[3, 0..8]": a variable or a tensor parameter, and of each dimension a position or a part.
struct Query {
  std::string name;
  std::vector<std::pair<int64_t, int64_t>> parts; ///< begin and end; empty: all of it
};
/// Reads one from the front of `text`. Nothing, and a message, where there is none.
std::optional<Query> readQuery(llvm::StringRef &text, std::string &error);

/// Where the debugger is to stop.
struct Breakpoint {
  enum class Kind { Line, NaN, Infinity, Change };
  Kind kind = Kind::Line;
  unsigned line = 0;
  std::string file;       ///< of Line; empty: the input
  std::string name;       ///< of NaN and Infinity: only this variable; empty: any value
  Query query;            ///< of Change, and of a condition
  std::string comparison; ///< of a condition: == != < <= > >= or nan; empty: none
  double value = 0;
  unsigned id = 0;
  bool used = false; ///< NaN and Infinity stop once
};

/// Why the program stands where it does.
struct Stop {
  std::string reason; ///< as the debug adapter protocol has it: step, breakpoint, exception, …
  std::string text;   ///< for people
  unsigned breakpoint = 0;
};

class Debugger {
public:
  Debugger(std::vector<Site> sites, llvm::ArrayRef<RunArgument> arguments, std::string input)
      : sites(std::move(sites)), arguments(arguments), input(std::move(input)),
        latest(this->sites.size()) {}

  /// Is called where the program stops; says how it goes on.
  std::function<Resume(const Stop &)> stopped;

  std::vector<Breakpoint> breakpoints;
  /// Reads "24", "24 if acc[3, 5] > 10", "nan", "nan acc", "inf" or "y[3, 5]". Returns its number,
  /// or 0 and a message.
  unsigned addBreakpoint(llvm::StringRef text, std::string &error);

  /// Begins a program: it stops before its first statement if `stops`.
  void begin(bool stops);

  /// The calls from the innermost to the kernel; empty before the start.
  std::vector<SourceLine> getFrames() const;
  /// Names that have a value in the frame, 0 the innermost, by site.
  std::vector<std::pair<std::string, unsigned>> getVariables(size_t frame) const;
  const Site &getSite(unsigned site) const { return sites[site]; }
  /// The current value of a variable or parameter.
  std::optional<Elements> getElements(const Query &query, std::string &error) const;
  /// The same as text.
  std::string show(const Query &query) const;
  /// The operands of the value at which the program stopped, its first NaN.
  std::string explainValue() const;
  llvm::ArrayRef<RunArgument> getArguments() const { return arguments; }
  const std::string &getInput() const { return input; }

  /// The functions that the kernel calls.
  std::vector<HostSymbol> getSymbols();

private:
  struct Latest {
    std::vector<double> values;
    bool known = false;
  };

  void atStatement(unsigned site);
  void atElement(unsigned site, int64_t number, double value);
  void afterValue(unsigned site);
  void stop(Stop reason);
  bool holds(const Breakpoint &breakpoint) const;
  bool changed(Breakpoint &breakpoint);
  std::string frameOf(const Site &site, size_t frame) const;
  std::optional<unsigned> findVariable(llvm::StringRef name) const;
  std::optional<size_t> findSpecial(unsigned site, bool infinity) const;

  static void onStop(void *self, int64_t site);
  static void onFloat(void *self, int64_t site, int64_t number, double value);
  static void onInteger(void *self, int64_t site, int64_t number, int64_t value);
  static void onDone(void *self, int64_t site);

  std::vector<Site> sites;
  llvm::ArrayRef<RunArgument> arguments;
  std::string input;
  std::vector<Latest> latest;  ///< of each site
  std::vector<unsigned> order; ///< sites of variables, the latest value last
  std::optional<unsigned> here;
  std::optional<unsigned> special; ///< the site at whose value the program stopped
  size_t specialElement = 0;
  Resume mode = Resume::Continue;
  unsigned depth = 0; ///< at the last stop
  unsigned nextId = 1;
  std::vector<std::vector<double>> seen; ///< by breakpoint: what Change has seen last
};

/// A number of one of the dtypes as people read it.
std::string showNumber(double value, bool isFloat);

} // namespace tile::debug

#endif
