// `tilec explain --diff`: two documents beside each other, as data and as text.
#include "driver/explain/Document.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace llvm;

namespace tile {

/// A number below an object, by a path of keys; none where the path ends early.
static std::optional<double> findNumber(const json::Object &object, ArrayRef<StringRef> path) {
  const json::Object *here = &object;
  for (StringRef key : path.drop_back())
    if (!(here = here->getObject(key)))
      return std::nullopt;
  return here->getNumber(path.back());
}

static json::Value toValue(std::optional<double> number) {
  return number ? json::Value(*number) : json::Value(nullptr);
}

namespace {

/// A figure of a kernel: its title, where it stands, and its unit.
struct Metric {
  const char *title;
  SmallVector<StringRef, 3> path;
  const char *unit;
};

using Counts = std::map<std::string, int64_t>;

} // namespace

static json::Array compareMetrics(const json::Object &a, const json::Object &b) {
  static const Metric metrics[] = {
      {"estimated time", {"estimate", "ms"}, "ms"},
      {"roofline", {"estimate", "roofline_ms"}, "ms"},
      {"registers of a thread", {"compiled", "registers"}, ""},
      {"spilled", {"compiled", "spill_bytes"}, "bytes"},
      {"registers by the model", {"estimate", "registers"}, ""},
      {"shared memory", {"compiled", "shared_bytes"}, "bytes"},
      {"threads of a block", {"compiled", "threads"}, ""},
      {"blocks on a multiprocessor", {"compiled", "occupancy", "blocks"}, ""},
      {"occupancy", {"compiled", "occupancy", "percent"}, "%"},
      {"stages", {"estimate", "stages"}, ""},
      {"programs", {"estimate", "programs"}, ""},
      {"waves", {"estimate", "waves"}, ""},
      {"memory traffic", {"estimate", "dram_bytes"}, "bytes"},
      {"L2 traffic", {"estimate", "l2_bytes"}, "bytes"}};
  json::Array rows;
  for (const Metric &metric : metrics) {
    std::optional<double> first = findNumber(a, metric.path), second = findNumber(b, metric.path);
    if (first || second)
      rows.push_back(json::Object{{"name", metric.title},
                                  {"a", toValue(first)},
                                  {"b", toValue(second)},
                                  {"unit", metric.unit}});
  }
  return rows;
}

/// Settings by name; those of both sides.
static json::Array compareSettings(const json::Object &a, const json::Object &b) {
  std::vector<std::string> names;
  std::map<std::string, std::string> values[2];
  const json::Object *sides[] = {&a, &b};
  for (auto [side, object] : enumerate(sides))
    if (const json::Array *settings = object->getArray("settings"))
      for (const json::Value &each : *settings)
        if (const json::Object *setting = each.getAsObject()) {
          std::string name = setting->getString("name").value_or("").str();
          if (!is_contained(names, name))
            names.push_back(name);
          values[side][name] = setting->getString("value").value_or("").str();
        }
  json::Array rows;
  for (const std::string &name : names)
    if (values[0][name] != values[1][name])
      rows.push_back(json::Object{{"name", name}, {"a", values[0][name]}, {"b", values[1][name]}});
  return rows;
}

/// Passes that changed the module on one side only.
static json::Array comparePasses(const json::Object &a, const json::Object &b) {
  std::vector<std::string> names;
  std::set<std::string> changed[2];
  const json::Object *sides[] = {&a, &b};
  for (auto [side, object] : enumerate(sides))
    if (const json::Array *passes = object->getArray("passes"))
      for (const json::Value &each : *passes)
        if (const json::Object *run = each.getAsObject()) {
          std::string name = run->getString("pass").value_or("").str();
          if (!is_contained(names, name))
            names.push_back(name);
          if (run->getBoolean("changed").value_or(false))
            changed[side].insert(name);
        }
  json::Array rows;
  for (const std::string &name : names)
    if (changed[0].count(name) != changed[1].count(name))
      rows.push_back(json::Object{
          {"name", name}, {"a", changed[0].count(name) > 0}, {"b", changed[1].count(name) > 0}});
  return rows;
}

static json::Array compareCounts(const Counts &a, const Counts &b) {
  json::Array rows;
  std::set<std::string> names;
  for (const Counts *each : {&a, &b})
    for (const auto &[name, count] : *each)
      names.insert(name);
  auto get = [](const Counts &counts, const std::string &name) {
    auto found = counts.find(name);
    return found == counts.end() ? int64_t(0) : found->second;
  };
  for (const std::string &name : names)
    if (int64_t first = get(a, name), second = get(b, name); first != second)
      rows.push_back(json::Object{{"name", name}, {"a", first}, {"b", second}});
  return rows;
}

static Counts readCounts(const json::Object &kernel) {
  Counts counts;
  if (const json::Object *ops = kernel.getObject("ops"))
    for (const auto &[name, count] : *ops)
      counts[name.str()] = count.getAsInteger().value_or(0);
  return counts;
}

/// Instructions of a listing by the first word of their names.
static Counts countInstructions(const json::Object &document, StringRef stage) {
  Counts counts;
  const json::Array *listings = document.getArray("listings");
  for (const json::Value &each : listings ? *listings : json::Array()) {
    const json::Object *listing = each.getAsObject();
    if (!listing || listing->getString("stage") != stage)
      continue;
    for (StringRef line : split(listing->getString("text").value_or(""), '\n')) {
      StringRef text = line.trim();
      if (stage == "sass" && !text.consume_front("/*"))
        continue;
      if (stage == "sass")
        text = text.split("*/").second.ltrim();
      else if (text.empty() || text.starts_with("//") ||
               StringRef(".${}()").find(text.front()) != StringRef::npos)
        continue;
      if (text.starts_with("@"))
        text = text.split(' ').second.ltrim();
      StringRef name = text.take_while([](char c) { return isAlnum(c) || c == '_'; });
      if (!name.empty())
        ++counts[name.str()];
    }
  }
  return counts;
}

static json::Array compareRemarks(const json::Object &a, const json::Object &b) {
  auto list = [](const json::Object &kernel) {
    std::vector<std::string> all;
    if (const json::Array *remarks = kernel.getArray("remarks"))
      for (const json::Value &each : *remarks)
        if (const json::Object *remark = each.getAsObject())
          all.push_back((remark->getString("code").value_or("") + " " +
                         remark->getString("message").value_or(""))
                            .str());
    return all;
  };
  std::vector<std::string> first = list(a), second = list(b);
  json::Array rows;
  for (const std::string &text : first)
    if (!is_contained(second, text))
      rows.push_back(json::Object{{"name", text}, {"a", true}, {"b", false}});
  for (const std::string &text : second)
    if (!is_contained(first, text))
      rows.push_back(json::Object{{"name", text}, {"a", false}, {"b", true}});
  return rows;
}

/// Kernels are paired by their order: two configurations of one source have the same in the same
/// order. What only one side has is left out. Documents may come from files, so no key is taken for
/// granted.
json::Object compareDocuments(json::Object a, json::Object b) {
  auto kernelOf = [](const json::Object &document, size_t i) {
    const json::Array *kernels = document.getArray("kernels");
    return kernels && i < kernels->size() ? (*kernels)[i].getAsObject() : nullptr;
  };
  json::Array kernels;
  for (size_t i = 0; kernelOf(a, i) && kernelOf(b, i); ++i) {
    const json::Object &first = *kernelOf(a, i), &second = *kernelOf(b, i);
    kernels.push_back(json::Object{{"a", first.getString("symbol").value_or("").str()},
                                   {"b", second.getString("symbol").value_or("").str()},
                                   {"metrics", compareMetrics(first, second)},
                                   {"settings", compareSettings(first, second)},
                                   {"ops", compareCounts(readCounts(first), readCounts(second))},
                                   {"remarks", compareRemarks(first, second)}});
  }
  json::Object result{{"schema", 2},
                      {"kind", "comparison"},
                      {"kernels", std::move(kernels)},
                      {"passes", comparePasses(a, b)}};
  for (StringRef stage : {"ptx", "sass"})
    result[stage] = compareCounts(countInstructions(a, stage), countInstructions(b, stage));
  result["a"] = std::move(a);
  result["b"] = std::move(b);
  return result;
}

//===--- Text -------------------------------------------------------------===//

static std::string toText(const json::Value *value) {
  if (!value || value->kind() == json::Value::Null)
    return "-";
  if (std::optional<bool> yes = value->getAsBoolean())
    return *yes ? "yes" : "no";
  if (std::optional<int64_t> number = value->getAsInteger())
    return std::to_string(*number);
  if (std::optional<double> number = value->getAsNumber())
    return formatv(*number < 10 ? "{0:f4}" : "{0:f1}", *number).str();
  return value->getAsString().value_or("").str();
}

static void printRows(raw_ostream &stream, StringRef title, const json::Array *rows) {
  if (!rows || rows->empty())
    return;
  stream << "  " << title << "\n";
  for (const json::Value &each : *rows) {
    const json::Object &row = *each.getAsObject();
    const json::Value *a = row.get("a"), *b = row.get("b");
    std::string change;
    std::optional<double> first = a->getAsNumber(), second = b->getAsNumber();
    if (first && second && *first != *second && *first != 0)
      change = formatv("{0}{1:f1}%", *second > *first ? "+" : "", (*second / *first - 1) * 100);
    stream << "    " << left_justify(row.getString("name").value_or(""), 30) << " "
           << right_justify(toText(a), 14) << " " << right_justify(toText(b), 14) << "  "
           << row.getString("unit").value_or("") << (change.empty() ? "" : "  ") << change << "\n";
  }
}

void printComparison(const json::Object &comparison, raw_ostream &stream) {
  auto title = [&](StringRef side) {
    const json::Object *document = comparison.getObject(side);
    return document ? document->getString("title").value_or("").str() : std::string();
  };
  stream << "A: " << title("a") << "\nB: " << title("b") << "\n";
  const json::Array *kernels = comparison.getArray("kernels");
  for (const json::Value &each : kernels ? *kernels : json::Array()) {
    const json::Object &kernel = *each.getAsObject();
    StringRef a = kernel.getString("a").value_or(""), b = kernel.getString("b").value_or("");
    stream << a << (a == b ? "" : " and " + b.str()) << "\n";
    printRows(stream, "settings", kernel.getArray("settings"));
    printRows(stream, "figures", kernel.getArray("metrics"));
    printRows(stream, "operations before they become code for one thread", kernel.getArray("ops"));
    printRows(stream, "remarks", kernel.getArray("remarks"));
  }
  printRows(stream, "passes that changed something", comparison.getArray("passes"));
  printRows(stream, "PTX instructions", comparison.getArray("ptx"));
  printRows(stream, "SASS instructions", comparison.getArray("sass"));
}

} // namespace tile
