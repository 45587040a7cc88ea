// The types of results, from the types of operands alone: the dtype and the shape in which operands
// meet, what operators and built-ins take, and what they give. Lower asks here, reports what does
// not fit, and emits what does.
#ifndef TILE_FRONTEND_SEMA_TYPERULES_H
#define TILE_FRONTEND_SEMA_TYPERULES_H

#include "frontend/Sema/KernelContext.h"

#include "llvm/ADT/SmallVector.h"

namespace tile {

using Shape = llvm::SmallVector<int64_t>;

//===--- Operands that meet -----------------------------------------------===//

/// The dtype that a number without one takes where nothing says another: index, bool or f32.
DType dtypeOfNumber(const SemValue &number);
/// Does a value of `from` become one of `to` without `as`?
bool widensTo(DType from, DType to);

/// The dtype in which operands meet: that of the values that have one, index where one of them is
/// index and the others widen to it; of numbers alone f32, bool or index.
struct CommonDtype {
  enum class Problem {
    None,
    Reported,   // `second` is an error
    NotNumeric, // `second` is neither a number nor a tile
    Differ,     // `first` and `second` have dtypes that do not meet
    NotWhole    // `second` is a float number, the dtype of `first` one of integers
  };
  Problem problem = Problem::None;
  DType dtype = DType::F32;
  size_t first = 0, second = 0; // places of operands
};
CommonDtype findCommonDtype(llvm::ArrayRef<Arg> operands);

/// Joins a shape to another by NumPy's rule: aligned at the right, extents of 1 are repeated. False
/// where they do not fit.
bool joinShapes(Shape &shape, llvm::ArrayRef<int64_t> other);

/// The shape to which operands are repeated; none where `first` and `second` do not fit.
struct CommonShape {
  std::optional<Shape> shape;
  size_t first = 0, second = 0;
};
CommonShape findCommonShape(llvm::ArrayRef<Arg> operands);

/// What is wrong with the shape of a tile; `Empty` where an extent is less than 1.
enum class ShapeProblem { None, Empty, TooLarge };
ShapeProblem problemOf(llvm::ArrayRef<int64_t> shape);

//===--- Operators and conversions ----------------------------------------===//

/// What an operator or an element-wise built-in needs, "integers" as an example, where it does not
/// take operands of a dtype that computes; null where it does.
const char *neededBy(ast::UnaryOp op, DType dtype);
const char *neededBy(ast::BinaryOp op, DType dtype);
const char *neededBy(llvm::StringRef builtin, DType dtype);
/// The dtype of the result of operands of one dtype: bool of comparisons and tests.
DType resultOf(ast::BinaryOp op, DType dtype);
DType resultOf(llvm::StringRef builtin, DType dtype);
/// Does `as` convert a value to a dtype?
bool isCastable(const SemValue &value, DType to);

//===--- Axes -------------------------------------------------------------===//

/// The axis that is written so, negative ones counted from the end; none where a value of that rank
/// has no such axis.
std::optional<int64_t> findAxis(int64_t written, int64_t rank);
/// The shape of what `take` reads from a tile at positions of that shape.
Shape takenShape(llvm::ArrayRef<int64_t> source, int64_t axis, llvm::ArrayRef<int64_t> positions);
/// The shape of tiles one behind the other along an axis, or along a new one. None where the tile
/// `wrong` does not fit the first.
struct JoinedShape {
  std::optional<Shape> shape;
  size_t wrong = 0;
};
JoinedShape joinedShape(llvm::ArrayRef<Arg> tiles, int64_t axis, bool isNew);
/// The shape of a tile whose elements stand `count` times in a row along an axis.
Shape repeatedShape(llvm::ArrayRef<int64_t> source, int64_t axis, int64_t count);

//===--- Reductions, scans and products -----------------------------------===//

/// What a reduction or a scan needs where it does not take the dtype: "bools" or "numbers"; null if
/// it does.
const char *neededByReduction(llvm::StringRef name, DType dtype);
/// Would a sum or product of such small integers, or a scan of them, overflow easily?
bool overflowsInReduction(llvm::StringRef name, DType dtype);
/// The dtype in which a reduction or a scan brings elements together: 16-bit floats add up in f32
/// and round once, at the end.
DType accumulatorOf(llvm::StringRef name, DType dtype);

/// A reduction along an axis, or all of them.
struct ReducedType {
  DType accumulator; // in which elements are brought together
  DType dtype;       // of the result
  Shape rest;        // without the axis
  Shape shape;       // of the result: with extents of 1 where the axis is kept
};
ReducedType reduced(llvm::StringRef name, DType dtype, llvm::ArrayRef<int64_t> shape,
                    std::optional<int64_t> axis, bool keep);

/// The dtype in which `dot` adds up products; none for what it does not take.
std::optional<DType> productDtype(DType dtype);
/// What `dot` takes, for messages: "f16, bf16, ..., i8 or u8".
std::string productDtypes();
/// The shape of the product of two tiles of the same rank, at least 2; none where they do not fit.
std::optional<Shape> productShape(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);
/// Do operands of two dtypes multiply? 8-bit floats mix, and so do i8 and u8.
bool multiply(DType a, DType b);
/// May products of a dtype be added up in a tile of `accumulator`?
bool accumulatesIn(DType operand, DType accumulator);

} // namespace tile

#endif
