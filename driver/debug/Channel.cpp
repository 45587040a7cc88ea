// Messages of the debug adapter protocol: a header with the length, then JSON.
//
//   Content-Length: 119\r\n
//   \r\n
//   {"seq": 7, "type": "request", "command": "next", ...}
#include "driver/debug/Adapter.h"
#include "frontend/Source/ParseJson.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>

using namespace llvm;

namespace tile::debug {

void Channel::send(json::Object message) {
  message["seq"] = sequence++;
  std::string text;
  raw_string_ostream(text) << json::Value(std::move(message));
  outs() << "Content-Length: " << text.size() << "\r\n\r\n" << text;
  outs().flush();
}

void Channel::sendEvent(StringRef event, json::Object body) {
  send(json::Object{{"type", "event"}, {"event", event}, {"body", std::move(body)}});
}

void Channel::respond(const json::Object &request, json::Object body) {
  send(json::Object{{"type", "response"},
                    {"request_seq", request.getInteger("seq").value_or(0)},
                    {"command", request.getString("command").value_or("")},
                    {"success", true},
                    {"body", std::move(body)}});
}

void Channel::refuse(const json::Object &request, const Twine &message) {
  send(json::Object{
      {"type", "response"},
      {"request_seq", request.getInteger("seq").value_or(0)},
      {"command", request.getString("command").value_or("")},
      {"success", false},
      {"message", message.str()},
      {"body", json::Object{{"error", json::Object{{"id", 1}, {"format", message.str()}}}}}});
}

std::optional<json::Object> Channel::read() {
  size_t length = 0;
  while (true) {
    std::string line;
    for (int c; (c = std::getchar()) != '\n';) {
      if (c == EOF)
        return std::nullopt;
      line += char(c);
    }
    StringRef header = StringRef(line).trim();
    if (header.empty())
      break;
    if (header.consume_front_insensitive("Content-Length:"))
      (void)header.trim().getAsInteger(10, length);
  }
  // No request is that long: the length is damaged, and without it no later message can be found.
  if (length > (size_t(64) << 20))
    return std::nullopt;
  std::string text(length, '\0');
  if (std::fread(text.data(), 1, length, stdin) != length)
    return std::nullopt;
  Expected<json::Value> value = parseJson(text);
  json::Object *object = value ? value->getAsObject() : nullptr;
  if (!object) {
    consumeError(value.takeError());
    return json::Object();
  }
  return std::move(*object);
}

} // namespace tile::debug
