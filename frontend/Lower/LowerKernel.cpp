// One instance of a kernel: the tile.kernel operation, its grid and the entry of its body.
//
//   tile.kernel @k params dims constexprs
//     grid { dims and parameters as values; yields the extents }
//     body { the same values again; views; program ids; statements; return }
//
// Both regions have the parameters as arguments, without those that are fixed, in the order of the
// record: the ABI is read off the operation. Values of one region cannot be used in the other, so
// launchValues and the cache of constants are made anew for each.
#include "dialect/AttributeNames.h"
#include "dialect/ProgramNames.h"
#include "dialect/VersionNames.h"
#include "frontend/Lower/KernelEmission.h"
#include "frontend/Lower/Lowering.h"

#include <algorithm>

using namespace mlir;
using namespace tile;
using LaunchExpr = runtime::Expr;

static DType fromRuntime(runtime::Dtype dtype) { return *findDtype(runtime::dtypeName(dtype)); }

/// Until a kernel is begun, and after it, code goes into a block that belongs to no module: checks
/// evaluate expressions, some of which emit.
KernelEmission::KernelEmission(Lowering &lowering, ModuleOp module)
    : LowerPart(lowering), module(module), scratch(std::make_unique<Block>()) {
  here.onDeclare = [this](StringRef name, const SemValue &value, Range range) {
    debugCalls.probe(name, value, range);
  };
  emitter.entry = scratch.get();
  builder.setInsertionPointToEnd(emitter.entry);
}

KernelEmission::~KernelEmission() {
  // What was emitted here was only looked at: drop uses before definitions.
  scratch->dropAllReferences();
  scratch->clear();
}

/// The same arithmetic as the launcher's (manifest/Expr.h), in 64 bits: grid and extents agree with
/// what was checked.
mlir::Value KernelEmission::emitLaunchExpr(const LaunchExpr &expr, Location location) {
  using Op = LaunchExpr::Op;
  if (expr.isInteger())
    return emitter.constantIndex(expr.getInteger(), location);
  if (expr.isName())
    return launchValues[expr.getName()];
  SmallVector<mlir::Value> x;
  for (const LaunchExpr &operand : expr.getOperands())
    x.push_back(emitLaunchExpr(operand, location));
  switch (expr.getOp()) {
  case Op::Add:
    return emitter.emitBinary(ast::BinaryOp::add, x[0], x[1], DType::Index, location);
  case Op::Sub:
    return emitter.emitBinary(ast::BinaryOp::sub, x[0], x[1], DType::Index, location);
  case Op::Mul:
    return emitter.emitBinary(ast::BinaryOp::mul, x[0], x[1], DType::Index, location);
  case Op::Div:
    return emitter.emitDivision(x[0], x[1], DType::Index, false, location);
  case Op::Rem:
    return emitter.emitDivision(x[0], x[1], DType::Index, true, location);
  case Op::CeilDiv:
    return emitter.emitCeilDivision(x[0], x[1], DType::Index, location);
  case Op::Min:
    return builder.createOrFold<arith::MinSIOp>(location, x[0], x[1]);
  case Op::Max:
    return builder.createOrFold<arith::MaxSIOp>(location, x[0], x[1]);
  case Op::NextPow2:
    return emitter.emitNextPow2(x[0], DType::Index, location);
  case Op::Neg:
    return emitter.emitBinary(ast::BinaryOp::sub, emitter.constantIndex(0, location), x[0],
                              DType::Index, location);
  default: // comparisons stand in contracts only, which are not emitted
    return emitter.constantIndex(0, location);
  }
}

/// The attribute of a dimension in the IR; without `opt` a middling size is assumed.
static DimAttr dimAttr(MLIRContext *context, const runtime::Dim &dim) {
  int64_t opt = dim.opt ? *dim.opt : std::clamp<int64_t>(4096, dim.min, dim.max);
  return DimAttr::get(context, dim.name, dim.min, dim.max, opt, dim.multipleOf);
}

