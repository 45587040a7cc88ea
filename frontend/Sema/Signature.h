// The signature of one instance: parameters, named dimensions, strides and grid.
#ifndef TILE_FRONTEND_SEMA_SIGNATURE_H
#define TILE_FRONTEND_SEMA_SIGNATURE_H

#include "frontend/Sema/LaunchExprs.h"

namespace tile {

class Signature : SemaPart {
public:
  Signature(Evaluator &evaluator, LaunchExprs &launchExprs)
      : SemaPart(evaluator), launchExprs(launchExprs) {}

  /// Parameters, dimensions and strides. False after an error.
  bool read(runtime::Kernel &record);
  /// The grid, after contracts and facts. False after an error.
  bool readGrid(runtime::Kernel &record);
  /// The declaration behind a parameter of the ABI, which may be one tensor of an array.
  const ast::Param &declOf(const runtime::Param &param) const;
  /// Dimensions and strides in the order of the ABI.
  const std::vector<std::string> &getDimensions() const { return dimOrder; }

private:
  bool readTensor(const ast::Param &param, runtime::Param &out);
  /// The length of an array of tensors. None after an error.
  std::optional<int64_t> readCount(const ast::Param &param);
  bool readScalar(const ast::Param &param, runtime::Param &out);
  void collectDimensions();
  /// The name that a dimension of the form `name + c`, `name - c` or `c * name` binds; null for
  /// other forms.
  const ast::NameExpr *boundByForm(const ast::Expr &expr);

  LaunchExprs &launchExprs;
  std::vector<std::string> dimOrder;
};

} // namespace tile

#endif
