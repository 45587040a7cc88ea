// Attributes of kernels and loops: what the source's `with`, the command line and the chosen
// configuration ask for, under the names that the IR has for it.
#ifndef TILE_FRONTEND_SEMA_ATTRIBUTES_H
#define TILE_FRONTEND_SEMA_ATTRIBUTES_H

#include "frontend/Sema/AttributeValue.h"
#include "frontend/Sema/StaticParams.h"

namespace tile {

class Attributes : SemaPart {
public:
  Attributes(Evaluator &evaluator, StaticParams &statics) : SemaPart(evaluator), statics(statics) {}

  /// False after an error.
  bool readKernelAttributes(AttributeValues &out);
  bool readLoopAttributes(const std::vector<ast::Attribute> &attributes, AttributeValues &out);

private:
  std::optional<int64_t> attributeInt(const ast::Attribute &attribute, size_t index, int64_t min,
                                      int64_t max);
  const std::string *findRequested(llvm::StringRef name) const;
  void applyRequested(AttributeValues &out, std::set<std::string> &seen);
  void addPreferred(const std::set<std::string> &seen, AttributeValues &out);
  void readSplit(const ast::Attribute &attribute, AttributeValues &out);

  StaticParams &statics;
};

} // namespace tile

#endif
