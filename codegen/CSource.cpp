// Puts a module's C together: the fixed parts, the binaries, the tables of each kernel, and the
// functions that callers see.
//
//   NAME.c   banner, includes, an enum of the largest counts of all tables
//            the launcher's core as it is, Driver.h to Fill.c (launch/core)
//            on a GPU: Launch.h, Scratch.*, Map.c, Start.c; CSource/Cuda.c and Launch.c
//            on the CPU: Pool.*; CSource/Libcalls.c and Host.c
//            tables of each instance (CSource/Tables.cpp)
//            binaries as arrays of bytes; functions
//
// One file with static functions: several of them can be linked into one program.
#include "codegen/CSource.h"
#include "codegen/CSource/Tables.h"
#include "codegen/Translate.h"
#include "target/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tile {

#include "codegen/CSource.inc"

namespace {

/// Writes the two files of one module.
class Writer {
public:
  Writer(StringRef name, ArrayRef<CBuild> builds, StringRef prefix)
      : name(name), prefix(prefix), builds(builds), isHost(builds.front().target == "cpu") {}
  Expected<CSource> write();

private:
  using Tables = runtime::CTables;

  Error makeTables();
  void writeHeader(raw_ostream &out);
  void writeSource(raw_ostream &out);
  void writeImages(raw_ostream &out);
  void writeFunctions(raw_ostream &out);
  std::string getPrefix() const;
  std::string getTypedPrototype(const Tables &tables) const;
  std::string getAnyPrototype(const std::string &kernel) const;
  void writeBanner(raw_ostream &out, StringRef ending, StringRef what) const;
  std::vector<size_t> getMembers(const std::vector<size_t> &group, size_t instance) const;
  const Tables &getTables(size_t instance) const { return *records.front()[instance].tables; }
  /// Kernels of the first build by source name, each with the numbers of its instances.
  std::vector<std::pair<std::string, std::vector<size_t>>> getGroups() const;

  std::string name, prefix;
  ArrayRef<CBuild> builds;
  bool isHost;
  // A kernel's tables, and the number of the binary (unit) that has its code.
  struct Record {
    std::unique_ptr<Tables> tables;
    size_t unit;
  };
  std::vector<std::vector<Record>> records; ///< of builds with the same manifests
  std::vector<size_t> recordsOf;            ///< of each build: which of them
  size_t unitCount = 1;
};

/// Text as lines of a comment.
/// Text of the source can neither end the comment nor begin one inside.
void writeComment(raw_ostream &out, StringRef text) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines) {
    std::string safe = line.str();
    for (size_t at = 0; (at = safe.find("*/", at)) != std::string::npos;)
      safe.insert(at + 1, " ");
    for (size_t at = 0; (at = safe.find("/*", at)) != std::string::npos;)
      safe.insert(at + 1, " ");
    out << " *" << (safe.empty() ? "" : " ") << safe << "\n";
  }
}

/// The module's name as the beginning of identifiers.
std::string Writer::getPrefix() const {
  std::string prefix = name;
  for (char &c : prefix)
    c = isAlnum(c) ? c : '_';
  return prefix.empty() || isDigit(prefix.front()) ? "k" + prefix : prefix;
}

/// Builds with equal manifests share their tables: PTX and cubin of one target, for example. All
/// builds must have the same instances in the same order, as typed functions name instances by
/// their number in the first.
Error Writer::makeTables() {
  size_t index = 0;
  for (size_t i = 0; i < builds.size(); ++i) {
    const CBuild &build = builds[i];
    unitCount = std::max(unitCount, build.units.size());
    // Binaries of another kind with the same description.
    auto known = find_if(builds.take_front(i), [&](const CBuild &other) {
      return all_of_zip(build.units, other.units,
                        [](auto &a, auto &b) { return a.manifest == b.manifest; });
    });
    if (known != builds.take_front(i).end()) {
      recordsOf.push_back(recordsOf[known - builds.begin()]);
      continue;
    }
    recordsOf.push_back(records.size());
    std::vector<Record> &list = records.emplace_back();
    for (bool isVariant : {true, false}) // dispatch tries variants first
      for (size_t unit = 0; unit < build.units.size(); ++unit)
        for (const runtime::Kernel &kernel : build.units[unit].manifest->kernels) {
          std::string reason;
          std::unique_ptr<Tables> one = Tables::create(kernel, index++, reason);
          if (!one)
            return makeError(reason);
          if (one->isVariant() == isVariant)
            list.push_back({std::move(one), unit});
        }
    bool isSame = all_of_zip(list, records.front(), [](Record &a, Record &b) {
      return a.tables->getKernel().symbol == b.tables->getKernel().symbol;
    });
    if (!isSame)
      return makeError("'" + build.target + "' and '" + builds.front().target +
                       "' have different instances or variants");
  }
  return Error::success();
}

