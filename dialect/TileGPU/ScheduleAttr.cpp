// Text and verifier of #tile_gpu.schedule.
#include "dialect/TileGPU/TileGPUDialect.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile::gpu;

/// In the order in which they are printed.
static constexpr std::pair<llvm::StringLiteral, bool ScheduleWords::*> wordNames[] = {
    {"vectors_first", &ScheduleWords::vectorsFirst},
    {"scale_under", &ScheduleWords::scaleUnder},
    {"apart", &ScheduleWords::apart},
    {"turns", &ScheduleWords::turns},
    {"peek", &ScheduleWords::peek}};

static ParseResult parsePlace(AsmParser &parser, ProductPlace &place) {
  if (parser.parseLParen() || parser.parseKeyword("stage") || parser.parseEqual() ||
      parser.parseInteger(place.stage) || parser.parseComma() || parser.parseKeyword("order") ||
      parser.parseEqual() || parser.parseInteger(place.order))
    return failure();
  // The flight is left out where the product is waited for at once, parts where it is one piece.
  while (succeeded(parser.parseOptionalComma())) {
    bool isFlight =
        !place.flight && place.parts == 1 && succeeded(parser.parseOptionalKeyword("flight"));
    if ((!isFlight && parser.parseKeyword("parts")) || parser.parseEqual() ||
        parser.parseInteger(isFlight ? place.flight.emplace() : place.parts))
      return failure();
  }
  return parser.parseRParen();
}

static ParseResult parseWord(AsmParser &parser, ScheduleWords &words) {
  StringRef found;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&found))
    return failure();
  for (auto [name, word] : wordNames)
    if (name == found) {
      words.*word = true;
      return success();
    }
  InFlightDiagnostic error = parser.emitError(location)
                             << "unknown word '" << found << "' of a schedule; there are ";
  llvm::interleaveComma(wordNames, error, [&](const auto &each) { error << each.first; });
  return error;
}

/// Everything that parses is checked by verify, whose messages are those of attributes built in
/// C++, too.
Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  SmallVector<ProductPlace> products;
  ScheduleWords words;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parsePlace(parser, products.emplace_back());
      }))
    return {};
  while (succeeded(parser.parseOptionalComma()))
    if (parseWord(parser, words))
      return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(location); }, parser.getContext(),
                    ArrayRef<ProductPlace>(products), words);
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getProducts(), printer, [&](const ProductPlace &place) {
    printer << "(stage = " << place.stage << ", order = " << place.order;
    if (place.flight)
      printer << ", flight = " << *place.flight;
    if (place.parts != 1)
      printer << ", parts = " << place.parts;
    printer << ")";
  });
  printer << "]";
  for (auto [name, word] : wordNames)
    if (getWords().*word)
      printer << ", " << name;
  printer << ">";
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<ProductPlace> products, ScheduleWords words) {
  // Orders are a permutation of the products' numbers.
  llvm::BitVector taken(unsigned(products.size()));
  bool staged = false;
  for (const ProductPlace &place : products) {
    if (place.order < 0 || place.order >= int64_t(products.size()) ||
        taken.test(unsigned(place.order)))
      return emitError() << "an order is the number of each product once, from 0 to "
                         << products.size() << " exclusive, found " << place.order;
    taken.set(unsigned(place.order));
    // Issue and wait are a trip apart at most: results of two trips would need two sets of
    // registers.
    if (place.stage < 0 || place.stage > 1 || place.flight.value_or(0) < 0 ||
        place.stage + place.flight.value_or(0) > 1)
      return emitError() << "a product's result is there in the trip after its own at the latest, "
                            "found stage "
                         << place.stage << " and flight " << place.flight.value_or(0);
    if (place.stage && !place.flight)
      return emitError() << "a product of stage 1 needs a flight: nothing runs beside it if it is "
                            "waited for at once";
    if (place.parts < 1 || (place.parts > 1 && (place.stage || !place.flight)))
      return emitError() << "parts are of stage 0 and in flight, each till the next one is issued, "
                            "found parts = "
                         << place.parts << " of stage " << place.stage
                         << (place.flight ? "" : " without a flight");
    staged |= place.stage > 0;
  }
  if (products.empty())
    return emitError() << "a schedule has an entry for each product of the loop, found none";
  if (words.scaleUnder && !staged)
    return emitError() << "scale_under speaks of products of stage 1, and there is none";
  bool inFlight = llvm::all_of(products, [](const ProductPlace &place) {
    return !place.stage && place.flight == 0 && place.parts == 1;
  });
  if (words.apart && (products.size() < 2 || !inFlight))
    return emitError() << "apart speaks of several products, each in flight until its result is "
                          "used";
  if (words.peek && !words.turns && !words.apart)
    return emitError() << "peek needs turns: alone, a warpgroup waits for its products first";
  return success();
}

/// Numbers for people begin at 1.
static std::string describePlace(const ProductPlace &place, int64_t head) {
  std::string product = "product " + std::to_string(place.order + 1);
  if (place.stage)
    return product + " runs a trip later, beside product " + std::to_string(head + 1);
  if (!place.flight)
    return product + " is waited for at once";
  return product + (*place.flight ? " is in flight until the next trip has issued its own"
                                  : " is in flight until its result is used");
}

/// For --remarks=passes and `tilec explain`.
std::string ScheduleAttr::describe() const {
  SmallVector<ProductPlace> places(getProducts());
  llvm::sort(places,
             [](const ProductPlace &a, const ProductPlace &b) { return a.order < b.order; });
  SmallVector<std::string> parts;
  int64_t head = 0;
  if (places.front().parts > 1) {
    parts.push_back(
        "product 1 is issued in " + std::to_string(places.front().parts) +
        " parts along K, each computed while the one before is in flight" +
        (places.back().flight == 1 ? ", the first one while the last trip's last is" : ""));
    places.clear();
  }
  for (const ProductPlace &place : places) {
    // The last product of stage 0 that was issued: staged ones run beside it.
    head = place.stage ? head : place.order;
    parts.push_back(describePlace(place, head));
  }
  const ScheduleWords words = getWords();
  if (words.vectorsFirst)
    parts.push_back("fetched vectors are read before the products");
  if (words.scaleUnder)
    parts.push_back("sums are scaled under product " + std::to_string(head + 1));
  if (words.apart)
    parts.push_back("each is issued behind what is computed from the one before");
  if (words.turns)
    parts.push_back("warpgroups take turns");
  if (words.peek)
    parts.push_back("the next trip's tile is waited for before the last product");
  return llvm::join(parts, "; ");
}
