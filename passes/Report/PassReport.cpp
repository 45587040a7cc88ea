// Compares kernels and loops before and after each pass, and joins what passes say themselves.
#include "passes/Report/PassReport.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Report/Declined.h"
#include "passes/Report/KernelRemark.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;
using namespace llvm;

namespace tile {

namespace {

/// A kernel, or a loop of the source in it. Copies that passes make of a loop keep its location,
/// and count as that loop.
struct Subject {
  std::string kernel;
  std::optional<Location> loop;
  bool operator<(const Subject &other) const {
    return std::tuple(kernel, asPointer()) < std::tuple(other.kernel, other.asPointer());
  }
  const void *asPointer() const { return loop ? loop->getAsOpaquePointer() : nullptr; }
};

/// The text of each subject's operations, which is equal where nothing changed.
using Texts = std::map<Subject, std::string>;

void addText(Texts &texts, const Subject &subject, Operation *op) {
  raw_string_ostream stream(texts[subject]);
  // Local scope keeps attributes in the text: two prints are equal just if the operations are.
  op->print(stream, OpPrintingFlags().useLocalScope().skipRegions(false).assumeVerified());
}

Texts readTexts(ModuleOp module) {
  Texts texts;
  for (KernelOp kernel : module.getOps<KernelOp>()) {
    std::string name = kernel.getSymName().str();
    addText(texts, {name, std::nullopt}, kernel);
    // A loop in a loop is in the text of both: a change inside is one of the outer loop, too.
    kernel.getBody().walk<WalkOrder::PreOrder>(
        [&](LoopLikeOpInterface loop) { addText(texts, {name, loop->getLoc()}, loop); });
  }
  return texts;
}

/// The effect of a pass on one subject.
struct Outcome {
  bool changed = false;
  std::string reason; ///< the pass's own, the first for this subject in each run
};

} // namespace

class PassRecord {
public:
  struct Entry {
    StringRef pass;
    std::map<Subject, Outcome> outcomes;
  };

  void begin(StringRef pass, ModuleOp module) {
    before = readTexts(module);
    // Subjects are those of the first pass: later copies of a loop have its location and count as
    // it.
    if (subjects.empty())
      collectSubjects(module);
    // A pass that runs twice is one entry.
    current = size_t(find_if(entries, [&](const Entry &entry) { return entry.pass == pass; }) -
                     entries.begin());
    if (current == entries.size())
      entries.push_back({pass, {}});
    heard.clear();
    running = true;
  }

  void end(ModuleOp module) {
    Texts after = readTexts(module);
    for (const Subject &subject : subjects)
      if (before[subject] != after[subject])
        entries[current].outcomes[subject].changed = true;
    running = false;
  }

  // Of several reasons for one subject in one run the first counts: passes decline from the general
  // to the special.
  void decline(const Subject &subject, std::string reason) {
    if (!running || !heard.insert(subject).second)
      return;
    std::string &kept = entries[current].outcomes[subject].reason;
    kept += (kept.empty() ? "" : "; ") + reason;
  }

  ArrayRef<Subject> getSubjects() const { return subjects; }
  ArrayRef<Entry> getEntries() const { return entries; }

private:
  /// Kernels and loops in the order of the program.
  void collectSubjects(ModuleOp module) {
    for (KernelOp kernel : module.getOps<KernelOp>()) {
      std::string name = kernel.getSymName().str();
      subjects.push_back({name, std::nullopt});
      SmallPtrSet<const void *, 8> seen;
      kernel.getBody().walk<WalkOrder::PreOrder>([&](LoopLikeOpInterface loop) {
        if (seen.insert(loop->getLoc().getAsOpaquePointer()).second)
          subjects.push_back({name, loop->getLoc()});
      });
    }
  }

  std::vector<Subject> subjects;
  std::vector<Entry> entries;
  Texts before;
  std::set<Subject> heard; ///< about which the running pass has given its reason
  size_t current = 0;      ///< the running pass's entry
  bool running = false;
};

/// Sees each pass begin and end.
class PassReport::Watcher : public PassInstrumentation {
public:
  explicit Watcher(std::shared_ptr<PassRecord> record) : record(std::move(record)) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    if (auto module = getModule(pass, op))
      record->begin(pass->getArgument(), module);
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    if (auto module = getModule(pass, op))
      record->end(module);
  }

private:
  /// Null for cleaning up between passes, which decides nothing.
  static ModuleOp getModule(Pass *pass, Operation *op) {
    return pass->getArgument().starts_with("tile-") ? dyn_cast<ModuleOp>(op) : ModuleOp();
  }
  std::shared_ptr<PassRecord> record;
};

