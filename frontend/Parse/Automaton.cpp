// Subset construction from the network that ANTLR has made of TileLexer.g4: the longest match, of
// equal ones that of the first rule. The grammar has no modes, predicates or lazy loops, which
// this would not represent.
//
//   network     a graph for each rule and fragment, with edges of bytes, of nothing, and of calls
//   place       a state of the network and the states to return to: a frame for each fragment
//   closure     the places that are reached from one without a byte
//   state       a set of places; next[256] leads on, `accepts` is the first rule that ends in it
//
// Fragments do not call themselves, so there are finitely many places. Places have numbers, as sets
// of them are compared and looked up all the time.
#include "frontend/Parse/Automaton.h"
#include "frontend/Parse/ByteStream.h"

#include "TileLexer.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace tile;
namespace atn = antlr4::atn;

namespace tile {

class AutomatonBuilder {
public:
  AutomatonBuilder(const atn::ATN &network, Automaton &out) : network(network), out(out) {}

  void build();

private:
  /// A state of the network, and the states behind the fragments around it, the innermost last.
  using Place = std::pair<atn::ATNState *, std::vector<atn::ATNState *>>;
  using Places = std::vector<unsigned>; // numbers of places, each once, in order

  unsigned number(Place place);
  const Places &closure(unsigned place);
  void follow(unsigned place, Places &found, std::vector<bool> &seen);
  uint16_t addState(const Places &places);
  const std::vector<std::pair<size_t, size_t>> &getRanges(const atn::Transition *edge);
  void addEdges(size_t state);
  void readRules();

  static constexpr ssize_t lastByte = 255;

  const atn::ATN &network;
  Automaton &out;
  std::map<Place, unsigned> numbers;
  std::vector<Place> places;                // by number
  std::vector<std::optional<Places>> cache; // closures by number
  std::map<Places, uint16_t> stateNumbers;
  std::vector<Places> statePlaces; // by number of the state
  std::map<const atn::Transition *, std::vector<std::pair<size_t, size_t>>> ranges;
};

} // namespace tile

unsigned AutomatonBuilder::number(Place place) {
  auto [found, isNew] = numbers.emplace(std::move(place), unsigned(places.size()));
  if (isNew) {
    places.push_back(found->first);
    cache.emplace_back();
  }
  return found->second;
}

/// Adds the places that a token can be in without another byte.
void AutomatonBuilder::follow(unsigned at, Places &found, std::vector<bool> &seen) {
  seen.resize(std::max<size_t>(seen.size(), at + 1));
  if (seen[at])
    return;
  seen[at] = true;
  auto [state, behind] = places[at]; // a copy: `number` moves them
  bool ends = state->getStateType() == atn::ATNState::RULE_STOP;
  if (ends && !behind.empty()) { // of a fragment
    atn::ATNState *next = behind.back();
    behind.pop_back();
    follow(number({next, behind}), found, seen);
    return;
  }
  // A place that only leads on is no member: sets stay small, and equal sets are found equal.
  if (ends || !state->epsilonOnlyTransitions)
    found.push_back(at);
  for (const atn::Transition *each : state->transitions) {
    if (ends || !each->isEpsilon())
      continue;
    std::vector<atn::ATNState *> stack = behind;
    if (each->getSerializationType() == atn::Transition::RULE)
      stack.push_back(static_cast<const atn::RuleTransition *>(each)->followState);
    follow(number({each->target, std::move(stack)}), found, seen);
  }
}

const AutomatonBuilder::Places &AutomatonBuilder::closure(unsigned place) {
  if (!cache[place]) {
    Places found;
    std::vector<bool> seen;
    follow(place, found, seen);
    llvm::sort(found);
    cache[place] = std::move(found);
  }
  return *cache[place];
}

uint16_t AutomatonBuilder::addState(const Places &members) {
  auto [found, isNew] = stateNumbers.emplace(members, uint16_t(out.states.size()));
  if (!isNew)
    return found->second;
  Automaton::State state;
  state.next.fill(Automaton::none);
  for (unsigned each : members)
    if (places[each].first->getStateType() == atn::ATNState::RULE_STOP)
      // Of rules that match the same bytes the first of the grammar counts: keywords stand before
      // ID.
      state.accepts = std::min(state.accepts, uint16_t(places[each].first->ruleIndex));
  out.states.push_back(state);
  statePlaces.push_back(members);
  return found->second;
}

