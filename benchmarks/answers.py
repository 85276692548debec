"""Judgement of answers: a parallel average of doubles never changes its answer, and a wrong digit always does.

Parallel workers add in another order in each execution, so an average differs in its last bits. Such a query runs many
times on PostgreSQL and on DuckDB as `tare time` runs it, and each execution that "changed its answer" counts. Then one
digit is made wrong, by 1e-8 of the value, and each that is not found counts: half of them in an answer that the server
gave, the others in a row of the table, so that the server itself gives the wrong answer.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import psycopg

from benchmarks.aa_real import Silent
from benchmarks.common import Figure, arguments, postgresql, report, rig
from tare.dbms.base import Fetched
from tare.errors import AnswerChanged
from tare.measure.answers import Answers
from tare.measure.arms import Arm
from tare.measure.choices import Clocked
from tare.measure.phases import Phases
from tare.measure.query import Query
from tare.measure.records import QE
from tare.measure.rig import Rig
from tare.measure.weigh import Conditions, Weigher
from tare.protocol.warmup import steady

PLANTED = 1e-8  # relative to the value of the answer
GROUPS = 100
QUERY = Query("averages", "SELECT g, avg(v) FROM doubles GROUP BY g")
POSTGRESQL = {
    "max_parallel_workers_per_gather": "2",
    "max_parallel_workers": "8",
    "min_parallel_table_scan_size": "0",
    "parallel_setup_cost": "0",
    "parallel_tuple_cost": "0",
}
DUCKDB = {"threads": "4"}


def load(rows: int, seed: int) -> str:
    """Statement that makes the table: row i, from 1 on, is of group i modulo `GROUPS`."""
    value = f"((i * 7919 + {seed}) % 1000003) / CAST(7 AS float8)"
    series = f"generate_series(CAST(1 AS bigint), CAST({rows} AS bigint)) AS s(i)"
    return f"CREATE TABLE doubles AS SELECT i, i % {GROUPS} AS g, {value} AS v FROM {series}"


class WrongDigit(Fetched):
    """Result with one wrong value: that of a row, by a share of itself."""

    def __init__(self, fetched: Fetched, row: int, share: float) -> None:
        self._fetched = fetched
        self._row = row
        self._share = share

    @property
    def single_precision(self) -> frozenset[int]:
        return self._fetched.single_precision

    @property
    def row_count(self) -> int:
        return self._fetched.row_count

    def rows(self) -> Iterator[Sequence[object]]:
        for place, (group, average) in enumerate(self._fetched.rows()):
            assert isinstance(average, float)
            yield group, average * (1 + self._share) if place == self._row else average


@dataclass(frozen=True)
class Executions:
    """Number of executions that changed the answer, and the relative difference of each from the first answer."""

    changed: int
    differences: Sequence[float]


def executions(arm: Arm, count: int, phases: Phases | None = None) -> Executions:
    """Run the query `count` times, with `phases`. After a changed answer, the rest is compared with a new first one."""
    changed = 0
    differences: list[float] = []
    while len(differences) < count:
        weigher = _weigher(arm, count - len(differences), phases)
        try:
            weigher.one_after_another()
        except AnswerChanged as error:
            changed += 1
            print(error.what)
        differences += map(_difference, weigher.retained(0))
    return Executions(changed, differences)


def planted_in_answers(opened: Rig, count: int, draw: random.Random) -> int:
    """Return the number found of `count` wrong digits, each in the answer of another execution."""
    answers = Answers()
    prepared = opened.prepared(QUERY.sql)
    first = answers.check(0, prepared.execute(None))
    found = 0
    for _ in range(count):
        wrong = WrongDigit(prepared.execute(None), draw.randrange(GROUPS), _share(draw))
        check = answers.check(0, wrong)
        if check.hash is None:
            raise SystemExit(f"a planted answer was not compared: {check.unread}")
        found += check.hash != first.hash
    return found


def planted_in_data(arm: Arm, count: int, rows: int, draw: random.Random) -> int:
    """Return the number found of `count` changes of one row, each of which makes the average of its group wrong."""
    fetched = arm.rig.prepared(QUERY.sql).execute(None)
    averages: dict[Any, Any] = dict(fetched.rows())  # type: ignore[arg-type]
    found = 0
    for _ in range(count):
        row = draw.randint(1, rows)
        by = _share(draw) * averages[row % GROUPS] * (rows // GROUPS)
        change = f"UPDATE doubles SET v = v + ({by!r}) WHERE i = {row}"  # before both executions
        weigher = _weigher(arm, 2, Phases(prepare=(change,)))
        try:
            weigher.one_after_another()
        except AnswerChanged:
            found += 1
    return found


def judged(dbms: str, arm: Arm, count: int, rows: int, draw: random.Random) -> Figure:
    """Return the number of wrong judgements, over executions and planted digits."""
    run = executions(arm, count)
    in_data = count // 2
    in_answers = count - in_data
    found = (
        planted_in_answers(arm.rig, in_answers, draw),
        planted_in_data(arm, in_data, rows, draw),
    )
    differing = sum(difference > 0 for difference in run.differences)
    return Figure(
        f"{dbms}: wrong judgements, of {count} parallel executions and {count} planted digits",
        run.changed + count - sum(found),
        "judgements",
        0,
        spread=f"{run.changed} changed the answer; {found[0]} of {in_answers} found in answers, {found[1]} of "
        f"{in_data} in data; largest relative difference of an execution {max(run.differences):.1e}, {differing} "
        "differ in last bits",
    )


def on_postgresql(count: int, rows: int, seed: int) -> Figure:
    with postgresql(**POSTGRESQL) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(load(rows, seed))
            connection.execute("ALTER TABLE doubles SET (parallel_workers = 2)")
            connection.execute("VACUUM ANALYZE doubles")
        before = workers(url)
        with rig(url, allow_writes=True) as opened:
            figure = judged("PostgreSQL", Arm("A", opened, Phases()), count, rows, random.Random(seed))
        print(f"PostgreSQL: {before} parallel workers before, {workers(url)} after")
        return figure


def on_duckdb(count: int, rows: int, seed: int) -> Figure:
    with tempfile.TemporaryDirectory(prefix="tare-answers-") as folder:
        file = Path(folder) / "doubles.duckdb"
        with duckdb.connect(file) as connection:
            connection.execute(load(rows, seed))
        with rig(f"duckdb:///{file}", allow_writes=True) as opened:
            arm = Arm("A", opened, Phases(), DUCKDB)
            return judged("DuckDB", arm, count, rows, random.Random(seed))


def workers(url: str) -> int:
    """Return the number of parallel workers that the query had. Ends the benchmark if it had none."""
    with psycopg.connect(url) as connection:
        explain = f"EXPLAIN (ANALYZE, FORMAT json) {QUERY.sql}"
        explained = connection.execute(explain).fetchone()
    assert explained
    found = _launched(explained[0][0]["Plan"])
    if not found:
        raise SystemExit("PostgreSQL ran the query without parallel workers")
    return found


def _launched(node: dict[str, Any]) -> int:
    return int(node.get("Workers Launched", 0)) + sum(map(_launched, node.get("Plans", ())))


def _weigher(arm: Arm, runs: int, phases: Phases | None = None) -> Weigher:
    conditions = Conditions(runs=runs, warmup=0, clocked=Clocked.TOTAL, phases=phases or Phases())
    return Weigher([arm], [QUERY], conditions, steady, Silent())


def _difference(qe: QE) -> float:
    """Relative difference from the first answer; infinite for an answer that differs in more than doubles."""
    if qe.answer is None or qe.answer.hash is None:
        raise SystemExit(f"an answer was not compared: {qe.answer and qe.answer.unread}")
    return float("inf") if qe.answer.difference is None else qe.answer.difference


def _share(draw: random.Random) -> float:
    return draw.choice((-PLANTED, PLANTED))


def main() -> None:
    asked = arguments(__doc__ or "", executions=200, rows=1_000_000, seed=1)
    count = 20 if asked.small else asked.executions
    rows = 300_000 if asked.small else asked.rows // GROUPS * GROUPS
    figures = [place(count, rows, asked.seed) for place in (on_postgresql, on_duckdb)]
    report(figures, asked.json)


if __name__ == "__main__":
    main()
