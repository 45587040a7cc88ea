// Contracts: ranges become facts about dimensions, conditions are checked at compile time or at
// launch. Of a scalar's range the passes see `opt` alone (tile.hints); the launcher checks it.
#ifndef TILE_FRONTEND_SEMA_CONTRACTS_H
#define TILE_FRONTEND_SEMA_CONTRACTS_H

#include "frontend/Sema/Signature.h"

namespace tile {

class Contracts : SemaPart {
public:
  Contracts(Evaluator &evaluator, LaunchExprs &launchExprs, Signature &signature)
      : SemaPart(evaluator), launchExprs(launchExprs), signature(signature) {}

  /// All of the `where` clause. False after an error.
  bool read(runtime::Kernel &record);
  bool readContract(const ast::Contract &contract, runtime::Kernel &record);
  /// align(…) and alias(…).
  bool readCall(const ast::Contract &contract, const ast::CallExpr &call, runtime::Kernel &record);
  /// `opt` of scalars.
  const std::map<std::string, int64_t> &getScalarHints() const { return scalarHints; }

private:
  bool readRange(const ast::Contract &contract, const std::string &name, runtime::Kernel &record);
  /// Warns of contracts that the `opt` values of the names in them break.
  void checkHints(const runtime::Kernel &record);

  LaunchExprs &launchExprs;
  Signature &signature;
  std::map<std::string, int64_t> scalarHints;
  std::set<std::string> rangedNames;
};

} // namespace tile

#endif
