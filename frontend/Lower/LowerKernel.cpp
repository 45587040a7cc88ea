// One instance of a kernel: the tile.kernel operation, its grid and the entry of its body.
#include "dialect/AttributeNames.h"
#include "dialect/ProgramNames.h"
#include "frontend/Lower/Elaborator.h"

#include <algorithm>

using namespace mlir;
using namespace tile;
using LaunchExpr = runtime::Expr;

static DType fromRuntime(runtime::Dtype dtype) { return *findDtype(runtime::dtypeName(dtype)); }

mlir::Value Elaborator::emitLaunchExpr(const LaunchExpr &expr, Location location) {
  using Op = LaunchExpr::Op;
  if (expr.isInteger())
    return constantIndex(expr.getInteger(), location);
  if (expr.isName())
    return launchValues[expr.getName()];
  SmallVector<mlir::Value> x;
  for (const LaunchExpr &operand : expr.getOperands())
    x.push_back(emitLaunchExpr(operand, location));
  switch (expr.getOp()) {
  case Op::Add:
    return emitBinary(ast::BinaryOp::add, x[0], x[1], DType::Index, location);
  case Op::Sub:
    return emitBinary(ast::BinaryOp::sub, x[0], x[1], DType::Index, location);
  case Op::Mul:
    return emitBinary(ast::BinaryOp::mul, x[0], x[1], DType::Index, location);
  case Op::Div:
    return emitDivision(x[0], x[1], DType::Index, false, location);
  case Op::Rem:
    return emitDivision(x[0], x[1], DType::Index, true, location);
  case Op::CeilDiv:
    return emitCeilDivision(x[0], x[1], DType::Index, location);
  case Op::Min:
    return builder.createOrFold<arith::MinSIOp>(location, x[0], x[1]);
  case Op::Max:
    return builder.createOrFold<arith::MaxSIOp>(location, x[0], x[1]);
  case Op::NextPow2:
    return emitNextPow2(x[0], DType::Index, location);
  case Op::Neg:
    return emitBinary(ast::BinaryOp::sub, constantIndex(0, location), x[0], DType::Index, location);
  default: // comparisons stand in contracts only, which are not emitted
    return constantIndex(0, location);
  }
}

/// The attribute of a dimension in the IR; without `opt` a middling size is assumed.
static DimAttr dimAttr(MLIRContext *context, const runtime::Dim &dim) {
  int64_t opt = dim.opt ? *dim.opt : std::clamp<int64_t>(4096, dim.min, dim.max);
  return DimAttr::get(context, dim.name, dim.min, dim.max, opt, dim.multipleOf);
}

/// Starts a region: its entry block with the parameters, and the values known at launch.
void Elaborator::emitLaunchValues(Block &block, const runtime::Kernel &record, KernelOp op) {
  entry = &block;
  constantCache.clear();
  launchValues.clear();
  builder.setInsertionPointToEnd(&block);
  for (const runtime::Dim &dim : record.dims) {
    Range where = launchNames.count(dim.name) ? launchNames[dim.name].declared : kernel.name.range;
    if (auto known = fixed.find(dim.name); known != fixed.end()) {
      launchValues[dim.name] = constantIndex(known->second, loc(where));
      continue;
    }
    launchValues[dim.name] =
        DimOp::create(builder, loc(where), builder.getIndexType(), dimAttr(context, dim));
  }
  unsigned i = 0;
  for (const runtime::Param &param : record.params) {
    if (auto known = fixed.find(param.name); known != fixed.end())
      launchValues[param.name] =
          constantIndex(known->second, loc(launchNames[param.name].declared));
    else if (mlir::Value argument = block.getArgument(i++); launchNames.count(param.name))
      launchValues[param.name] = emitCast(argument, fromRuntime(param.dtype), DType::Index,
                                          loc(launchNames[param.name].declared));
  }
}

/// Values of the launch that a region did not use were made in vain.
static void eraseUnused(Block &block) {
  for (Operation &each : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&each))
      each.erase();
}

void Elaborator::emitGrid(KernelOp op, const runtime::Kernel &record) {
  emitLaunchValues(op.getGrid().front(), record, op);
  SmallVector<mlir::Value> extents;
  auto *clause = kernel.clause<ast::GridClause>();
  for (auto [i, extent] : llvm::enumerate(record.grid))
    extents.push_back(emitLaunchExpr(extent, loc(clause->axes[i].range)));
  YieldOp::create(builder, loc(clause ? clause->range : kernel.name.range), extents);
  eraseUnused(op.getGrid().front());
}

