// Reads the CSV that Nsight Compute prints of its source page. Each launch begins with a row
// "Kernel Name" (or "Function Name"), then comes a row of titles, then the rows. In the view "sass"
// these are instructions by address. In the views "cuda" and "cuda,sass" rows with a "Line No" are
// lines of the file that the last row "File Path" named, and rows without are the instructions of
// that line.
#include "driver/explain/Profile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tile::profile {

void Counts::add(const Counts &other) {
  samples += other.samples;
  executed += other.executed;
  for (const auto &[reason, count] : other.stalls)
    stalls[reason] += count;
}

namespace {

using Fields = std::vector<std::string>;

/// The next row of CSV. Fields may stand in quotes, where "" is a quote and lines may end.
Fields takeRow(StringRef &text) {
  Fields fields(1);
  bool quoted = false;
  while (!text.empty()) {
    char c = text.front();
    text = text.drop_front();
    if (quoted) {
      if (c != '"')
        fields.back() += c;
      else if (text.consume_front("\""))
        fields.back() += '"';
      else
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c == '\n') {
      break;
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

/// "1,234" or "" or "12.5", as counts are printed.
/// 0 for anything that is no number: an empty cell means none.
int64_t readCount(StringRef text) {
  std::string digits;
  for (char c : text)
    if (c != ',')
      digits += c;
  double value = 0;
  return StringRef(digits).trim().getAsDouble(value) ? 0 : int64_t(value);
}

/// Where a row of titles has each column; -1 where it has none.
struct Columns {
  int line = -1, address = -1, source = -1, samples = -1, executed = -1;
  std::vector<std::pair<std::string, size_t>> stalls;

  explicit Columns(const Fields &titles) {
    for (auto [i, title] : enumerate(titles)) {
      StringRef name = title;
      auto set = [&, at = int(i)](int &column, ArrayRef<StringLiteral> names) {
        if (column < 0 && is_contained(names, name))
          column = at;
      };
      set(line, {"Line No"});
      set(address, {"Address"});
      set(source, {"Source"});
      // Older versions have the same by another name.
      set(samples, {"Warp Stall Sampling (All Samples)", "# Samples", "Sampling Data (All)"});
      set(executed, {"Instructions Executed", "# Instructions Executed"});
      // A second column for each reason counts the samples in which nothing was issued alone.
      if (name.consume_front("stall_") && !name.contains("Not Issued"))
        stalls.emplace_back(name.str(), i);
    }
  }

  Counts read(const Fields &row) const {
    auto count = [&](int column) {
      return column >= 0 && size_t(column) < row.size() ? readCount(row[size_t(column)]) : 0;
    };
    Counts counts{count(samples), count(executed), {}};
    for (const auto &[reason, column] : stalls)
      if (int64_t found = count(int(column)))
        counts.stalls[reason] = found;
    return counts;
  }
};

class Reader {
public:
  Reader(StringRef text, StringRef path) : text(text), path(path) {}

  Expected<std::vector<Kernel>> read() {
    if (text.contains('\0'))
      return fail("is no text; a report itself is turned into text by");
    while (!text.empty()) {
      // Messages of ncu stand between its output.
      if (text.starts_with("==")) {
        text = text.drop_front(std::min(text.find('\n'), text.size() - 1) + 1);
        continue;
      }
      Fields row = takeRow(text);
      if (row.size() >= 2 && (row[0] == "Kernel Name" || row[0] == "Function Name"))
        begin(row[1]);
      else if (row.size() >= 2 && row[0] == "File Path")
        file = row[1];
      else if (is_contained(row, "Source"))
        columns.emplace(row);
      else if (is_contained(row, "Metric Name") ||
               (is_contained(row, "Process ID") && is_contained(row, "Kernel Name")))
        return fail("has counts of whole kernels, as the pages \"raw\" and \"details\" do; counts "
                    "by line come from");
      else if (kernel && columns)
        add(row);
    }
    return finish();
  }

private:
  Error fail(const Twine &found) const {
    return createStringError("'" + path + "' " + found +
                             " ncu --import REPORT.ncu-rep --page source --csv --print-source "
                             "sass > REPORT.csv");
  }

  /// A kernel's block of rows. With source lines there is one for each file and launch.
  /// Launches of one kernel add up; its rows are found again by file, line and offset (`places`).
  void begin(StringRef name) {
    name = name.take_until([](char c) { return c == ' ' || c == '('; });
    columns.reset();
    base.reset();
    auto known = find_if(kernels, [&](const Kernel &each) { return each.name == name; });
    if (known == kernels.end()) {
      kernels.push_back({name.str(), false, 0, {}});
      known = std::prev(kernels.end());
    }
    kernel = size_t(known - kernels.begin());
    countsLaunch = true;
  }

  void add(const Fields &row) {
    Kernel &into = kernels[*kernel];
    auto field = [&](int column) -> StringRef {
      return column >= 0 && size_t(column) < row.size() ? StringRef(row[size_t(column)]).trim()
                                                        : StringRef();
    };
    Row found;
    if (columns->line >= 0) {
      if (field(columns->line).getAsInteger(10, found.line) || !found.line)
        return; // an instruction of the line above
      found.file = file;
    } else {
      uint64_t address;
      if (field(columns->address).getAsInteger(0, address))
        return;
      if (!base)
        base = address;
      found.offset = address - *base;
      found.text = field(columns->source).str();
      into.hasInstructions = true;
    }
    found.counts = columns->read(row);
    lacksCounts |= columns->samples < 0 && columns->executed < 0;
    // With source lines a launch has several blocks, one for each file.
    auto [same, isNew] =
        places.try_emplace({*kernel, found.file, found.line, found.offset}, into.rows.size());
    if (countsLaunch && (!isNew || into.rows.empty())) {
      ++into.launches;
      countsLaunch = false;
    }
    if (isNew)
      into.rows.push_back(std::move(found));
    else
      into.rows[same->second].counts.add(found.counts);
  }

  Expected<std::vector<Kernel>> finish() {
    erase_if(kernels, [](const Kernel &each) { return each.rows.empty(); });
    if (kernels.empty())
      return fail("has no rows of the page \"source\", which begin with a row \"Kernel Name\" and "
                  "a row of titles with \"Source\"; they come from");
    if (lacksCounts)
      return fail("has neither \"Warp Stall Sampling (All Samples)\" nor \"Instructions "
                  "Executed\": profile with --section SourceCounters, then export by");
    return std::move(kernels);
  }

  StringRef text, path;
  std::vector<Kernel> kernels;
  std::optional<size_t> kernel; ///< that the rows belong to
  /// The row of each kernel, file, line and offset.
  std::map<std::tuple<size_t, std::string, unsigned, uint64_t>, size_t> places;
  std::optional<Columns> columns;
  std::optional<uint64_t> base; ///< the address of the kernel's first instruction
  std::string file;
  bool countsLaunch = false, lacksCounts = false;
};

} // namespace

Expected<std::vector<Kernel>> read(StringRef text, StringRef path) {
  return Reader(text, path).read();
}

} // namespace tile::profile
