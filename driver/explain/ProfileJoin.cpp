// Joins a profile to a document of `tilec explain`: instructions by their offset in the kernel to
// the lines of the SASS listing, which know their places in the source; lines by file and number.
//
//   report                      listing                    source
//   0x..130  STG.E, 80 samples  0x130  STG.E ..            line 8, and the lines that call it
//      |                          ^
//      +-- offset from the kernel's first instruction --+
//
// An instruction counts for its line and for each line that calls it, so lines add up to more.
#include "driver/explain/Profile.h"
#include "driver/report/Listing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tile::profile {
namespace {

using LineKey = std::pair<int64_t, int64_t>; // a file's number in the document, and a line

/// An instruction of the SASS listing.
struct Instruction {
  int64_t row; ///< the listing's line, from 1
  StringRef text;
};

/// The instructions of one kernel by their offset. Of each section nvdisasm prints a comment with
/// its name, of each instruction its offset in a comment.
std::map<uint64_t, Instruction> listInstructions(StringRef listing, StringRef kernel) {
  std::map<uint64_t, Instruction> found;
  bool inside = false;
  int64_t row = 0;
  for (StringRef line : split(listing, '\n')) {
    ++row;
    StringRef rest = line.trim();
    if (rest.starts_with("//---")) {
      StringRef name = rest.trim("/-").trim();
      inside = name.consume_front(".text.") && name == kernel;
      continue;
    }
    uint64_t offset;
    if (!inside || !rest.consume_front("/*") || rest.consumeInteger(16, offset) ||
        !rest.consume_front("*/"))
      continue;
    found[offset] = {row, rest.trim()};
  }
  return found;
}

/// "LDG" of "@!P0 LDG.E.128 R4, …": versions of the disassembler spell the rest in several ways.
StringRef getOpcode(StringRef text) {
  text = text.ltrim("{ ");
  if (text.starts_with("@"))
    text = text.split(' ').second.ltrim();
  return text.take_while([](char c) { return isAlnum(c) || c == '_'; });
}

json::Object toJson(const Counts &counts) {
  json::Object result{{"samples", counts.samples}, {"executed", counts.executed}};
  json::Object stalls;
  for (const auto &[reason, count] : counts.stalls)
    stalls[reason] = count;
  if (!stalls.empty())
    result["stalls"] = std::move(stalls);
  return result;
}

/// Joins one kernel.
class Join {
public:
  Join(const Kernel &kernel, const json::Object &document) : kernel(kernel), document(document) {
    if (const json::Array *all = document.getArray("listings"))
      for (const json::Value &each : *all)
        if (each.getAsObject()->getString("stage") == "sass")
          listing = each.getAsObject();
  }

  Expected<json::Object> run(StringRef path) {
    for (const Row &row : kernel.rows)
      total.add(row.counts);
    if (Error error = kernel.hasInstructions ? joinInstructions(path) : joinLines(path))
      return std::move(error);
    json::Object result = toJson(total);
    result["kernel"] = kernel.name;
    result["launches"] = kernel.launches;
    json::Array rows;
    for (const auto &[key, counts] : lines) {
      json::Object row = toJson(counts);
      row["file"] = key.first;
      row["line"] = key.second;
      rows.push_back(std::move(row));
    }
    result["lines"] = std::move(rows);
    if (!code.empty())
      result["code"] = std::move(code);
    return result;
  }

private:
  Error joinInstructions(StringRef path) {
    const json::Object *missing = document.getObject("missing");
    if (!listing)
      return createStringError(
          "'" + path + "' has instructions, and there is no SASS to find their lines by (" +
          (missing ? missing->getString("sass").value_or("nothing was compiled") : "") +
          "); exported with --print-source cuda,sass a report has lines itself");
    auto instructions = listInstructions(listing->getString("text").value_or(""), kernel.name);
    checkCode(path, instructions);
    if (!problem.empty())
      return createStringError(problem);
    std::map<int64_t, const json::Array *> places;
    for (const json::Value &each : *listing->getArray("places"))
      places[*(*each.getAsArray())[0].getAsInteger()] = each.getAsArray();
    for (const Row &row : kernel.rows) {
      auto found = instructions.find(row.offset);
      if (found == instructions.end())
        continue;
      if (row.counts.samples || row.counts.executed)
        code.push_back(json::Array{found->second.row, row.counts.samples, row.counts.executed});
      // A place and the calls that it was inlined by: each line counts once.
      std::vector<LineKey> seen;
      if (const json::Array *at = places[found->second.row])
        for (size_t i = 1; i + 1 < at->size(); i += 2) {
          LineKey key(*(*at)[i].getAsInteger(), *(*at)[i + 1].getAsInteger());
          if (is_contained(seen, key))
            continue;
          seen.push_back(key);
          lines[key].add(row.counts);
        }
    }
    return Error::success();
  }

