"""All QEs of one set-up, its cells interleaved."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product

import psycopg

from benchmarks.common import postgresql, rig, weigh_once
from benchmarks.truth.cells import CACHES, LOAD, Cell, SetUp, confined, noise_of
from benchmarks.truth.rows import Row, row_of
from tare.measure.audit import Auditor, auditing
from tare.measure.choices import CacheState
from tare.measure.query import Query
from tare.measure.records import QE
from tare.measure.rig import Rig


@dataclass
class Weighing:
    """All QEs of one set-up."""

    rows: list[Row]
    taken: dict[Cell, int]
    rejected: dict[Cell, list[str]]


@contextmanager
def loaded(io_method: str, rows: int) -> Iterator[str]:
    """A server with the table, that joins by looking rows up one by one."""
    with postgresql(io_method=io_method, enable_hashjoin="off", enable_mergejoin="off") as url:
        with psycopg.connect(url, autocommit=True) as connection:
            for statement in LOAD:
                connection.execute(statement.format(rows=rows))
        yield url


class NoisyAuditor(Auditor):
    """Noise from just before the trace to just after it: what empties the caches has none."""

    noise: Callable[[], ExitStack] = ExitStack

    def __init__(self) -> None:
        super().__init__()
        self._on = ExitStack()

    def begin(self, rig: Rig) -> None:
        self._on = self.noise()
        super().begin(rig)

    def end(self) -> None:
        super().end()
        self._on.close()


def weigh(set_up: SetUp, queries: Sequence[Query], noises: Sequence[str],
          runs: int, rows: int, file: str) -> Weighing:  # fmt: skip
    """Every cell once a round, in an order drawn anew; the first round warms up, without noise."""
    draw = random.Random(1)
    by_name = {query.name: query for query in queries}
    cells = [Cell(set_up, *rest) for rest in product(by_name, CACHES, noises)]
    done = Weighing([], dict.fromkeys(cells, 0), {cell: [] for cell in cells})
    with (
        confined(set_up.cpus),
        loaded(set_up.io_method, rows) as url,
        rig(url) as tare,
        auditing(tare, NoisyAuditor()) as auditor,
    ):
        for round_ in range(-1, runs):
            for cell in draw.sample(cells, len(cells)):
                if cell.cache is CacheState.WARM:  # a cold QE before it has restarted the server
                    tare.prepared(by_name[cell.query].sql).execute(None)
                auditor.noise = partial(noise_of, cell, file) if round_ >= 0 else ExitStack
                qe = weigh_once(tare, by_name[cell.query], cell.cache)
                if round_ >= 0:
                    keep(done, cell, qe, auditor)
    return done


def keep(done: Weighing, cell: Cell, qe: QE, auditor: Auditor) -> None:
    found = auditor.last
    assert qe.error is None, qe.error
    assert qe.audit
    assert found
    done.taken[cell] += 1
    if not qe.audit.accepted or found.query is None or found.dbms is None:
        done.rejected[cell].append(qe.audit.why or "")
        return
    leader = found.leader
    assert leader
    assert qe.elapsed
    parts = (
        leader.on_cpu_ns + leader.run_queue_ns + leader.block_io_ns + leader.sleep_ns + leader.other_wait_ns
    )
    assert parts == qe.elapsed.wall_ns, "the trace's parts add up by construction"
    done.rows.append(row_of(cell, qe, found.query, found.dbms))
