// Chooses the configuration of one version of a kernel: every candidate of `tune` is elaborated on
// the side and rated.
//
//   readTuneSpace     configurations: the default first, then the clause's
//   groups            by compile-time parameters: what differs in attributes alone is emitted once
//   elaborate, rate   each group on the side; its kernel is erased again
//   sort              by milliseconds, then by the order of the clause
//   settleTies        by larger and smaller extents, where nobody has said which they will be
//
// Nothing here is reported (`quiet`): a candidate that cannot be elaborated is rated infinite.
#include "frontend/Lower/ChooseConfig.h"

#include <algorithm>
#include <limits>
#include <tuple>

using namespace mlir;
using namespace tile;

namespace {

/// Elaborations of one choice at most. Of larger spaces every n-th member is looked at.
constexpr size_t mostElaborations = 256;

/// Choices that the model holds for as good: closer than this it tells nothing.
constexpr double closeCall = 1.02;

class Chooser {
public:
  Chooser(const Modules &modules, const ast::KernelDecl &kernel, const ElaborateOptions &options,
          const SourceManager &sources, MLIRContext *context, const Instance &instance,
          const Variant &variant)
      : modules(modules), kernel(kernel), options(options), quiet(sources),
        module(ModuleOp::create(UnknownLoc::get(context))), symbol(instance.symbol),
        variant(variant) {}

  std::optional<ConfigChoice> run(const Instance &instance);

private:
  /// Emits the version under a configuration; null if it cannot be.
  KernelOp elaborate(const TuneConfig &config, runtime::Kernel &record);
  bool readExtents();
  void settleTies();
  std::vector<double> rateAt(const TuneConfig &config,
                             llvm::ArrayRef<std::map<std::string, int64_t>> shapes);
  /// The part of a configuration that decides what is emitted; the rest are attributes of the
  /// kernel.
  TuneConfig getParameters(const TuneConfig &config) const;

