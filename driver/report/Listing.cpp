// The stages of a compilation as text with places: MLIR by the printer's own record of where each
// operation stands, PTX and SASS by the line directives that they carry.
#include "driver/report/Listing.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tile::report {

/// Paths of a report may be longer or shorter than those of the call: one ends in the other, at a
/// '/'.
bool isSameFile(StringRef a, StringRef b) {
  if (a.size() < b.size())
    std::swap(a, b);
  return a.ends_with(b) && (a.size() == b.size() || a.drop_back(b.size()).ends_with("/"));
}

unsigned FileTable::getNumber(StringRef name) {
  for (auto [i, known] : enumerate(names))
    if (isSameFile(known, name))
      return i;
  names.push_back(name.str());
  return names.size() - 1;
}

json::Object Listing::toJson() const {
  json::Array rows;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (places[i].empty())
      continue;
    json::Array row{int64_t(i + 1)};
    for (const Place &place : places[i]) {
      row.push_back(place.file);
      row.push_back(place.line);
    }
    rows.push_back(std::move(row));
  }
  return json::Object{
      {"stage", stage}, {"title", title}, {"text", join(lines, "\n")}, {"places", std::move(rows)}};
}

//===--- MLIR -------------------------------------------------------------===//

static void collectPlaces(mlir::Location location, FileTable &files, std::vector<Place> &places) {
  if (auto place = dyn_cast<mlir::FileLineColLoc>(location)) {
    Place found{files.getNumber(place.getFilename().getValue()), place.getLine()};
    if (found.line && !is_contained(places, found))
      places.push_back(found);
  } else if (auto call = dyn_cast<mlir::CallSiteLoc>(location)) {
    collectPlaces(call.getCallee(), files, places);
    collectPlaces(call.getCaller(), files, places);
  } else if (auto named = dyn_cast<mlir::NameLoc>(location)) {
    collectPlaces(named.getChildLoc(), files, places);
  } else if (auto fused = dyn_cast<mlir::FusedLoc>(location)) {
    for (mlir::Location each : fused.getLocations())
      collectPlaces(each, files, places);
  }
}

std::vector<Place> getPlaces(mlir::Location location, FileTable &files) {
  std::vector<Place> places;
  collectPlaces(location, files, places);
  return places;
}

std::string Encodings::getName(StringRef attribute) {
  auto [known, isNew] = names.try_emplace(attribute.str());
  if (isNew)
    known->second = attribute.starts_with("#tile_gpu.linear") ? "#L" + std::to_string(linear++)
                                                              : "#S" + std::to_string(shared++);
  return known->second;
}

std::string Encodings::shorten(StringRef text) {
  std::string result;
  while (true) {
    size_t begin = std::min(text.find("#tile_gpu.linear<"), text.find("#tile_gpu.shared<"));
    if (begin == StringRef::npos)
      return result + text.str();
    size_t end = text.find('>', begin); // their parameters hold none
    if (end == StringRef::npos)
      return result + text.str();
    result += text.take_front(begin).str() + getName(text.slice(begin, end + 1));
    text = text.drop_front(end + 1);
  }
}

/// The printer says at which line it wrote each operation: text and places cannot disagree.
Listing listModule(mlir::ModuleOp module, StringRef stage, StringRef title, FileTable &files,
                   Encodings &encodings) {
  std::string text;
  raw_string_ostream stream(text);
  mlir::AsmState::LocationMap where;
  mlir::AsmState state(module, mlir::OpPrintingFlags(), &where);
  module->print(stream, state);
  Listing listing{stage.str(), title.str(), {}, {}};
  for (StringRef line : split(text, '\n'))
    listing.lines.push_back(encodings.shorten(line));
  listing.places.resize(listing.lines.size());
  module->walk([&](mlir::Operation *op) {
    auto found = where.find(op);
    if (found == where.end() || op == module)
      return;
    size_t line = found->second.first;
    if (line >= 1 && line <= listing.places.size())
      listing.places[line - 1] = getPlaces(op->getLoc(), files);
  });
  return listing;
}

