"""A run's loop: halt at the largest cardinality that any walk wants next, make the table, go through its Q@Cs.

Halting there for all queries at once means that the variable table is made once per cardinality.
"""

from __future__ import annotations

from collections.abc import Sequence

from tare.dbms.base import Session
from tare.experiment.interrupts import Interrupts
from tare.experiment.keepers import LabKeeper, RigKeeper
from tare.experiment.qatc import QatCs
from tare.experiment.scenario.base import Scenario
from tare.experiment.walk import Halt, Observer, QueryWalk, next_halt
from tare.experiment.work import Work


class Executor:
    """Takes one run from where it is to its end. Raises what makes it pause: a TareError or Interrupted."""

    def __init__(
        self,
        work: Work,
        scenario: Scenario,
        qatcs: QatCs,
        rigs: RigKeeper,
        lab: LabKeeper,
        interrupts: Interrupts,
        observer: Observer,
    ) -> None:
        self._work = work
        self._scenario = scenario
        self._qatcs = qatcs
        self._rigs = rigs
        self._lab = lab
        self._interrupts = interrupts
        self._observer = observer
        self._prepared = False

    def run(self, run_id: int, walks: Sequence[QueryWalk]) -> None:
        self._qatcs.miss_lacking(walks)
        while (halt := next_halt(walks, self._scenario, self._work.sizes, self._work.setting)) is not None:
            self._observer.say(f"making the tables for {_shown(halt)}")
            self._halt(run_id, halt)
            for walk in halt.queries:
                self._interrupts.check()
                self._observer.say(f"{walk.name} at {halt.cardinality:,}")
                self._qatcs.come_to(walk, halt.cardinality)

    def _halt(self, run_id: int, halt: Halt) -> None:
        with self._interrupts.at_once():
            facts = self._rigs.with_writer(lambda session: self._made(session, halt))
        if facts:
            self._lab.write(lambda recorder: recorder.departs(run_id, facts))
        self._lab.write(lambda recorder: recorder.heartbeat(run_id))

    def _made(self, session: Session, halt: Halt) -> Sequence[str]:
        """Return facts about the tables for the run's reader."""
        tables = self._work.tables(session, self._told)
        if not self._prepared:
            tables.prepare()
            self._prepared = True
        tables.settle(halt.cardinality, halt.setting)
        return tables.facts()

    def _told(self, table: str, loaded: int, rows: int) -> None:
        self._observer.say(f"loading {table}: {loaded:,} of {rows:,} rows")


def _shown(halt: Halt) -> str:
    return f"{halt.cardinality:,} rows" + (f", {halt.setting}" if halt.setting else "")
