"""Times by events. Launches between two events come from a CUDA graph, so that gaps on the host do
not count. Nothing detects other processes or clocks that change: contenders take turns in random
order, the median counts, and ratios are formed within one run alone.
"""

import ctypes
import gc
import random
import statistics

from . import lib
from .lib import torch

FLUSH_BYTES = 256 << 20
_flushed = []
_streams = []


def flush(reads=False):
    """Waits for the device, then writes more than the L2 cache holds, and with `reads` reads it
    again, so that no written line is left for the next call to write to memory. Lines that a kernel
    asked to keep (evict_last) would survive that and be read from the cache in the next call: the
    driver makes them ordinary ones first.
    """
    if not _flushed:
        _flushed.append(torch.empty(FLUSH_BYTES // 4, dtype=torch.int32, device=lib.DEVICE))
        _flushed.append(ctypes.CDLL("libcuda.so.1").cuCtxResetPersistingL2Cache)
        _flushed.append(torch.empty((), dtype=torch.int32, device=lib.DEVICE))
    torch.cuda.synchronize()
    if _flushed[1]():
        raise RuntimeError("cuCtxResetPersistingL2Cache failed")
    torch.cuda._sleep(300000)  # 0.2 ms, in which the host gets ahead of the device
    _flushed[0].zero_()
    if reads:
        torch.amax(_flushed[0], 0, out=_flushed[2])


def captureStream():
    """The stream on which all graphs are captured."""
    if not _streams:
        _streams.append(torch.cuda.Stream())
    return _streams[0]


def event():
    return torch.cuda.Event(enable_timing=True)


def rough(call):
    """Milliseconds of one call, the host's part of short ones included: the better of two."""
    times = []
    for _ in range(2):
        begin, end = event(), event()
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return max(min(times), 1e-4)


class Warm:
    """Batches of calls back to back; caches keep what the call before left."""

    def __init__(self, call, milliseconds):
        self.call, self.graph, self.why = call, None, getattr(call, "noGraph", "")
        self.count = max(10 if self.why else 3, min(500, round(milliseconds / rough(call))))
        self._capture()
        if self.graph is None:
            self.count = max(10, self.count)
        once = self._run()
        # The host's part made short calls look longer.
        wanted = min(500, round(milliseconds / max(once, 1e-4)))
        if wanted > 2 * self.count:
            self.count = wanted
            self._capture()

    def _capture(self):
        if self.why:
            return
        self.graph = None
        # torch.cuda.graph collects garbage and empties the cache each time: too slow for hundreds
        # of graphs.
        side = captureStream()
        graph = torch.cuda.CUDAGraph()
        side.wait_stream(torch.cuda.current_stream())
        collecting = gc.isenabled()
        gc.disable()  # a graph that dies during a capture spoils it
        try:
            with torch.cuda.stream(side):
                self.call()  # libraries allocate for a stream that is new to them
                side.synchronize()
                graph.capture_begin(capture_error_mode="thread_local")
                try:
                    for _ in range(self.count):
                        self.call()
                finally:
                    graph.capture_end()
            self.graph = graph
        except Exception as error:  # noqa: BLE001: what cannot be captured is launched one by one
            self.why = f"{type(error).__name__}: {error}".splitlines()[0]
            torch.cuda.synchronize()
        finally:
            if collecting:
                gc.enable()
        torch.cuda.current_stream().wait_stream(side)

    def _run(self):
        begin, end = event(), event()
        if self.graph is None:
            torch.cuda._sleep(1000000)  # the host gets ahead of the device
        begin.record()
        if self.graph is not None:
            self.graph.replay()
        else:
            for _ in range(self.count):
                self.call()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / self.count

    def round(self):
        """Milliseconds of one call, as a list."""
        return [self._run()]


class Cold:
    """Single calls, each after a flush of the caches and between two events of its own. `reads`:
    the calls write next to nothing.
    """

    def __init__(self, call, milliseconds, reads=False):
        self.call, self.count, self.why, self.reads = call, 3, "", reads
        once = statistics.median(self.round()) + 0.1
        self.count = max(3, min(40, round(milliseconds / once)))

    def round(self):
        pairs = []
        for _ in range(self.count):
            begin, end = event(), event()
            flush(self.reads)
            begin.record()
            self.call()
            end.record()
            pairs.append((begin, end))
        torch.cuda.synchronize()
        return [begin.elapsed_time(end) for begin, end in pairs]


def timer(item, call, milliseconds):
    """What times `call`, a contender of the item, in rounds of about so long."""
    if item.cold:
        return Cold(call, milliseconds, item.reads)
    return Warm(call, milliseconds)


def inTurns(timers, rounds):
    """{name: all times}: rounds in which everybody has a turn, each in another order: who runs hot
    takes power from the next.
    """
    times = {name: [] for name in timers}
    names, draw = list(timers), random.Random(0)
    for _ in range(rounds):
        draw.shuffle(names)
        for name in names:
            times[name] += timers[name].round()
    return times


def heat(timers, seconds):
    """Brings the device to the power state that steady work has."""
    import time

    stop = time.monotonic() + seconds
    while time.monotonic() < stop:
        for timer in timers.values():
            timer.round()
