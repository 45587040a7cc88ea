// Which fetches one slot holds, and which loops use one ring.
//
//   for k: a = fetch; b = fetch; dot(a, b)     one group: the product waits for both
//   for k: c = fetch; d = fetch; dot(c, d)     its own group; the same kinds of tiles: one ring
#include "passes/TileGPU/RingGroups.h"
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/SharedMemory.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

int64_t RingGroup::getSlotBytes() const {
  int64_t bytes = 0;
  for (TmaFetchOp fetch : fetches)
    bytes += llvm::alignTo(getSharedLayout(fetch.getType()).getBytes(), 1024);
  return bytes;
}

void tile::gpu::collectUsers(Value memory, SmallVectorImpl<Operation *> &users,
                             SmallVectorImpl<Operation *> &views) {
  for (Operation *user : memory.getUsers()) {
    if (isa<MemDescPermuteOp, MemDescJoinOp>(user)) {
      views.push_back(user);
      collectUsers(user->getResult(0), users, views);
    } else {
      users.push_back(user);
    }
  }
}

bool tile::gpu::isInInnerLoop(TmaFetchOp fetch) {
  unsigned loops = 0;
  bool persistent = fetch->getParentOfType<KernelOp>()->hasAttr(persistentGridName);
  for (Operation *parent = fetch->getParentOp(); !isa<KernelOp>(parent);
       parent = parent->getParentOp())
    loops += isa<scf::ForOp>(parent);
  return loops > unsigned(persistent);
}

namespace {

class Collector {
public:
  explicit Collector(KernelOp kernel) : kernel(kernel) {}

  SmallVector<RingGroup> run() {
    collectGroups();
    joinVectors();
    joinHeld();
    return std::move(groups);
  }

private:
  void collectGroups() {
    kernel.getBody().walk([&](TmaFetchOp fetch) {
      Block *block = fetch->getBlock();
      SmallVector<Operation *> users;
      SmallVector<Operation *> views;
      collectUsers(fetch.getResult(), users, views);
      // The producer fills what no fetch brings.
      llvm::erase_if(users, llvm::IsaPred<AsyncCopyOp>);
      Operation *first = nullptr, *last = nullptr;
      bool perWarp = false;
      for (Operation *user : users) {
        Operation *here = block->findAncestorOpInBlock(*user), *end = getCompletion(user, block);
        if (!first || here->isBeforeInBlock(first))
          first = here;
        if (!last || last->isBeforeInBlock(end))
          last = end;
        // Clearing ends in a barrier.
        perWarp |= !isa<WgmmaOp, ClearFromOp>(user);
      }
      if (!first) // nothing reads it
        first = last = fetch;
      RingGroup *group = nullptr;
      for (RingGroup &known : groups)
        if (known.firstUser == first && first != fetch)
          group = &known;
      if (!group) {
        group = &groups.emplace_back();
        group->firstUser = first;
        group->lastUser = last;
        for (Operation *parent = fetch->getParentOp(); parent != kernel;
             parent = parent->getParentOp()) {
          group->inLoop |= isa<scf::ForOp>(parent);
          if (auto stages = parent->getAttrOfType<IntegerAttr>(stagesName);
              stages && !group->requested)
            group->requested = stages.getInt();
        }
        if (auto stages = kernel->getAttrOfType<IntegerAttr>(stagesName);
            stages && !group->requested)
          group->requested = stages.getInt();
      }
      group->fetches.push_back(fetch);
      group->perWarp |= perWarp;
      if (group->lastUser->isBeforeInBlock(last))
        group->lastUser = last;
    });
  }

