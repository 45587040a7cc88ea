// Registration of the tile dialect, its types and its attributes.
#include "dialect/Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

#include "dialect/Tile/TileDialect.cpp.inc"

#include "dialect/Tile/TileEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/Tile/TileAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/Tile/TileTypes.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/Tile/TileAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/Tile/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/Tile/TileOps.cpp.inc"
      >();
}

/// Folders return attributes; this makes them operations again.
/// Index, integer, float and tile constants alike.
Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                            Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

namespace {
/// The least i64 stands for "not known" in the static offsets of upstream's views of memory, whose
/// canonicalization would make it of a constant operand, and crash. Such an offset is that of an
/// access without lanes, behind a branch that is not taken: it may as well be 0.
struct LeastOffsetIsZero : OpInterfaceRewritePattern<OffsetSizeAndStrideOpInterface> {
  explicit LeastOffsetIsZero(MLIRContext *context)
      : OpInterfaceRewritePattern(context, /*benefit=*/10) {}

  LogicalResult matchAndRewrite(OffsetSizeAndStrideOpInterface op,
                                PatternRewriter &rewriter) const override {
    SmallVector<OpOperand *> least;
    for (OpOperand &operand : op->getOpOperands()) {
      APInt value;
      if (operand.get().getType().isIndex() && matchPattern(operand.get(), m_ConstantInt(&value)) &&
          ShapedType::isDynamic(value.getSExtValue()))
        least.push_back(&operand);
    }
    if (least.empty())
      return failure();
    Value zero = arith::ConstantIndexOp::create(rewriter, op.getLoc(), 0);
    rewriter.modifyOpInPlace(op, [&] {
      for (OpOperand *operand : least)
        operand->set(zero);
    });
    return success();
  }
};
} // namespace

void TileDialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  patterns.add<LeastOffsetIsZero>(getContext());
}

LogicalResult DimAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef name,
                              int64_t min, int64_t max, int64_t opt, int64_t multipleOf) {
  if (min > max)
    return emitError() << "dimension '" << name << "' has minimum " << min << " above maximum "
                       << max;
  // `opt` is the value that the cost model takes where no extent is given.
  if (opt < min || opt > max)
    return emitError() << "dimension '" << name << "' has opt " << opt << " outside " << min << ".."
                       << max;
  if (multipleOf < 1)
    return emitError() << "dimension '" << name << "' needs a positive multiple_of, found "
                       << multipleOf;
  return success();
}

/// Written as a memref's shape is: <?x64xf32>.
Type ViewType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/true) ||
      parser.parseType(elementType) || parser.parseGreater())
    return {};
  return get(parser.getContext(), shape, elementType);
}

void ViewType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t extent : getShape())
    if (ShapedType::isDynamic(extent))
      printer << "?x";
    else
      printer << extent << "x";
  printer << getElementType() << ">";
}
