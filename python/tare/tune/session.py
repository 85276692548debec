"""A tuning run from its checks to its record: refusals, arms that the server takes, a stage, and the record."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from pathlib import Path

from tare.dbms.url import redacted
from tare.errors import ExportFailed, UsageError
from tare.files import synced
from tare.tune import store
from tare.tune.arms import Arm, with_baselines
from tare.tune.knobs import candidates as knob_arms
from tare.tune.knobs import changeable as changeable_knobs
from tare.tune.knobs import governing
from tare.tune.prepare import Hear, Permissions, Ready, ready, ready_again
from tare.tune.racing import FINALISTS, least_budget_s
from tare.tune.record import RunRecord, SearchRecord, Tuning, WindowRecord
from tare.tune.search import Search
from tare.tune.settings.connecting import connect
from tare.tune.settings.setting import Reach
from tare.tune.specification import ArmSpec, TuneSpecification
from tare.tune.stage import Measured, Plan, Stage
from tare.workload.oltp.request import Isolation, Phase, Poisson, Request, Run
from tare.workload.oltp.run import OltpRun

_S = 1e9
Progress = Callable[[str, int, int], AbstractContextManager[Hear]]
"""Shows a run of a search: what it is, its arms and its blocks."""


def as_request(specification: TuneSpecification, url: str, connect_timeout_s: float = 10.0) -> Request:
    """A run of the load; its phases and samples are the stage's."""
    load = specification.load
    return Request(
        url=url,
        workload=load.workload,
        scale=None,
        options=dict(load.options),
        seed=0,
        connect_timeout_s=connect_timeout_s,
        action=Run(
            connections=load.connections,
            arrivals=Poisson(),
            phases=(Phase(rate=load.rate, duration_s=1.0),),
            warmup_s=load.warmup_s,
            drain_s=5.0,
            shed_after_s=None,
            mix=dict(load.mix),
            isolation=Isolation.READ_COMMITTED,
            tries=3,
            think=0.0,
            norm=specification.goal.p,
            samples=None,
        ),
    )