  /// Vectors that are read right before a product come with its operands: one wait for both.
  void joinVectors() {
    for (size_t i = 0; i < groups.size();) {
      bool vectors =
          isa<LocalLoadOp>(groups[i].firstUser) && llvm::all_of(groups[i].fetches, isVector);
      RingGroup *next = vectors ? findNeighbour(groups[i]) : nullptr;
      if (!next) {
        ++i;
        continue;
      }
      RingGroup &vector = groups[i];
      next->firstUser = vector.firstUser;
      if (next->lastUser->isBeforeInBlock(vector.lastUser))
        next->lastUser = vector.lastUser;
      next->fetches.append(vector.fetches);
      // As they stand in the text: the last one fills the slot.
      llvm::sort(next->fetches, [](TmaFetchOp a, TmaFetchOp b) { return a->isBeforeInBlock(b); });
      next->perWarp = true;
      groups.erase(groups.begin() + i);
      i = 0;
    }
  }

  /// Vectors that are read while a tile's slot is held come with that tile: one wait and one
  /// release for both, as of the statistics of gradients, which meet the result of the tile's
  /// product.
  void joinHeld() {
    for (size_t i = 0; i < groups.size();) {
      bool vectors =
          isa<LocalLoadOp>(groups[i].firstUser) && llvm::all_of(groups[i].fetches, isVector);
      auto *tile = vectors ? llvm::find_if(groups,
                                           [&](const RingGroup &other) {
                                             return holdsThroughout(other, groups[i]);
                                           })
                           : groups.end();
      if (tile == groups.end()) {
        ++i;
        continue;
      }
      tile->fetches.append(groups[i].fetches);
      llvm::sort(tile->fetches, [](TmaFetchOp a, TmaFetchOp b) { return a->isBeforeInBlock(b); });
      tile->perWarp = true;
      groups.erase(groups.begin() + i);
    }
  }

  /// True if the slot of `tile` is taken before the vectors' first read, and not given back before
  /// their last one.
  static bool holdsThroughout(const RingGroup &tile, const RingGroup &vectors) {
    TmaFetchOp fetch = tile.fetches.front(), vector = vectors.fetches.front();
    return fetch->getBlock() == vector->getBlock() && tile.requested == vectors.requested &&
           !llvm::all_of(tile.fetches, isVector) && llvm::none_of(tile.fetches, isNumbered) &&
           tile.firstUser->isBeforeInBlock(vectors.firstUser) &&
           vectors.lastUser->isBeforeInBlock(tile.lastUser);
  }

  /// True for a fetch whose ring is not its own alone.
  static bool isNumbered(TmaFetchOp fetch) {
    return fetch->hasAttr(ringName) || fetch.getMulticast();
  }
  static bool isVector(TmaFetchOp fetch) {
    return fetch.getType().getShape().size() == 1 && !isNumbered(fetch);
  }

  /// The group of the same block that is first used next, by a product or another such vector's
  /// read, if only reads of fetched tiles stand before that.
  RingGroup *findNeighbour(const RingGroup &group) {
    for (Operation *op = group.firstUser->getNextNode(); op; op = op->getNextNode()) {
      for (RingGroup &other : groups)
        if (other.firstUser == op && other.fetches[0]->getBlock() == op->getBlock() &&
            llvm::none_of(other.fetches, isNumbered))
          return isa<WgmmaOp>(op) || llvm::all_of(other.fetches, isVector) ? &other : nullptr;
      if (!isMemoryEffectFree(op) && !isa<LocalLoadOp, TmaFetchOp>(op))
        return nullptr;
    }
    return nullptr;
  }

  KernelOp kernel;
  SmallVector<RingGroup> groups;
};

class Sharer {
public:
  explicit Sharer(MutableArrayRef<RingGroup> groups) : groups(groups) {}

  /// RingGroups that use one ring: one, or those that a schedule has given the same numbers.
  using Ring = SmallVector<RingGroup *, 4>;

  /// The rings of loops, but for those of clusters, in the order of the text.
  SmallVector<Ring> collectRings() {
    SmallVector<Ring> rings;
    for (RingGroup &group : groups) {
      if (llvm::any_of(group.fetches, [](TmaFetchOp fetch) { return fetch.getMulticast(); }))
        continue;
      auto *ring = llvm::find_if(
          rings, [&](const Ring &ring) { return haveSameNumbers(*ring.front(), group); });
      if (ring == rings.end())
        rings.push_back({&group});
      else
        ring->push_back(&group);
    }
    llvm::erase_if(rings, [](const Ring &ring) {
      return llvm::none_of(ring,
                           [](RingGroup *group) { return isInInnerLoop(group->fetches.front()); });
    });
    return rings;
  }

