"""The QEs of one run: ticks by process and overall, that agree with each other but where trouble was drawn.

One CPU, so in ticks: wall = every process' computation + iowait + idle, and the query's block-I/O delay is
iowait plus what others computed meanwhile (TTPv2 §7.3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from benchmarks.synthetic.hierarchy import TimedQatcs
from benchmarks.synthetic.shape import (
    DISORDERED,
    MAX_ROWS,
    QES,
    RATE,
    SHARE,
    SHARE_OF_SMALLEST,
    TICK_NS,
    TIMEOUT_NS,
    UNTOLD,
    Fate,
    Trouble,
)

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

QUERY, UTILITIES, DAEMONS, EXECUTOR = 0, range(1, 5), range(5, 15), 15
SLOTS = 16


@dataclass
class Executions:
    """Arrays with a row for each QE; those of processes have a column for each slot."""

    qatc: Ints  # place among the run's timed Q@Cs
    number: Ints
    told: Bools
    trouble: Ints
    timed_out: Bools
    present: Bools
    user: Ints
    system: Ints
    softirq: Ints
    overall_user: Ints
    overall_system: Ints
    iowait: Ints
    idle: Ints
    block_io: Ints  # of the query process, ticks
    wall_ns: Ints


def executions(random: Generator, qatcs: TimedQatcs) -> Executions:
    fate = _fates(random, qatcs)
    told = (random.random(len(fate)) >= UNTOLD) | np.isin(fate, (Fate.ZERO, Fate.SHORT))
    told = (told | (fate == Fate.ABSENT)) & (fate != Fate.TIED)
    work, share, io_share, noise = _work(random, qatcs)

    qatc = np.repeat(np.arange(len(fate)), QES)
    number = np.tile(np.arange(1, QES + 1), len(fate))
    n = len(qatc)
    of = fate[qatc]
    trouble = _troubles(random, of, number)

    drawn = work[qatc] * (1 + noise[qatc] * random.uniform(-np.sqrt(3), np.sqrt(3), n))
    first = (
        number == 1
    )  # never much the slowest, else one Q@C in a hundred looks as if its result were cached
    drawn[first] = np.minimum(drawn, work[qatc])[first]
    query = np.maximum(4, np.rint(drawn)).astype(np.int64)
    query[(of == Fate.VARYING) & (number % 2 == 0)] *= 2
    cached = (of == Fate.RESULT_CACHED) & first
    query[cached] += query[cached] // 5 + 5
    query[of == Fate.SHORT], query[of == Fate.ZERO] = 1, 0
    tiny = np.isin(of, (Fate.SHORT, Fate.ZERO))

    present, user, system = _others(random, n, tiny)
    system[:, QUERY] = np.minimum(query // 2, np.rint(query * (1 - share[qatc])).astype(np.int64))
    user[:, QUERY] = query - system[:, QUERY]
    userless = trouble == Trouble.USER_TICK
    system[userless, QUERY], user[userless, QUERY] = query[userless], 0
    tied = of == Fate.TIED
    for ticks in (user, system):
        ticks[tied, UTILITIES[0]] = ticks[tied, QUERY]
    present[tied, UTILITIES[0]] = True
    present[trouble == Trouble.NO_QUERY_PROCESS, QUERY] = False
    busy_daemon = trouble == Trouble.DBMS_TIME
    present[busy_daemon, DAEMONS[0]] = True
    user[busy_daemon, DAEMONS[0]] += (user + system)[busy_daemon, : DAEMONS[0]].sum(axis=1) + 3
    user *= present
    system *= present

    iowait = np.maximum(0, np.rint(io_share[qatc] * query * random.uniform(0.75, 1.25, n))).astype(np.int64)
    iowait[tiny] = 0
    softirq = random.poisson(0.3, n) * ~tiny
    idle = (1 + random.poisson(0.5, n)) * ~tiny
    others = (user + system)[:, 1:].sum(axis=1)
    block_io = iowait + np.floor(others * random.uniform(0, 0.6, n)).astype(np.int64)
    one = Executions(
        qatc, number, told[qatc], trouble, of == Fate.TIMED_OUT, present, user, system, softirq,
        user.sum(axis=1), system.sum(axis=1), iowait, idle, block_io, np.zeros(n, np.int64),
    )  # fmt: skip
    _clock(random, one, of)
    _disturb(random, one)
    return one


def _fates(random: Generator, qatcs: TimedQatcs) -> Ints:
    n = len(qatcs.id)
    edges = np.cumsum(list(SHARE.values()))
    kinds = np.array([*SHARE, Fate.NORMAL], dtype=np.int64)
    fate = kinds[np.searchsorted(edges, random.random(n), side="right")]
    edges = np.cumsum(list(SHARE_OF_SMALLEST.values()))
    kinds = np.array([*SHARE_OF_SMALLEST, -1], dtype=np.int64)
    smallest = kinds[np.searchsorted(edges, random.random(n), side="right")]
    return np.where(qatcs.smallest & (smallest >= 0), smallest, fate)


def _work(random: Generator, qatcs: TimedQatcs) -> tuple[Floats, Floats, Floats, Floats]:
    """Work of each Q@C: the query's ticks, the share of user time, iowait over them, and relative noise."""
    starts = np.cumsum(qatcs.largest) - 1  # place of its query among the run's queries
    queries = int(starts[-1]) + 1
    largest = np.minimum(60 + random.lognormal(np.log(800), 1.6, queries), 300_000)
    work = 4 + largest[starts] * (qatcs.cardinality / MAX_ROWS) ** 0.9
    slower = np.flatnonzero((random.random(len(work)) < DISORDERED) & ~qatcs.largest)
    work[slower] = work[slower - 1] * random.uniform(1.005, 1.12, len(slower))
    share = random.uniform(0.6, 0.95, queries)[starts]
    io_share = random.beta(0.6, 14, queries)[starts]
    noise = 0.015 * random.lognormal(0, 0.3, len(work)) + 0.3 / work
    return work, share, io_share, noise


