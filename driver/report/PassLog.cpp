// The effect of each pass, by fingerprints and counts of the operations around it.
#include "driver/report/PassLog.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Pass/Pass.h"
#include <optional>

using namespace llvm;

namespace tile::report {

OpCounts countOps(mlir::Operation *root) {
  OpCounts counts;
  root->walk([&](mlir::Operation *op) { ++counts[op->getName().getStringRef().str()]; });
  return counts;
}

class PassWatcher : public mlir::PassInstrumentation {
public:
  PassWatcher(PassLog &log, StringRef stage) : log(log), stage(stage) {}

  void runBeforePass(mlir::Pass *pass, mlir::Operation *op) override {
    if (pass->getArgument().empty()) // an adaptor that runs others
      return;
    if (log.before)
      log.before(pass->getArgument(), op);
    print.emplace(op);
    counts = countOps(op);
  }

  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override {
    if (pass->getArgument().empty() || !print)
      return;
    PassRun run{stage, pass->getArgument().str(), *print != mlir::OperationFingerPrint(op), {}};
    run.difference = countOps(op);
    for (const auto &[name, count] : counts)
      run.difference[name] -= count;
    for (auto each = run.difference.begin(); each != run.difference.end();)
      each = each->second == 0 ? run.difference.erase(each) : std::next(each);
    log.runs.push_back(std::move(run));
    print.reset();
  }

private:
  PassLog &log;
  std::string stage;
  std::optional<mlir::OperationFingerPrint> print;
  OpCounts counts;
};

std::unique_ptr<mlir::PassInstrumentation> PassLog::watch(StringRef stage) {
  return std::make_unique<PassWatcher>(*this, stage);
}

json::Array PassLog::toJson() const {
  json::Array all;
  for (const PassRun &run : runs) {
    json::Object difference;
    for (const auto &[name, count] : run.difference)
      difference[name] = count;
    all.push_back(json::Object{{"stage", run.stage},
                               {"pass", run.pass},
                               {"changed", run.changed},
                               {"difference", std::move(difference)}});
  }
  return all;
}

} // namespace tile::report
