// Products, reading at positions of the run, views of flat memory, bits: built-ins of no family.
#include "frontend/Check/BodyChecker.h"
#include "frontend/Sema/AccessRules.h"

using namespace tile;
using llvm::ArrayRef;
using llvm::StringRef;

SemValue TileTypes::callDot(ArrayRef<Arg> args) {
  static constexpr const char *precisions[] = {"full", "fast", "tf32", "tf32x3"};
  const Arg *precision = findNamed(args, "precision");
  const SemValue &a = args[0].value, &b = args[1].value;
  body.facts.reduces |= !a.isZeroPadded || !b.isZeroPadded;
  bool fits = (!precision || findWord(precision->value, precisions)) && a.isData() && b.isData() &&
              a.rank() >= 2 && b.rank() >= 2 && multiply(a.dtype, b.dtype);
  std::optional<DType> sum = fits ? productDtype(a.dtype) : std::nullopt;
  std::optional<Shape> shape = sum ? productShape(a.shape(), b.shape()) : std::nullopt;
  if (!shape || !body.isShape(*shape))
    return body.undecided();
  if (args.size() < 3 || !args[2].name.empty())
    return body.data(*sum, *shape);
  const SemValue &given = args[2].value;
  bool adds = given.isData() && accumulatesIn(a.dtype, given.dtype) &&
              given.shape() == ArrayRef<int64_t>(*shape);
  return adds ? body.data(given.dtype, *shape) : body.undecided();
}

SemValue TileTypes::callTake(std::vector<Arg> &args) {
  if (args[0].value.kind == SemValue::Kind::List)
    args[0].value = body.listToTile(args[0].value, std::nullopt, args[0].range);
  const SemValue &source = args[0].value, &at = args[1].value;
  if (source.isError())
    return source;
  bool valid = source.isData() && source.rank() > 0 &&
               (at.isInt() || (at.isData() && widensToIndex(at.dtype)));
  if (!valid)
    return body.undecided();
  std::optional<int64_t> axis = evalAxis(args, source);
  if (!axis)
    return SemValue::error();
  Shape shape = takenShape(source.shape(), *axis, at.shape());
  return body.isShape(shape) ? body.data(source.dtype, shape) : SemValue::error();
}

SemValue TileTypes::callView(ArrayRef<Arg> args) {
  const SemValue &flat = args[0].value;
  if (!flat.isView() || flat.isPart || flat.extents.size() != 1 || isNibble(flat.dtype) ||
      !body.isIndex(args[1].value))
    return body.undecided();
  Shape shape;
  for (const Arg &arg : args.drop_front(2)) {
    if (arg.value.kind != SemValue::Kind::List || arg.value.elements->size() > 4)
      return body.undecided();
    for (const SemValue &each : *arg.value.elements) {
      if (!body.isIndex(each))
        return SemValue::error();
      if (&arg == &args[2])
        shape.push_back(each.isInt() && each.getInt() > 0 ? each.getInt() : unknownExtent);
    }
    if (arg.value.elements->size() != shape.size())
      return body.undecided();
  }
  return body.view(flat.dtype, shape, flat.param, /*isPart=*/true);
}

SemValue TileTypes::callBitcast(ArrayRef<Arg> args) {
  const SemValue &x = args[0].value;
  if (!args[1].value.isDtype())
    return body.undecided();
  DType to = args[1].value.dtype;
  bool valid = x.isData() && bitWidth(x.dtype) == bitWidth(to) && x.dtype != DType::Bool &&
               x.dtype != DType::Index && to != DType::Index;
  return valid ? body.data(to, x.shape()) : body.undecided();
}

SemValue TileTypes::callOther(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  StringRef name = builtin.name;
  const SemValue &first = args[0].value;
  if (name == "bitcast")
    return callBitcast(args);
  if (name == "present")
    return first.isView() || first.isNone() ? SemValue::ofBool(first.isView()) : body.undecided();
  if (name == "static_assert") {
    if (first.isBoolNumber() && first.getBool())
      return SemValue::ofVoid();
    if (!first.isBoolNumber())
      return body.undecided();
    std::string message = args.size() > 1 ? args[1].value.text : "the condition is false";
    here.error(diag::constantArithmetic, range, "static assertion failed: " + message);
    return SemValue::error();
  }
  if (name == "lowest" || name == "highest")
    return first.isDtype() && !isNibble(first.dtype) ? body.data(first.dtype) : body.undecided();
  ++body.effects;
  if (name == "dot")
    return callDot(args);
  if (name == "take")
    return callTake(args);
  return name == "view" ? callView(args) : body.undecided();
}
