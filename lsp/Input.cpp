// Content-Length: N, an empty line, N bytes.
// LLVM's JSONTransport reads a whole message or blocks. This class looks first whether anything is
// there, since diagnostics are due when nothing is (`onIdle`). `used` is the part of `buffer` that
// has been given out; it is dropped at the next read, so that long messages are not moved for each
// line.
#include "lsp/Input.h"
#include "frontend/Source/ParseJson.h"

#include <cerrno>
#include <poll.h>
#include <unistd.h>

using namespace tile::lsp;

/// Adds what the client has sent. False at the end.
bool Input::fill() {
  if (ended || failed)
    return false;
  if (used) {
    buffer.erase(0, used);
    used = 0;
  }
  pollfd wait{descriptor, POLLIN, 0};
  // Before the call that blocks, and only with all earlier messages handled.
  if (poll(&wait, 1, 0) == 0 && onIdle)
    onIdle();
  char chunk[65536];
  ssize_t count;
  do
    count = read(descriptor, chunk, sizeof chunk);
  while (count < 0 && errno == EINTR);
  failed = count < 0;
  ended = count == 0;
  if (count > 0)
    buffer.append(chunk, size_t(count));
  return count > 0;
}

bool Input::readLine(std::string &line) {
  size_t end;
  while ((end = buffer.find('\n', used)) == std::string::npos)
    if (buffer.size() - used > mostBytes || !fill())
      return false;
  line = buffer.substr(used, end - used);
  used = end + 1;
  if (!line.empty() && line.back() == '\r')
    line.pop_back();
  return true;
}

llvm::LogicalResult Input::readStandardMessage(std::string &json) {
  size_t length = 0;
  bool hasLength = false;
  for (std::string line;;) {
    if (!readLine(line)) {
      ended = true;
      used = buffer.size();
      return llvm::failure();
    }
    llvm::StringRef header = line;
    if (header.consume_front_insensitive("Content-Length:"))
      hasLength = !header.trim().getAsInteger(10, length);
    else if (header.empty() && hasLength)
      break;
  }
  json.clear();
  // Read to its end but not kept: the next message begins behind it.
  bool isTooLong = length > mostBytes;
  while (length) {
    if (used == buffer.size() && !fill())
      return llvm::failure();
    size_t part = std::min(length, buffer.size() - used);
    if (!isTooLong)
      json.append(buffer, used, part);
    used += part;
    length -= part;
  }
  // LLVM's parser, to which the text goes from here, recurses. No answer is due to what it could
  // not parse.
  return llvm::success(!isTooLong && !isTooDeep(json));
}
