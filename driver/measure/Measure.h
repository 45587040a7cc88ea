// Between `tilec tune` and its workers: what is to be measured, and what came of it. One line of
// JSON each.
#ifndef TILE_DRIVER_MEASURE_MEASURE_H
#define TILE_DRIVER_MEASURE_MEASURE_H

#include "driver/Session.h"
#include "driver/measure/Timing.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace tile {

/// One configuration at one shape.
struct MeasureRequest {
  std::string config, shape; ///< as toText() writes them
  std::string image;         ///< its binary, on a GPU
  /// The reference of results: those of this configuration, or .npy files by output where
  /// there are any. Without `check` nothing is compared.
  std::string reference, referenceImage;
  std::vector<NameValue> expected;
  bool check = true;
  TimingLimits limits;
};

struct MeasureReply {
  std::string status; ///< "prepared": the shape's data are there, another reply follows;
                      ///< "unprepared"; "ok", "slow", "wrong", "failed"
  std::string reason; ///< why it is none of "prepared", "ok" and "slow"
  Timing timing;
  bool ran = false; ///< the kernel was started: what is wrong with it may have harmed the worker
};

std::string toJson(const MeasureRequest &request);
std::string toJson(const MeasureReply &reply);
std::optional<MeasureRequest> parseMeasureRequest(llvm::StringRef line);
std::optional<MeasureReply> parseMeasureReply(llvm::StringRef line);

/// `tilec tune --serve`: answers requests from the socket that is standard input until it is
/// closed. Returns the exit code.
int serveMeasurements(Options &options, Session &session);

} // namespace tile

#endif
