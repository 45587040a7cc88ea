// Renders diagnostics as text with source lines.
//
//   a.tile:3:9: error: 'xa' is not defined [E0201]     head
//      3 | let y = xa + zb;                             line: the source, a tab as two blanks,
//        |         ^~   -- a label                      and its marks, the labels behind them
//         fix: did you mean 'x'? (3:9: 'xa' becomes 'x')
//         note: ...                                    without a place; else head and line again
//
// Ranges are bytes, columns of the picture are those of a terminal: `columns` translates between
// them. Line and column in heads are the SourceManager's.
#include "frontend/Diag/TextRenderer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Unicode.h"

#include <algorithm>
#include <map>

using namespace tile;
using llvm::raw_ostream;

void TextRenderer::paint(raw_ostream::Colors shade, bool bold) {
  // Written out because a consumer's stream need not be a terminal that raw_ostream knows.
  if (color)
    *os << "\x1b[" << (bold ? "1" : "0") << ";3" << unsigned(shade) << "m";
}

void TextRenderer::plain() {
  if (color)
    *os << "\x1b[0m";
}

void TextRenderer::head(Range range, llvm::StringRef severity, raw_ostream::Colors shade,
                        llvm::StringRef message, llvm::StringRef code) {
  if (range.isValid()) {
    if (color)
      *os << "\x1b[1m";
    *os << sources->describe(range) << ": ";
    plain();
  }
  paint(shade);
  *os << severity << ": ";
  plain();
  *os << message;
  if (!code.empty())
    *os << " [" << code << "]";
  *os << '\n';
}

/// The picture of a byte range of a source line: tabs become blanks, control
/// characters '?'.
static std::string printable(llvm::StringRef text) {
  std::string out;
  for (unsigned char c : text)
    if (c == '\t')
      out += "  ";
    else if (c < 0x20 || c == 0x7f)
      out += '?';
    else
      out += char(c);
  return out;
}

/// Columns that a piece of text takes; what is not UTF-8 counts byte by byte.
static unsigned columns(llvm::StringRef text) {
  std::string shown = printable(text);
  int width = llvm::sys::unicode::columnWidthUTF8(shown);
  return width >= 0 ? unsigned(width) : unsigned(shown.size());
}

void TextRenderer::line(Range source, unsigned number, unsigned width,
                        const std::vector<const Underline *> &underlines) {
  // Of a very long line only the part around the first underline is shown.
  // In bytes: generated sources may have lines of megabytes.
  constexpr uint32_t context = 100;
  llvm::StringRef text = sources->text(source);
  uint32_t shift = 0;
  bool cut = text.size() > 3 * context;
  if (cut) {
    uint32_t first = underlines.front()->range.begin - source.begin;
    shift = first > context ? first - context : 0;
    while (shift && shift < text.size() && (uint8_t(text[shift]) & 0xc0) == 0x80)
      ++shift; // not into the middle of a character
    size_t end = std::min<size_t>(shift + 2 * context, text.size());
    while (end > shift && end < text.size() && (uint8_t(text[end]) & 0xc0) == 0x80)
      --end;
    text = text.slice(shift, end);
  }
  llvm::StringRef lead = shift ? "..." : "";
  paint(raw_ostream::BLUE);
  *os << llvm::right_justify(std::to_string(number), width) << " | ";
  plain();
  *os << lead << printable(text) << (cut ? "..." : "") << '\n';

  std::string signs;
  std::string label;
  for (const Underline *underline : underlines) {
    auto clip = [&](uint32_t offset) {
      uint32_t from = source.begin + shift;
      return std::min<uint32_t>(offset > from ? offset - from : 0, text.size());
    };
    uint32_t begin = clip(underline->range.begin),
             end = std::max(begin, clip(underline->range.end));
    unsigned from = unsigned(lead.size()) + columns(text.take_front(begin));
    unsigned count = std::max(1u, columns(text.slice(begin, end)));
    if (signs.size() < from + count)
      signs.resize(from + count, ' ');
    for (unsigned i = 0; i < count; ++i)
      // The first underline is the diagnostic's own and wins where a label covers the same columns.
      if (signs[from + i] == ' ')
        signs[from + i] = underline->sign == '^' ? (i == 0 ? '^' : '~') : '-';
    if (!underline->label.empty())
      label += (label.empty() ? "" : "; ") + underline->label;
  }
  paint(raw_ostream::BLUE);
  *os << std::string(width, ' ') << " | ";
  plain();
  paint(raw_ostream::GREEN);
  *os << signs;
  if (!label.empty())
    *os << ' ' << label;
  plain();
  *os << '\n';
}