/// The bytes that an edge takes, as first and last ones. Most edges are of one byte and belong to
/// many states: asking each for all bytes would take most of the time.
const std::vector<std::pair<size_t, size_t>> &
AutomatonBuilder::getRanges(const atn::Transition *edge) {
  auto [found, isNew] = ranges.try_emplace(edge);
  if (!isNew)
    return found->second;
  switch (edge->getSerializationType()) {
  case atn::Transition::ATOM:
  case atn::Transition::RANGE:
  case atn::Transition::SET: {
    const antlr4::misc::IntervalSet label = edge->label();
    for (const antlr4::misc::Interval &each : label.getIntervals())
      if (each.a <= lastByte)
        found->second.push_back({size_t(each.a), size_t(std::min<ssize_t>(each.b, lastByte))});
    break;
  }
  default:
    for (size_t byte = 0; byte <= size_t(lastByte); ++byte)
      if (!edge->matches(byte, antlr4::Lexer::MIN_CHAR_VALUE, antlr4::Lexer::MAX_CHAR_VALUE))
        continue;
      else if (!found->second.empty() && found->second.back().second + 1 == byte)
        found->second.back().second = byte;
      else
        found->second.push_back({byte, byte});
  }
  return found->second;
}

/// `number` and `addState` may move places, states and their members: copies and indices are used,
/// no references across them.
/// Bytes between two ends of edges go to the same places, so that each such interval is asked once.
void AutomatonBuilder::addEdges(size_t state) {
  struct Edge {
    size_t first, last;
    unsigned target;
  };
  std::vector<Edge> edges;
  std::vector<size_t> begins; // of the intervals
  for (unsigned each : Places(statePlaces[state])) {
    Place from = places[each];
    if (from.first->getStateType() == atn::ATNState::RULE_STOP)
      continue;
    for (const atn::Transition *edge : from.first->transitions) {
      const auto &ranges = getRanges(edge);
      if (ranges.empty())
        continue;
      unsigned target = number({edge->target, from.second});
      for (auto [first, last] : ranges) {
        edges.push_back({first, last, target});
        llvm::append_values(begins, first, last + 1);
      }
    }
  }
  llvm::sort(begins);
  begins.erase(llvm::unique(begins), begins.end());
  for (auto [i, begin] : llvm::enumerate(begins)) {
    Places members;
    for (const Edge &edge : edges)
      if (edge.first <= begin && begin <= edge.last)
        llvm::append_range(members, closure(edge.target));
    if (members.empty())
      continue;
    llvm::sort(members);
    members.erase(llvm::unique(members), members.end());
    uint16_t next = addState(members);
    std::fill(out.states[state].next.begin() + begin,
              out.states[state].next.begin() + begins[i + 1], next);
  }
}

/// Types of the rules' tokens, and what happens to them: actions stand at the ends of rules.
void AutomatonBuilder::readRules() {
  out.rules.resize(network.ruleToTokenType.size());
  for (auto [rule, type] : llvm::zip(out.rules, network.ruleToTokenType))
    rule.type = type;
  for (const atn::ATNState *state : network.states)
    for (const atn::Transition *each : state->transitions) {
      if (each->getSerializationType() != atn::Transition::ACTION)
        continue;
      auto *transition = static_cast<const atn::ActionTransition *>(each);
      const atn::LexerAction &action = *network.lexerActions[transition->actionIndex];
      Automaton::Rule &rule = out.rules[transition->ruleIndex];
      if (action.getActionType() == atn::LexerActionType::SKIP)
        rule.isSkipped = true;
      else if (action.getActionType() == atn::LexerActionType::CHANNEL)
        rule.channel = size_t(static_cast<const atn::LexerChannelAction &>(action).getChannel());
    }
}

void AutomatonBuilder::build() {
  readRules();
  addState(closure(number({network.modeToStartState.front(), {}})));
  // The list grows while it is gone over: until no state leads to a new one.
  for (size_t i = 0; i < out.states.size(); ++i)
    addEdges(i);
}

const Automaton &Automaton::get() {
  // Made once and then only read, so that threads share it.
  static const Automaton automaton = [] {
    Automaton made;
    ByteStream nothing("");
    TileLexer lexer(&nothing);
    AutomatonBuilder(lexer.getATN(), made).build();
    return made;
  }();
  return automaton;
}

bool Automaton::next(llvm::StringRef text, uint32_t &at, Lexeme &found) const {
  while (at < text.size()) {
    const State *state = &states.front();
    uint16_t rule = none;
    uint32_t begin = at, end = at;
    for (uint32_t i = at; i < text.size();) {
      uint16_t next = state->next[uint8_t(text[i++])];
      if (next == none)
        break;
      state = &states[next];
      // The longest match so far; bytes read beyond it are read again for the next token.
      if (state->accepts != none) {
        rule = state->accepts;
        end = i;
      }
    }
    // Each byte is a token if it is nothing else, so there is a rule.
    at = std::max(end, begin + 1);
    if (rule == none || rules[rule].isSkipped)
      continue;
    found = {rules[rule].type, rules[rule].channel, begin, end};
    return true;
  }
  return false;
}
