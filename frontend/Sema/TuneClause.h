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

  /// The combinations that the conditions let through.
  class Combinations {
  public:
    Combinations(TuneClause &clause, std::vector<const ast::TuneItem *> sets,
                 std::vector<std::vector<SemValue>> choices,
                 llvm::ArrayRef<const ast::TuneItem *> conditions);
    /// In the order of an odometer, the last set fastest. While it visits one its names are
    /// declared. False after an error.
    bool visit(llvm::function_ref<void(llvm::ArrayRef<const SemValue *>)> found);
    llvm::ArrayRef<const ast::TuneItem *> getSets() const { return sets; }

  private:
    /// What is known as soon as the first so many sets have a value.
    struct Level {
      std::vector<const ast::StaticParam *> params; // that have their defaults
      std::vector<const ast::Expr *> conditions;
    };
    const ast::Expr *findDefault(const ast::StaticParam &param) const;
    size_t countSets(const ast::Expr &expr) const;
    bool isAllowed(const Level &level);
    void visitFrom(size_t count, llvm::function_ref<void(llvm::ArrayRef<const SemValue *>)> found);

    TuneClause &clause;
    std::vector<const ast::TuneItem *> sets;
    std::vector<std::vector<SemValue>> choices;
    std::vector<Level> levels;             // one more than sets
    std::vector<const ast::Ident *> names; // as sets; of a parameter where it is declared
    std::vector<const SemValue *> values;
    unsigned errors;
  };

  StaticParams &statics;
  LaunchExprs &launchExprs;
};

} // namespace tile

#endif
