// Construction and description of values.
#include "frontend/Sema/SemValue.h"

#include "llvm/ADT/STLExtras.h"

using namespace tile;

SemValue SemValue::ofVoid() {
  SemValue result;
  result.kind = Kind::Void;
  return result;
}

SemValue SemValue::ofNone(std::string name) {
  SemValue result;
  result.kind = Kind::None;
  result.text = std::move(name);
  return result;
}

SemValue SemValue::of(Number number) {
  SemValue result;
  result.kind = Kind::Number;
  result.number = number;
  return result;
}

SemValue SemValue::ofString(std::string text) {
  SemValue result;
  result.kind = Kind::String;
  result.text = std::move(text);
  return result;
}

SemValue SemValue::ofDtype(tile::DType dtype) {
  SemValue result;
  result.kind = Kind::DType;
  result.dtype = dtype;
  return result;
}

SemValue SemValue::of(RangeValue range) {
  SemValue result;
  result.kind = Kind::Range;
  result.range = std::make_shared<const RangeValue>(std::move(range));
  return result;
}

SemValue SemValue::of(FunctionValue function) {
  SemValue result;
  result.kind = Kind::Function;
  result.function = std::make_shared<const FunctionValue>(std::move(function));
  return result;
}

SemValue SemValue::ofTuple(std::vector<SemValue> elements, Kind kind) {
  SemValue result;
  result.kind = kind;
  result.elements = std::make_shared<const std::vector<SemValue>>(std::move(elements));
  return result;
}

bool SemValue::isConstant() const {
  switch (kind) {
  case Kind::Number:
  case Kind::String:
  case Kind::DType:
  case Kind::Function:
    return true;
  case Kind::Tuple:
  case Kind::List:
    return llvm::all_of(*elements, [](const SemValue &element) { return element.isConstant(); });
  default:
    return false;
  }
}

std::string tile::describeShape(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [i, extent] : llvm::enumerate(shape))
    text += (i ? ", " : "") + (extent == unknownExtent ? std::string("?") : std::to_string(extent));
  return text + "]";
}

std::string tile::describe(const SemValue &value) {
  switch (value.kind) {
  case SemValue::Kind::Error:
    return "an erroneous value";
  case SemValue::Kind::Void:
    return "no value";
  case SemValue::Kind::None:
    return value.text.empty() ? "None"
                              : "None, as '" + value.text + "' does not exist in this instance";
  case SemValue::Kind::Number:
    return (value.isInt()          ? "the int "
            : value.isBoolNumber() ? "the bool "
                                   : "the float ") +
           toText(value.number);
  case SemValue::Kind::String:
    return "the string \"" + value.text + "\"";
  case SemValue::Kind::DType:
    return "the dtype " + dtypeSpelling(value.dtype).str();
  case SemValue::Kind::Function:
    return "the function '" + value.function->name() + "'";
  case SemValue::Kind::Data:
    if (value.shape().empty())
      return "a scalar of " + dtypeSpelling(value.dtype).str();
    return dtypeSpelling(value.dtype).str() + describeShape(value.shape());
  case SemValue::Kind::Range:
    return "an index range of " + std::to_string(value.range->size);
  case SemValue::Kind::View:
    return "a view of " + dtypeSpelling(value.dtype).str() + describeShape(value.extents);
  case SemValue::Kind::Tuple:
    return "a tuple of " + std::to_string(value.elements->size());
  case SemValue::Kind::List:
    return "a list of " + std::to_string(value.elements->size());
  }
  return "";
}
