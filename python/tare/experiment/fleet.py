"""Executor of a fleet: claims jobs of a PostgreSQL lab one after the other, and conducts their runs."""

from __future__ import annotations

import hashlib
import os
import socket
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tare.errors import LabError, LabLost, RunHeld, SpecificationMistake, Superseded, TareError, UsageError
from tare.experiment.conduct import Conductor, End, begin, reach_dbms
from tare.experiment.read import read_specification
from tare.experiment.specification import Specification
from tare.experiment.specified_work import work_of
from tare.experiment.target import Target, chosen_dbms
from tare.experiment.walk import Observer
from tare.interruption import Interrupted, Interrupts
from tare.lab.hold import lock_key, take_lock
from tare.lab.jobs import FencedLab, Job, JobState, beat, claim, end
from tare.lab.recorder import Recorder
from tare.lab.states import RunState
from tare.lab.store import Lab
from tare.measure.choices import Tier
from tare.measure.records import QE

BEAT_S = 10.0
LOOK_S = 10.0
"""Between two looks for a job."""

MOST_WAIT_S = 60.0
"""Between two tries to reach a lab that is away; the first is after a second, and each waits twice as long."""


def machine_id() -> str:
    """Identity of this machine, the same after a restart, from which its own number cannot be read."""
    for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        with suppress(OSError):
            number = Path(path).read_text().strip()
            if number:
                return hashlib.sha256(f"tare {number}".encode()).hexdigest()[:16]
    return hashlib.sha256(f"tare {socket.gethostname()}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Fleet:
    """`place`: folder for the data of DBMSs that this executor starts. `say`: receives what it does."""

    lab: Lab
    name: str
    kinds: Collection[str]
    place: Path
    tier: Tier | None
    allow_restart: bool
    connect_timeout_s: float
    steady: Callable[[Sequence[QE]], bool]
    interrupts: Interrupts
    observing: Callable[..., AbstractContextManager[Observer]]  # as Conductor.observed, with the sizes behind
    say: Callable[[str], None]

    def work(self, *, once: bool) -> int:
        """Conduct jobs until it is interrupted, or until none waits if `once`; how many were conducted.

        Raises Interrupted; UsageError if another executor has this name."""
        done, wait_s = 0, 1.0
        while True:
            try:
                with self._alone():
                    while True:
                        self.interrupts.check()
                        job = claim(self.lab, self.name, machine_id(), self.kinds)
                        wait_s = 1.0
                        if job is not None:
                            self.conduct(job)
                            done += 1
                        elif once:
                            return done
                        else:
                            self.interrupts.sleep(LOOK_S)
            except LabLost as error:
                self.say(f"{error.what}; trying again in {wait_s:.0f} s")
                self.interrupts.sleep(wait_s)
                wait_s = min(MOST_WAIT_S, 2 * wait_s)

    def conduct(self, job: Job) -> None:
        """Conduct a claimed job as far as it goes. Raises Interrupted and LabLost, which leave it claimed."""
        self.say(f"job {job.id}: {job.experiment} on {job.dbms}, claim {job.generation}")
        lab = FencedLab(self.lab, job)
        try:
            with _heart(self.lab, job):
                ended = self._run(lab, job)
        except RunHeld as error:
            self.say(f"job {job.id}: {error.what}")
            return
        except LabLost:
            raise
        except TareError as error:  # it could not be begun
            self._end(job, JobState.FAILED, error.what)
            return
        if isinstance(ended.stopped_by, Interrupted | LabLost):
            raise ended.stopped_by
        if ended.state is RunState.DONE:
            self._end(job, JobState.DONE, None)
        else:
            self._end(
                job,
                JobState.FAILED,
                ended.stopped_by.what if isinstance(ended.stopped_by, TareError) else None,
            )

    def _run(self, lab: Lab, job: Job) -> End:
        specification = self._specification(job)
        work = work_of(specification)
        (dbms,) = chosen_dbms(specification, [job.dbms])
        target = Target(
            dbms,
            self.place / f"job{job.id}-{job.dbms}",
            connect_timeout_s=self.connect_timeout_s,
            allow_restart=self.allow_restart,
        )
        conductor = Conductor(
            lab,
            specification,
            work,
            self.tier,
            self.steady,
            self.interrupts,
            lambda run, walks: self.observing(run, walks, work.sizes),
        )
        with target:
            with self.interrupts.at_once():
                reached = reach_dbms(target, self.tier)
            run_id = job.run_id
            if run_id is None:
                run_id = begin(
                    Recorder(lab), specification, job.specification, reached, work.queries(), job.run_uuid
                )
            return conductor.conduct(run_id, target)

    def _specification(self, job: Job) -> Specification:
        """Raises SpecificationMistake if it is not the one that was submitted."""
        specification, _ = read_specification(job.specification)
        if specification.sha256 != job.specification_hash:
            raise SpecificationMistake(
                f"the specification of job {job.id} is not the one that was submitted", "submit it again"
            )
        return specification

    def _end(self, job: Job, state: JobState, said: str | None) -> None:
        self.say(f"job {job.id}: {state}" + (f" ({said})" if said else ""))
        with suppress(Superseded):
            end(self.lab, job, state, said)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Block in which no other executor has this name: the lab's server lets go of it when the process dies.

        Raises UsageError."""
        connection = take_lock(self.lab, lock_key(f"executor {self.name}"))
        if connection is None:
            raise UsageError(
                f"an executor named {self.name} works on {self.lab.where} already",
                "give another --name, or end that one",
            )
        try:
            yield
        finally:
            with suppress(Exception):
                connection.close()


@contextmanager
def _heart(lab: Lab, job: Job) -> Iterator[None]:
    """Block with a heart-beat every ten seconds, also during executions that take longer."""
    over = threading.Event()

    def go_on() -> None:
        while not over.wait(BEAT_S):
            with suppress(LabError, RunHeld):  # who writes next finds out
                beat(lab, job)

    heart = threading.Thread(target=go_on, name="tare-heart-beat", daemon=True)
    heart.start()
    try:
        yield
    finally:
        over.set()
        heart.join()


def default_name() -> str:
    return os.uname().nodename
