"""A run begun in the lab, and a run conducted: held, executed, and left done or paused with its reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass

from tare import _probe
from tare.dbms.base import Server
from tare.errors import LabError, RunHeld, TareError, UsageError, WrongAnswer
from tare.experiment.deviations import deviations, usable_cpus
from tare.experiment.executor import Executor
from tare.experiment.interrupts import Interrupts
from tare.experiment.keepers import LabKeeper, RigKeeper
from tare.experiment.qatc import QatCs, Terms
from tare.experiment.recorded import walks_of
from tare.experiment.scenario.registry import find as find_scenario
from tare.experiment.specification import Specification
from tare.experiment.target import Target
from tare.experiment.walk import Observer, QueryWalk
from tare.experiment.work import Work
from tare.interruption import Interrupted
from tare.lab.hold import Hold, held
from tare.lab.progress import Progress, RunFacts, progress
from tare.lab.recorder import Recorder
from tare.lab.states import RunState
from tare.lab.store import Lab
from tare.measure.choices import Tier
from tare.measure.environment import MachineFacts, machine_facts
from tare.measure.query import Query
from tare.measure.records import QE
from tare.measure.rig import Rig

NOT_BEGUN = "its turn has not come yet"

_OF_DATA = frozenset({"page_count"})  # settings that say how much there is, not how it is done


@dataclass(frozen=True)
class Met:
    """A DBMS that can be reached, and how it can be measured here."""

    server: Server
    machine: MachineFacts
    usable_cpus: int
    tier: str
    means: Mapping[str, str]
    deviations: Sequence[str]


def meet(target: Target, tier: Tier | None) -> Met:
    """Raises what starting, connecting and reading the kernel raise."""
    with target, Rig(target.connect, tier) as rig:
        machine = machine_facts()
        return Met(
            rig.session.server,
            machine,
            usable_cpus(rig),
            rig.probe.tier,
            _means(rig),
            deviations(rig, machine),
        )


def begin(
    recorder: Recorder, specification: Specification, toml: str, met: Met, queries: Sequence[Query]
) -> int:
    """A new run on this DBMS, paused before its first QE; its id. Raises LabError."""
    run_id = recorder.begin(
        specification,
        toml,
        met.server,
        met.machine,
        tick_ns=_probe.TICK_NS,
        online_cpus=met.usable_cpus,
        tier=met.tier,
        means=met.means,
        deviations=met.deviations,
        queries=queries,
    )
    recorder.state(run_id, RunState.PAUSED, NOT_BEGUN)
    return run_id


@dataclass(frozen=True, slots=True)
class End:
    """How conducting a run ended. `stopped_by`: what made it pause."""

    run_id: int
    state: RunState
    stopped_by: TareError | Interrupted | None


Observed = Callable[[RunFacts, Sequence[QueryWalk]], AbstractContextManager[Observer]]


@dataclass(frozen=True)
class Conductor:
    """Takes runs of one specification from where they are to their end, or to a pause."""

    lab: Lab
    specification: Specification
    work: Work
    tier: Tier | None
    steady: Callable[[Sequence[QE]], bool]
    interrupts: Interrupts
    observed: Observed

    def conduct(self, run_id: int, target: Target) -> End:
        """Raises RunHeld; what makes the run pause is in the End, and in the lab unless that is full or away."""
        with held(self.lab, run_id) as hold:
            at = progress(self.lab, run_id)
            if at.run.state is RunState.DONE:
                return End(run_id, RunState.DONE, None)
            walks = walks_of(at)
            recorder = Recorder(self.lab)
            recorder.state(run_id, RunState.RUNNING)
            try:
                with target, self.observed(at.run, walks) as observer:
                    self._execute(at, walks, target, recorder, hold, observer)
            except RunHeld:
                raise  # another executor has it by now: its state is that one's to write
            except (TareError, Interrupted) as error:
                state = RunState.FAILED if isinstance(error, WrongAnswer) else RunState.PAUSED
                with suppress(LabError):  # it keeps saying "running", and nobody holds the run
                    recorder.state(run_id, state, _reason(error))
                return End(run_id, state, error)
        return End(run_id, RunState.DONE, None)

    def _execute(
        self,
        at: Progress,
        walks: Sequence[QueryWalk],
        target: Target,
        recorder: Recorder,
        hold: Hold,
        observer: Observer,
    ) -> None:
        lab = LabKeeper(recorder, hold, self.interrupts, observer.say)
        rigs = RigKeeper(
            target,
            self.tier,
            self.interrupts,
            observer.say,
            writes=self.work.writes,
            twins=self.work.twins,
        )
        terms = Terms(
            work=self.work,
            dbms=at.run.dbms,
            scenario=find_scenario(self.specification.scenario),
            qes=at.run.qes_per_qatc,
            cache=self.specification.cache,
            timeout_s=self.specification.timeout_s,
            steady=self.steady,
            audit=frozenset(self.specification.audit),
        )
        try:
            if at.next_run_order > 0:  # resumed, perhaps after something was changed
                found = rigs.with_rig(lambda rig: _changes(rig, at.run))
                lab.write(lambda to: to.departs(at.run.id, found))
            qatcs = QatCs(terms, rigs, lab, self.interrupts, observer, at.next_run_order)
            executor = Executor(self.work, terms.scenario, qatcs, rigs, lab, self.interrupts, observer)
            executor.run(at.run.id, walks)
            lab.write(lambda to: to.state(at.run.id, RunState.DONE))
        finally:
            rigs.close()


def _changes(rig: Rig, begun: RunFacts) -> list[str]:
    """Deviations of a resumed run: those of now, and what is not as it was at its beginning.

    Raises UsageError if it is another DBMS: its QEs would not be one run's."""
    server, machine = rig.session.server, machine_facts()
    if (server.dbms, server.version) != (begun.dbms, begun.dbms_version):
        raise UsageError(
            f"the run was begun on {begun.dbms} {begun.dbms_version}, and {server.url} is {server.dbms} "
            f"{server.version} now",
            "begin a new run: tare experiment run",
        )
    found = deviations(rig, machine)
    if rig.probe.tier != begun.tier:
        found.append(f"resumed with the kernel read through {rig.probe.tier}, after {begun.tier}")
    found += [f"resumed with {change}" for change in _differences(begun.machine, asdict(machine))]
    found += [f"resumed with the setting {change}" for change in _of_settings(server, begun)]
    return found


def _of_settings(server: Server, begun: RunFacts) -> Iterator[str]:
    known = {name: value for name, value in server.settings.items() if name not in _OF_DATA}
    return _differences(begun.dbms_settings, known)


def _differences(before: Mapping[str, object], now: Mapping[str, object]) -> Iterator[str]:
    for name, value in now.items():
        if name in before and before[name] != value:
            yield f"{name} {value}, after {before[name]}"


def _means(rig: Rig) -> dict[str, str]:
    reasons = {
        "instructions": rig.no_instructions,
        "trace": rig.no_trace,
        "exits": rig.no_listener,
        "block_io": rig.no_delay,
    }
    return {name: reason for name, reason in reasons.items() if reason}


def _reason(error: TareError | Interrupted) -> str:
    return error.what if isinstance(error, TareError) else f"interrupted ({error})"
