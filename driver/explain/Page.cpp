// The page of `tilec explain --html`: the template of driver/explain/page with a document in it.
#include "driver/explain/Document.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tile {

static const std::pair<const char *, const char *> pageFiles[] = {
#include "driver/explain/PageFiles.inc"
};

/// All files of the template with this ending, in the order of their names.
static std::string joinFiles(StringRef ending) {
  std::string text;
  for (const auto &[name, content] : pageFiles)
    if (StringRef(name).ends_with(ending))
      text += content;
  return text;
}

/// JSON that a script element may hold: nothing in it ends the element.
static std::string toScript(const json::Value &document) {
  std::string text;
  raw_string_ostream(text) << document;
  std::string safe;
  for (char c : text)
    safe += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return safe;
}

static std::string escape(StringRef text) {
  std::string safe;
  raw_string_ostream stream(safe);
  printHTMLEscaped(text, stream);
  return safe;
}

std::string makePage(const json::Value &document, StringRef title) {
  std::string page = joinFiles(".html");
  auto fill = [&](StringRef mark, const std::string &text) {
    if (size_t at = page.find(mark.str()); at != std::string::npos)
      page.replace(at, mark.size(), text);
  };
  // The document goes last: nothing looks for marks in it.
  fill("@title@", escape(title));
  fill("@style@", joinFiles(".css"));
  fill("@script@", joinFiles(".js"));
  fill("@document@", toScript(document));
  return page;
}

} // namespace tile