SemValue Elaborator::emitView(const runtime::Param &param, const ast::Param &decl,
                              mlir::Value pointer) {
  Location location = loc(decl.range);
  ViewValue view;
  view.dtype = fromRuntime(param.dtype);
  view.param = &decl;
  for (const LaunchExpr &dim : param.dims) {
    view.shape.push_back(dim.isInteger() ? dim.getInteger() : ShapedType::kDynamic);
    view.limits.push_back(emitLaunchExpr(dim, location));
    view.windows.push_back(nullptr);
  }
  SmallVector<mlir::Value> strides(param.dims.size());
  if (param.strides) {
    for (auto [axis, stride] : llvm::enumerate(*param.strides))
      strides[axis] = stride ? emitLaunchExpr(*stride, location)
                             : launchValues[param.name + ".stride." + std::to_string(axis)];
  } else {
    mlir::Value stride = constantIndex(1, location);
    for (size_t axis = param.dims.size(); axis-- > 0;) {
      strides[axis] = stride;
      if (axis)
        stride = builder.createOrFold<arith::MulIOp>(location, stride, view.limits[axis]);
    }
  }
  auto type = ViewType::get(context, view.shape, toType(view.dtype, context));
  view.ssa = ViewOp::create(builder, location, type, pointer, view.limits, strides);
  return ofView(std::move(view));
}

void Elaborator::emitBody(KernelOp op, const runtime::Kernel &record) {
  Block &block = op.getBody().front();
  emitLaunchValues(block, record, op);
  for (const std::string &name : dimOrder)
    frames.front().front()[name] = {ofData(launchValues[name], DType::Index), false,
                                    launchNames[name].declared};
  std::map<std::string, std::vector<SemValue>> arrays;
  unsigned i = 0;
  for (const runtime::Param &param : record.params) {
    const ast::Param &decl = declOf(param);
    DType dtype = fromRuntime(param.dtype);
    SemValue value;
    // What is fixed keeps its dtype, so that the kernel type-checks with it as without.
    if (fixed.count(param.name))
      value = ofData(
          emitCast(launchValues[param.name], DType::Index, dtype, loc(decl.range)), dtype);
    else if (mlir::Value argument = block.getArgument(i++);
             param.kind == runtime::Param::Kind::Tensor)
      value = emitView(param, decl, argument);
    else
      value = ofData(argument, dtype);
    if (decl.count) { // an array is a tuple of its tensors
      std::vector<SemValue> &tensors = arrays[decl.name.text];
      tensors.push_back(value);
      value = SemValue::ofTuple(tensors);
    }
    frames.front().front()[decl.name.text] = {value, false, decl.name.range};
  }
  for (const ast::Param &param : kernel.params)
    if (param.access != ast::Access::none && dropped.count(param.name.text))
      frames.front().front()[param.name.text] = {SemValue::ofNone(param.name.text), false,
                                                 param.name.range};
  if (auto *grid = kernel.clause<ast::GridClause>())
    for (auto [i, axis] : llvm::enumerate(grid->axes)) {
      mlir::Value id = ProgramIdOp::create(builder, loc(axis.range), builder.getIndexType(),
                                           builder.getI64IntegerAttr(i));
      declare(axis.name, ofData(id, DType::Index));
    }
  splitLoop = Range();
  (void)lowerBlock(kernel.body, FlowNeeds(), /*isKernelBody=*/true);
  ReturnOp::create(builder,
                   loc(kernel.body.range.isValid() ? kernel.body.range : kernel.name.range));
  eraseUnused(block);
}

/// `fp(…)`: what every float operation of the kernel may do.
static void setFastMath(KernelOp op, StringRef mode) {
  using Flags = arith::FastMathFlags;
  Flags flags = Flags::contract;
  if (mode == "fast") // honours NaN and infinities
    flags = Flags::contract | Flags::reassoc | Flags::afn | Flags::arcp | Flags::nsz;
  auto attr = arith::FastMathFlagsAttr::get(op.getContext(), flags);
  op.getBody().walk([&](Operation *each) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(each)) // a conversion that is written rounds
      return;
    if (auto math = dyn_cast<arith::ArithFastMathInterface>(each))
      each->setAttr(math.getFastMathAttrName(), attr);
  });
}

