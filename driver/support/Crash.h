// The end of a compiler that itself fails: a banner and exit code 70, whatever the cause. The same
// call is then started again with --repro, which packs an archive for a report.
#ifndef TILE_DRIVER_SUPPORT_CRASH_H
#define TILE_DRIVER_SUPPORT_CRASH_H

namespace tile {

struct Options;

/// Prints that this is a mistake of the compiler and how to report it; the call is repeated as
/// `armRepeat` has it.
void reportCrash(const char *reason);

/// From now on an internal error repeats this call in a new process, which packs what is needed to
/// report it (`--repro=`). Only compilations are repeated, of files, and none that is such a
/// repetition itself.
void armRepeat(const Options &options);
/// Repeats the call, where that is armed and has not happened yet, and waits for its end. False if
/// no archive was written.
bool repeatCall();

/// The environment variable by which a process knows that it repeats a call: it then makes no
/// archive by itself.
extern const char *const repeatingVariable;

/// From now on fatal errors of LLVM, failed assertions, bad accesses and unhandled exceptions end
/// in the banner and exit code 70, and a lack of memory in a message and exit code 2.
void installCrashHandlers();

} // namespace tile

#endif
