"""Runs a small experiment in a process of its own, so that it can be killed, and holds the lab to account."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import func, select, text

from tare.lab.schema import process, qatc, qe, query, reading, run
from tare.lab.states import QatCState, RunState
from tare.lab.store import Lab, open_lab
from tests.cli.running import Running, start

QES = 3
CARDINALITIES = (4000, 3000, 2000, 1000)
QUERIES = {
    "join": "SELECT count(*), sum(a.id2) FROM ft_big a, ft_small b WHERE a.id1 = b.id1",
    "scan": "SELECT sum(a.id2), max(a.id3) FROM ft_big a WHERE a.id4 > 100",
    "group": "SELECT count(*) FROM (SELECT id2 FROM ft_big GROUP BY id2) g",
}
_DEADLINE_S = 90.0


def specification(dbms: str) -> str:
    """`dbms` is the rest of its table: start = "sqlite", or url = "postgresql://…"."""
    queries = "".join(
        f"[[queries]]\nname = {json.dumps(n)}\nsql = {json.dumps(s)}\n" for n, s in QUERIES.items()
    )
    return f"""
name = "crashes"
scenario = "exhaustive"
qes = {QES}
[[dbms]]
name = "it"
{dbms}
[[tables]]
name = "ft_big"
cardinality = {max(CARDINALITIES)}
minimum = {min(CARDINALITIES)}
step = 1000
seed = 1
[[tables]]
name = "ft_small"
cardinality = 500
primary_key = "id1"
seed = 2
{queries}"""


@dataclass
class Life:
    """An executor process and the events that it wrote; it writes the event of a QE once the QE is durable."""

    process: Running
    events_file: Path
    _events: list[dict[str, Any]] = field(default_factory=list)
    _read_to: int = 0  # bytes

    def events(self) -> list[dict[str, Any]]:
        """Whole lines: the last one may have been cut off by the kill."""
        if self.events_file.exists():
            with self.events_file.open("rb") as file:
                file.seek(self._read_to)
                whole, end, _torn = file.read().rpartition(b"\n")
            self._read_to += len(whole + end)
            self._events += map(json.loads, whole.splitlines())
        return self._events

    def acknowledged(self) -> list[dict[str, Any]]:
        return [event for event in self.events() if event["event"] == "qe"]

    def wait_for_qes(self, count: int) -> bool:
        """False if the executor ended before."""
        return self._wait(lambda: len(self.acknowledged()) >= count)

    def wait_for_work(self) -> bool:
        return self._wait(lambda: bool(self.events()))

    def ended(self) -> int:
        """The exit code."""
        self.process.communicate(timeout=_DEADLINE_S)
        return self.process.wait()

    def kill(self) -> bool:
        """False if it had ended already."""
        alive = self.process.poll() is None
        self.process.kill()
        self.process.communicate(timeout=60)
        return alive

    def _wait(self, seen: Any) -> bool:
        deadline = time.monotonic() + _DEADLINE_S
        while not seen():
            if self.process.poll() is not None:
                return bool(seen())
            assert time.monotonic() < deadline, f"nothing for {_DEADLINE_S} s: {self.events()[-3:]}"
            time.sleep(0.002)
        return True


@dataclass
class Crashes:
    """An experiment whose executors are started and killed again and again, over one lab."""

    folder: Path
    lab: str
    toml: str
    lives: list[Life] = field(default_factory=list)

    def begin(self) -> Life:
        file = self.folder / "e.toml"
        file.write_text(self.toml)
        return self._start("run", str(file))

    def go_on(self) -> Life:
        """The last run resumed, or a new one if it is done or was never begun."""
        last = self.last_run()
        if last is None or last[1] is RunState.DONE:
            return self.begin()
        return self._start("resume", str(last[0]))

    def last_run(self) -> tuple[int, RunState] | None:
        if "://" not in self.lab and not Path(self.lab).exists():
            return None
        with self._opened() as lab, lab.reading() as connection:
            found = connection.execute(select(run.c.id, run.c.state).order_by(run.c.id.desc())).first()
        return (found.id, RunState(found.state)) if found else None

    def finish(self) -> None:
        while (last := self.last_run()) is None or last[1] is not RunState.DONE:
            life = self.go_on()
            assert life.ended() == 0, life.events()[-5:]

    def account(self) -> int:
        """Every QE of every run is there once, and as it was acknowledged; how many were acknowledged."""
        acknowledged = [event for life in self.lives for event in life.acknowledged()]
        assert len({event["qe"] for event in acknowledged}) == len(acknowledged)
        with self._opened() as lab:
            for event in acknowledged:
                assert self._row(lab, event["qe"]) == {name: event[name] for name in _KEPT}
            self._every_run_is_whole(lab)
            self._nothing_is_torn(lab)
        return len(acknowledged)

    # ---------------------------------------------------------------------
    def _row(self, lab: Lab, qe_id: int) -> dict[str, Any]:
        with lab.reading() as connection:
            row = connection.execute(
                select(qe, qe.c.qatc_id.label("qatc"), qe.c.run_id.label("run")).where(qe.c.id == qe_id)
            ).one()
        return {name: row._mapping[name] for name in _KEPT}

    def _every_run_is_whole(self, lab: Lab) -> None:
        with lab.reading() as connection:
            for (run_id,) in connection.execute(select(run.c.id).where(run.c.state == RunState.DONE.value)):
                orders = connection.scalars(
                    select(qe.c.run_order).where(qe.c.run_id == run_id).order_by(qe.c.run_order)
                ).all()
                assert orders == list(range(len(orders))), f"run {run_id}: a QE is lost or doubled"
                visited = connection.execute(
                    select(query.c.name, qatc)
                    .join(qatc, qatc.c.query_id == query.c.id)
                    .where(query.c.run_id == run_id)
                ).all()
                assert Counter((row.name, row.cardinality) for row in visited) == Counter(
                    (name, cardinality) for name in QUERIES for cardinality in CARDINALITIES
                )
                for row in visited:
                    assert row.state == QatCState.TIMED.value
                    numbers = connection.scalars(
                        select(qe.c.number)
                        .where(qe.c.qatc_id == row.id, qe.c.attempt == row.attempt, qe.c.number.is_not(None))
                        .order_by(qe.c.number)
                    ).all()
                    assert numbers == list(range(1, QES + 1)), (run_id, row.name, row.cardinality)

    def _nothing_is_torn(self, lab: Lab) -> None:
        with lab.reading() as connection:
            all_qes = connection.scalar(select(func.count()).select_from(qe))
            assert connection.scalar(select(func.count()).select_from(reading)) == all_qes
            assert connection.scalar(select(func.count(process.c.qe_id.distinct()))) == all_qes
            if lab.is_sqlite:
                assert connection.scalar(text("PRAGMA integrity_check")) == "ok"

    def _opened(self) -> Lab:
        return open_lab(self.lab)

    def _start(self, *words: str) -> Life:
        events = self.folder / f"events-{len(self.lives)}.jsonl"
        with (self.folder / f"said-{len(self.lives)}.txt").open("w") as said:
            started = start(
                *("experiment", *words, "--lab", self.lab, "--dir", str(self.folder / "dbms")),
                *("--progress-json", str(events)),
                stderr=said,
            )
        self.lives.append(Life(started, events))
        return self.lives[-1]

    def end(self) -> None:
        for life in self.lives:
            life.kill()

    def said(self) -> Iterator[str]:
        for number in range(len(self.lives)):
            yield (self.folder / f"said-{number}.txt").read_text()


_KEPT = (
    "run", "qatc", "attempt", "number", "run_order", "warmup", "outcome", "started_at", "wall_ns",
    "row_count", "answer_hash",
)  # fmt: skip
