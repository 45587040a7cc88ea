// A look at the brackets before LLVM's parser, which recurses without a limit.
#include "frontend/Source/ParseJson.h"

using namespace llvm;

namespace tile {

/// How deep arrays and objects stand in each other at most; what is no JSON gives any number.
/// Counts brackets outside of strings, in one walk without recursion. Text that is no JSON may be
/// counted wrong, which does no harm: the parser refuses it.
static unsigned depthOf(StringRef text) {
  unsigned depth = 0, deepest = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString && c == '\\')
      ++i;
    else if (c == '"')
      inString = !inString;
    else if (!inString && (c == '[' || c == '{'))
      deepest = std::max(deepest, ++depth);
    else if (!inString && (c == ']' || c == '}') && depth)
      --depth;
  }
  return deepest;
}

bool isTooDeep(StringRef text) { return depthOf(text) > maxJsonDepth; }

Expected<json::Value> parseJson(StringRef text) {
  if (isTooDeep(text))
    return createStringError("nested deeper than " + Twine(maxJsonDepth) + " levels");
  return json::parse(text);
}

} // namespace tile
