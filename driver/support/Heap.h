// Memory of a compiler that runs once and ends.
#ifndef TILE_DRIVER_SUPPORT_HEAP_H
#define TILE_DRIVER_SUPPORT_HEAP_H

namespace tile {

/// Gives the C library's heap large pages and keeps what is freed. A compile takes its memory in
/// pages that it writes for the first time, each of which is a stop in the kernel: a tenth of the
/// time of a small kernel. Called first, ahead of threads. Does nothing where the C library or the
/// kernel has no such means, or where a limit of the process forbids the room.
void prepareHeap();

} // namespace tile

#endif