/// Hears what passes decline.
class PassReport::Listener : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit Listener(std::shared_ptr<PassRecord> record) : record(std::move(record)) {}

  void streamOptimizationRemark(const remark::detail::Remark &said) override {
    std::string reason, kernel = said.getFunction().str();
    for (const remark::detail::Remark::Arg &part : said.getArgs())
      reason += part.val;
    bool isLoop = said.getCombinedCategoryName().ends_with(loopCategory);
    record->decline({kernel, isLoop ? std::optional(said.getLocation()) : std::nullopt},
                    std::move(reason));
  }

private:
  std::shared_ptr<PassRecord> record;
};

PassReport::PassReport(MLIRContext &context) : record(std::make_shared<PassRecord>()) {
  remark::RemarkCategories categories;
  categories.missed = passCategory.str();
  // Fails for streams to files alone, of which there are none.
  (void)remark::enableOptimizationRemarks(context, std::make_unique<Listener>(record),
                                          std::make_unique<remark::RemarkEmittingPolicyAll>(),
                                          categories);
}

PassReport::~PassReport() = default;

void PassReport::watch(PassManager &passes) {
  passes.addInstrumentation(std::make_unique<Watcher>(record));
}

/// Why the pass left the subject as it is; what it says of a kernel holds for the kernel's loops.
static std::string explain(const PassCondition &condition, const PassRecord::Entry &entry,
                           const Subject &subject) {
  for (const Subject &each : {subject, Subject{subject.kernel, std::nullopt}})
    if (auto found = entry.outcomes.find(each);
        found != entry.outcomes.end() && !found->second.reason.empty())
      return found->second.reason;
  return "it takes " + condition.takes.str();
}

/// The schedules of what has become of a loop of the source, in words.
/// Each different schedule once, in the order of the module.
static std::vector<std::string> describeSchedules(ModuleOp module, const Subject &subject) {
  std::vector<std::string> found;
  module.walk([&](LoopLikeOpInterface loop) {
    auto schedule = loop->getAttrOfType<gpu::ScheduleAttr>(gpu::ScheduleAttr::name);
    auto kernel = loop->getParentOfType<KernelOp>();
    if (!schedule || loop->getLoc() != *subject.loop || kernel.getSymName() != subject.kernel)
      return;
    if (std::string text = schedule.describe(); !is_contained(found, text))
      found.push_back(std::move(text));
  });
  return found;
}

/// A kernel that a pass has removed has nothing to say.
void PassReport::emit(ModuleOp module) const {
  std::map<std::string, KernelOp> kernels;
  for (KernelOp kernel : module.getOps<KernelOp>())
    kernels.emplace(kernel.getSymName(), kernel);
  for (const Subject &subject : record->getSubjects()) {
    auto kernel = kernels.find(subject.kernel);
    if (kernel == kernels.end())
      continue;
    SmallVector<std::string> changed, others;
    for (const PassRecord::Entry &entry : record->getEntries()) {
      const auto *condition = find_if(
          getPassConditions(), [&](const PassCondition &each) { return each.pass == entry.pass; });
      auto found = entry.outcomes.find(subject);
      const Outcome *outcome = found == entry.outcomes.end() ? nullptr : &found->second;
      // What every kernel goes through is of interest where it could not do all.
      bool isDecision = condition != getPassConditions().end();
      if (outcome && outcome->changed) {
        if (isDecision)
          changed.push_back(entry.pass.str());
        if (!outcome->reason.empty())
          others.push_back(entry.pass.str() + " did no more: " + outcome->reason);
      } else if (!isDecision)
        continue;
      else if (!subject.loop || condition->concernsLoops)
        others.push_back(entry.pass.str() + " did not: " + explain(*condition, entry, subject));
    }
    InFlightDiagnostic remark = nameKernel(
        emitRemark(subject.loop ? *subject.loop : kernel->second.getLoc()), kernel->second);
    remark << (subject.loop ? "a loop of kernel '" : "kernel '") << subject.kernel
           << "' was changed by " << (changed.empty() ? "no pass" : join(changed, ", "))
           << " [R0602]";
    if (subject.loop)
      for (const std::string &schedule : describeSchedules(module, subject))
        remark.attachNote(UnknownLoc::get(module.getContext())) << "schedule: " << schedule;
    for (const std::string &other : others)
      remark.attachNote(UnknownLoc::get(module.getContext())) << other;
  }
}

} // namespace tile