class TuningSession:
    """Measures arms on one server. Settings are put back at the end of each call."""

    def __init__(
        self, url: str, folder: Path, *, allow_changes: bool = False, allow_clients: bool = False
    ) -> None:
        self._url = url
        self._folder = folder
        self._permissions = Permissions(allow_changes, allow_clients)

    def candidates(
        self, knobs: Sequence[str] | None, functions: Sequence[str] | None = None
    ) -> tuple[tuple[ArmSpec, ...], tuple[str, ...]]:
        """Arms of knobs, and the names of knobs that need a restart, which are left out unless `knobs` names them.

        `knobs`: None for all that the server has. `functions`: only knobs that govern one of them. Raises UsageError
        for a name that is no knob, and for functions that no knob governs."""
        with closing(connect(self._url)) as server:
            dbms = server.server.dbms
            facts = server.settings()
            restarting: tuple[str, ...] = ()
            if functions is not None:
                knobs = [name for name in governing(dbms, functions) if name in facts]
                if not knobs:
                    raise UsageError(
                        f"no setting in Tare's table governs {', '.join(functions[:5])}",
                        "name settings: --knobs auto, or --set NAME=VALUE",
                    )
            if knobs is None or functions is not None:
                changeable = changeable_knobs(dbms, facts, knobs)
                restarting = tuple(name for name in changeable if facts[name].reach is Reach.RESTART)
                knobs = [name for name in changeable if name not in restarting]
            arms = knob_arms(dbms, facts, knobs)
        return tuple(_as_spec(arm) for arm in arms), restarting

    def run(self, specification: TuneSpecification, hear: Hear, *, seed: int | None = None) -> Tuning:
        """Measure a new tuning run and keep it. Raises UsageError for what is refused before the first change."""
        with ExitStack() as stack:
            server = ready(stack, self._url, specification, self._permissions)
            whole = with_baselines(server.arms)
            stage = self._stage(specification, server, whole, seed, hear)
            number = store.begin(self._folder)
            self._keep_samples(number, "samples-1", stage)
            tuning = self._tuning(number, specification, server, whole, stage.run, stage)
        store.keep(self._folder, tuning)
        return tuning

    def search(
        self,
        specification: TuneSpecification,
        budget_s: float,
        progress: Progress,
        *,
        seed: int | None = None,
    ) -> Tuning:
        """Halve the arms round by round, measure the last ones in fresh blocks, and keep all of it. Raises UsageError
        for what is refused before the first round."""
        with ExitStack() as stack:
            server = ready(stack, self._url, specification, self._permissions)
            _check_search(specification, budget_s, len(server.arms), server.window_costs_s())
            number = store.begin(self._folder)
            search = Search(specification, budget_s, server.window_costs_s, list(server.arms))
            loads: list[OltpRun] = []

            def measure(
                arms: Sequence[Arm], blocks: int, turn: int, first: int
            ) -> tuple[RunRecord, list[WindowRecord]]:
                shaped = _with_blocks(specification, blocks)
                with progress(f"round {turn + 1}", len(arms), blocks) as hear:
                    stage = self._stage(shaped, server, arms, _chosen(seed, turn), hear)
                self._keep_samples(number, f"search-{turn + 1}", stage)
                loads.append(stage.run)
                return _run_record(stage), _windows(stage, turn, first)

            search.race(measure)
            whole = with_baselines(search.left)
            blocks = search.blocks_within(search.seconds_left, len(whole))
            final = _with_blocks(specification, blocks).model_copy(
                update={"arm": tuple(_as_spec(arm) for arm in search.left)}
            )
            last: Stage | None = None
            if not search.is_ended:
                with progress("fresh blocks", len(whole), blocks) as hear:
                    last = self._stage(final, server, whole, _chosen(seed, len(search.rounds)), hear)
                self._keep_samples(number, "samples-1", last)
            record = search.record(server.arms)
            tuning = self._tuning(number, final, server, whole, loads[0], last, record)
        store.keep(self._folder, tuning)
        return tuning

    def resume(self, tuning: Tuning, blocks: int, hear: Hear) -> Tuning:
        """Add blocks to a tuning run. Raises UsageError if the server's values are no longer its baseline."""
        specification = _with_blocks(tuning.specification, blocks)
        whole = tuple(Arm(name, settings) for name, settings in tuning.arms.items())
        with ExitStack() as stack:
            server = ready_again(stack, self._url, specification, self._permissions, whole, tuning.dropped)
            moved = [name for name, value in server.baseline.items() if tuning.baseline.get(name) != value]
            if moved or redacted(self._url) != tuning.url:
                raise UsageError(
                    f"t{tuning.number} was measured on {tuning.url}"
                    + (f", and {', '.join(moved)} has changed since" if moved else ""),
                    "give the same server with the same settings, or begin a new run",
                )
            stage = self._stage(specification, server, whole, None, hear)
        first = 1 + max((window.block for window in tuning.windows), default=-1)
        longer = tuning.model_copy(
            update={
                "runs": (*tuning.runs, _run_record(stage)),
                "windows": (*tuning.windows, *_windows(stage, len(tuning.runs), first)),
            }
        )
        self._keep_samples(tuning.number, f"samples-{len(longer.runs)}", stage)
        store.keep(self._folder, longer)
        return longer

    # Inside ----------------------------------------------------------------------------
    def _stage(
        self,
        specification: TuneSpecification,
        server: Ready,
        arms: Sequence[Arm],
        seed: int | None,
        hear: Hear,
    ) -> Stage:
        shape = specification.blocks
        plan = Plan(
            rate=specification.load.rate,
            window_s=shape.window_s,
            settle_s=shape.settle_s,
            blocks=shape.count + 1,  # the first warms up
            seed=secrets.randbelow(2**31) if seed is None else seed,
            p=specification.goal.p,
        )
        return server.conduct(as_request(specification, self._url), arms, plan, hear)

    def _tuning(
        self,
        number: int,
        specification: TuneSpecification,
        server: Ready,
        arms: Sequence[Arm],
        load: OltpRun,
        stage: Stage | None,
        search: SearchRecord | None = None,
    ) -> Tuning:
        return Tuning(
            number=number,
            specification=specification,
            url=redacted(self._url),
            dbms=server.server.dbms,
            version=server.server.version,
            online_cpus=load.machine.online_cpus,
            scale=load.loaded.scale,
            baseline=dict(server.baseline),
            arms={arm.name: dict(arm.settings) for arm in arms},
            dropped=server.dropped,
            is_separate=server.is_separate,
            is_restarted=server.is_restarted,
            runs=() if stage is None else (_run_record(stage),),
            windows=() if stage is None else tuple(_windows(stage, 0, 0)),
            search=search,
        )

    def _keep_samples(self, number: int, name: str, stage: Stage) -> None:
        raw = store.place(self._folder, number) / f"{name}.bin"
        try:
            raw.write_bytes(stage.records.tobytes())
            with suppress(OSError):
                synced(raw)
        except OSError as error:
            raise ExportFailed(f"{raw} could not be written: {error.strerror}", "make room") from error


