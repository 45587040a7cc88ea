// The machine that executes decoded PTX: warps of 32 threads with a program counter each, blocks
// with shared memory, a grid.
//
// A warp's register file is one array of bytes, 32 lanes after each other for each register:
//
//   offset       0           64             64 + 4*32       ...
//   register     16 bits     32 bits        predicate       constant, special register
//                lane 0..31  lane 0..31     one mask: u32   filled when the kernel is decoded
//
// Operands are offsets into it, so executing needs no names. A file starts as all ones: a register
// that is read before it is written is a NaN, or a position far outside.
#ifndef TILE_TEST_EMULATOR_MACHINE_H
#define TILE_TEST_EMULATOR_MACHINE_H

#include "test/emulator/Memory.h"
#include "test/emulator/Numbers.h"
#include "test/emulator/Ptx.h"

#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>

namespace emu {

struct Warp;
struct Op;
struct Block;
struct Grid;

/// How a warp goes on behind an operation.
enum class Step : uint8_t {
  Next,
  Wait,  ///< the operation is to be executed again, others first
  Yield, ///< done, but others first
  Park,  ///< the operation waits for threads of the warp that are elsewhere
  Exit   ///< the threads have ended
};
using Execute = Step (*)(Warp &, const Op &, uint32_t mask);

constexpr uint32_t none = ~0u, all = ~0u;

/// A decoded instruction. Operands are offsets in a warp's register file, where each register,
/// constant and special register is an array of 32 lanes (a predicate: one mask).
struct Op {
  enum Kind : uint8_t { Plain, Branch };
  Execute run = nullptr;
  uint32_t d = none, a = none, b = none, c = none, e = none;
  uint32_t guard = none;
  uint32_t target = 0;          ///< of a branch
  int64_t imm = 0;              ///< an address's offset, a mode
  uint32_t list = 0, count = 0; ///< further operands, in Kernel::lists
  uint32_t line = 0;
  Kind kind = Plain;
  bool guardNegated = false;
  bool isMove = false;      ///< from register `a` to register `d`
  bool hasList = false;     ///< `list` holds registers
  bool converge = false;    ///< all threads of the warp that have not ended execute it together
  uint8_t bits = 0;         ///< of an element in memory, or of a number
  uint8_t wide = 0;         ///< bits of the register that holds it
  uint8_t vector = 1;       ///< elements
  uint8_t space = 0;        ///< Space
  uint8_t sign = 0;         ///< the element is signed
  uint8_t addressBits = 64; ///< of the register with the address
};

/// What launching needs of a kernel.
struct Kernel {
  std::string name;
  std::vector<Op> code;
  std::vector<uint32_t> lists;
  std::vector<Variable> params;
  std::vector<uint32_t> paramOffsets;
  uint32_t fileBytes = 0;     ///< of a warp's registers
  std::vector<uint8_t> file;  ///< how they start: poison and constants
  uint32_t specials[16] = {}; ///< offsets of special registers, by Special; 0: not used
  uint32_t sharedBytes = 0;   ///< static
  uint32_t dynamicShared = 0; ///< where dynamic shared memory begins
  uint32_t localBytes = 0;
  bool readsByProxy = false; ///< wgmma or copies by TMA read shared memory
  unsigned threads[3] = {0, 0, 0};
};

enum Special {
  TidX = 1,
  TidY,
  TidZ,
  NtidX,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  LaneId,
  WarpId,
  ClusterRank,
  ClusterSize,
  ClusterId,
  LaneBelow,
  SharedBytes
};

/// A copy that has been started: done at once, or as late as is allowed.
struct TensorMap;
struct BulkCopy {
  Block *block = nullptr; ///< of the thread that has started it
  uint32_t warp = 0, lane = 0, group = 0, line = 0;
  bool isStore = false, isRead = false, reduces = false;
  const TensorMap *map = nullptr;
  std::vector<uint8_t> bytes; ///< of a store that have been read
  std::vector<uint8_t> seen;  ///< its map, which has been read with them
  int64_t coords[5] = {};
  uint32_t shared = 0, barrier = 0, blocks = 0; ///< addresses; a mask of the cluster's blocks
};
struct AsyncCopy {
  uint32_t lane, group, to, bytes, size, line;
  uint64_t from;
  uint32_t barrier = 0; ///< no copy: an arrival there, when the lane's earlier copies are done
};
/// A product in flight, or a move of a register that one will write.
struct Wgmma {
  const Op *op;
  uint32_t group;
  uint64_t a, b;
  bool adds;
  uint32_t moves; ///< threads; 0: a product
};

struct Warp {
  Block *block = nullptr;
  const Kernel *kernel = nullptr;
  unsigned number = 0;
  std::vector<uint8_t> file;
  uint32_t live = 0, parked = 0; ///< masks of threads
  uint32_t pc[32] = {};
  uint32_t turn = 0; ///< which group of threads runs next, where there are several
  uint64_t steps = 0, unparkedAt = 0;
  bool arrived = false; ///< at the barrier at which it waits
  uint64_t phase = 0;   ///< of that barrier
  uint64_t clusterPhase = 0;
  bool isWaiting = false; ///< its last step has failed to go on
  uint32_t waitLine = 0;
  std::vector<uint8_t> local;
  // Asynchronous operations of its threads.
  std::vector<AsyncCopy> copies;
  std::vector<BulkCopy> stores;
  std::vector<Wgmma> products;
  std::unordered_map<uint32_t, uint32_t> inFlight; ///< registers that products will write: groups
  uint64_t productsIssued = 0; ///< a hash of all of them, with their descriptors
  uint32_t copyGroups[32] = {}, storeGroups[32] = {}, productGroups = 0;
  /// Of each 16 bytes of shared memory the threads that wrote there and have not fenced since, and
  /// where there are any. Empty in kernels without asynchronous readers.
  std::vector<uint32_t> unfencedLanes, unfencedCells;
  uint64_t fencedAt[32] = {}; ///< the block's fenceClock at each thread's last fence

