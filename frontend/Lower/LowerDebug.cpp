// Built-ins of debug builds, print and assert, what a debugger looks at, and PTX written out.
#include "dialect/ProbeNames.h"
#include "frontend/Lower/Lowering.h"

using namespace mlir;
using namespace tile;

SemValue DebugCalls::callDebug(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  StringRef name = builtin.name;
  if (name == "print")
    return callPrint(args, range);
  return name == "assert" ? callAssert(args, range) : callPtx(args, range);
}

//===--- Probes -----------------------------------------------------------===//

/// Is the code that is built now a kernel's body, and not the body of a scan, which runs at no
/// place of its own?
/// Blocks that only look at values (KernelEmission's scratch) have no kernel around them.
static bool isInKernelBody(OpBuilder &builder) {
  mlir::Block *block = builder.getInsertionBlock();
  while (block && block->getParentOp()) {
    mlir::Operation *parent = block->getParentOp();
    if (auto kernel = dyn_cast<KernelOp>(parent))
      return block->getParent() == &kernel.getBody();
    if (isa<ScanOp, ReduceByOp>(parent))
      return false;
    block = parent->getBlock();
  }
  return false;
}

/// Called for each declaration and statement; does nothing outside of `tilec debug`. The debugger
/// numbers the probes, as it adds some of its own.
void DebugCalls::probe(StringRef name, const SemValue &value, Range range) {
  if (!options.probes || !isInKernelBody(builder))
    return;
  Location location = emitter.loc(range);
  auto emit = [&](StringRef dtype, mlir::Value given) {
    std::vector<int64_t> shape;
    if (given)
      if (auto tile = dyn_cast<RankedTensorType>(given.getType()))
        shape.assign(tile.getShape().begin(), tile.getShape().end());
    auto op = PrintOp::create(builder, location, name, /*position=*/0, shape,
                              given ? ValueRange(given) : ValueRange());
    op->setAttr(probeSiteName, builder.getI64IntegerAttr(-1)); // the debugger numbers them
    op->setAttr(probeDtypeName, builder.getStringAttr(dtype));
  };
  if (name.empty())
    return emit("", {});
  SemValue shown = value;
  std::string dtype;
  if (value.isRange()) { // its start says where it is
    shown = value.range->start;
    dtype = "range of " + std::to_string(value.range->size);
  }
  if (!shown.isNumeric())
    return;
  shown = conversions.toData(shown, range);
  if (!shown.isData())
    return;
  if (dtype.empty())
    dtype = dtypeSpelling(shown.dtype);
  DType wide =
      isFloat(shown.dtype) ? (shown.dtype == DType::F64 ? DType::F64 : DType::F32) : DType::I64;
  emit(dtype, emitter.emitCast(ssaOf(shown), shown.dtype, wide, location));
}

//===--- print ------------------------------------------------------------===//

/// `text` as C's printf prints it.
/// Text of the source, file names among it, must not be read as a format.
static std::string escapeFormat(StringRef text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '%' ? "%%" : std::string(1, c);
  return escaped;
}

/// How printf prints what a value of `dtype` is converted to.
static const char *formatOf(DType dtype) {
  if (dtype == DType::F64)
    return "%.16g";
  if (isFloat(dtype))
    return "%.7g";
  return dtype == DType::U64 ? "%llu" : "%lld";
}

