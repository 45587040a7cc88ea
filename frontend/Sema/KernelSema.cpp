// The order of the checks of one kernel.
#include "frontend/Sema/KernelSema.h"

using namespace llvm;
using namespace tile;

KernelSema::KernelSema(Evaluator &evaluator)
    : evaluator(evaluator), here(evaluator.here), statics(evaluator), launchExprs(evaluator),
      tuning(evaluator, statics, launchExprs), signature(evaluator, launchExprs),
      contracts(evaluator, launchExprs, signature), variants(evaluator, launchExprs, contracts),
      attributes(evaluator, statics) {}

std::vector<Instance> KernelSema::chooseInstances() {
  std::vector<Instance> instances;
  unsigned errors = here.reported;
  // Constants that nothing uses are checked too.
  for (const ast::DeclPtr &decl : here.modules.getMain().program->decls)
    if (auto *constant = dyn_cast<ast::ConstDecl>(decl.get()))
      (void)evaluator.evalConstant(*constant);
  if (here.reported == errors && tuning.check())
    instances = statics.bindAll();
  if (here.reported != errors)
    instances.clear();
  return instances;
}

/// The order of the ABI's arguments, and the values of the compile-time parameters.
void KernelSema::listArguments(CheckedKernel &checked) const {
  runtime::Kernel &record = checked.record;
  for (const runtime::Param &param : record.params)
    if (!checked.fixed.count(param.name))
      record.arguments.push_back({runtime::Argument::Kind::Param, param.name});
  for (const runtime::Dim &dim : record.dims)
    if (!checked.fixed.count(dim.name))
      record.arguments.push_back({runtime::Argument::Kind::Dim, dim.name});
  for (auto [param, value] : llvm::zip(here.kernel.statics, checked.statics)) {
    runtime::Constant recorded;
    if (value.isBoolNumber())
      recorded = value.getBool();
    else if (value.isInt())
      recorded = value.getInt();
    else if (value.isFloatNumber())
      recorded = toDouble(value.number);
    else if (value.isDtype())
      recorded = dtypeSpelling(value.dtype).str();
    else
      recorded = value.isFunction() ? value.function->name() : value.text;
    record.constants.push_back({param.name.text, recorded});
  }
}

std::optional<CheckedKernel> KernelSema::check(const Instance &instance, const Variant &variant) {
  unsigned errors = here.reported;
  const ast::KernelDecl &kernel = here.kernel;
  for (auto [param, value] : llvm::zip(kernel.statics, instance.values))
    here.declare(param.name, value);
  CheckedKernel checked;
  runtime::Kernel &record = checked.record;
  record.name = kernel.name.text;
  record.symbol = instance.symbol;
  record.file = here.sources.name(kernel.range.file).str();
  record.line = here.sources.begin(kernel.range).line;
  record.doc = kernel.doc;
  bool valid = here.reported == errors && signature.read(record);
  valid = valid && contracts.read(record) && tuning.checkKeys();
  for (const ArgItem &item : here.options.arguments)
    valid = valid && variants.applyItem(item, /*isDispatched=*/false, record);
  valid = valid && variants.apply(variant, record) && signature.readGrid(record);
  valid = attributes.readKernelAttributes(checked.attributes) && valid;
  if (!valid)
    return std::nullopt;
  checked.statics = instance.values;
  checked.dimensions = signature.getDimensions();
  checked.fixed = variants.getFixed();
  checked.scalarHints = contracts.getScalarHints();
  if (variant.isGeneric())
    checked.uneven = variants.findUneven();
  listArguments(checked);
  return checked;
}