  template <class T> T *at(uint32_t offset) { return reinterpret_cast<T *>(&file[offset]); }
};

/// An mbarrier. Its phase ends when no arrival and no byte is missing; `pending` is `expected`
/// again then.
struct MBarrier {
  uint32_t expected = 0, pending = 0; ///< arrivals of a phase, and those that this one still lacks
  int64_t bytes = 0;  ///< announced and not arrived; below 0 where copies were faster
  uint64_t phase = 0; ///< how many have ended: its lowest bit is the parity that kernels ask for
};

struct Block {
  Grid *grid = nullptr;
  uint64_t index = 0;
  unsigned rank = 0; ///< in its cluster
  std::vector<Block *> cluster;
  std::vector<uint8_t> shared;
  std::vector<uint16_t> dirty; ///< for 16 bytes each: warps with unfenced writes
  /// For 16 bytes each: when an mbarrier was told of copies there that nobody has fenced; who reads
  /// them by the other way fences after that.
  std::vector<uint64_t> handedAt;
  uint64_t fenceClock = 0;
  std::vector<Warp> warps;
  struct Named {
    uint32_t arrived = 0;
    uint64_t phase = 0;
    uint32_t expected = 0;
    uint64_t votes = 0, result = 0;
  } named[16];
  std::unordered_map<uint32_t, MBarrier> barriers;
  std::vector<uint8_t> isBarrier; ///< for 8 bytes each of shared memory; empty without mbarriers
  std::vector<BulkCopy> loads;    ///< by TMA, of all threads, not done yet
  unsigned liveWarps = 0;
  uint32_t clusterArrived = 0; ///< counted in the cluster's first block
  uint64_t clusterPhase = 0;
  uint64_t age = 0;
};

/// What a kernel did wrong.
struct Fault : std::runtime_error {
  int code;
  Fault(int code, const std::string &text) : std::runtime_error(text), code(code) {}
};
enum FaultCode {
  IllegalAddress = 700,
  Timeout = 702,
  Misaligned = 716,
  IllegalInstruction = 715,
  LaunchFailed = 719,
  AssertFailed = 710
};

/// Late shows reads without a wait (old bytes, no message), and reports threads that end, or access
/// sums, without one; early shows slots that are filled again too soon, and fences between an issue
/// and its wait. Nothing detects a missing wait or barrier as such: the numbers are wrong, so tests
/// need a reference and both modes.
struct Options {
  bool late = true; ///< asynchronous operations happen as late as is allowed
};

/// One launch.
struct Grid {
  const Kernel *kernel = nullptr;
  Memory *memory = nullptr;
  Options options;
  unsigned blocks[3] = {1, 1, 1}, threads[3] = {1, 1, 1}, cluster = 1, dynamicBytes = 0;
  std::vector<uint8_t> params;
  std::vector<std::unique_ptr<Block>> active;
  uint64_t events = 0;   ///< counts what others may wait for
  uint64_t passedOn = 0; ///< moves of registers that products in flight write
  uint64_t executed = 0; ///< instructions of threads
  /// Tensor maps in global memory as a fence has shown them to copies of a warp: by address, the
  /// block's index and the warp's number.
  std::map<std::pair<uint64_t, uint64_t>, std::string> shownMaps;
  void run();

private:
  uint64_t started = 0, total = 0;
  void startCluster();
  void runWarp(Warp &warp);
  void describeDeadlock();
};

/// Throws with the place.
[[noreturn]] void fault(int code, const Warp &warp, const Op &op, int lane,
                        const std::string &text);
std::string hex(uint64_t value);

// Asynchronous operations, used by several files.
uint8_t *sharedAt(Warp &warp, const Op &op, int lane, uint64_t address, uint32_t bytes);
Block &blockAt(Warp &warp, const Op &op, int lane, uint64_t address);
MBarrier &barrierAt(Warp &warp, const Op &op, int lane, uint64_t address, Block *&owner);
/// Reports a write of bytes that an mbarrier has.
void checkNoBarrier(Warp &warp, const Op &op, int lane, const Block &block, uint64_t address,
                    uint32_t bytes);
/// Ends the phase if nothing is missing.
void settle(Grid &grid, MBarrier &barrier);
/// Does what copies of ended threads have left.
void finishCopies(Warp &warp, uint32_t lanes);
/// Does the copies by cp.async behind which arrivals at `barrier` are due, and arrives.
void finishCopiesFor(Block &owner, uint32_t barrier);
/// Leaves it to readers to fence what these lanes have copied: an mbarrier tells them that it is
/// there.
void handOver(Warp &warp, uint32_t lanes);
/// Reports warps of a warpgroup that have not issued the same products by wgmma.
void checkWarpgroups(Block &block);
/// Writes what stores of an ended block have left.
void finishStores(Warp &warp);
/// Does the copies that `barrier` of `owner` waits for; false if there are none.
bool deliver(Block &owner, uint32_t barrier);
/// While products are in flight: keeps moves of their results till they are there (true), reports
/// other accesses.
bool passOn(Warp &warp, const Op &op, uint32_t lanes);
/// Finishes cp.async copies of threads that end; reports bulk stores that have not read their
/// source, and products in flight. Loads that nobody awaited are dropped.
void exitThreads(Warp &warp, const Op &op, uint32_t lanes);
/// Notes that lanes (a mask) have written to the 16 bytes around `offset` of their block's shared
/// memory, which the asynchronous proxy sees after the next fence of each of them only.
void markUnfenced(Warp &warp, uint32_t lanes, uint32_t offset);
/// Reports bytes that the asynchronous proxy reads and a thread has written without a fence.
void checkFenced(Warp &warp, const Op &op, Block &block, uint32_t offset, uint32_t bytes);

} // namespace emu

#endif
