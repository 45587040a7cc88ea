// Errors of an assembler that refuses PTX, with the place in the source that they come from.
#include "codegen/Assemble.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace tile {

char RefusedPTX::ID = 0;

void RefusedPTX::log(raw_ostream &stream) const {
  stream << assembler << " refused the generated PTX: " << text;
}

/// The first error alone: those that follow are mostly its consequences. Always an error value,
/// whatever the assembler printed.
Error readRefusal(StringRef assembler, StringRef output) {
  SmallVector<StringRef> lines;
  output.split(lines, '\n', -1, /*KeepEmpty=*/false);
  // "ptxas FILE, line 38; error   : Not a name of …", "ptxas fatal   : …", "error   : …".
  static const char *const pattern = "(, line ([0-9]+); *)?(error|fatal) *: *(.*)$";
  Regex regex(pattern);
  for (StringRef line : lines) {
    SmallVector<StringRef> parts;
    if (!regex.match(line.rtrim(), &parts))
      continue;
    unsigned number = 0;
    parts[2].getAsInteger(10, number);
    // "… fatal: Ptx assembly aborted due to errors" only ends the list.
    return make_error<RefusedPTX>(assembler.str(), parts[4].trim().str(), number);
  }
  std::string first = lines.empty() ? "it does not say why" : lines.front().trim().str();
  return make_error<RefusedPTX>(assembler.str(), first, 0);
}

/// "FILE LINE COLUMN" of a .loc directive, or what stands behind its `inlined_at`.
static bool readPlace(StringRef &text, const StringMap<std::string> &files, SourcePlace &place) {
  StringRef number = text.ltrim().take_while([](char c) { return c != ' '; });
  text = text.ltrim().drop_front(number.size()).ltrim();
  auto file = files.find(number);
  if (file == files.end() || text.consumeInteger(10, place.line) ||
      text.ltrim().consumeInteger(10, place.column))
    return false;
  place.file = file->second;
  return place.line != 0;
}

/// From the innermost place to the kernel's line, as calls are inlined; empty where the PTX has no
/// line table, or the line is before a function's first `.loc`.
///
///   .loc 1 12 5, function_name $L__info_string0, inlined_at 1 40 3
///        ^ file, line, column: the callee                  ^ its caller
std::vector<SourcePlace> findSourcePlaces(StringRef ptx, unsigned line) {
  SmallVector<StringRef> lines;
  ptx.split(lines, '\n');
  if (line == 0 || line > lines.size())
    return {};
  StringMap<std::string> files; // they stand at the end
  for (StringRef each : lines)
    if (StringRef text = each.ltrim(); text.consume_front(".file")) {
      auto [number, name] = text.ltrim().split('"');
      files[number.trim()] = name.split('"').first.str();
    }
  // A `.loc` holds for all lines up to the next one.
  size_t last = line;
  for (; last > 0; --last) {
    StringRef text = lines[last - 1].ltrim();
    if (text.starts_with(".loc"))
      break;
    if (last < line && text.starts_with("}") && lines[last - 1].starts_with("}"))
      return {}; // another function's
  }
  if (last == 0)
    return {};
  std::vector<SourcePlace> places;
  StringRef text = lines[last - 1].ltrim().drop_front(4);
  for (SourcePlace place; readPlace(text, files, place); place = {}) {
    places.push_back(place);
    size_t next = text.find("inlined_at");
    if (next == StringRef::npos)
      break;
    text = text.drop_front(next + 10);
  }
  return places;
}

} // namespace tile