/// All underlined lines of one file, in order of line; of a range of several lines the first is
/// shown.
void TextRenderer::snippet(FileID file, std::vector<Underline> underlines) {
  std::map<unsigned, std::vector<const Underline *>> lines;
  for (Underline &underline : underlines)
    lines[sources->begin(underline.range).line].push_back(&underline);
  unsigned width = std::max<unsigned>(4, unsigned(std::to_string(lines.rbegin()->first).size()));
  for (auto &[number, marks] : lines)
    line(sources->lineRange(file, number), number, width, marks);
}

void TextRenderer::fixIt(const Diagnostic::FixIt &fix) {
  *os << "      ";
  paint(raw_ostream::GREEN);
  *os << "fix: ";
  plain();
  *os << fix.text;
  LineColumn place = sources->begin(fix.range);
  if (fix.range.isValid()) {
    *os << " (" << place.line << ":" << place.column << ": ";
    if (fix.range.size() == 0)
      *os << "insert '" << fix.replacement << "'";
    else if (fix.replacement.empty())
      *os << "remove '" << printable(sources->text(fix.range)) << "'";
    else
      *os << "'" << printable(sources->text(fix.range)) << "' becomes '" << fix.replacement << "'";
    *os << ")";
  }
  *os << '\n';
}

void TextRenderer::operator()(const Diagnostic &diagnostic) {
  llvm::StringRef word = "error";
  raw_ostream::Colors shade = raw_ostream::RED;
  if (diagnostic.severity == Severity::warning) {
    word = "warning";
    shade = raw_ostream::MAGENTA;
  } else if (diagnostic.severity == Severity::remark) {
    word = "remark";
    shade = raw_ostream::BLUE;
  }
  head(diagnostic.range, word, shade, diagnostic.message, diagnostic.code());

  std::vector<Underline> underlines;
  if (diagnostic.range.isValid())
    underlines.push_back({diagnostic.range, '^', ""});
  for (const Diagnostic::Label &label : diagnostic.labels) {
    if (label.range.isValid() && label.range.file == diagnostic.range.file)
      underlines.push_back({label.range, '-', label.text});
  }
  if (!underlines.empty())
    snippet(diagnostic.range.file, std::move(underlines));
  for (const Diagnostic::FixIt &fix : diagnostic.fixIts)
    fixIt(fix);

  for (const Diagnostic::Label &label : diagnostic.labels) // of other files: not in the picture
    if (label.range.isValid() && label.range.file != diagnostic.range.file) {
      head(label.range, "note", raw_ostream::CYAN, label.text, "");
      snippet(label.range.file, {{label.range, '^', ""}});
    }
  for (const Diagnostic::Note &note : diagnostic.notes) {
    if (!note.range.isValid())
      *os << "      ";
    head(note.range, "note", raw_ostream::CYAN, note.text, "");
    if (note.range.isValid())
      snippet(note.range.file, {{note.range, '^', ""}});
  }
  os->flush();
}

std::string tile::summary(const DiagnosticEngine &diagnostics) {
  auto count = [](unsigned n, const char *what) {
    return n == 0 ? std::string() : std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  std::string errors = count(diagnostics.errors(), "error"),
              warnings = count(diagnostics.warnings(), "warning");
  std::string out = errors + (errors.empty() || warnings.empty() ? "" : " and ") + warnings;
  if (diagnostics.limitReached())
    out += "; there are more, the error limit is reached";
  return out;
}
