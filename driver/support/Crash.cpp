// Catches what would otherwise end the process with a signal.
//
//   fault, abort, exception --> reportCrash --> repeatCall: fork, exec of the same call with
//                                   |                      --repro, with TILE_REPEATING set, so
//                                   v                      that a crash in it repeats nothing
//                              exit code 70 (exitInternal)
//   out of memory --> a message, exit code 2 (exitCall)
//
// Everything on this way may run in a signal handler, on a stack of 64 KiB: no allocation, no lock,
// no stream.
#include "driver/support/Crash.h"
#include "driver/request/Request.h"
#include "driver/support/Version.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char **environ;

namespace tile {

/// Only what may be called in a signal handler.
static void print(const char *text) { (void)!write(STDERR_FILENO, text, std::strlen(text)); }

const char *const repeatingVariable = "TILE_REPEATING";

namespace {

/// The call that repeats this one, laid out before anything can go wrong: a signal handler must not
/// allocate.
struct Repeat {
  std::vector<std::string> words, variables;
  std::vector<char *> arguments, environment; // each ends in a null
  std::atomic<bool> isArmed{false};
};

Repeat &getRepeat() {
  static Repeat repeat;
  return repeat;
}

} // namespace

/// Only calls that a repetition can reproduce: those that read files, not standard input, which is
/// consumed by then.
void armRepeat(const Options &options) {
  bool readsFiles = getRequestPath(options) != "-";
  for (const std::string &input : options.inputs)
    readsFiles = readsFiles && input != "-";
  if (options.command != Options::Command::Compile || options.makesRepro || !readsFiles ||
      std::getenv(repeatingVariable))
    return;
  Repeat &repeat = getRepeat();
  repeat.words = {options.executable};
  repeat.words.insert(repeat.words.end(), options.reproArguments.begin(),
                      options.reproArguments.end());
  repeat.words.push_back("--repro=");
  for (char **variable = environ; *variable; ++variable)
    repeat.variables.push_back(*variable);
  repeat.variables.push_back(std::string(repeatingVariable) + "=1");
  for (auto [from, to] : {std::pair(&repeat.words, &repeat.arguments),
                          std::pair(&repeat.variables, &repeat.environment)}) {
    for (std::string &text : *from)
      to->push_back(text.data());
    to->push_back(nullptr);
  }
  repeat.isArmed = true;
}

bool repeatCall() {
  Repeat &repeat = getRepeat();
  if (!repeat.isArmed.exchange(false)) // the first of several threads that fail does it
    return false;
  // The other threads do not exist in the child, and between fork and exec it calls only functions
  // that are safe in a handler.
  pid_t child = fork();
  if (child == 0) {
    sigset_t none; // the signal that is being handled is blocked, and would stay so
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execve(repeat.arguments.front(), repeat.arguments.data(), repeat.environment.data());
    _exit(exitInternal);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == exitDone;
}

/// True for the first thread that fails. Any other thread that fails meanwhile waits here for the
/// first to end the process: it must not end the process while the first still packs. False where
/// the report itself fails.
static bool claimReport() {
  static std::atomic<pid_t> reporter{0};
  pid_t self = pid_t(syscall(SYS_gettid)), nobody = 0; // gettid() itself needs glibc 2.30
  if (reporter.compare_exchange_strong(nobody, self))
    return true;
  while (reporter != self)
    pause();
  return false;
}

void reportCrash(const char *reason) {
  if (!claimReport())
    return;
  print("tilec: internal error: ");
  print(reason);
  print("\n  This is a mistake of ");
  print(getCompilerVersion());
  print(", not of your program. Please report it");
  if (getRepeat().isArmed) {
    print("; what is needed is being packed\n");
    if (repeatCall())
      return;
    print("tilec: that failed; please report it");
  }
  print(" together with the source and the command line:\n  the same call with --repro FILE.zip "
        "packs both.\n");
}

static void onSignal(int signal) {
  reportCrash(signal == SIGSEGV   ? "bad memory access"
              : signal == SIGABRT ? "aborted"
              : signal == SIGFPE  ? "bad arithmetic"
              : signal == SIGILL  ? "bad instruction"
                                  : "bus error");
  llvm::sys::RunInterruptHandlers(); // removes temporary files
  _exit(exitInternal);
}

static void onFatalError(void *, const char *reason, bool) {
  reportCrash(reason);
  _exit(exitInternal);
}

/// No mistake of the compiler: the machine, or a limit of the user's, has no more memory.
static void onOutOfMemory(void *, const char *, bool) {
  print("tilec: error: out of memory\n");
  llvm::sys::RunInterruptHandlers();
  _exit(exitCall);
}

void installCrashHandlers() {
  // LLVM's handlers first: they remove temporary files when an interrupt ends the process. Ours
  // take the place of those for faults.
  llvm::sys::AddSignalHandler([](void *) {}, nullptr);
  // The handler needs a stack of its own: the fault may be that the stack is full.
  static char stack[1 << 16];
  stack_t alternative = {};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  sigaltstack(&alternative, nullptr);
  struct sigaction action = {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS})
    sigaction(signal, &action, nullptr);
  llvm::install_fatal_error_handler(onFatalError);
  llvm::install_bad_alloc_error_handler(onOutOfMemory);
  llvm::install_out_of_memory_new_handler();
  std::set_terminate([] {
    reportCrash("unhandled exception");
    _exit(exitInternal);
  });
}

} // namespace tile
