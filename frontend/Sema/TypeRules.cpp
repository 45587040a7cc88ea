// Types of results. A rule stands here once: the checks and the code of bodies ask for it.
#include "frontend/Sema/TypeRules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile;
using ast::BinaryOp;
using ast::UnaryOp;
using llvm::ArrayRef;
using llvm::StringRef;

//===--- Operands that meet -----------------------------------------------===//

DType tile::dtypeOfNumber(const SemValue &number) {
  return number.isInt() ? DType::Index : number.isBoolNumber() ? DType::Bool : DType::F32;
}

bool tile::widensTo(DType from, DType to) {
  return from == to || (to == DType::Index && widensToIndex(from));
}

/// Two passes: the first finds the dtype of the values that have one, the second looks whether
/// numbers without one can become it. `chosen` moves to an index operand, as all integers that
/// widen become index.
CommonDtype tile::findCommonDtype(ArrayRef<Arg> operands) {
  using Problem = CommonDtype::Problem;
  std::optional<size_t> chosen;
  auto dtypeAt = [&](size_t i) { return operands[i].value.dtype; };
  for (size_t i = 0; i < operands.size(); ++i) {
    const SemValue &value = operands[i].value;
    if (value.isError())
      return {Problem::Reported, DType::F32, i, i};
    if (!value.isNumeric())
      return {Problem::NotNumeric, DType::F32, i, i};
    if (!value.isData() || (chosen && dtypeAt(*chosen) == value.dtype))
      continue;
    if (chosen && !widensTo(value.dtype, dtypeAt(*chosen)) &&
        !widensTo(dtypeAt(*chosen), value.dtype))
      return {Problem::Differ, DType::F32, *chosen, i};
    if (!chosen || value.dtype == DType::Index)
      chosen = i;
  }
  // Numbers alone: one float makes all of them f32.
  if (!chosen) {
    auto any = [&](bool (SemValue::*is)() const) {
      return llvm::any_of(operands, [&](const Arg &each) { return (each.value.*is)(); });
    };
    DType dtype = any(&SemValue::isFloatNumber)  ? DType::F32
                  : any(&SemValue::isBoolNumber) ? DType::Bool
                                                 : DType::Index;
    return {Problem::None, dtype, 0, 0};
  }
  DType dtype = dtypeAt(*chosen);
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i].value.isFloatNumber() && !isFloat(dtype) && dtype != DType::Bool)
      return {Problem::NotWhole, dtype, *chosen, i};
  return {Problem::None, dtype, *chosen, *chosen};
}

/// `shape` is left half joined where it returns false.
bool tile::joinShapes(Shape &shape, ArrayRef<int64_t> other) {
  if (other.size() > shape.size())
    shape.insert(shape.begin(), other.size() - shape.size(), 1);
  for (size_t i = 0; i < other.size(); ++i) {
    int64_t &mine = shape[shape.size() - 1 - i], theirs = other[other.size() - 1 - i];
    if (mine != theirs && mine != 1 && theirs != 1)
      return false;
    mine = std::max(mine, theirs);
  }
  return true;
}

CommonShape tile::findCommonShape(ArrayRef<Arg> operands) {
  Shape shape;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (joinShapes(shape, operands[i].value.shape()))
      continue;
    for (size_t j = 0; j < i; ++j) { // the first that this one does not fit
      Shape pair(operands[j].value.shape());
      if (!joinShapes(pair, operands[i].value.shape()))
        return {std::nullopt, j, i};
    }
    return {std::nullopt, 0, i};
  }
  return {std::move(shape), 0, 0};
}

static constexpr int64_t maxElements = int64_t(1) << 20; // T2.2

ShapeProblem tile::problemOf(ArrayRef<int64_t> shape) {
  if (llvm::any_of(shape, [](int64_t extent) { return extent < 1; }))
    return ShapeProblem::Empty;
  int64_t elements = 1;
  for (int64_t extent : shape) {
    if (extent > maxElements / elements)
      return ShapeProblem::TooLarge;
    elements *= extent;
  }
  return ShapeProblem::None;
}

//===--- Operators and conversions ----------------------------------------===//

static const char *integersFor(DType dtype) { return isInteger(dtype) ? nullptr : "integers"; }
static const char *numbersFor(DType dtype) { return dtype != DType::Bool ? nullptr : "numbers"; }
static const char *floatsFor(DType dtype) { return isFloat(dtype) ? nullptr : "floats"; }

const char *tile::neededBy(UnaryOp op, DType dtype) {
  switch (op) {
  case UnaryOp::logicalNot:
    return dtype == DType::Bool ? nullptr : "bool";
  case UnaryOp::neg:
    return numbersFor(dtype);
  case UnaryOp::bitNot:
    break;
  }
  return integersFor(dtype);
}

const char *tile::neededBy(BinaryOp op, DType dtype) {
  switch (op) {
  case BinaryOp::logicalAnd:
  case BinaryOp::logicalOr:
    return dtype == DType::Bool ? nullptr : "bools";
  case BinaryOp::bitAnd:
  case BinaryOp::bitOr:
  case BinaryOp::bitXor:
  case BinaryOp::shl:
  case BinaryOp::shr:
  case BinaryOp::rem:
    return integersFor(dtype);
  case BinaryOp::eq:
  case BinaryOp::ne:
    return nullptr;
  default:
    return numbersFor(dtype);
  }
}

const char *tile::neededBy(StringRef builtin, DType dtype) {
  static const StringRef floats[] = {"pow", "fma"};
  static const StringRef integers[] = {"mulhi", "cdiv", "next_pow2", "clz", "popcount"};
  if (llvm::is_contained(floats, builtin))
    return floatsFor(dtype);
  return llvm::is_contained(integers, builtin) ? integersFor(dtype) : numbersFor(dtype);
}

