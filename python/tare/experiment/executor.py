"""Loop of a run: halt at the largest cardinality that any walk visits next, make the table, visit its Q@Cs.

Halting there for all queries at once means that the variable table is made once per cardinality.
"""

from __future__ import annotations

from collections.abc import Sequence

from tare.dbms.base import Session
from tare.experiment.control import Control
from tare.experiment.lab_keeper import LabKeeper
from tare.experiment.scenario.base import Scenario
from tare.experiment.target import Target
from tare.experiment.visits import Visits
from tare.experiment.walk import Halt, Observer, QueryWalk, next_halt
from tare.experiment.work import Work
from tare.interruption import Interrupts
from tare.measure.rig_keeper import RigKeeper


class Executor:
    """Continues one run to its end. Raises what makes it end earlier: a TareError or Interrupted."""

    def __init__(
        self,
        work: Work,
        scenario: Scenario,
        visits: Visits,
        target: Target,
        rigs: RigKeeper,
        lab: LabKeeper,
        interrupts: Interrupts,
        control: Control,
        observer: Observer,
    ) -> None:
        self._work = work
        self._scenario = scenario
        self._visits = visits
        self._target = target
        self._rigs = rigs
        self._lab = lab
        self._interrupts = interrupts
        self._control = control
        self._observer = observer
        self._prepared = False

    def run(self, run_id: int, walks: Sequence[QueryWalk]) -> None:
        self._visits.miss_lacking(walks)
        while (halt := next_halt(walks, self._scenario, self._work.sizes, self._work.setting)) is not None:
            self._observer.say(f"making the tables for {_shown(halt)}")
            self._halt(run_id, halt)
            for walk in halt.queries:
                self._interrupts.check()
                self._control.between_queries()
                self._observer.say(f"{walk.name} at {halt.cardinality:,}")
                self._visits.visit(walk, halt.cardinality)

    def _halt(self, run_id: int, halt: Halt) -> None:
        with self._interrupts.at_once():
            facts = self._rigs.with_session(
                lambda: self._target.connect(allow_writes=True),
                lambda session: self._make_tables(session, halt),
            )
        if facts:
            self._lab.write(lambda recorder: recorder.departs(run_id, facts))
        self._lab.write(lambda recorder: recorder.heartbeat(run_id))

    def _make_tables(self, session: Session, halt: Halt) -> Sequence[str]:
        """Makes the tables; returns the facts about them that the run's reader needs."""
        tables = self._work.tables(session, self._say_loading)
        if not self._prepared:
            tables.prepare()
            self._prepared = True
        tables.settle(halt.cardinality, halt.setting)
        return tables.facts()

    def _say_loading(self, table: str, loaded: int, rows: int) -> None:
        self._observer.say(f"loading {table}: {loaded:,} of {rows:,} rows")


def _shown(halt: Halt) -> str:
    return f"{halt.cardinality:,} rows" + (f", {halt.setting}" if halt.setting else "")