/// Starts a region: its entry block with the parameters, and the values known at launch.
void KernelEmission::emitLaunchValues(Block &block, const runtime::Kernel &record, KernelOp op) {
  emitter.entry = &block;
  emitter.constantCache.clear();
  launchValues.clear();
  builder.setInsertionPointToEnd(&block);
  for (const runtime::Dim &dim : record.dims) {
    Range where =
        here.launchNames.count(dim.name) ? here.launchNames[dim.name].declared : kernel.name.range;
    // A fixed dimension is a constant of the kernel, and is neither a `dim` nor an argument.
    if (auto known = checked->fixed.find(dim.name); known != checked->fixed.end()) {
      launchValues[dim.name] = emitter.constantIndex(known->second, emitter.loc(where));
      continue;
    }
    launchValues[dim.name] =
        DimOp::create(builder, emitter.loc(where), builder.getIndexType(), dimAttr(context, dim));
  }
  unsigned i = 0;
  for (const runtime::Param &param : record.params) {
    if (auto known = checked->fixed.find(param.name); known != checked->fixed.end())
      launchValues[param.name] =
          emitter.constantIndex(known->second, emitter.loc(here.launchNames[param.name].declared));
    else if (mlir::Value argument = block.getArgument(i++); here.launchNames.count(param.name))
      launchValues[param.name] =
          emitter.emitCast(argument, fromRuntime(param.dtype), DType::Index,
                           emitter.loc(here.launchNames[param.name].declared));
  }
}

/// Values of the launch that a region did not use were made in vain.
static void eraseUnused(Block &block) {
  for (Operation &each : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&each))
      each.erase();
}

void KernelEmission::emitGrid(KernelOp op, const runtime::Kernel &record) {
  emitLaunchValues(op.getGrid().front(), record, op);
  SmallVector<mlir::Value> extents;
  auto *clause = kernel.clause<ast::GridClause>();
  for (auto [i, extent] : llvm::enumerate(record.grid))
    extents.push_back(emitLaunchExpr(extent, emitter.loc(clause->axes[i].range)));
  YieldOp::create(builder, emitter.loc(clause ? clause->range : kernel.name.range), extents);
  eraseUnused(op.getGrid().front());
}

