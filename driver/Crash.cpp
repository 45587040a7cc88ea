// Catches what would otherwise end the process with a signal.
#include "driver/Crash.h"
#include "driver/Options.h"
#include "driver/Version.h"
#include "llvm/Support/ErrorHandling.h"
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <unistd.h>

namespace tile {

/// Only what may be called in a signal handler.
static void print(const char *text) { (void)!write(STDERR_FILENO, text, std::strlen(text)); }

void reportCrash(const char *reason) {
  print("tilec: internal error: ");
  print(reason);
  print("\n  This is a mistake of ");
  print(getCompilerVersion());
  print(", not of your program. Please report it together with the source and the command line;\n"
        "  the same call with --repro FILE.zip packs both.\n");
}

static void onSignal(int signal) {
  reportCrash(signal == SIGSEGV   ? "bad memory access"
              : signal == SIGABRT ? "aborted"
              : signal == SIGFPE  ? "bad arithmetic"
              : signal == SIGILL  ? "bad instruction"
                                  : "bus error");
  _exit(exitInternal);
}

static void onFatalError(void *, const char *reason, bool) {
  reportCrash(reason);
  _exit(exitInternal);
}

void installCrashHandlers() {
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
  std::set_terminate([] {
    reportCrash("unhandled exception");
    _exit(exitInternal);
  });
}

} // namespace tile