  /// Where more than a tenth of the instructions are others, the report is of other code.
  /// A tenth may differ, since versions of the disassembler name some instructions differently.
  void checkCode(StringRef path, const std::map<uint64_t, Instruction> &instructions) {
    size_t wrong = 0;
    std::string first;
    for (const Row &row : kernel.rows) {
      auto found = instructions.find(row.offset);
      if (found != instructions.end() && getOpcode(found->second.text) == getOpcode(row.text))
        continue;
      if (++wrong == 1)
        first = formatv("at {0:x} it has '{1}', here is {2}", row.offset, row.text,
                        found == instructions.end() ? "no instruction"
                                                    : "'" + found->second.text.str() + "'");
    }
    if (wrong * 10 > kernel.rows.size())
      problem = ("'" + path + "' is of another version of kernel '" + kernel.name + "': " + first +
                 "; give the options with which the kernel was compiled that was profiled")
                    .str();
  }

  Error joinLines(StringRef path) {
    std::vector<std::string> names;
    for (const json::Value &each : *document.getArray("sources"))
      names.push_back(each.getAsObject()->getString("name").value_or("").str());
    bool any = false;
    for (const Row &row : kernel.rows)
      for (auto [i, name] : enumerate(names))
        if (report::isSameFile(name, row.file)) {
          lines[{int64_t(i), row.line}].add(row.counts);
          any = true;
          break;
        }
    if (any)
      return Error::success();
    return createStringError("'" + path + "' has lines of '" + kernel.rows.front().file +
                             "', and kernel '" + kernel.name + "' comes from '" +
                             (names.empty() ? "" : names.front()) + "'");
  }

  const Kernel &kernel;
  const json::Object &document;
  const json::Object *listing = nullptr;
  Counts total;
  std::map<LineKey, Counts> lines;
  json::Array code; ///< [line of the listing, samples, executed]
  std::string problem;
};

} // namespace

/// Kernels of the report that the document lacks are passed over: a profile is of a whole program.
Error join(ArrayRef<Kernel> kernels, StringRef path, json::Object &document) {
  std::vector<std::string> known, found;
  for (const json::Value &each : *document.getArray("kernels"))
    known.push_back(each.getAsObject()->getString("symbol").value_or("").str());
  json::Array joined;
  for (const Kernel &kernel : kernels) {
    found.push_back("'" + kernel.name + "'");
    if (!is_contained(known, kernel.name))
      continue;
    Expected<json::Object> one = Join(kernel, document).run(path);
    if (!one)
      return one.takeError();
    joined.push_back(std::move(*one));
  }
  if (joined.empty())
    return createStringError("'" + path + "' has no launch of '" + llvm::join(known, "', '") +
                             "'; its kernels are " + llvm::join(found, ", "));
  document["profile"] = json::Object{{"file", json::fixUTF8(path)}, {"kernels", std::move(joined)}};
  return Error::success();
}

//===--- Text -------------------------------------------------------------===//

/// "long_sb 70%, wait 12%": the two most frequent reasons.
static std::string describeStalls(const json::Object &row) {
  const json::Object *stalls = row.getObject("stalls");
  std::vector<std::pair<int64_t, std::string>> reasons;
  int64_t all = 0;
  if (stalls)
    for (const auto &[reason, count] : *stalls) {
      reasons.emplace_back(-count.getAsInteger().value_or(0), reason.str());
      all -= reasons.back().first;
    }
  llvm::sort(reasons);
  std::string text;
  for (const auto &[count, reason] : ArrayRef(reasons).take_front(2))
    text += formatv("{0}{1} {2:f0}%", text.empty() ? "" : ", ", reason,
                    100.0 * double(-count) / double(all))
                .str();
  return text;
}

/// The text of a line of a source of the document.
static StringRef getLine(const json::Object &source, int64_t line) {
  StringRef text = source.getString("text").value_or("");
  for (; line > 1; --line)
    text = text.split('\n').second;
  return text.split('\n').first;
}

void print(const json::Object &document, raw_ostream &stream) {
  const json::Object &profile = *document.getObject("profile");
  const json::Array &sources = *document.getArray("sources");
  for (const json::Value &each : *profile.getArray("kernels")) {
    const json::Object &kernel = *each.getAsObject();
    int64_t samples = kernel.getInteger("samples").value_or(0);
    int64_t launches = kernel.getInteger("launches").value_or(0);
    stream << kernel.getString("kernel").value_or("") << " in "
           << profile.getString("file").value_or("") << ": " << launches
           << (launches == 1 ? " launch, " : " launches, ") << samples << " samples of warps, "
           << kernel.getInteger("executed").value_or(0) << " instructions executed\n"
           << "  samples      %   executed  line\n";
    int64_t lastFile = 0;
    for (const json::Value &entry : *kernel.getArray("lines")) {
      const json::Object &row = *entry.getAsObject();
      int64_t file = row.getInteger("file").value_or(0), line = row.getInteger("line").value_or(0);
      const json::Object &source = *sources[size_t(file)].getAsObject();
      if (file != lastFile)
        stream << "  " << source.getString("name").value_or("") << "\n";
      lastFile = file;
      int64_t here = row.getInteger("samples").value_or(0);
      stream << formatv("{0,9} {1,6:f1} {2,10}  {3,4} | {4}", here,
                        samples ? 100.0 * double(here) / double(samples) : 0.0,
                        row.getInteger("executed").value_or(0), line,
                        getLine(source, line).rtrim());
      if (std::string stalls = describeStalls(row); !stalls.empty())
        stream << "  (" << stalls << ")";
      stream << "\n";
    }
  }
}

} // namespace tile::profile