def _as_spec(arm: Arm) -> ArmSpec:
    return ArmSpec(name=arm.name, set=dict(arm.settings))


def _with_blocks(specification: TuneSpecification, blocks: int) -> TuneSpecification:
    shape = specification.blocks.model_copy(update={"count": blocks})
    return specification.model_copy(update={"blocks": shape})


def _chosen(seed: int | None, turn: int) -> int | None:
    """Seed of a run of a search: one of its own for each."""
    return None if seed is None else (seed + turn) % 2**31


def _check_search(specification: TuneSpecification, budget_s: float, arms: int, costs_s: float) -> None:
    if arms <= FINALISTS:
        raise UsageError(
            f"only {arms} of the candidates can be measured, and a search ends with {FINALISTS}",
            "give more, or compare these with `tare tune run`",
        )
    least = least_budget_s(arms, costs_s, specification.load.warmup_s)
    if budget_s < least:
        raise UsageError(
            f"a search among {arms} candidates takes at least {math.ceil(least / 60)} minutes",
            "give a longer --budget, fewer candidates, or a shorter --window or --warmup",
        )


def _run_record(stage: Stage) -> RunRecord:
    return RunRecord(
        uuid=stage.run.uuid,
        started_at=stage.run.started_at,
        seed=stage.plan.seed,
        windows=len(stage.windows),
        is_over=stage.is_over,
        changed_regime=stage.changed_regime,
        is_stopped=stage.is_stopped,
        leaving=stage.leaving,
        invalid=stage.run.invalid,
        warmup_s=None if stage.warmup is None else stage.warmup.length_s,
        is_steady=stage.warmup is None or stage.warmup.is_steady,
    )


def _windows(stage: Stage, run: int, first: int) -> list[WindowRecord]:
    start = stage.run.outcome.started_ns
    return [_window(stage, measured, run, first, start) for measured in stage.windows]


def _window(stage: Stage, measured: Measured, run: int, first: int, start_ns: int) -> WindowRecord:
    window, figures = measured.window, measured.figures
    return WindowRecord(
        run=run,
        block=first + window.block,
        arm=stage.arms[window.arm].name,
        begins_s=(window.begins_ns - start_ns) / _S,
        from_s=(window.from_ns - start_ns) / _S,
        to_s=(window.to_ns - start_ns) / _S,
        switch_ms=window.switch_ms,
        offered=figures.offered,
        finished=figures.finished,
        backlog=figures.backlog,
        throughput=figures.throughput,
        mean=figures.mean,
        variance=figures.variance,
        sd=figures.sd,
        p50=figures.p50,
        p99=figures.p99,
        p99_9=figures.p99_9,
        norm=figures.norm,
        others=measured.others,
        is_carried_over=measured.is_carried_over,
    )
