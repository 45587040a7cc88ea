// Workers of `tilec tune`: processes that live on over many candidates, and are replaced when one
// of these takes them down.
//
//   this process   | job 1 ->      | job 2 ->       | job 3 ->          | job 3's failure | ...
//   worker         | .. <- reply 1 | .. <- reply 2  | crash, or silence | a new process   | ...
//
// A job and its reply are a line of JSON each. The candidate that a process died of is a failure,
// with what the process printed last; the others are not touched.
//
//            begin             "prepared"              reply
//   idle ----------> preparing ----------> measuring ----------> idle
//                       |   prepareTimeout     |   job.timeout, or the process ends
//                       +----------+-----------+
//                                  v
//                     no process: begin starts one
//
// A process that gave a bad result after running code, or could not make the data of a shape, may
// have been damaged by an earlier candidate. So it is replaced, and where it had run others before,
// the job is tried once more on the new one: only a failure on a fresh process counts.
#include "driver/measure/WorkerPool.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

extern char **environ;

namespace tile {

using Clock = std::chrono::steady_clock;

struct WorkerPool::Worker {
  std::vector<std::string> command;
  pid_t process = 0; ///< 0: none runs
  // Ends that this process holds: of the socket pair, and the file of standard output and error.
  int socket = -1, messages = -1;
  std::string pending;  ///< received, not yet a line
  size_t completed = 0; ///< candidates that this process has run
  // The job at hand.
  std::optional<size_t> index;
  MeasureJob job;
  bool prepared = false, retried = false;
  Clock::time_point deadline;
};

static Clock::time_point after(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

WorkerPool::WorkerPool(std::vector<std::vector<std::string>> commands, double prepareTimeout)
    : prepareTimeout(prepareTimeout) {
  for (std::vector<std::string> &command : commands) {
    workers.push_back(std::make_unique<Worker>());
    workers.back()->command = std::move(command);
  }
}

WorkerPool::~WorkerPool() {
  for (auto &worker : workers)
    stop(*worker);
}

//===--- One worker process -----------------------------------------------===//

/// On failure nothing is left behind: no process, no descriptor.
bool WorkerPool::start(Worker &worker, std::string &error) {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets)) {
    error = std::strerror(errno);
    return false;
  }
  // Both ends are closed on exec but the one that becomes the worker's standard input: a worker
  // that held another's socket would keep it open after the other's end.
  // Output besides replies is kept to name the reason of a crash.
  worker.messages = ::memfd_create("tilec-worker", MFD_CLOEXEC);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, sockets[1], STDIN_FILENO);
  if (worker.messages >= 0) {
    posix_spawn_file_actions_adddup2(&actions, worker.messages, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, worker.messages, STDERR_FILENO);
  }
  std::vector<char *> words;
  for (std::string &word : worker.command)
    words.push_back(word.data());
  words.push_back(nullptr);
  int code = posix_spawn(&worker.process, words.front(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(sockets[1]);
  worker.socket = sockets[0];
  worker.pending.clear();
  worker.completed = 0;
  if (code == 0)
    return true;
  error = std::strerror(code);
  worker.process = 0;
  stop(worker);
  return false;
}

/// Safe to call in any state, and waits for the process, so that none stays as a zombie.
void WorkerPool::stop(Worker &worker) {
  if (worker.process) {
    ::kill(worker.process, SIGKILL);
    while (::waitpid(worker.process, nullptr, 0) < 0 && errno == EINTR)
      ;
  }
  for (int *descriptor : {&worker.socket, &worker.messages})
    if (*descriptor >= 0) {
      ::close(*descriptor);
      *descriptor = -1;
    }
  worker.process = 0;
}

/// How a process ended that no longer answers.
/// Waits for the process: to be called once, for one that has closed its socket.
static MeasureReply describeEnd(pid_t process, int messages) {
  MeasureReply reply;
  reply.status = "failed";
  reply.ran = true;
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR)
    ;
  std::string text;
  if (messages >= 0) {
    text.resize(4096);
    ssize_t n = ::pread(messages, text.data(), text.size(), 0);
    text.resize(n > 0 ? n : 0);
  }
  StringRef line = StringRef(text).trim().split('\n').first.trim();
  bool crashed = line.consume_front("tilec: internal error: ");
  line.consume_front("tilec: error: ");
  line.consume_front("error: ");
  reply.reason = WIFSIGNALED(status) ? "it crashed (" + std::string(strsignal(WTERMSIG(status))) +
                                           (line.empty() ? "" : ": " + line.str()) + ")"
                 : crashed           ? "it crashed (" + line.str() + ")"
                 : line.empty()
                     ? "the worker ended with exit code " + std::to_string(WEXITSTATUS(status))
                     : line.str();
  return reply;
}

