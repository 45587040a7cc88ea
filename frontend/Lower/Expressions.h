// Expressions that need code: what Evaluator leaves to those who can emit it.
#ifndef TILE_FRONTEND_LOWER_EXPRESSIONS_H
#define TILE_FRONTEND_LOWER_EXPRESSIONS_H

#include "frontend/Lower/LowerPart.h"

namespace tile {

class Expressions : public Evaluator, LowerPart {
public:
  Expressions(const Modules &modules, const ast::KernelDecl &kernel,
              const ElaborateOptions &options, DiagnosticEngine &diagnostics, Lowering &lowering);

  using Evaluator::here;

protected:
  SemValue unaryOfData(const ast::UnaryExpr &expr, SemValue operand) override;
  SemValue binaryOfData(ast::BinaryOp op, SemValue a, SemValue b, Range aRange, Range bRange,
                        Range range, Range opRange) override;
  SemValue evalCast(const ast::CastExpr &expr) override;
  SemValue evalSubscript(const ast::SubscriptExpr &expr) override;
  SemValue evalCall(const ast::CallExpr &expr) override;
  SemValue evalMember(const ast::MemberExpr &expr) override;
  SemValue convertToType(SemValue value, const ast::TypeSpec &type, DType dtype,
                         Range range) override;
  SemValue listToTile(const SemValue &list, std::optional<DType> dtype, Range range) override;
  std::optional<runtime::Constant> constantOf(const SemValue &value, DType dtype,
                                              Range range) override;
};

} // namespace tile

#endif
