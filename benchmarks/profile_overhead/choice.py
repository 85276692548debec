"""Functions that are watched: of those that each transaction calls, the ones called least."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from benchmarks.profile_ways import Target
from tare._probe import ProfileRecorder
from tare.profile.functions import Functions
from tare.profile.transactions import Transactions

MOST = 600
ONCE = 0.9  # calls a transaction; a few transactions of a count were under way when it began


def near(functions: Functions, of: Transactions) -> list[int]:
    """The preset's own, then what they call, level by level."""
    found = dict.fromkeys(of.seeds)
    waiting = deque((*of.tops, *of.seeds))
    while waiting and len(found) < MOST:
        for child in functions.children(waiting.popleft()):
            if child.id not in found and child.id not in of.marking:
                found[child.id] = None
                waiting.append(child.id)
    return list(found)[:MOST]


def counted(
    recorder: ProfileRecorder, targets: Sequence[Target], load: Callable[[], int]
) -> Mapping[int, float]:
    """Calls per transaction under a load that says how many transactions it did."""
    refused = dict(
        recorder.set(targets, [(one[0], "site", False, True) for one in targets], "counting", "counting", 0)
    )
    before = recorder.calls()
    transactions = load()
    calls = recorder.calls()
    recorder.set([], [], "timing", "resting", 0)
    return {
        number: (calls.get(number, 0) - before.get(number, 0)) / transactions
        for number, *_ in targets
        if number not in refused
    }


def chosen(calls: Mapping[int, float], most: int) -> list[int]:
    """Functions that each transaction calls, the seldom called first, `most` at most."""
    called = [number for number, count in calls.items() if count >= ONCE]
    return sorted(called, key=lambda number: calls[number])[:most]