/// Gives the job at hand to the worker's process, after starting one where there is none.
bool WorkerPool::begin(Worker &worker) {
  std::string error;
  if (!worker.process && !start(worker, error))
    return false;
  worker.prepared = false;
  worker.deadline = after(prepareTimeout);
  std::string line = toJson(worker.job.request) + "\n";
  for (size_t sent = 0; sent < line.size();) {
    ssize_t n = ::send(worker.socket, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return true; // it has ended: receiving finds out how
    sent += n;
  }
  return true;
}

/// The reply to the job at hand, once there is one.
std::optional<MeasureReply> WorkerPool::receive(Worker &worker) {
  char bytes[4096];
  for (ssize_t n; (n = ::recv(worker.socket, bytes, sizeof bytes, MSG_DONTWAIT)) != 0;) {
    if (n > 0) {
      worker.pending.append(bytes, n);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      for (size_t end; (end = worker.pending.find('\n')) != std::string::npos;) {
        std::optional<MeasureReply> reply =
            parseMeasureReply(StringRef(worker.pending).take_front(end));
        worker.pending.erase(0, end + 1);
        if (reply && reply->status != "prepared")
          return reply;
        if (reply) {
          worker.prepared = true;
          worker.deadline = after(worker.job.timeout);
        }
      }
      // Only after everything that has come was read: a reply in time counts, however late it is
      // read.
      if (Clock::now() < worker.deadline)
        return std::nullopt;
      stop(worker);
      MeasureReply late;
      late.status = worker.prepared ? "timeout" : "unprepared";
      double limit = worker.prepared ? worker.job.timeout : prepareTimeout;
      late.reason = "no end after " + std::to_string(int(limit + 0.5)) + " s";
      return late;
    } else if (errno != EINTR) {
      break;
    }
  }
  // Replies that it sent before it ended count; how it ended is found out by the next job.
  for (size_t end; (end = worker.pending.find('\n')) != std::string::npos;) {
    std::optional<MeasureReply> reply =
        parseMeasureReply(StringRef(worker.pending).take_front(end));
    worker.pending.erase(0, end + 1);
    if (reply && reply->status != "prepared") {
      stop(worker);
      return reply;
    }
    worker.prepared |= reply.has_value();
  }
  MeasureReply ended = describeEnd(worker.process, worker.messages);
  worker.process = 0;
  stop(worker);
  if (!worker.prepared)
    ended.status = "unprepared";
  return ended;
}

//===--- The pool ---------------------------------------------------------===//

/// One thread: `job` and `done` are never called at once. `job` is asked right before an index is
/// given out, so that it can decide by all results so far; nothing from it skips the index. `done`
/// is called once for each job that was begun, in the order of the replies.
void WorkerPool::run(size_t count, function_ref<std::optional<MeasureJob>(size_t)> job,
                     function_ref<void(size_t, const MeasureReply &)> done) {
  // Jobs that belong to another worker than the one that was free when their turn came.
  std::deque<std::pair<size_t, MeasureJob>> waiting; // of other workers
  size_t next = 0;
  auto fail = [&](Worker &worker, const std::string &reason) {
    size_t index = *worker.index;
    worker.index.reset();
    MeasureReply reply;
    reply.status = "unprepared";
    reply.reason = reason;
    done(index, reply);
  };
  auto assign = [&](Worker &worker, size_t index, MeasureJob &&wanted) {
    worker.index = index;
    worker.job = std::move(wanted);
    worker.retried = false;
    if (!begin(worker))
      fail(worker, "no worker can be started");
  };
  auto isFor = [&](const MeasureJob &each, size_t w) {
    return each.worker < 0 || size_t(each.worker) % workers.size() == w;
  };
  for (;;) {
    size_t busy = 0;
    for (size_t w = 0; w < workers.size(); ++w) {
      Worker &worker = *workers[w];
      for (auto it = waiting.begin(); !worker.index && it != waiting.end();) {
        if (!isFor(it->second, w)) {
          ++it;
          continue;
        }
        auto [index, old] = std::move(*it);
        it = waiting.erase(it);
        if (std::optional<MeasureJob> wanted = job(index)) // things may have changed since
          assign(worker, index, std::move(*wanted));
      }
      while (!worker.index && next < count) {
        size_t index = next++;
        std::optional<MeasureJob> wanted = job(index);
        if (!wanted)
          continue;
        if (isFor(*wanted, w))
          assign(worker, index, std::move(*wanted));
        else
          waiting.emplace_back(index, std::move(*wanted));
      }
      busy += worker.index.has_value();
    }
    if (!busy && waiting.empty() && next >= count)
      return;
    std::vector<pollfd> sockets;
    Clock::time_point first = after(3600);
    for (auto &worker : workers)
      if (worker->index) {
        sockets.push_back({worker->socket, POLLIN, 0});
        first = std::min(first, worker->deadline);
      }
    int wait =
        int(std::chrono::duration_cast<std::chrono::milliseconds>(first - Clock::now()).count()) +
        1;
    ::poll(sockets.data(), sockets.size(), std::max(wait, 0));
    for (auto &each : workers) {
      Worker &worker = *each;
      if (!worker.index)
        continue;
      std::optional<MeasureReply> reply = receive(worker);
      if (!reply)
        continue;
      bool isBad = reply->status != "ok" && reply->status != "slow", wasUsed = worker.completed > 0;
      ++worker.completed;
      bool suspect = isBad && (reply->ran || reply->status == "unprepared");
      if (suspect)
        stop(worker);
      if (suspect && wasUsed && !worker.retried) {
        worker.retried = true;
        if (begin(worker))
          continue;
      }
      size_t index = *worker.index;
      worker.index.reset();
      done(index, *reply);
    }
  }
}

} // namespace tile