  void run() {
    int64_t number = 0;
    for (RingGroup &group : groups)
      for (TmaFetchOp fetch : group.fetches)
        if (auto taken = fetch->getAttrOfType<IntegerAttr>(ringName))
          number = std::max(number, taken.getInt() + 1);
    SmallVector<SmallVector<Ring>> sets;
    for (Ring &ring : collectRings()) {
      auto *set = llvm::find_if(sets, [&](ArrayRef<Ring> set) {
        return llvm::all_of(set, [&](const Ring &other) { return mayShare(other, ring); });
      });
      if (set == sets.end())
        sets.push_back({ring});
      else
        set->push_back(ring);
    }
    for (ArrayRef<Ring> set : sets) {
      if (set.size() < 2)
        continue;
      for (const Ring &ring : set)
        for (RingGroup *group : ring)
          for (auto [i, fetch] : llvm::enumerate(group->fetches))
            fetch->setAttr(ringName, IntegerAttr::get(IntegerType::get(fetch->getContext(), 64),
                                                      number + int64_t(i)));
      number += int64_t(set.front().front()->fetches.size());
    }
  }

  static bool haveSameNumbers(RingGroup &a, RingGroup &b) {
    if (a.fetches.size() != b.fetches.size())
      return false;
    for (auto [one, other] : llvm::zip(a.fetches, b.fetches)) {
      Attribute number = one->getAttr(ringName);
      if (!number || number != other->getAttr(ringName))
        return false;
    }
    return true;
  }

  /// True if the rings have the same tiles, and one is done with before the other begins: a slot
  /// must not be held while another loop goes round the ring.
  static bool mayShare(const Ring &a, const Ring &b) {
    return llvm::all_of(a,
                        [&](RingGroup *one) {
                          return llvm::all_of(b, [&](RingGroup *other) {
                            return haveSameTiles(*one, *other) && !areInOneLoop(*one, *other);
                          });
                        }) &&
           (isBefore(a, b) || isBefore(b, a));
  }

  /// True for tiles of one trip, which each have their stages.
  static bool areInOneLoop(RingGroup &a, RingGroup &b) {
    return isInInnerLoop(a.fetches.front()) && isInInnerLoop(b.fetches.front()) &&
           a.fetches.front()->getParentOfType<scf::ForOp>() ==
               b.fetches.front()->getParentOfType<scf::ForOp>();
  }

  static bool haveSameTiles(RingGroup &a, RingGroup &b) {
    if (a.requested != b.requested || a.fetches.size() != b.fetches.size())
      return false;
    for (auto [one, other] : llvm::zip(a.fetches, b.fetches))
      if (one.getType() != other.getType())
        return false;
    return true;
  }

  /// True if the tiles of all of `a` are done with before the first one of `b` is fetched, in each
  /// trip of the loops around both.
  static bool isBefore(const Ring &a, const Ring &b) {
    return llvm::all_of(a, [&](RingGroup *one) {
      return llvm::all_of(b, [&](RingGroup *other) {
        for (Operation *end = one->lastUser; !isa<KernelOp>(end); end = end->getParentOp())
          if (Operation *begin = end->getBlock()->findAncestorOpInBlock(*other->fetches.front()))
            return end != begin && end->isBeforeInBlock(begin);
        return false;
      });
    });
  }

  MutableArrayRef<RingGroup> groups;
};

} // namespace

SmallVector<RingGroup> tile::gpu::collectRingGroups(KernelOp kernel) {
  return Collector(kernel).run();
}

void tile::gpu::shareRings(MutableArrayRef<RingGroup> groups) { Sharer(groups).run(); }
