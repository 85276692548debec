"""`tare profile export`: single transactions as a trace, and stacks weighted by variance."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from tare.arrow import numbers
from tare.cli import destinations
from tare.cli.profile_report import built
from tare.errors import UsageError
from tare.files import opened
from tare.lab.profiles import Run, open_run, windows_of
from tare.protocol.profile.measured import PROBED
from tare.report.profile import choose, perfetto
from tare.report.profile import folded as stacks
from tare.report.profile.document import Node


@dataclass(frozen=True, slots=True)
class Wanted:
    perfetto: str | None
    folded: str | None
    folded_negative: str | None
    slowest: int
    median: int
    transactions: Sequence[int]
    round: int | None
    type: str | None
    server_time: bool | None  # of the stacks


def exported(which: str, out: Path, wanted: Wanted) -> None:
    """Raises UsageError where nothing is asked for, and what reading the profile raises."""
    given = {
        "perfetto": wanted.perfetto,
        "folded": wanted.folded,
        "folded-negative": wanted.folded_negative,
    }
    if not any(given.values()):
        raise UsageError("nothing to export", "name a file: --perfetto trace.json, --folded stacks.txt")
    destinations.check(given)
    run = open_run(which, out)
    if wanted.perfetto:
        _trace(run, wanted, wanted.perfetto)
    if _stacks(wanted):
        nodes = _nodes(run, wanted)
        folded = {name: target for name, target in given.items() if target and name != "perfetto"}
        # Files first, since standard output may be a pipe whose reader has gone.
        for name in sorted(folded, key=lambda name: folded[name] == "-"):
            with _opened(folded[name]) as stream:
                stream.write(stacks.render(nodes, negative=name == "folded-negative").encode())
    for name, file in given.items():
        if file and file != "-":
            print(f"{name}: {file}", file=sys.stderr)


def _nodes(run: Run, wanted: Wanted) -> Sequence[Node]:
    found = built(run, round_=wanted.round, type_=wanted.type, server_time=wanted.server_time)
    return found.report.nodes


def _stacks(wanted: Wanted) -> bool:
    return bool(wanted.folded or wanted.folded_negative)


def _trace(run: Run, wanted: Wanted, target: str) -> None:
    """Writes calls as they are read: a long transaction has millions.

    Raises NoSuchProfile for a round without windows."""
    from tare import _probe

    tables = run.tables()
    windows = windows_of(tables.windows, PROBED, wanted.round)
    if not windows:
        raise run.no_windows(tables.windows, PROBED, wanted.round)
    able = choose.able(tables.transactions, windows)
    duration = numbers(tables.transactions["duration_ns"]).astype(np.int64)
    chosen = _chosen(duration, able, wanted)
    spans = choose.spans(tables.transactions, chosen, tables.texts)
    stretches = [(one.pid, one.tid, one.begin_ns, one.begin_ns + one.duration_ns) for one in spans]
    names = {one.id: one.name for one in run.about.functions}
    about = {"profile": run.name, "transaction": run.about.transaction, "backend": run.about.says}
    zero = perfetto.first_ns(spans)
    with _opened(target) as stream:
        stream.writelines(text.encode() for text in perfetto.opening(spans, about))
        _probe.slices(
            run.recording,
            stretches,
            lambda calls: stream.write(perfetto.calls(calls, zero, names).encode()),
        )
        stream.write(perfetto.CLOSING.encode())


@contextmanager
def _opened(target: str) -> Iterator[BinaryIO]:
    if target != "-":
        with opened(Path(target)) as stream:
            yield stream
        return
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


def _chosen(duration: choose.Whole, able: choose.Flags, wanted: Wanted) -> list[tuple[int, str]]:
    """Numbers, and why each was chosen."""
    if wanted.transactions:
        return [(one, "asked for") for one in choose.asked_for(wanted.transactions, able)]
    slow = choose.slowest(duration, able, wanted.slowest)
    return [
        *((one, "slowest") for one in slow),
        *((one, "median") for one in choose.median(duration, able, wanted.median)),
    ]