DType tile::resultOf(BinaryOp op, DType dtype) {
  return op >= BinaryOp::eq && op <= BinaryOp::ge ? DType::Bool : dtype;
}

DType tile::resultOf(StringRef builtin, DType dtype) {
  static const StringRef tests[] = {"isnan", "isinf", "isfinite"};
  return llvm::is_contained(tests, builtin) ? DType::Bool : dtype;
}

bool tile::isCastable(const SemValue &value, DType to) {
  bool isRestricted = to == DType::Bool || isNibble(to); // values of these convert to nothing new
  if (value.isBoolNumber() && to == DType::Bool)
    return true;
  return value.isNumeric() && (!isRestricted || (value.isData() && value.dtype == to));
}

//===--- Axes -------------------------------------------------------------===//

std::optional<int64_t> tile::findAxis(int64_t written, int64_t rank) {
  if (written < -rank || written >= rank)
    return std::nullopt;
  return written < 0 ? written + rank : written;
}

Shape tile::takenShape(ArrayRef<int64_t> source, int64_t axis, ArrayRef<int64_t> positions) {
  Shape shape(source.take_front(axis));
  llvm::append_range(shape, positions);
  llvm::append_range(shape, source.drop_front(axis + 1));
  return shape;
}

JoinedShape tile::joinedShape(ArrayRef<Arg> tiles, int64_t axis, bool isNew) {
  std::optional<Shape> shape;
  for (size_t i = 0; i < tiles.size(); ++i) {
    Shape part(tiles[i].value.shape());
    if (isNew)
      part.insert(part.begin() + std::min(size_t(axis), part.size()), 1);
    if (!shape) {
      shape = std::move(part);
      continue;
    }
    bool fits = part.size() == shape->size();
    for (size_t d = 0; fits && d < part.size(); ++d)
      fits = int64_t(d) == axis || part[d] == (*shape)[d];
    if (!fits)
      return {std::nullopt, i};
    (*shape)[axis] += part[axis];
  }
  return {std::move(shape), 0};
}

Shape tile::repeatedShape(ArrayRef<int64_t> source, int64_t axis, int64_t count) {
  Shape shape(source);
  shape[axis] *= count;
  return shape;
}

//===--- Reductions, scans and products -----------------------------------===//

/// `any`, `all` and `count` take bools, all others anything else: one comparison says both.
const char *tile::neededByReduction(StringRef name, DType dtype) {
  bool wantsBool = name == "any" || name == "all" || name == "count";
  if (wantsBool == (dtype == DType::Bool))
    return nullptr;
  return wantsBool ? "bools" : "numbers";
}

static bool addsUp(StringRef name) {
  return name == "sum" || name == "prod" || name == "cumsum" || name == "cumprod";
}

bool tile::overflowsInReduction(StringRef name, DType dtype) {
  return addsUp(name) && isInteger(dtype) && bitWidth(dtype) < 32;
}

DType tile::accumulatorOf(StringRef name, DType dtype) {
  if (name == "count")
    return DType::Index;
  return addsUp(name) && isFloat(dtype) && bitWidth(dtype) == 16 ? DType::F32 : dtype;
}

ReducedType tile::reduced(StringRef name, DType dtype, ArrayRef<int64_t> shape,
                          std::optional<int64_t> axis, bool keep) {
  ReducedType result;
  bool isPlace = name == "argmax" || name == "argmin";
  result.accumulator = accumulatorOf(name, dtype);
  result.dtype = isPlace || name == "count" ? DType::Index : dtype;
  for (size_t i = 0; i < shape.size(); ++i) {
    bool isGone = !axis || int64_t(i) == *axis;
    if (!isGone)
      result.rest.push_back(shape[i]);
    if (keep || !isGone)
      result.shape.push_back(isGone ? 1 : shape[i]);
  }
  return result;
}

namespace {
/// The column `product` of the table of dtypes.
namespace product {
constexpr std::optional<DType> None = std::nullopt, I32 = DType::I32, F32 = DType::F32,
                               F64 = DType::F64;
} // namespace product

struct Product {
  DType dtype;
  std::optional<DType> sum;
};
/// In the order of DType, which is that of the table, index last: productDtype() looks up by
/// number.
constexpr Product products[] = {
#define DTYPE(name, spelling, bits, family, use, sum, ...) {DType::name, product::sum},
#include "manifest/Dtypes.def"
    {DType::Index, std::nullopt},
};
} // namespace

std::optional<DType> tile::productDtype(DType dtype) { return products[size_t(dtype)].sum; }

std::string tile::productDtypes() {
  std::vector<std::string> names;
  for (bool floats : {true, false})
    for (const Product &each : products)
      if (each.sum && isFloat(each.dtype) == floats)
        names.push_back(dtypeSpelling(each.dtype).str());
  std::string last = names.back();
  names.pop_back();
  return llvm::join(names, ", ") + " or " + last;
}

/// [.., m, k] x [.., k, n] -> [.., m, n]: batch extents are equal, nothing is repeated.
std::optional<Shape> tile::productShape(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  size_t rank = a.size();
  if (b.size() != rank || a[rank - 1] != b[rank - 2] || a.drop_back(2) != b.drop_back(2))
    return std::nullopt;
  Shape shape(a);
  shape[rank - 1] = b[rank - 1];
  return shape;
}

bool tile::multiply(DType a, DType b) {
  auto isByte = [](DType dtype) { return dtype == DType::I8 || dtype == DType::U8; };
  return a == b || (isFloat8(a) && isFloat8(b)) || (isByte(a) && isByte(b));
}

bool tile::accumulatesIn(DType operand, DType accumulator) {
  return accumulator == productDtype(operand) ||
         (operand == DType::F16 && accumulator == DType::F16);
}
