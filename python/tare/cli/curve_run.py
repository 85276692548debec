"""Steps of `tare bench oltp curve`: taken, kept in the lab and reported."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tare.cli import destinations
from tare.cli.oltp_actions import print_failing
from tare.cli.oltp_call import Call, bound
from tare.cli.oltp_live import shown
from tare.dbms.url import redacted
from tare.errors import TareError, UsageError
from tare.interruption import exit_code_of
from tare.lab import oltp as runs
from tare.lab.ids import oltp_id
from tare.lab.store import Lab, find_oltp_run, open_lab
from tare.measure.machine.settings import MachineSettings, delay_accounting_on
from tare.protocol.oltp.capacity import judge
from tare.protocol.oltp.limit import Ended, Limit
from tare.report.oltp.curve.build import Taken
from tare.workload.oltp.conditions import Conditions, ConditionsFail, Hear
from tare.workload.oltp.conditions import check as check_conditions
from tare.workload.oltp.curve import Curve, Grid, Plan, Search, Step
from tare.workload.oltp.request import Check, Request, Run
from tare.workload.oltp.run import Asked, OltpRun

_ROWS = 5  # failing ones of a condition that are named


@dataclass(frozen=True)
class CurveCall:
    """A curve as the command line requests it."""

    workload: str
    dbs: tuple[str, ...]
    rates: tuple[float, ...]
    start: int
    limit: Limit | None  # None: a grid of rates
    repeats: int
    most_s: float | None
    action: Run
    options: Mapping[str, str]
    resume: str | None
    check: bool
    lab: str
    dir: Path | None
    given: Mapping[str, str | None]  # files by the form of the report
    title: str | None
    connect_timeout_s: float
    machine_settings: bool

    def __post_init__(self) -> None:
        if len(set(self.dbs)) < len(self.dbs):
            raise UsageError("two --db name the same database", "give each once; --repeats repeats its steps")
        destinations.check(self.given)

    @property
    def is_quiet(self) -> bool:
        """Whether standard output carries a document."""
        return "-" in self.given.values()

    def plan(self, curve: str) -> Plan:
        if self.limit is not None:
            return Search(self.rates, self.limit, self.start)
        return Grid(self.rates, len(self.dbs), self.repeats, curve)


def take(call: CurveCall) -> int:
    """Take the steps, report them and return the exit code. Raises an error that comes before the first step."""
    calls = [
        Call(call.workload, db, call.lab, call.dir, call.connect_timeout_s, call.is_quiet) for db in call.dbs
    ]
    with ExitStack() as stack:
        lab = stack.enter_context(open_lab(call.lab, create=True))
        earlier = [] if call.resume is None else _earlier(lab, call)
        settings = stack.enter_context(MachineSettings())
        if call.machine_settings:
            with suppress(TareError):  # then `unmeasured` says that it is off
                delay_accounting_on(settings)
        urls = [stack.enter_context(one.at()) for one in calls]
        requests = [
            bound(one.request(call.action, 0, None, call.options), url)
            for one, url in zip(calls, urls, strict=True)
        ]
        _same_servers(earlier, requests)
        if call.check:
            _check_before(requests)
        step = earlier[0][1].asked.step if earlier else None
        curve = step.curve if step else str(uuid.uuid4())
        plan = call.plan(curve)
        session = Curve(curve, plan, requests, call.limit, call.most_s)
        kept = list(earlier)
        taken = [_step(run) for _, run in earlier]
        failure: TareError | None = None
        try:
            numbers = max((run.asked.step.number for _, run in earlier if run.asked.step), default=0)
            with _listening(call) as listener:
                for one in session.steps(taken, listener, numbers):
                    taken.append(one)
                    if one.run is not None:
                        kept.append((runs.record(lab, one.run), one.run))
                    _say(call, one, kept)
        except TareError as error:
            if not kept:
                raise
            failure = error  # the finished steps are reported all the same
        failing = _check_after(requests, call) if call.check and session.stopped_by is None else None
    return _report(call, session, plan, taken, kept, failing, failure)


def _report(
    call: CurveCall,
    session: Curve,
    plan: Plan,
    taken: Sequence[Step],
    kept: Sequence[tuple[int, OltpRun]],
    failing: Sequence[str] | None,
    failure: TareError | None,
) -> int:
    from tare.cli.curve_report import deliver_curve

    ended = _ended(plan, taken, len(call.dbs))
    if kept:
        deliver_curve(
            Taken(
                kept,
                call.limit,
                ended,
                [(one.arm, one.rate, one.failure) for one in taken if one.run is None],
                failing,
            ),
            call.lab,
            call.given,
            call.title,
        )
    if failure is not None:
        print(f"tare: {failure}", file=sys.stderr)
    if kept and (session.stopped_by is not None or session.out_of_time or failure is not None):
        print(
            f"tare: the curve is not finished\n  next: continue it with --resume {oltp_id(kept[-1][0])}",
            file=sys.stderr,
        )
    if session.stopped_by is not None:
        return exit_code_of(session.stopped_by)
    unfinished = {Ended.UNFINISHED, Ended.UNDECIDED} & set(ended.values())
    broken = failing or failure or unfinished or any(one.run is None for one in taken)
    return 1 if broken or not any(judge(run).capacity.is_result for _, run in kept) else 0


def _ended(plan: Plan, taken: Sequence[Step], arms: int) -> dict[int, Ended]:
    return {arm: plan.ended(taken, arm) for arm in range(arms)} if isinstance(plan, Search) else {}


# Progress --------------------------------------------------------------------------------
@contextmanager
def _listening(call: CurveCall) -> Iterator[Callable[[int, float, int], Hear]]:
    """Within the block, each step is shown as a run is, below a line that names it."""
    with ExitStack() as current:

        def listener(arm: int, rate: float, number: int) -> Hear:
            current.close()
            title = f"step {number}: {rate:g}/s, {call.workload} on {redacted(call.dbs[arm])}"
            measured_s = sum(phase.duration_s for phase in call.action.phases)
            quiet = call.is_quiet or not sys.stderr.isatty()  # a line for each step is enough in a log
            return current.enter_context(shown(title, rate, measured_s, quiet=quiet))

        yield listener


def _say(call: CurveCall, step: Step, kept: Sequence[tuple[int, OltpRun]]) -> None:
    """A line about a finished step."""
    from tare.report.oltp.curve.words import progress

    if not call.is_quiet:
        number = kept[-1][0] if step.run is not None else 0
        where = call.workload if len(call.dbs) < 2 else redacted(call.dbs[step.arm])
        print(progress(where, step.rate, number, step.run, step.failure), file=sys.stderr, flush=True)


# Conditions on the data -------------------------------------------------------------------
def _check_before(requests: Sequence[Request]) -> None:
    for request in requests:
        found = _conditions(request)
        if found.failing:
            print_failing(found.failing, stderr=True)
            raise ConditionsFail(found)


def _check_after(requests: Sequence[Request], call: CurveCall) -> list[str]:
    """Names of the conditions that do not hold; of one that cannot be checked, the reason."""
    failing: list[str] = []
    for request, db in zip(requests, call.dbs, strict=True):
        where = f" on {redacted(db)}" if len(requests) > 1 else ""
        try:
            failing += [f"{one.name}{where}" for one in _conditions(request).failing]
        except TareError as error:
            failing.append(f"not checked{where}: {error.what}")
    return failing


def _conditions(request: Request) -> Conditions:
    return check_conditions(request.model_copy(update={"action": Check(rows=_ROWS)}), lambda event: None)


# Continuing a curve ------------------------------------------------------------------------
def _earlier(lab: Lab, call: CurveCall) -> list[tuple[int, OltpRun]]:
    """Steps of the curve to continue. Raises UsageError where it was requested otherwise."""
    assert call.resume is not None
    earlier = runs.load_curve(lab, find_oltp_run(lab, call.resume))
    for number, run in earlier:
        rate = run.asked.phases[0].rate
        if rate not in call.rates:
            raise UsageError(
                f"run {oltp_id(number)} was taken at {rate:g}/s, which is not among the rates now requested",
                "continue a curve with the --rates and the --precision that it began with",
            )
        for name, before, now in _requested(call, run):
            if before != now:
                raise UsageError(
                    f"run {oltp_id(number)} was taken with {name} {before}, and now {now} is requested",
                    "continue a curve with the options that it began with",
                )
    return earlier


def _requested(call: CurveCall, run: OltpRun) -> Iterator[tuple[str, object, object]]:
    asked, action = run.asked, call.action
    step = asked.step
    yield "workload", run.workload, call.workload
    before = (step.figure, step.limit_ms) if step else (None, None)
    now = (call.limit.figure, call.limit.ms) if call.limit else (None, None)
    yield "--find-limit", _budget(*before), _budget(*now)
    yield "--duration", _measured_s(asked), sum(phase.duration_s for phase in action.phases)
    yield "--connections", asked.connections, action.connections
    yield "--arrivals", asked.arrivals, action.arrivals.kind
    yield "--warmup", asked.warmup_s, action.warmup_s
    yield "--isolation", asked.isolation, action.isolation.value
    yield "--mix", dict(asked.mix), dict(action.mix)
    yield "--option", dict(asked.options), dict(call.options)
    yield "--tries", asked.tries, action.tries


def _budget(figure: str | None, ms: float | None) -> str:
    return "none" if figure is None or ms is None else f"{figure}={ms:g}ms"


def _measured_s(asked: Asked) -> float:
    return sum(phase.duration_s for phase in asked.phases)


def _same_servers(earlier: Sequence[tuple[int, OltpRun]], requests: Sequence[Request]) -> None:
    """Raises UsageError where an arm was taken elsewhere. A server that Tare starts may listen at another place."""
    for number, run in earlier:
        arm = run.asked.step.arm if run.asked.step else 0
        if arm >= len(requests):
            raise UsageError(
                f"run {oltp_id(number)} was taken on database {arm + 1}, and {len(requests)} are given",
                "give the same --db",
            )


def _step(run: OltpRun) -> Step:
    assert run.asked.step is not None
    return Step(run.asked.step.arm, run.asked.phases[0].rate or 0.0, run)
