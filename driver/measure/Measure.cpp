// Between `tilec tune` and its workers, as JSON.
// One line is one message, so neither side needs to know how long the other's are. Fields that are
// missing have the values of a request without them: both sides are the same program, but a line
// that was cut off must not end a worker.
#include "driver/measure/Measure.h"
#include "frontend/Source/ParseJson.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace tile {

std::string toJson(const MeasureRequest &request) {
  json::Object expected;
  for (const auto &[output, path] : request.expected)
    expected[output] = path;
  return formatv("{0}", json::Value(json::Object{{"config", request.config},
                                                 {"shape", request.shape},
                                                 {"image", request.image},
                                                 {"reference", request.reference},
                                                 {"reference_image", request.referenceImage},
                                                 {"expected", std::move(expected)},
                                                 {"check", request.check},
                                                 {"fewest", int64_t(request.limits.fewest)},
                                                 {"most", int64_t(request.limits.most)},
                                                 {"enough", request.limits.enough},
                                                 {"give_up", request.limits.giveUp}}))
      .str();
}

std::string toJson(const MeasureReply &reply) {
  return formatv("{0}", json::Value(json::Object{{"status", reply.status},
                                                 {"reason", json::fixUTF8(reply.reason)},
                                                 {"ms", reply.timing.median},
                                                 {"best_ms", reply.timing.best},
                                                 {"batches", int64_t(reply.timing.batches)},
                                                 {"ran", reply.ran}}))
      .str();
}

static std::optional<json::Object> parseLine(StringRef line) {
  Expected<json::Value> value = parseJson(line);
  if (value && value->getAsObject())
    return std::move(*value->getAsObject());
  if (!value)
    consumeError(value.takeError());
  return std::nullopt;
}

std::optional<MeasureRequest> parseMeasureRequest(StringRef line) {
  std::optional<json::Object> object = parseLine(line);
  if (!object || !object->getString("shape"))
    return std::nullopt;
  MeasureRequest request;
  for (auto [name, field] : {std::pair("config", &request.config),
                             {"shape", &request.shape},
                             {"image", &request.image},
                             {"reference", &request.reference},
                             {"reference_image", &request.referenceImage}})
    *field = object->getString(name).value_or("").str();
  if (const json::Object *expected = object->getObject("expected"))
    for (const auto &[output, path] : *expected)
      request.expected.emplace_back(output.str(), path.getAsString().value_or("").str());
  request.check = object->getBoolean("check").value_or(true);
  request.limits.fewest = std::max<int64_t>(object->getInteger("fewest").value_or(5), 1);
  request.limits.most = object->getInteger("most").value_or(100);
  request.limits.enough = object->getNumber("enough").value_or(300);
  request.limits.giveUp = object->getNumber("give_up").value_or(0);
  return request;
}

std::optional<MeasureReply> parseMeasureReply(StringRef line) {
  std::optional<json::Object> object = parseLine(line);
  if (!object || !object->getString("status"))
    return std::nullopt;
  MeasureReply reply;
  reply.status = object->getString("status")->str();
  reply.reason = object->getString("reason").value_or("").str();
  reply.timing.median = object->getNumber("ms").value_or(0);
  reply.timing.best = object->getNumber("best_ms").value_or(0);
  reply.timing.batches = object->getInteger("batches").value_or(0);
  reply.timing.slow = reply.status == "slow";
  reply.ran = object->getBoolean("ran").value_or(false);
  return reply;
}

} // namespace tile
