// A small machine on which a block's program is played: who copies, computes and waits when, by
// rates. It shows what overlaps, and promises no time.
#ifndef TILE_DRIVER_REPORT_TIMELINE_H
#define TILE_DRIVER_REPORT_TIMELINE_H

#include "dialect/TileGPU/TileGPUDialect.h"
#include "driver/report/KernelReport.h"
#include <deque>

namespace tile::report {

enum class BarKind { Copy, Product, Arithmetic, Reduction, Access, Wait, Hold };
llvm::StringRef getName(BarKind kind);

struct Bar {
  std::string row;
  BarKind kind;
  double start, end; ///< nanoseconds
  std::string label;
  unsigned line; ///< of the source; 0: none
  int trip;      ///< of the innermost loop; -1: outside
};

/// The run of one partition's warps: operations in the order of a run, loops written out.
struct Step {
  mlir::Operation *op;
  int trip;
};

/// Warps that run the same program side by side.
struct Agent {
  Agent(std::string name, int64_t share, unsigned group)
      : name(std::move(name)), share(share), group(group) {}

  std::string name;
  int64_t share;  ///< agents among which the elements of a tile are shared out
  unsigned group; ///< number among those
  std::vector<Step> steps;
  size_t next = 0;
  double now = 0;
  llvm::DenseMap<mlir::Value, double> ready;
  std::vector<double> products;                        ///< ends of those in flight
  std::vector<double> groups;                          ///< ends of committed groups of cp.async
  double openGroup = 0;                                ///< end of the copies that no group has yet
  llvm::DenseMap<mlir::Value, size_t> takes, releases; ///< by ring: slots waited for, given back
};

/// The state that agents share.
class Machine {
public:
  Machine(const BlockRates &rates, FileTable &files) : rates(rates), files(files) {}

  std::vector<Agent> agents;
  std::vector<Bar> bars;

  /// Runs all agents until each is done or waits for what never comes.
  void run();

private:
  struct Slots {
    std::vector<double> acquired, full; ///< by use
    std::vector<unsigned> missing;      ///< copies that are still to be issued
    std::vector<double> released;       ///< the last release
    std::vector<unsigned> releases;     ///< how many have released
  };

  /// Runs the agent's next step. False if it has to wait for another agent.
  bool step(Agent &agent);
  bool acquire(Agent &agent, gpu::RingOp ring, gpu::RingAcquireOp op);
  bool wait(Agent &agent, mlir::Value ring, bool takes, const Step &step);
  void release(Agent &agent, mlir::Value ring);
  void copyToSlot(Agent &agent, gpu::TmaLoadOp op, int trip);
  void multiply(Agent &agent, mlir::Operation *op, bool async, int trip);
  void compute(Agent &agent, mlir::Operation *op, int trip);
  double copy(double from, double bytes, const std::string &label, unsigned line, int trip);
  void waitUntil(Agent &agent, double time, const std::string &why, unsigned line, int trip);
  void add(const std::string &row, BarKind kind, double start, double end, std::string label,
           unsigned line, int trip);

  const BlockRates &rates;
  FileTable &files;
  llvm::DenseMap<mlir::Value, Slots> rings;
  llvm::DenseMap<mlir::Value, std::pair<mlir::Value, size_t>> barriers; ///< ring and use
  double copierFree = 0, tensorFree = 0, turnSince = 0;
  unsigned turn = 0, groupCount = 1;
};

} // namespace tile::report

#endif