//===--- PTX and SASS -----------------------------------------------------===//

/// "FILE LINE COLUMN", as .loc has it.
static bool readLoc(StringRef &text, const std::map<std::string, std::string> &names,
                    FileTable &files, std::vector<Place> &places) {
  StringRef number;
  std::tie(number, text) = text.ltrim().split(' ');
  unsigned line = 0;
  text = text.ltrim();
  auto file = names.find(number.trim().str());
  if (file == names.end() || text.consumeInteger(10, line))
    return false;
  Place found{files.getNumber(file->second), line};
  if (line && !is_contained(places, found))
    places.push_back(found);
  return true;
}

Listing listPTX(StringRef text, FileTable &files) {
  Listing listing{"ptx", "PTX", {}, {}};
  std::map<std::string, std::string> names; // they stand at the end
  for (StringRef line : split(text, '\n'))
    if (StringRef rest = line.ltrim(); rest.consume_front(".file")) {
      auto [number, name] = rest.ltrim().split('"');
      names[number.trim().str()] = name.split('"').first.str();
    }
  std::vector<Place> now;
  for (StringRef line : split(text, '\n')) {
    StringRef rest = line.ltrim();
    if (rest.starts_with(".section") && rest.contains(".debug"))
      break; // tables for debuggers, to the end
    if (rest.starts_with(".file"))
      continue;
    if (rest.consume_front(".loc")) {
      now.clear();
      while (readLoc(rest, names, files, now)) {
        size_t next = rest.find("inlined_at");
        if (next == StringRef::npos)
          break;
        rest = rest.drop_front(next + strlen("inlined_at"));
      }
      continue;
    }
    if (line.starts_with("}") || rest.starts_with(".visible"))
      now.clear();
    bool isInstruction = !rest.empty() && !rest.starts_with("//") &&
                         StringRef(".${}()").find(rest.front()) == StringRef::npos;
    listing.lines.push_back(line.rtrim().str());
    listing.places.push_back(isInstruction ? now : std::vector<Place>());
  }
  while (!listing.lines.empty() && listing.lines.back().empty()) {
    listing.lines.pop_back();
    listing.places.pop_back();
  }
  return listing;
}

/// Comments with places stand before the instructions that they are about, and hold until the next
/// ones.
Listing listSass(StringRef text, FileTable &files) {
  Listing listing{"sass", "SASS", {}, {}};
  std::vector<Place> now;
  bool wasComment = false;
  for (StringRef line : split(text, '\n')) {
    StringRef rest = line.trim();
    if (rest.consume_front("//## File \"")) {
      // `File "k.tile", line 6`, or the same with `inlined at "k.tile", line 24` behind it or on
      // the next line.
      if (!wasComment)
        now.clear();
      wasComment = true;
      for (StringRef part = rest; !part.empty();) {
        auto [name, behind] = part.split('"');
        size_t at = behind.find("line ");
        unsigned number = 0;
        if (at == StringRef::npos ||
            (behind = behind.drop_front(at + 5)).consumeInteger(10, number))
          break;
        Place found{files.getNumber(name), number};
        if (number && !is_contained(now, found))
          now.push_back(found);
        size_t next = behind.find('"');
        part = next == StringRef::npos ? "" : behind.drop_front(next + 1);
      }
      continue;
    }
    wasComment = false;
    if (rest.starts_with("//----"))
      now.clear();
    listing.lines.push_back(line.rtrim().str());
    listing.places.push_back(rest.starts_with("/*") ? now : std::vector<Place>());
  }
  while (!listing.lines.empty() && listing.lines.back().empty()) {
    listing.lines.pop_back();
    listing.places.pop_back();
  }
  return listing;
}

} // namespace tile::report