/// Arguments are checked in each build, so that a debug build reports nothing new. The format has
/// three parts:
///
///   "k.tile:7: i=%lld, j=%lld [%lld, %lld]: acc %.7g\n"
///    place     grid            position      text
SemValue DebugCalls::callPrint(std::vector<Arg> &args, Range range) {
  Location location = emitter.loc(range);
  std::string text; // behind the place
  std::vector<Arg> values;
  for (const Arg &arg : args) {
    text += text.empty() ? "" : " ";
    if (arg.value.kind == SemValue::Kind::String) {
      text += escapeFormat(arg.value.text);
    } else if (arg.value.isNumber()) {
      text += escapeFormat(toText(arg.value.number));
    } else if (arg.value.isData()) {
      DType dtype = arg.value.dtype,
            wide = isFloat(dtype) ? (dtype == DType::F64 ? dtype : DType::F32) : DType::I64;
      text += formatOf(dtype);
      values.push_back(
          {ofData(emitter.emitCast(ssaOf(arg.value), dtype, wide, location), wide), arg.range, ""});
    } else {
      here.error(diag::wrongOperand, arg.range, "'print'", "strings, numbers and tiles",
                 describe(arg.value));
      return SemValue::error();
    }
  }
  // Tiles print element by element at one position; scalars beside them stay as they are.
  std::vector<Arg> tiles;
  for (const Arg &value : values)
    if (value.value.rank())
      tiles.push_back(value);
  if (!tiles.empty() && !conversions.unifyShapes(tiles, range))
    return SemValue::error();
  if (!options.debug)
    return SemValue::ofVoid();
  SmallVector<mlir::Value> operands;
  std::string place = escapeFormat(sources.name(range.file)) + ":" +
                      std::to_string(sources.begin(range).line) + ":";
  if (auto *grid = kernel.clause<ast::GridClause>())
    for (const ast::GridAxis &axis : grid->axes)
      for (const Scope &scope : here.frames.front())
        if (auto found = scope.find(axis.name.text); found != scope.end()) {
          place += (operands.empty() ? " " : ", ") + axis.name.text + "=%lld";
          operands.push_back(ssaOf(found->second.value));
        }
  int64_t position = int64_t(operands.size());
  SmallVector<int64_t> shape;
  if (!tiles.empty()) {
    shape.assign(tiles[0].value.shape().begin(), tiles[0].value.shape().end());
    for (size_t d = 0; d < shape.size(); ++d)
      place += d ? ", %lld" : " [%lld";
    place += "]";
  }
  size_t next = 0;
  for (const Arg &value : values)
    operands.push_back(value.value.rank() ? ssaOf(tiles[next++].value) : ssaOf(value.value));
  std::string format = place + (operands.empty() ? " " : ": ") + text + "\n";
  if (position == 0 && shape.empty())
    format = place + " " + text + "\n";
  PrintOp::create(builder, location, format, position, shape, operands);
  return SemValue::ofVoid();
}

//===--- assert -----------------------------------------------------------===//

SemValue DebugCalls::callAssert(std::vector<Arg> &args, Range range) {
  const SemValue &condition = args[0].value;
  if (!condition.isBoolNumber() && !(condition.isData() && condition.dtype == DType::Bool)) {
    here.error(diag::wrongOperand, args[0].range, "the condition of 'assert'",
               "a bool scalar or tile", describe(condition));
    return SemValue::error();
  }
  if (args.size() > 1 && args[1].value.kind != SemValue::Kind::String) {
    here.error(diag::wrongOperand, args[1].range, "the message of 'assert'", "a string",
               describe(args[1].value));
    return SemValue::error();
  }
  if (!options.debug)
    return SemValue::ofVoid();
  std::string message = args.size() > 1 ? args[1].value.text : sources.text(args[0].range).str();
  SemValue holds = conversions.toData(condition, args[0].range);
  if (holds.rank()) {
    std::vector<Arg> all = {{holds, args[0].range, ""}};
    holds = tileCalls.callReduce(*findBuiltin("all"), all, range);
  }
  if (holds.isError())
    return holds;
  AssertOp::create(builder, emitter.loc(range), ssaOf(holds), message, sources.name(range.file),
                   int64_t(sources.begin(range).line));
  return SemValue::ofVoid();
}

//===--- PTX --------------------------------------------------------------===//

