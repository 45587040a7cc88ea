// Compile-time parameters: values from -D, the arguments, `config` and defaults; one instance for
// each choice.
#ifndef TILE_FRONTEND_SEMA_STATICPARAMS_H
#define TILE_FRONTEND_SEMA_STATICPARAMS_H

#include "frontend/Sema/Evaluator.h"

namespace tile {

/// A choice of values for the compile-time parameters of a kernel, in their order.
struct Instance {
  std::vector<SemValue> values;
  std::string symbol;
};

class StaticParams : SemaPart {
public:
  explicit StaticParams(Evaluator &evaluator) : SemaPart(evaluator) {}

  /// The instances, in order; perhaps not all of them after an error.
  std::vector<Instance> bindAll();
  /// One value of -D. None if the text is no value of the parameter's kind.
  std::optional<SemValue> parseDefine(const ast::StaticParam &param, llvm::StringRef text);
  /// Is the parameter the dtype of a tensor, or a whole dimension of one?
  bool isDeducible(const ast::StaticParam &param) const;
  /// The first configuration of `tune` that fits the target, or null.
  const ast::TuneItem *chooseConfig();
  /// Whether an item of `tune` is a configuration for the target or an earlier one.
  bool fitsTarget(const ast::TuneItem &item) const;
  /// What --config pins `name` to; null if it does not.
  const std::string *findPinned(llvm::StringRef name) const;
  /// The last -D of `name`; null if there is none.
  const std::string *findDefine(llvm::StringRef name) const;

private:
  void bindFrom(size_t index, Instance &partial, std::vector<Instance> &out);
  std::optional<std::vector<SemValue>> candidatesFor(const ast::StaticParam &param, bool &suffixed);
  std::optional<SemValue> deduce(const ast::StaticParam &param);

  const ast::TuneItem *config = nullptr;
  bool configChosen = false;
};

} // namespace tile

#endif