/// The instances among which the typed function of one chooses: itself, and before that variants of
/// the same signature.
/// In the order of dispatch: variants before the instance itself.
std::vector<size_t> Writer::getMembers(const std::vector<size_t> &group, size_t instance) const {
  const runtime::Kernel &kernel = getTables(instance).getKernel();
  std::vector<size_t> members;
  for (size_t i : group) {
    const runtime::Kernel &other = getTables(i).getKernel();
    bool isVariant =
        getTables(i).isVariant() && all_of_zip(kernel.params, other.params, [](auto &a, auto &b) {
          return a.kind == b.kind && a.dtype == b.dtype && a.dims.size() == b.dims.size();
        });
    if (i == instance || (isVariant && !getTables(instance).isVariant()))
      members.push_back(i);
  }
  return members;
}

std::vector<std::pair<std::string, std::vector<size_t>>> Writer::getGroups() const {
  std::vector<std::pair<std::string, std::vector<size_t>>> groups;
  for (size_t i = 0; i < records.front().size(); ++i) {
    const std::string &kernel = getTables(i).getKernel().name;
    auto known = find_if(groups, [&](auto &group) { return group.first == kernel; });
    if (known == groups.end())
      groups.push_back({kernel, {i}});
    else
      known->second.push_back(i);
  }
  return groups;
}

std::string Writer::getTypedPrototype(const Tables &one) const {
  return "tile_code " + prefixC(prefix, one.getKernel().symbol) + "_launch(" + one.getParameters() +
         ")";
}

std::string Writer::getAnyPrototype(const std::string &kernel) const {
  return "tile_code " + prefixC(prefix, kernel) +
         "_call(const tile_argument *arguments, size_t count, void *stream, uint32_t flags)";
}

void Writer::writeBanner(raw_ostream &out, StringRef ending, StringRef what) const {
  out << "/* " << name << ending << ": " << what << " Generated by "
      << builds.front().units.front().manifest->compiler << " for ";
  for (size_t i = 0; i < builds.size(); ++i)
    if (none_of(builds.take_front(i),
                [&](const CBuild &other) { return other.target == builds[i].target; }))
      out << (i ? ", " : "") << builds[i].target;
  out << ": do not edit. */\n"
         "/* SPDX-License-Identifier: 0BSD, of what the compiler adds: LICENSE.generated-code. "
         "*/\n";
}

void Writer::writeHeader(raw_ostream &out) {
  std::string prefix = getPrefix(), guard = "TILE_KERNELS_" + StringRef(prefix).upper() + "_H";
  writeBanner(out, ".h", "kernels of the tile language for C and C++.");
  out << "#ifndef " << guard << "\n#define " << guard << "\n\n"
      << partTypes << R"(
/* Every function returns TILE_OK or says what is wrong by its code, and by )"
      << prefix << R"(_message. All may be called from
 * several threads at once. Tensors are passed by the address of their first element, dense and
 * row-major unless they have strides (in elements, one for each dimension; NULL: dense); the named
 * dimensions follow, once each. */

#ifdef __cplusplus
extern "C" {
#endif

/* What was wrong with this thread's last call that did not return TILE_OK: one line. */
const char *)"
      << prefix << "_message(void);\n";
  if (isHost)
    out << "\n/* Threads that a launch uses; 0, the default: one for each processor. */\nvoid "
        << prefix << "_threads(int count);\n";
  else
    out << "\n/* Loads the kernels into the calling thread's current context now, for instance "
           "before a graph is captured; launches"
           "\n * do it by themselves. With no current context, the primary context of device 0 "
           "becomes current. */\ntile_code "
        << prefix
        << "_load(void);\n/* Unloads from every context. Launches under way must have ended. "
           "*/\nvoid "
        << prefix << "_unload(void);\n";
  for (auto &[kernel, members] : getGroups()) {
    out << "\n/*";
    const Tables &first = getTables(members.back()); // a generic one
    std::string text;
    raw_string_ostream comment(text);
    writeComment(comment, first.getKernel().doc.empty() ? kernel : first.getKernel().doc);
    out << StringRef(text).drop_front(2);
    std::vector<std::string> contracts = first.getContracts();
    if (!contracts.empty()) {
      out << " *\n";
      writeComment(out, "Checked: " + join(contracts, ", "));
    }
    out << " *\n";
    writeComment(out, isHost ? "Runs on this machine's processors and returns when it has "
                               "finished; `stream` is not used."
                             : "`stream` is a CUstream or cudaStream_t of the current context; "
                               "NULL is the default stream. Does "
                               "not wait for the\nkernel.");
    writeComment(out, isHost ? "`flags`: 0, or TILE_LAUNCH_UNCHECKED."
                             : "`flags`: 0, TILE_LAUNCH_UNCHECKED, TILE_LAUNCH_CHECK_MEMORY.");
    out << " */\n";
    for (size_t i : members) {
      const Tables &one = getTables(i);
      out << "/* " << runtime::describe(one.getKernel())
          << (one.getVariant().empty() ? "" : ", variant ") << one.getVariant() << " */\n"
          << getTypedPrototype(one) << ";\n";
    }
    out << "/* The same with arguments that carry dtype and shape, in the source's order";
    if (members.size() > 1)
      out << "; chooses the instance that fits them";
    out << ". */\n" << getAnyPrototype(kernel) << ";\n";
  }
  out << "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
}