bool Elaborator::elaborateInstance(const Instance &instance, const Variant &variant,
                                   runtime::Kernel &record) {
  unsigned errors = reported;
  (void)chooseConfig();
  for (auto [param, value] : llvm::zip(kernel.statics, instance.values))
    declare(param.name, value);
  record.name = kernel.name.text;
  record.symbol = instance.symbol;
  record.file = sources.name(kernel.range.file).str();
  record.line = sources.begin(kernel.range).line;
  record.doc = kernel.doc;
  SmallVector<NamedAttribute> attributes;
  bool valid = reported == errors && readSignature(record);
  valid = valid && readContracts(record) && checkTuneKeys();
  for (const ArgItem &item : options.arguments)
    valid = valid && applyItem(item, /*isDispatched=*/false, record);
  valid = valid && applyVariant(variant, record) && readGrid(record);
  valid = readKernelAttributes(attributes) && valid;
  if (!valid)
    return false;

  SmallVector<Attribute> paramAttrs, dimAttrs, constexprs;
  SmallVector<Type> types;
  SmallVector<Location> locations;
  for (const runtime::Param &param : record.params) {
    if (fixed.count(param.name))
      continue;
    bool isTensor = param.kind == runtime::Param::Kind::Tensor;
    Access access = !isTensor                              ? Access::Scalar
                    : param.access == runtime::Access::In  ? Access::In
                    : param.access == runtime::Access::Out ? Access::Out
                                                           : Access::InOut;
    paramAttrs.push_back(ParamAttr::get(context, param.name, access, isTensor ? param.align : 1));
    Type element = toType(fromRuntime(param.dtype), context);
    types.push_back(isTensor ? Type(PointerType::get(context, element)) : element);
    locations.push_back(loc(declOf(param).name.range));
    record.arguments.push_back({runtime::Argument::Kind::Param, param.name});
  }
  for (const runtime::Dim &dim : record.dims) {
    if (fixed.count(dim.name))
      continue;
    dimAttrs.push_back(dimAttr(context, dim));
    record.arguments.push_back({runtime::Argument::Kind::Dim, dim.name});
  }
  for (auto [param, value] : llvm::zip(kernel.statics, instance.values)) {
    Attribute attr;
    runtime::Constant recorded;
    if (value.isBoolNumber()) {
      attr = builder.getBoolAttr(value.getBool());
      recorded = value.getBool();
    } else if (value.isInt()) {
      attr = builder.getI64IntegerAttr(value.getInt());
      recorded = value.getInt();
    } else if (value.isFloatNumber()) {
      attr = builder.getF64FloatAttr(toDouble(value.number));
      recorded = toDouble(value.number);
    } else if (value.isDtype()) {
      attr = TypeAttr::get(toType(value.dtype, context));
      recorded = dtypeSpelling(value.dtype).str();
    } else {
      std::string text = value.isFunction() ? value.function->name() : value.text;
      attr = builder.getStringAttr(text);
      recorded = text;
    }
    constexprs.push_back(ConstexprAttr::get(context, param.name.text, attr));
    record.constants.push_back({param.name.text, recorded});
  }

  builder.setInsertionPointToEnd(module.getBody());
  auto op = KernelOp::create(builder, loc(kernel.name.range), record.symbol,
                             builder.getArrayAttr(paramAttrs), builder.getArrayAttr(dimAttrs),
                             builder.getArrayAttr(constexprs));
  for (NamedAttribute attribute : attributes)
    op->setAttr(attribute.getName(), attribute.getValue());
  // Scalars that the grid, loops and positions hang on; without `opt` a middling size is assumed.
  SmallVector<NamedAttribute> hints;
  for (const runtime::Param &param : record.params)
    if (param.kind == runtime::Param::Kind::Scalar && param.min && !fixed.count(param.name)) {
      auto said = scalarHints.find(param.name);
      int64_t hint = said != scalarHints.end() ? said->second
                                               : std::clamp<int64_t>(4096, *param.min, *param.max);
      hints.push_back(builder.getNamedAttr(param.name, builder.getI64IntegerAttr(hint)));
    }
  if (!hints.empty())
    op->setAttr(hintsName, builder.getDictionaryAttr(hints));
  if (!record.aliases.empty()) {
    SmallVector<Attribute> pairs;
    for (const auto &[first, second] : record.aliases)
      pairs.push_back(builder.getStrArrayAttr({first, second}));
    op->setAttr(mayAliasName, builder.getArrayAttr(pairs));
  }
  for (Region *region : {&op.getGrid(), &op.getBody()})
    region->emplaceBlock().addArguments(types, locations);
  emitGrid(op, record);
  emitBody(op, record);
  if (auto mode = op->getAttrOfType<StringAttr>(floatModeName); mode && mode != "strict")
    setFastMath(op, mode);
  entry = scratch.get();
  builder.setInsertionPointToEnd(entry);
  constantCache.clear();
  return reported == errors;
}