  const Modules &modules;
  const ast::KernelDecl &kernel;
  ElaborateOptions options;
  tile::DiagnosticEngine quiet;
  OwningOpRef<ModuleOp> module;
  std::string symbol;
  const Variant &variant;
  ConfigChoice choice;
  /// Contracts of the dimensions of which nobody has said how long they will be.
  std::map<std::string, std::pair<int64_t, int64_t>> open;
};

/// By symbol: instances are made anew under the configuration.
KernelOp Chooser::elaborate(const TuneConfig &config, runtime::Kernel &record) {
  ElaborateOptions own = options;
  own.config.insert(own.config.end(), config.begin(), config.end());
  for (const Instance &instance :
       Elaborator(modules, kernel, own, quiet, *module).getSema().chooseInstances()) {
    if (instance.symbol != symbol)
      continue;
    if (!Elaborator(modules, kernel, own, quiet, *module)
             .elaborateInstance(instance, variant, record))
      return {};
    auto kernels = module->getOps<KernelOp>();
    KernelOp last;
    for (KernelOp each : kernels)
      last = each;
    return last;
  }
  return {};
}

/// True if a variant's facts allow an extent. Its range may be narrower all the same, by a
/// parameter that is still to be chosen, as in `N in 1..=BLOCK`.
static bool allows(const runtime::Kernel &record, const std::string &name, int64_t extent) {
  runtime::Bindings bindings;
  bindings[name] = extent;
  return llvm::all_of(record.facts, [&](const runtime::Fact &fact) {
    std::string reason;
    std::optional<int64_t> holds =
        fact.param.empty() ? fact.condition.evaluate(bindings, reason) : std::nullopt;
    return !holds || *holds; // without a value it is about other names
  });
}

/// The extents to choose for: what is asked for, of a variant only where its facts allow it, else
/// `opt`.
bool Chooser::readExtents() {
  runtime::Kernel record;
  if (!elaborate({}, record))
    return false;
  for (const runtime::Dim &dim : record.dims) {
    int64_t &extent = choice.extents[dim.name];
    extent = dim.opt ? *dim.opt : std::clamp<int64_t>(4096, dim.min, dim.max);
    open[dim.name] = {dim.min, dim.max};
    for (const auto &[name, asked] : options.extents)
      if (name == dim.name && (variant.isGeneric() || allows(record, name, asked))) {
        extent = asked;
        open.erase(name);
      }
  }
  // Scalars that are not asked for have their hint in the kernel's own attribute.
  for (const runtime::Param &param : record.params)
    for (const auto &[name, asked] : options.extents)
      if (name == param.name && param.min && asked >= *param.min && asked <= *param.max)
        choice.extents[name] = asked;
  return true;
}

/// Milliseconds of a configuration at each of the shapes.
std::vector<double> Chooser::rateAt(const TuneConfig &config,
                                    ArrayRef<std::map<std::string, int64_t>> shapes) {
  std::vector<double> result;
  runtime::Kernel record;
  KernelOp op = elaborate(config, record);
  for (const auto &shape : shapes)
    result.push_back(op ? options.rate(op, shape, {config}).front().milliseconds
                        : std::numeric_limits<double>::infinity());
  if (op)
    op.erase();
  return result;
}

/// An `opt` stands for extents around it. Of choices that the model holds for as good there, the
/// one that does best on the whole when the open extents are twice as long and half as long comes
/// first.
void Chooser::settleTies() {
  auto end = llvm::find_if(choice.rated, [&](const RatedConfig &each) {
    return !(each.milliseconds <= closeCall * choice.rated.front().milliseconds);
  });
  if (open.empty() || end - choice.rated.begin() < 2)
    return;
  std::vector<std::map<std::string, int64_t>> shapes(2, choice.extents);
  for (const auto &[name, bounds] : open) {
    int64_t extent = choice.extents[name];
    shapes[0][name] = std::clamp<int64_t>(2 * extent, bounds.first, bounds.second);
    shapes[1][name] = std::clamp<int64_t>(extent / 2, bounds.first, bounds.second);
  }
  auto best = choice.rated.begin();
  double least = std::numeric_limits<double>::infinity();
  for (auto each = best; each != end; ++each) {
    double product = each->milliseconds;
    for (double milliseconds : rateAt(each->config, shapes))
      product *= milliseconds;
    if (closeCall * product < least) { // less than that tells no more here than there
      least = product;
      best = each;
    }
  }
  std::rotate(choice.rated.begin(), best, std::next(best));
}

TuneConfig Chooser::getParameters(const TuneConfig &config) const {
  TuneConfig result;
  for (const auto &setting : config)
    if (llvm::any_of(kernel.statics, [&](const ast::StaticParam &param) {
          return param.name.text == setting.first;
        }))
      result.push_back(setting);
  return result;
}

std::optional<ConfigChoice> Chooser::run(const Instance &instance) {
  // What arguments bind is known of this version, so that conditions may use it.
  auto deduced =
      Elaborator(modules, kernel, options, quiet, *module).getSema().listDeduced(instance);
  options.defines.insert(options.defines.end(), deduced.begin(), deduced.end());
  std::optional<TuneSpace> space =
      Elaborator(modules, kernel, options, quiet, *module).getSema().readTuneSpace();
  if (!space || space->configs.size() < 2 || !readExtents())
    return std::nullopt;

  // Configurations that emit the same are rated together. The first is what the source has without
  // a choice: nothing.
  std::map<TuneConfig, std::vector<TuneConfig>> groups;
  for (const TuneConfig &config : llvm::drop_begin(space->configs))
    groups[getParameters(config)].push_back(config);
  // Evenly over the space, so that a large space has candidates of each kind.
  size_t step = (groups.size() + mostElaborations - 1) / mostElaborations, number = 0;
  for (const auto &[parameters, configs] : groups) {
    if (number++ % step)
      continue;
    runtime::Kernel record;
    KernelOp op = elaborate(configs.front(), record);
    std::vector<RatedConfig> rated;
    if (op) {
      rated = options.rate(op, choice.extents, configs);
      op.erase();
    } else {
      for (const TuneConfig &config : configs)
        rated.push_back({config, std::numeric_limits<double>::infinity(), "it does not compile"});
    }
    llvm::append_range(choice.rated, rated);
  }
  // Equals in the order of the clause, so that the choice does not hang on anything else.
  std::map<TuneConfig, size_t> order;
  for (const TuneConfig &config : space->configs)
    order.emplace(config, order.size());
  // Looked up once each: a comparison of configurations is one of many texts.
  std::vector<std::tuple<double, size_t, size_t>> keys;
  for (auto [i, each] : llvm::enumerate(choice.rated))
    keys.emplace_back(each.milliseconds, order[each.config], i);
  llvm::sort(keys);
  std::vector<RatedConfig> sorted;
  for (const auto &[milliseconds, place, i] : keys)
    sorted.push_back(std::move(choice.rated[i]));
  choice.rated = std::move(sorted);
  if (choice.rated.empty() ||
      !(choice.rated.front().milliseconds < std::numeric_limits<double>::infinity()))
    return std::nullopt;
  settleTies();
  return choice;
}

} // namespace

std::optional<ConfigChoice>
tile::chooseConfig(const Modules &modules, const ast::KernelDecl &kernel,
                   const ElaborateOptions &options, tile::DiagnosticEngine &diagnostics,
                   MLIRContext *context, const Instance &instance, const Variant &variant) {
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(UnknownLoc::get(context));
  if (!options.rate || !kernel.clause<ast::TuneClause>() ||
      Elaborator(modules, kernel, options, diagnostics, *scratch).getSema().hasConfig())
    return std::nullopt;
  return Chooser(modules, kernel, options, diagnostics.sources(), context, instance, variant)
      .run(instance);
}