void Writer::writeImages(raw_ostream &out) {
  for (size_t i = 0; i < builds.size() && !isHost; ++i) {
    std::string names;
    for (size_t unit = 0; unit < unitCount; ++unit) {
      if (unit >= builds[i].units.size()) {
        names += "NULL, ";
        continue;
      }
      StringRef image = builds[i].units[unit].image;
      std::string name = "tk_image_" + std::to_string(i) + "_" + std::to_string(unit);
      out << "static const unsigned char " << name << "[] __attribute__((aligned(16))) = {";
      // Numbers, not a string: compilers may limit the length of strings.
      for (size_t at = 0; at <= image.size(); ++at) // with the zero that ends PTX
        out << (at % 32 ? "" : "\n")
            << (at < image.size() ? unsigned((unsigned char)image[at]) : 0u) << ",";
      out << "};\n";
      names += name + ", ";
    }
    out << "static const unsigned char *const tk_images_" << i << "[] = {" << names << "};\n";
  }
}

void Writer::writeFunctions(raw_ostream &out) {
  std::string prefix = getPrefix();
  for (size_t i = 0; i < records.size(); ++i) {
    out << "\nstatic const tk_kernel tk_kernels_" << i << "[] = {\n";
    for (size_t n = 0; n < records[i].size(); ++n)
      records[i][n].tables->writeRecord(out, n, records[i][n].unit, isHost);
    out << "};\n";
  }
  if (!isHost) {
    out << "\nstatic const tk_build tk_builds[] = {\n";
    for (size_t i = 0; i < builds.size(); ++i) {
      GPUName target{};
      parseGPUName(builds[i].target, target);
      out << "    {" << quoteC(builds[i].target) << ", " << target.major << ", " << target.minor
          << ", '" << (target.suffix ? std::string(1, target.suffix) : "\\0") << "', "
          << int(builds[i].isPTX) << ", tk_images_" << i << ", tk_kernels_" << recordsOf[i]
          << "},\n";
    }
    out << "};\nenum { TK_BUILDS = " << builds.size() << " };\n";
  }
  // Where several builds may differ in their checks, the device decides before them.
  out << R"(
/* Among which records the launches of this thread choose. */
static tile_code tk_get_records(const tk_kernel **records) {
  *records = tk_kernels_0;
)";
  if (records.size() > 1)
    out << R"(  {
    const tk_build *build = NULL;
    void *context = NULL;
    unsigned long long id = 0;
    tile_code code = tk_need_driver();
    code = code ? code : tk_current_context(&context, &id);
    code = code ? code : tk_choose_build(tk_builds, TK_BUILDS, &build);
    if (code)
      return code;
    *records = build->kernels;
  }
)";
  out << R"(  return TILE_OK;
}

typedef struct {
  const tk_kernel *records;
  const int *members;
} tk_choice;
static const tk_kernel *tk_get_member(const void *list, int index) {
  const tk_choice *choice = (const tk_choice *)list;
  return &choice->records[choice->members[index]];
}