/// Checks that `code` names the result $0 and each of `operands` operands; the complaint, or
/// nothing.
/// Each operand has to be used: one that is forgotten is most likely a mistake in the numbers.
static std::string checkTemplate(StringRef code, size_t operands) {
  std::vector<bool> named(operands + 1, false);
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i] != '$')
      continue;
    if (i + 1 < code.size() && code[i + 1] == '$') {
      ++i;
      continue;
    }
    StringRef digits =
        code.drop_front(i + 1).take_while([](char c) { return c >= '0' && c <= '9'; });
    size_t number = 0;
    if (digits.empty())
      return "'$' is followed by the number of an operand; write $$ for the sign itself";
    if (digits.getAsInteger(10, number) || number > operands)
      return "the PTX names $" + digits.str() + ", but " +
             (operands == 0 ? std::string("there are no operands: $0 is the result")
              : operands == 1
                  ? std::string("there is one operand: $0 is the result, $1 the operand")
                  : "there are " + std::to_string(operands) +
                        " operands: $0 is the result, $1 to $" + std::to_string(operands) +
                        " are the operands");
    named[number] = true;
    i += digits.size();
  }
  for (size_t i = 0; i <= operands; ++i)
    if (!named[i])
      return "the PTX never names $" + std::to_string(i) +
             (i ? ", one of its operands" : ", its result");
  return "";
}

/// PTX has registers of 16, 32 and 64 bits for these.
static bool hasRegister(DType dtype) {
  return dtype == DType::Index || (dtype != DType::Bool && bitWidth(dtype) >= 16);
}

SemValue DebugCalls::callPtx(std::vector<Arg> &args, Range range) {
  if (!args[0].value.isDtype()) {
    here.error(diag::wrongOperand, args[0].range, "the first argument of 'ptx'", "a dtype",
               describe(args[0].value));
    return SemValue::error();
  }
  if (args[1].value.kind != SemValue::Kind::String) {
    here.error(diag::wrongOperand, args[1].range, "the second argument of 'ptx'", "a string",
               describe(args[1].value));
    return SemValue::error();
  }
  DType dtype = args[0].value.dtype;
  const char *registers = "a dtype of 16, 32 or 64 bits, which PTX has registers for";
  if (!hasRegister(dtype)) {
    here.error(diag::wrongOperand, args[0].range, "the result of 'ptx'", registers,
               dtypeSpelling(dtype));
    return SemValue::error();
  }
  std::vector<Arg> operands;
  const Arg *fallback = nullptr;
  for (const Arg &arg : ArrayRef(args).drop_front(2)) {
    if (!arg.name.empty()) {
      fallback = &arg;
      continue;
    }
    if (!arg.value.isNumeric() || (arg.value.isData() && !hasRegister(arg.value.dtype))) {
      here.error(diag::wrongOperand, arg.range, "an operand of 'ptx'",
                 arg.value.isNumeric() ? registers : "a number or tile", describe(arg.value));
      return SemValue::error();
    }
    operands.push_back({conversions.toData(arg.value, arg.range), arg.range, ""});
  }
  const std::string &code = args[1].value.text;
  if (std::string why = checkTemplate(code, operands.size()); !why.empty()) {
    here.error(diag::badTemplate, args[1].range, why);
    return SemValue::error();
  }
  std::vector<Arg> shaped = operands;
  SemValue meaning;
  if (fallback) {
    mlir::Value value = conversions.toDtype(fallback->value, dtype, fallback->range);
    if (!value)
      return SemValue::error();
    shaped.push_back({ofData(value, dtype), fallback->range, ""});
  }
  if (!shaped.empty() && !conversions.unifyShapes(shaped, range))
    return SemValue::error();
  // The fallback is what the CPU computes; on a GPU it is checked for its type and dropped.
  if (options.target == "cpu") {
    if (fallback)
      return shaped.back().value;
    here.error(diag::noFallback, range)
        .note("add `fallback: e`, an expression that means the same");
    return SemValue::error();
  }
  SmallVector<mlir::Value> inputs;
  for (const Arg &arg : ArrayRef(shaped).take_front(operands.size()))
    inputs.push_back(ssaOf(arg.value));
  ArrayRef<int64_t> shape = shaped.empty() ? ArrayRef<int64_t>() : shaped[0].value.shape();
  Type type = toType(dtype, context);
  if (!shape.empty() && !inputs.empty())
    type = RankedTensorType::get(shape, type);
  mlir::Value result = PtxOp::create(builder, emitter.loc(range), type, code, inputs);
  // Without operands it is the same everywhere.
  return ofData(inputs.empty() ? emitter.emitBroadcast(result, shape, emitter.loc(range)) : result,
                dtype);
}
