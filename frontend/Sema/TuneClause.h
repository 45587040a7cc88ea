// The `tune` clause: its names, and the configurations that it spans, which are its `config` blocks
// and every combination of its sets that its conditions let through.
#ifndef TILE_FRONTEND_SEMA_TUNECLAUSE_H
#define TILE_FRONTEND_SEMA_TUNECLAUSE_H

#include "frontend/Sema/LaunchExprs.h"
#include "frontend/Sema/StaticParams.h"

namespace tile {

class TuneClause : SemaPart {
public:
  TuneClause(Evaluator &evaluator, StaticParams &statics, LaunchExprs &launchExprs)
      : SemaPart(evaluator), statics(statics), launchExprs(launchExprs) {}

  /// Checks names and places; the values are the tuner's business. False after an error.
  bool check();
  /// Every key is something that a launch can compute. False after an error.
  bool checkKeys();
  /// None after an error.
  std::optional<TuneSpace> readSpace();
  /// The values that the arguments of a launch bind in this instance, as -D spells them.
  std::vector<std::pair<std::string, std::string>> listDeduced(const Instance &instance) const;

private:
  std::optional<TuneConfig> readSettings(const ast::TuneItem &item);
  std::map<std::string, std::string> resolveConfig(const TuneConfig &settings);
  std::optional<SemValue> bindSetting(const ast::StaticParam &param, const std::string *text);
  void declareConfig(const std::vector<std::pair<const ast::TuneItem *, SemValue>> &values);

  StaticParams &statics;
  LaunchExprs &launchExprs;
};

} // namespace tile

#endif