/// Without strides rows are dense: the last axis has stride 1. `limits` are the extents as values,
/// for ends of ranges that are compared with them.
SemValue KernelEmission::emitView(const runtime::Param &param, const ast::Param &decl,
                                  mlir::Value pointer) {
  Location location = emitter.loc(decl.range);
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
    mlir::Value stride = emitter.constantIndex(1, location);
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

void KernelEmission::emitBody(KernelOp op, const runtime::Kernel &record) {
  Block &block = op.getBody().front();
  emitLaunchValues(block, record, op);
  for (const std::string &name : checked->dimensions)
    // Set without declare(): names of the signature were checked with it, and several versions of
    // the kernel declare them in turn.
    here.frames.front().front()[name] = {ofData(launchValues[name], DType::Index), false,
                                         here.launchNames[name].declared};
  std::map<std::string, std::vector<SemValue>> arrays;
  unsigned i = 0;
  for (const runtime::Param &param : record.params) {
    const ast::Param &decl = sema.getSignature().declOf(param);
    DType dtype = fromRuntime(param.dtype);
    SemValue value;
    // What is fixed keeps its dtype, so that the kernel type-checks with it as without.
    if (checked->fixed.count(param.name))
      value = ofData(
          emitter.emitCast(launchValues[param.name], DType::Index, dtype, emitter.loc(decl.range)),
          dtype);
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
    here.frames.front().front()[decl.name.text] = {value, false, decl.name.range};
  }
  for (const ast::Param &param : kernel.params)
    if (param.access != ast::Access::none && here.dropped.count(param.name.text))
      here.frames.front().front()[param.name.text] = {SemValue::ofNone(param.name.text), false,
                                                      param.name.range};
  if (auto *grid = kernel.clause<ast::GridClause>())
    for (auto [i, axis] : llvm::enumerate(grid->axes)) {
      mlir::Value id = ProgramIdOp::create(builder, emitter.loc(axis.range), builder.getIndexType(),
                                           builder.getI64IntegerAttr(i));
      here.declare(axis.name, ofData(id, DType::Index));
    }
  splitLoops.splitLoop = Range();
  (void)control.lowerBlock(kernel.body, FlowNeeds(), /*isKernelBody=*/true);
  ReturnOp::create(
      builder, emitter.loc(kernel.body.range.isValid() ? kernel.body.range : kernel.name.range));
  eraseUnused(block);
}

/// `fp(…)`: what every float operation of the kernel may do.
/// At the end, over all operations at once, so that no emitter has to think of it.
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

/// False after an error, which is reported; the module may then hold half a kernel, and is dropped.
bool KernelEmission::run(const Instance &instance, const Variant &variant,
                         runtime::Kernel &record) {
  unsigned errors = here.reported;
  std::optional<CheckedKernel> version = sema.check(instance, variant);
  if (!version)
    return false;
  record = version->record;
  checked = &*version;

  SmallVector<Attribute> paramAttrs, dimAttrs, constexprs;
  SmallVector<Type> types;
  SmallVector<Location> locations;
  for (const runtime::Param &param : record.params) {
    if (checked->fixed.count(param.name))
      continue;
    bool isTensor = param.kind == runtime::Param::Kind::Tensor;
    Access access = !isTensor                              ? Access::Scalar
                    : param.access == runtime::Access::In  ? Access::In
                    : param.access == runtime::Access::Out ? Access::Out
                                                           : Access::InOut;
    paramAttrs.push_back(ParamAttr::get(context, param.name, access, isTensor ? param.align : 1));
    Type element = toType(fromRuntime(param.dtype), context);
    types.push_back(isTensor ? Type(PointerType::get(context, element)) : element);
    locations.push_back(emitter.loc(sema.getSignature().declOf(param).name.range));
  }
  for (const runtime::Dim &dim : record.dims) {
    if (checked->fixed.count(dim.name))
      continue;
    dimAttrs.push_back(dimAttr(context, dim));
  }
  for (auto [param, value] : llvm::zip(kernel.statics, instance.values)) {
    Attribute attr;
    if (value.isBoolNumber())
      attr = builder.getBoolAttr(value.getBool());
    else if (value.isInt())
      attr = builder.getI64IntegerAttr(value.getInt());
    else if (value.isFloatNumber())
      attr = builder.getF64FloatAttr(toDouble(value.number));
    else if (value.isDtype())
      attr = TypeAttr::get(toType(value.dtype, context));
    else
      attr = builder.getStringAttr(value.isFunction() ? value.function->name() : value.text);
    constexprs.push_back(ConstexprAttr::get(context, param.name.text, attr));
  }

  builder.setInsertionPointToEnd(module.getBody());
  auto op = KernelOp::create(builder, emitter.loc(kernel.name.range), record.symbol,
                             builder.getArrayAttr(paramAttrs), builder.getArrayAttr(dimAttrs),
                             builder.getArrayAttr(constexprs));
  for (const AttributeValue &attribute : version->attributes)
    op->setAttr(attribute.name, toAttribute(attribute, builder));
  if (kernel.clause<ast::TuneClause>())
    op->setAttr(tunedName, builder.getUnitAttr());
  SmallVector<StringRef> guessed;
  for (const runtime::Dim &dim : record.dims)
    if (!dim.opt && dim.min != dim.max && !checked->fixed.count(dim.name))
      guessed.push_back(dim.name);
  if (!guessed.empty())
    op->setAttr(guessedName, builder.getStrArrayAttr(guessed));
  // Scalars that the grid, loops and positions hang on; without `opt` a middling size is assumed.
  SmallVector<NamedAttribute> hints;
  for (const runtime::Param &param : record.params)
    if (param.kind == runtime::Param::Kind::Scalar && param.min &&
        !checked->fixed.count(param.name)) {
      auto said = checked->scalarHints.find(param.name);
      int64_t hint = said != checked->scalarHints.end()
                         ? said->second
                         : std::clamp<int64_t>(4096, *param.min, *param.max);
      hints.push_back(builder.getNamedAttr(param.name, builder.getI64IntegerAttr(hint)));
    }
  if (!hints.empty())
    op->setAttr(hintsName, builder.getDictionaryAttr(hints));
  SmallVector<NamedAttribute> uneven;
  for (const auto &[name, divisor] : checked->uneven)
    uneven.push_back(builder.getNamedAttr(name, builder.getI64IntegerAttr(divisor)));
  if (!uneven.empty())
    op->setAttr(unevenName, builder.getDictionaryAttr(uneven));
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
  emitter.entry = scratch.get();
  builder.setInsertionPointToEnd(emitter.entry);
  emitter.constantCache.clear();
  checked = nullptr;
  return here.reported == errors;
}
