"""Runs one item: compiles, checks, lets variants compete, measures the best of everybody in
turns.
"""

import concurrent.futures
import os
import statistics
import time
import warnings

from . import check, lib, timing
from .lib import torch


class ContextLost(Exception):
    """The CUDA context does not work any more; only a new process helps."""


class Contest:
    """options: rounds, seconds of warm-up, who, budget; progress: told before each step that may
    hang or crash.
    """

    def __init__(self, options, progress, skip):
        self.options, self.progress, self.skip = options, progress, skip

    def chosen(self, item):
        who = self.options.who
        return [
            c
            for c in item.contenders(item)
            if (not who and not c.optional)
            or any(c.who == name or c.who.startswith(name + "-") for name in who)
        ]

    def compileAll(self, items, oneByOne=False):
        """Everything that needs no GPU, in threads, or one by one so that it can be told what takes
        the process down. {(item, contender): what went wrong}
        """
        failures = {}

        def one(item, contender, data):
            try:
                contender.compile(data)
            except Exception as error:  # noqa: BLE001: one failure is one record
                failures[(item.name, contender.name)] = brief(error)

        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for item in items:
                data = item.inputs("meta")
                for contender in self.chosen(item):
                    if not contender.compile or (item.name, contender.name) in self.skip:
                        continue
                    if oneByOne:
                        self.progress(item, contender, 180.0)
                        one(item, contender, data)
                    else:
                        pool.submit(one, item, contender, data)
        return failures

    def givenUp(self, item, contender):
        """Why a contender is not even tried: two of its kind have hung or crashed on this
        operation, and each costs a restart.
        """
        lost = [
            why
            for (name, other), why in self.skip.items()
            if other and other.partition("[")[0] == contender.who and name.split()[0] == item.op
        ]
        return "not tried: two others hung or crashed" if len(lost) > 1 else None

    def run(self, item, failures):
        """Records of one item, the failed ones included."""
        torch.manual_seed(0)
        data = item.inputs(lib.DEVICE)
        self.progress(item, None, 120.0)
        expected = item.reference(data)
        torch.cuda.synchronize()
        ready, records = {}, []
        for contender in self.chosen(item):
            key = (item.name, contender.name)
            why = failures.get(key) or self.skip.get(key) or self.givenUp(item, contender)
            if not why:
                self.progress(item, contender, contender.patience)
                why, error, call = self._check(item, contender, data, expected)
                if not why:
                    ready[contender.name] = (contender, call, error)
                    continue
            records.append({"who": contender.who, "variant": contender.variant, "failed": why})
            if self.options.verbose:
                print(f"    {contender.name}: {why}", flush=True)
            if why.startswith("LOST"):
                raise ContextLost(why, records)
        del expected
        self.progress(item, None, 120.0 + 4.0 * len(ready))
        records = self._measure(item, ready) + records
        if self.options.verbose:
            for record in records:
                for variant, ms in sorted(
                    record.get("tried", {}).items(), key=lambda pair: pair[1]
                ):
                    print(f"    {record['who']}[{variant}] {ms:.4f} ms", flush=True)
        return records

    def _check(self, item, contender, data, expected):
        """(what is wrong or None, error of the result, the call)"""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                call = contender.build(data)
                check.poison(call())
                for restore in (item.restore, getattr(call, "restore", None)):
                    if restore:
                        restore(data)
                torch.cuda.synchronize()
                outputs = call()
                torch.cuda.synchronize()
                outputs = getattr(call, "view", dict)(outputs)
            wrong, error = check.mismatch(outputs, expected, item.tolerance)
            return wrong and "wrong: " + wrong, error, call
        except Exception as error:  # noqa: BLE001: a peer or kernel that fails is a record
            why = brief(error)
            try:
                torch.cuda.synchronize()
                torch.ones(1, device=lib.DEVICE).add_(1)
                torch.cuda.synchronize()
            except Exception:  # noqa: BLE001
                why = "LOST the CUDA context: " + why
            return why, None, None

    def _measure(self, item, ready):
        groups = {}
        for name, (contender, _, _) in ready.items():
            groups.setdefault(contender.who, []).append(name)
        tried, several = {}, []
        for names in groups.values():
            if len(names) > 1:
                # What is far behind takes no part, so that a slow variant does not take the time of
                # all others.
                tried.update({name: timing.rough(ready[name][1]) for name in names})
                limit = max(0.3, 2.5 * min(tried[name] for name in names))
                several += [name for name in names if tried[name] <= limit]
        if several:
            timers = {name: timing.timer(item, ready[name][1], 4.0) for name in several}
            tried.update(
                {
                    name: statistics.median(times)
                    for name, times in timing.inTurns(timers, 4).items()
                }
            )
            del timers
        best = {
            who: min(names, key=lambda name: (name not in several, tried.get(name, 0.0)))
            for who, names in groups.items()
        }
        timers = {
            name: timing.timer(item, ready[name][1], self.options.batch) for name in best.values()
        }
        if not timers:
            return []
        timing.heat(timers, self.options.heat)
        times = timing.inTurns(timers, self.options.rounds)
        warm = {}
        if item.cold:
            warmTimers = {
                name: timing.Warm(ready[name][1], self.options.batch) for name in best.values()
            }
            warm = timing.inTurns(warmTimers, max(3, self.options.rounds // 2))
        records = []
        for who, name in best.items():
            contender, _, error = ready[name]
            ms = statistics.median(times[name])
            record = {
                "who": who,
                "variant": contender.variant,
                "ms": round(ms, 6),
                "rate": round(item.rate(ms, contender.work), 2),
                "unit": item.unit,
                "best_ms": round(min(times[name]), 6),
                "error": float(f"{error:.2e}"),
            }
            if warm:
                record["warm_ms"] = round(statistics.median(warm[name]), 6)
            if len(groups[who]) > 1:
                record["tried"] = {ready[n][0].variant: round(tried[n], 5) for n in groups[who]}
            record.update(getattr(ready[name][1], "notes", {}))
            if timers[name].why:
                record["no_graph"] = timers[name].why
            records.append(record)
        return records


def brief(error):
    """An exception in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}"[:300]


def threads():
    return max(2, len(os.sched_getaffinity(0)))


def clock():
    return time.strftime("%Y-%m-%d %H:%M")
