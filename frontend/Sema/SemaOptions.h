// What a compilation asks for beyond the program, as far as checks need to know it.
#ifndef TILE_FRONTEND_SEMA_SEMAOPTIONS_H
#define TILE_FRONTEND_SEMA_SEMAOPTIONS_H

#include "frontend/Sema/ArgItem.h"
#include "frontend/Source/SourceManager.h"

#include <map>
#include <optional>

namespace tile {

/// Values of tuned names, as -D spells them, in the order of the `tune` clause.
using TuneConfig = std::vector<std::pair<std::string, std::string>>;

/// What a kernel's `tune` clause offers.
struct TuneSpace {
  /// The source's preferred configuration for the target first (empty: the defaults), then its
  /// other `config` blocks that fit, then all combinations of the sets that the conditions allow.
  /// All but the first are different kernels.
  std::vector<TuneConfig> configs;
  /// Which of the others binds every name as the first does, where one does.
  std::optional<size_t> likeFirst;
  /// Members of the product of the sets, before the conditions; `config` blocks that fit.
  size_t combinations = 0, blocks = 0;
};

/// Configurations that a launch chooses among, by the tune clause's key.
struct TunedConfigs {
  /// The first is for every call that no other is for.
  std::vector<TuneConfig> configs;
  /// Extents by name, and which configuration was best there.
  std::vector<std::pair<std::vector<std::pair<std::string, int64_t>>, size_t>> shapes;
  /// Milliseconds by shape and configuration, infinite where nothing is known. May be empty.
  std::vector<std::vector<double>> times;
};

struct SemValue;

/// Sees what expressions and names stand for while kernels are elaborated: an editor shows it.
class ValueObserver {
public:
  virtual ~ValueObserver() = default;
  /// An expression, or a name where it is declared, has this value in the instance at hand. Error
  /// values are passed, too.
  virtual void onValue(Range range, const SemValue &value) = 0;
  /// True to evaluate no more: what is left then has error values, about which nothing is said.
  virtual bool isEnough() const { return false; }
};

/// What versions of a kernel depend on, apart from the program.
struct SemaOptions {
  /// -D NAME=VALUE in order. VALUE may list several values ("64,128"): one instance for each.
  std::vector<std::pair<std::string, std::string>> defines;
  /// Pinned values of compile-time parameters and kernel attributes: they come before what the
  /// source prefers, after -D.
  TuneConfig config;
  /// Makes a version of each instance for each of several configurations, in place of `config`.
  TunedConfigs tuned;
  /// Kernel attributes of the command line: they come before all others, in the order warps=8,
  /// fp=fast.
  TuneConfig attributes;
  /// "cpu", "sm_80", "sm_90a": chooses among the configurations of `tune`.
  std::string target = "cpu";
  /// What --arg says, for every variant.
  std::vector<ArgItem> arguments;
  /// Parameter name -> dtype and shape of the actual argument. Where given, compile-time parameters
  /// that are a tensor's dtype or a whole dimension are deduced from them, and one instance is made
  /// instead of one for each value.
  std::map<std::string, std::string> dtypes;
  std::map<std::string, std::vector<int64_t>> shapes;
  /// May be null. It must outlive the elaboration.
  ValueObserver *observer = nullptr;
};

} // namespace tile

#endif
