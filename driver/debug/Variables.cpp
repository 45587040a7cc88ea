// Variables as the debug adapter protocol has them: names with values, of which tiles can be
// opened.
// A client opens a tree node by node. Each node that can be opened has a number, the index of a
// query in `references` plus 1; queries are only added while a program stands, so that a number
// stays good until the client asks again.
//
//   acc: [16, 64]          reference of "acc"
//     [0]                  reference of "acc[0..1, 0..64]"
//       [0] = 1.5          no reference: a number
#include "driver/debug/Adapter.h"

using namespace llvm;

namespace tile::debug {

/// Elements of a variable that is opened.
static constexpr size_t mostElements = 1 << 12;

json::Object VariableTree::describe(const std::string &name, const std::string &dtype) {
  std::string error;
  Query query{name, {}};
  std::optional<Elements> found = debugger.getElements(query, error);
  if (!found)
    return json::Object{{"name", name}, {"value", error}, {"variablesReference", 0}};
  bool isTile = !found->shape.empty();
  std::string value = StringRef(debugger.show(query)).split('\n').first.str();
  StringRef text = value;
  text.consume_front(name);
  text = text.ltrim(" =:");
  int64_t reference = 0;
  if (isTile) {
    references.push_back(query);
    reference = int64_t(references.size());
  }
  return json::Object{{"name", name},
                      {"value", text.str()},
                      {"type", dtype},
                      {"evaluateName", name},
                      {"variablesReference", reference}};
}

json::Array VariableTree::list(int64_t reference) {
  json::Array variables;
  if (reference >= firstFrameReference) {
    for (const auto &[name, site] : debugger.getVariables(size_t(reference - firstFrameReference)))
      variables.push_back(describe(name, debugger.getSite(site).dtype));
  } else if (reference == argumentsReference) {
    for (const RunArgument &argument : debugger.getArguments())
      if (argument.buffer.getData())
        variables.push_back(describe(argument.param->name, "tensor"));
  } else if (reference > 0 && reference <= int64_t(references.size())) {
    listElements(references[size_t(reference - 1)], variables);
  }
  return variables;
}

void VariableTree::listElements(Query query, json::Array &variables) {
  std::string error;
  std::optional<Elements> all = debugger.getElements(query, error);
  if (!all)
    return;
  // A part keeps all dimensions, each with its begin and end: those that were opened before have an
  // extent of 1, and the first with more is the one to be listed. Dimensions of extent 1 at the end
  // need no level of their own.
  size_t inner = all->shape.size();
  while (inner > 0 && all->shape[inner - 1] == 1)
    --inner;
  size_t open = 0; // the first dimension that is not fixed yet
  while (open < all->shape.size() && all->shape[open] == 1 && open + 1 < inner)
    ++open;
  int64_t extent = open < all->shape.size() ? all->shape[open] : 1;
  for (int64_t i = 0; i < std::min<int64_t>(extent, mostElements); ++i) {
    Query part = query;
    if (part.parts.empty())
      for (int64_t e : all->shape)
        part.parts.emplace_back(0, e);
    int64_t at = part.parts[open].first + i;
    part.parts[open] = {at, at + 1};
    std::optional<Elements> found = debugger.getElements(part, error);
    if (!found)
      return;
    bool one = found->values.size() == 1;
    std::string value =
        one ? showNumber(found->values[0], found->isFloat)
            : StringRef(debugger.show(part)).split(": ").second.split('\n').first.str();
    int64_t reference = 0;
    if (!one) {
      references.push_back(part);
      reference = int64_t(references.size());
    }
    variables.push_back(json::Object{{"name", "[" + std::to_string(at) + "]"},
                                     {"value", value},
                                     {"variablesReference", reference}});
  }
}

} // namespace tile::debug
