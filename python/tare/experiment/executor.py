"""A run's loop: halt at the largest cardinality that any walk wants next, make the table, go through its Q@Cs.

Halting there for all queries at once means that the variable table is made once per cardinality.
"""

from __future__ import annotations

from collections.abc import Sequence

from tare.dbms.base import Session
from tare.experiment.interrupts import Interrupts
from tare.experiment.lab_keeper import LabKeeper
from tare.experiment.observer import Observer
from tare.experiment.qatc import QatCs
from tare.experiment.rig_keeper import RigKeeper
from tare.experiment.scenario.base import Scenario
from tare.experiment.specification import Specification
from tare.experiment.tables import Tables
from tare.experiment.walk import QueryWalk, next_halt


class Executor:
    """Takes one run from where it is to its end. Raises what makes it pause: a TareError or Interrupted."""

    def __init__(
        self,
        specification: Specification,
        scenario: Scenario,
        qatcs: QatCs,
        rigs: RigKeeper,
        lab: LabKeeper,
        interrupts: Interrupts,
        observer: Observer,
    ) -> None:
        self._specification = specification
        self._scenario = scenario
        self._qatcs = qatcs
        self._rigs = rigs
        self._lab = lab
        self._interrupts = interrupts
        self._observer = observer
        self._prepared = False

    def run(self, run_id: int, walks: Sequence[QueryWalk]) -> None:
        cardinalities = self._specification.variable.range
        while (halt := next_halt(walks, self._scenario, cardinalities)) is not None:
            self._observer.say(f"making the tables for {halt.cardinality:,} rows")
            with self._interrupts.at_once():
                self._rigs.with_writer(lambda session: self._make(session, halt.cardinality))
            self._lab.write(lambda recorder: recorder.heartbeat(run_id))
            for walk in halt.queries:
                self._interrupts.check()
                self._observer.say(f"{walk.name} at {halt.cardinality:,}")
                self._qatcs.come_to(walk, halt.cardinality)

    def _make(self, session: Session, cardinality: int) -> None:
        tables = Tables(session, self._specification)
        if not self._prepared:
            tables.prepare(self._told)
            self._prepared = True
        tables.set_cardinality(cardinality)

    def _told(self, table: str, loaded: int, rows: int) -> None:
        self._observer.say(f"loading {table}: {loaded:,} of {rows:,} rows")
