// What happens when the compiler itself fails: a banner and exit code 70, whatever the cause.
#ifndef TILE_DRIVER_CRASH_H
#define TILE_DRIVER_CRASH_H

namespace tile {

/// Prints that this is a mistake of the compiler and how to report it.
void reportCrash(const char *reason);

/// From now on fatal errors of LLVM, failed assertions, bad accesses and unhandled exceptions end in the banner and exit
/// code 70.
void installCrashHandlers();

} // namespace tile

#endif
