"""Begins a run in the lab, and conducts one: holds and executes it, and leaves it done or paused with a reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass

from tare import _probe
from tare.dbms.base import Server
from tare.errors import LabError, RunAborted, RunHeld, TareError, UsageError, WrongAnswer
from tare.experiment.control import Control
from tare.experiment.deviations import deviations, usable_cpus
from tare.experiment.executor import Executor
from tare.experiment.lab_keeper import LabKeeper
from tare.experiment.scenario.registry import find as find_scenario
from tare.experiment.specification import Specification
from tare.experiment.target import Target
from tare.experiment.visits import LabSink, Visits
from tare.experiment.walk import Observer, QueryWalk, walks_of
from tare.experiment.work import Work
from tare.interruption import Interrupted, Interrupts
from tare.lab.hold import Hold, held
from tare.lab.progress import Progress, RunFacts, progress
from tare.lab.recorder import Recorder
from tare.lab.states import RunState
from tare.lab.store import Lab
from tare.measure.backoff import UNATTENDED_FIRST_PAUSE_S, Patience
from tare.measure.choices import AnswerRule, Tier
from tare.measure.environment import MachineFacts, machine_facts
from tare.measure.qatc import QatCEngine, Terms
from tare.measure.query import Query
from tare.measure.records import QE
from tare.measure.rig import Rig
from tare.measure.rig_keeper import RigKeeper

NOT_BEGUN = "its turn has not come yet"

_DATA_SETTINGS = frozenset({"page_count"})  # they describe the data, not the server


@dataclass(frozen=True)
class ReachableDbms:
    """A DBMS that answered, and the means to measure it here."""

    server: Server
    machine: MachineFacts
    usable_cpus: int
    tier: str
    means: Mapping[str, str]
    deviations: Sequence[str]


def reach_dbms(target: Target, tier: Tier | None) -> ReachableDbms:
    """Starts and connects to the DBMS. Raises what starting, connecting and reading the kernel raise."""
    with target, Rig(target.connect, tier) as rig:
        machine = machine_facts()
        return ReachableDbms(
            rig.session.server,
            machine,
            usable_cpus(rig),
            rig.probe.tier,
            _means(rig),
            deviations(rig, machine),
        )


def begin(
    recorder: Recorder,
    specification: Specification,
    toml: str,
    reached: ReachableDbms,
    queries: Sequence[Query],
    run_uuid: str | None = None,
) -> int:
    """Records a new run on this DBMS, paused before its first QE; returns its id. `run_uuid`: as `Recorder.begin` takes
    it. Raises LabError."""
    run_id = recorder.begin(
        specification,
        toml,
        reached.server,
        reached.machine,
        tick_ns=_probe.TICK_NS,
        online_cpus=reached.usable_cpus,
        tier=reached.tier,
        means=reached.means,
        deviations=reached.deviations,
        queries=queries,
        run_uuid=run_uuid,
    )
    recorder.state(run_id, RunState.PAUSED, NOT_BEGUN)
    return run_id


@dataclass(frozen=True, slots=True)
class End:
    """State of a run after it was conducted, and the error that paused it."""

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
                raise  # another executor holds the run by now, and writes its state
            except (TareError, Interrupted) as error:
                state = RunState.FAILED if isinstance(error, WrongAnswer | RunAborted) else RunState.PAUSED
                with suppress(LabError):  # the lab keeps the state "running", with no holder
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
        work, specification = self.work, self.specification
        patience = Patience(self.interrupts, observer.say, UNATTENDED_FIRST_PAUSE_S)
        lab = LabKeeper(recorder, hold, patience)
        scenario = find_scenario(specification.scenario)
        terms = Terms(
            runs=at.run.qes_per_qatc,
            cache=specification.cache,
            timeout_s=specification.timeout_s,
            answer=AnswerRule.CLOSE if work.one_answer else AnswerRule.ANY,
            audit=frozenset(specification.audit),
        )
        with RigKeeper(
            lambda: target.connect(allow_writes=work.writes),
            patience,
            self.tier,
            twins=work.twins,
            revive=target.revive,
        ) as rigs:
            if at.next_run_order > 0:  # resumed, perhaps after something was changed
                changes = rigs.with_rig(lambda rig: _changes(rig, at.run))
                lab.write(lambda recorder: recorder.departs(at.run.id, changes))
            control = Control(self.lab, at.run.id, lab, rigs, self.interrupts, observer)
            engine = QatCEngine(
                terms,
                rigs,
                LabSink(lab, observer),
                self.steady,
                patience,
                at.next_run_order,
                control.between_executions,
            )
            visits = Visits(work, at.run.dbms, scenario, engine, lab, observer)
            executor = Executor(work, scenario, visits, target, rigs, lab, self.interrupts, control, observer)
            executor.run(at.run.id, walks)
            lab.write(lambda recorder: recorder.state(at.run.id, RunState.DONE))


def _changes(rig: Rig, begun: RunFacts) -> list[str]:
    """Deviations of a resumed run: those of now, and what changed since the run began.

    Raises UsageError if it is another DBMS: its QEs would not be one run's."""
    server, machine = rig.session.server, machine_facts()
    if (server.dbms, server.version) != (begun.dbms, begun.dbms_version):
        raise UsageError(
            f"the run was begun on {begun.dbms} {begun.dbms_version}, and {server.url} is {server.dbms} "
            f"{server.version} now",
            "begin a new run: tare experiment run",
        )
    changes = deviations(rig, machine)
    if rig.probe.tier != begun.tier:
        changes.append(f"resumed with the kernel read through {rig.probe.tier}, after {begun.tier}")
    changes += [f"resumed with {change}" for change in _differences(begun.machine, asdict(machine))]
    settings = {name: value for name, value in server.settings.items() if name not in _DATA_SETTINGS}
    changes += [
        f"resumed with the setting {change}" for change in _differences(begun.dbms_settings, settings)
    ]
    return changes


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