/* Chooses among the instances `members`, checks, launches. */
static tile_code tk_launch(const int *members, int total, const tile_argument *a, size_t count,
                           void *stream, uint32_t flags) {
  int64_t extents[TK_AXES], values[TK_SLOTS], strides[TK_STRIDES];
  uint64_t spans[TK_PARAMS], cells[TK_ARGUMENTS];
  const tk_kernel *k = NULL;
  tk_choice choice = {NULL, members};
  tk_plan plan = {0, 0, 0, 0, extents, values, strides, 0, spans, cells};
  int chosen = 0;
  tile_code code = tk_get_records(&choice.records);
  if (code)
    return code;
  if (flags & ~(uint32_t)(TILE_LAUNCH_UNCHECKED | TILE_LAUNCH_CHECK_MEMORY)) {
    tk_clear();
    tk_say("unknown launch flags %u", (unsigned)flags);
    return TILE_ERROR_CALL;
  }
  code = tk_select(tk_get_member, &choice, total, a, count, &plan, &chosen);
  k = tk_get_member(&choice, chosen);
  if (!code)
    code = tk_check(k, a, count, (flags & TILE_LAUNCH_UNCHECKED) != 0, &plan);
  if (code)
    return code;
)"
      << (isHost ? "  (void)stream;\n  return tk_run(k, a, count, &plan);\n"
                 : "  return tk_run(tk_builds, TK_BUILDS, k, a, count, &plan, stream, (flags & "
                   "TILE_LAUNCH_CHECK_MEMORY) != 0);\n")
      << "}\n\nconst char *" << prefix << "_message(void) { return tk_text(tk_said()); }\n";
  if (isHost)
    out << "void " << prefix
        << "_threads(int count) { __atomic_store_n(&tk_thread_limit, count, __ATOMIC_RELAXED); }\n";
  else
    out << "tile_code " << prefix << "_load(void) { return tk_load(tk_builds, TK_BUILDS); }\nvoid "
        << prefix << "_unload(void) { tk_unload(); }\n";
  auto list = [](const std::vector<size_t> &numbers) {
    return join(map_range(numbers, [](size_t n) { return std::to_string(n); }), ", ");
  };
  for (auto &[kernel, group] : getGroups()) {
    for (size_t i : group) {
      Tables &one = *records.front()[i].tables;
      std::vector<size_t> members = getMembers(group, i);
      out << "\n"
          << getTypedPrototype(one) << " {\n  static const int tk_members[] = {" << list(members)
          << "};\n";
      one.writeArguments(out, "tk_kernels_0[" + std::to_string(i) + "]");
      out << "  return tk_launch(tk_members, " << members.size() << ", tk_list, "
          << one.getKernel().params.size() << ", stream, flags);\n}\n";
    }
    out << "\n"
        << getAnyPrototype(kernel) << " {\n  static const int members[] = {" << list(group)
        << "};\n  return tk_launch(members, " << group.size()
        << ", arguments, count, stream, flags);\n}\n";
  }
}

void Writer::writeSource(raw_ostream &out) {
  writeBanner(out, ".c",
              isHost ? "checks and runs the kernels of the object file beside it."
                     : "checks and launches the kernels inside; needs libcuda when it runs.");
  out << "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n#include " << quoteC(name + ".h")
      << "\n#include <" << (isHost ? "unistd.h" : "dlfcn.h") << R"(>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TK_CORE static __attribute__((unused))

)";
  CLimits limits;
  for (auto &build : records)
    for (Record &one : build)
      one.tables->raise(limits);
  out << "enum {\n  TK_PARAMS = " << limits.params << ", TK_SLOTS = " << limits.slots
      << ", TK_STRIDES = " << limits.strides << ", TK_AXES = " << limits.axes
      << ", TK_ARGUMENTS = " << limits.arguments << ", TK_MAPS = " << limits.maps
      << ", TK_INSTANCES = " << records.front().size() << ", TK_UNITS = " << unitCount
      << "\n};\n\n";
  // The launcher's core, as it is.
  for (const char *text : {coreArithmetich, coreDriverh, coreCoreh, coreMessagec, coreValuec,
                           coreCheckc, coreMemoryc, coreSelectc, coreFillc})
    out << text << "\n";
  if (isHost) {
    out << "#define TK_LEVEL " << quoteC(builds.front().level) << "\n"
        << corePoolh << corePoolc << partLibcalls << "\n"
        << partHost << "\n";
    out << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
    for (Record &one : records.front())
      one.tables->declareHost(out, prefix);
    out << "#ifdef __cplusplus\n}\n#endif\n";
  } else {
    for (const char *text : {coreLaunchh, coreScratchh, coreScratchc, coreMapc, coreStartc})
      out << text << "\n";
    out << partCuda << "\n" << partLaunch << "\n";
  }
  for (auto &build : records)
    for (Record &one : build)
      one.tables->writeTables(out);
  writeImages(out);
  writeFunctions(out);
}

Expected<CSource> Writer::write() {
  if (Error error = makeTables())
    return std::move(error);
  if (records.front().empty())
    return makeError("there is no kernel to write as C");
  CSource result;
  raw_string_ostream source(result.source), header(result.header);
  writeHeader(header);
  writeSource(source);
  return std::move(result);
}

} // namespace

std::string prefixC(StringRef prefix, StringRef symbol) {
  return prefix.empty() ? symbol.str() : (prefix + "_" + symbol).str();
}

Expected<CSource> emitCSource(StringRef name, ArrayRef<CBuild> builds, StringRef prefix) {
  return Writer(name, builds, prefix).write();
}

} // namespace tile
