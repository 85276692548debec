"""A trace of two queries on two nodes, with every table and figure."""

from __future__ import annotations

import numpy as np

from tare.os.levels import Level
from tare.os.messages import RECORD
from tare.os.nodes import Node
from tare.os.session import Execution, Stage, Trace
from tare.os.sums import Activity, CallSum, Process, Sums
from tare.os.tracing import Mark, Window

MS = 1_000_000
OUTSIDE, READ, SEND, EPOLL = 0xFFFF, 17, 44, 232


def sums(at_ms: int, scale: int, lost: int = 0) -> Sums:
    """Sums up to a moment; the first node's backend computes, the second's waits for the disk."""
    ns = scale * MS
    return Sums(
        began_ns=0,
        ended_ns=at_ms * MS,
        calls={
            (1, 10, OUTSIDE): CallSum(0, 0, 0, (70 * ns, 2 * ns, 0, 0, 0)),
            (1, 10, READ): CallSum(100 * scale, 0, 819_200 * scale, (12 * ns, 0, 0, 5 * ns, 0)),
            (1, 10, EPOLL): CallSum(3 * scale, 1, 3, (ns // 10, 0, 10 * ns, 0, 0)),
            (2, 20, OUTSIDE): CallSum(0, 0, 0, (10 * ns, 0, 0, 0, 0)),
            (2, 20, READ): CallSum(50 * scale, 0, 409_600 * scale, (5 * ns, 0, 0, 60 * ns, 0)),
            (2, 20, SEND): CallSum(20 * scale, 0, 40_000 * scale, (ns, 0, 24 * ns, 0, 0)),
            (2, 21, EPOLL): CallSum(0, 0, 0, (0, 0, 100 * ns, 0, 0)),
        },
        counts={
            (1, 10): {"faults_user": 10 * scale, "reads_ready": 100 * scale, "pages_requested": 200 * scale},
            (2, 20): {
                "reads_ready": 10 * scale,
                "reads_in_flight": 25 * scale,
                "reads_missed": 100 * scale,
                "pages_requested": 270 * scale,
                "pages_added": 200 * scale,
                "block_reads": 10 * scale,
                "block_read_bytes": 819_200 * scale,
                "block_read_sequential": 8 * scale,
                "sends": 20 * scale,
                "sent_bytes": 40_000 * scale,
            },
        },
        histograms={
            (1, 10, "read_bytes"): (*[0] * 13, 100 * scale, *[0] * 26),
            (2, 20, "read_bytes"): (*[0] * 13, 50 * scale, *[0] * 26),
            (2, 20, "read_gap_ns"): (*[0] * 10, 10 * scale, 40 * scale, *[0] * 28),
            (2, 20, "send_bytes"): (*[0] * 11, 20 * scale, *[0] * 28),
        },
        activities={2: Activity(60 * ns, 10 * ns)},
        processes={
            10: Process(1, "postgres", "postgres: app shop SELECT"),
            20: Process(2, "postgres", "postgres: app shop SELECT"),
            21: Process(2, "postgres", "postgres: checkpointer "),
        },
        lost={"messages": lost},
        programs_ns=ns,
        program_runs=1000 * scale,
    )


def messages() -> bytes:
    table = np.zeros(6, RECORD)
    for place, (content, destination, size) in enumerate(
        [(1, 3, 2000), (1, 4, 2000), (2, 3, 100), (3, 3, 2000), (3, 3, 2000), (4, 4, 50)]
    ):
        row = table[place]
        row["time"], row["node"], row["hash"], row["destination"] = place * MS, 2, content, destination
        row["bytes"] = row["hashed"] = size
    return table.tobytes()


def window(lost: int = 0) -> Window:
    before = Mark(sums(0, 0), {}, {}, {}, b"")
    after = Mark(sums(100, 1, lost), {}, {}, {}, messages())
    return Window(sums(100, 1, lost), before, after)


def stage(name: str, lost: int = 0) -> Stage:
    traced = [Execution(100 * MS, 90 * MS, window(lost)) for _ in range(3)]
    plain = [Execution(wall * MS, 88 * MS) for wall in (97, 98, 99)]
    return Stage(name, "SELECT 1", traced, plain, window())


def trace(*, lost: int = 0, level: Level = Level.MESSAGES, watched: bool = False) -> Trace:
    nodes = [Node("coordinator", namespace=1), Node("shard", namespace=2)]
    if watched:
        load = stage("load", lost)
        load.sql = ""
        load.traced = load.traced[:1]
        load.plain = []
        load.slices = [sums(100, 1), sums(200, 2)]
        return Trace(nodes, level, [load])
    failed = Stage("Q3", "SELECT 1/0", error="division by zero")
    return Trace(nodes, level, [stage("Q1", lost), stage("Q2"), failed])