def _troubles(random: Generator, fate: Ints, number: Ints) -> Ints:
    n = len(fate)
    edges = np.cumsum(list(RATE.values()))
    kinds = np.array([*RATE, Trouble.NONE], dtype=np.int64)
    drawn = kinds[np.searchsorted(edges, random.random(n), side="right")]
    trouble = np.where(fate == Fate.NORMAL, drawn, Trouble.NONE)
    many = np.repeat(random.integers(5, 10, n // QES), QES)  # of ten
    trouble[(fate == Fate.USERLESS) | ((fate == Fate.FEW) & (number <= many))] = Trouble.USER_TICK
    trouble[fate == Fate.OVERDRAWN] = Trouble.QUERY_TIME
    trouble[fate == Fate.ABSENT] = Trouble.NO_QUERY_PROCESS
    return trouble


def _others(random: Generator, n: int, tiny: Bools) -> tuple[Bools, Ints, Ints]:
    """Activity of the slots, and the user and system ticks of all but the query process."""
    present = random.random((n, SLOTS)) < 0.5
    present[:, UTILITIES] = random.random((n, len(UTILITIES))) < 0.75
    present[:, (QUERY, EXECUTOR)] = True
    user, system = np.zeros((2, n, SLOTS), np.int64)
    user[:, UTILITIES] = random.poisson(0.1, (n, len(UTILITIES)))
    system[:, UTILITIES] = random.poisson(0.15, (n, len(UTILITIES)))
    user[:, DAEMONS] = random.poisson(0.01, (n, len(DAEMONS)))
    system[:, DAEMONS] = random.poisson(0.04, (n, len(DAEMONS)))
    user[:, EXECUTOR] = random.poisson(0.3, n)
    user[tiny], system[tiny] = 0, 0
    return present, user, system


def _clock(random: Generator, one: Executions, fate: Ints) -> None:
    """The measured time, and as much idle time as it needs."""
    n = len(fate)
    ticks = one.overall_user + one.overall_system + one.softirq + one.iowait + one.idle
    one.wall_ns = ticks * TICK_NS - random.integers(0, TICK_NS // 2, n)
    short, zero = fate == Fate.SHORT, fate == Fate.ZERO
    one.wall_ns[short] = random.integers(TICK_NS * 6 // 5, TICK_NS * 19 // 10, short.sum())
    one.wall_ns[zero] = random.integers(TICK_NS // 5, TICK_NS * 9 // 10, zero.sum())
    one.idle[one.timed_out] = (TIMEOUT_NS - one.wall_ns[one.timed_out]) // TICK_NS
    one.wall_ns[one.timed_out] = TIMEOUT_NS


def _disturb(random: Generator, one: Executions) -> None:
    """Makes the clock and the overall measures disagree where that trouble was drawn (Table XI)."""
    wall = one.wall_ns // TICK_NS
    query = one.user[:, QUERY] + one.system[:, QUERY]
    now = one.trouble == Trouble.QUERY_TIME
    one.wall_ns[now] = np.maximum(1, query[now] - 2) * TICK_NS + TICK_NS // 2
    one.overall_user[now] = np.maximum(0, query[now] - 1 - one.overall_system[now])
    one.softirq[now], one.iowait[now], one.block_io[now], one.idle[now] = 0, 0, 0, 0

    now = one.trouble == Trouble.OVERALL_TIME
    ran = ((one.user + one.system) > 0).sum(axis=1)
    less = ran + one.softirq + 1 + random.integers(0, 3, len(wall))
    one.overall_user[now] = np.maximum(0, one.overall_user - less)[now]
    one.idle[now] += less[now]

    now = one.trouble == Trouble.COMPUTATION_TIME
    one.overall_system[now] += wall[now] // 10 + one.iowait[now] + one.idle[now] + 3

    now = one.trouble == Trouble.BLOCK_IO
    one.block_io[now] = wall[now] + 5

    now = one.trouble == Trouble.IOWAIT
    more = one.block_io - one.iowait + 1 + random.poisson(3, len(wall))
    one.iowait[now] += more[now]
    one.wall_ns[now] += more[now] * TICK_NS
