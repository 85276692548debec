"""The part that `run` and `resume` share: the lab, the machine's settings, the runs in turn, and how they ended."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import typer

from tare.cli.experiment_show import as_json, lines, observing
from tare.dbms.registry import find
from tare.dbms.url import redacted
from tare.errors import LabError, TareError, UsageError
from tare.experiment.conduct import Conductor, End, begin, meet
from tare.experiment.interrupts import Interrupts
from tare.experiment.read import read_specification
from tare.experiment.recorded import specification_of
from tare.experiment.specification import Specification
from tare.experiment.status import status
from tare.experiment.target import Target, home, target_of
from tare.experiment.works import work_of
from tare.interruption import Interrupted
from tare.lab.ids import experiment_id
from tare.lab.progress import progress, run_facts
from tare.lab.recorder import Recorder
from tare.lab.store import Lab, find_runs, open_lab
from tare.measure.choices import Tier
from tare.measure.machine.settings import MachineSettings, delay_accounting_on
from tare.protocol.warmup import steady


@dataclass(frozen=True)
class Session:
    """Request of a call of `run` or `resume`."""

    lab: str
    dir: Path | None
    progress_json: str | None
    json: bool
    allow_restart: bool
    connect_timeout_s: float
    tier: Tier | None
    machine_settings: bool

    def run(self, file: Path, names: Sequence[str] | None) -> int:
        """The exit code. Raises what is wrong before the first run begins."""
        return self.run_each([read_specification(file)], names)[0]

    def run_each(
        self,
        asked: Sequence[tuple[Specification, str]],
        names: Sequence[str] | None = None,
        first: Callable[[Specification, Target], None] | None = None,
    ) -> tuple[int, list[int]]:
        """Specifications, each with its TOML, one after the other: the exit code, and the runs that were begun.

        `first` is called with each DBMS before anything is begun. Raises what is wrong until then."""
        chosen = [(spec, text, target) for spec, text in asked for target in self._targets(spec, names)]
        for _, _, target in chosen:
            if target.starts is None:
                find(target.url)  # an unknown scheme is said before anything is touched
        with self._set_up(create=True) as (lab, interrupts, events), ExitStack() as stack:
            with interrupts.at_once():  # every DBMS is met before the first of them is weighed for hours
                if len(chosen) == 1:  # it need not be started twice
                    stack.enter_context(chosen[0][2])
                if first is not None:
                    for specification, _, target in chosen:
                        first(specification, target)
                met = [meet(target, self.tier) for _, _, target in chosen]
            recorder = Recorder(lab)
            turns: list[tuple[Conductor, int, Target]] = []
            runs: list[tuple[int, Specification]] = []
            conductors = {text: self._conductor(lab, spec, interrupts, events) for spec, text in asked}
            queries = {text: conductor.work.queries() for text, conductor in conductors.items()}
            for (specification, text, target), one in zip(chosen, met, strict=True):
                run_id = begin(recorder, specification, text, one, queries[text])
                turns.append((conductors[text], run_id, target))
                runs.append((run_id, specification))
            return self._tell(lab, runs, _in_turn(turns)), [run_id for run_id, _ in runs]

    def resume(self, asked: Sequence[str]) -> int:
        """The exit code."""
        with self._set_up(create=False) as (lab, interrupts, events):
            turns: list[tuple[Conductor, int, Target]] = []
            runs: list[tuple[int, Specification]] = []
            for run_id in find_runs(lab, asked):
                facts = run_facts(lab, run_id)
                specification = specification_of(facts)
                target = target_of(facts.url, facts.dbms, self._targets(specification, None))
                turns.append((self._conductor(lab, specification, interrupts, events), run_id, target))
                runs.append((run_id, specification))
            return self._tell(lab, runs, _in_turn(turns))

    # Inside --------------------------------------------------------------------------
    @contextmanager
    def _set_up(self, *, create: bool) -> Iterator[tuple[Lab, Interrupts, TextIO | None]]:
        with ExitStack() as stack:
            lab = stack.enter_context(open_lab(self.lab, create=create))
            settings = stack.enter_context(MachineSettings())
            if self.machine_settings:
                with suppress(TareError):  # the run's deviations then say that it is off
                    delay_accounting_on(settings)
            events = stack.enter_context(_opened(self.progress_json)) if self.progress_json else None
            interrupts = stack.enter_context(Interrupts(_say_pausing))
            yield lab, interrupts, events

    def _targets(self, specification: Specification, names: Sequence[str] | None) -> list[Target]:
        known = {spec.name: spec for spec in specification.dbms}
        unknown = [name for name in names or () if name not in known]
        if unknown:
            raise UsageError(
                f"the specification has no DBMS {unknown[0]}", f"it has {', '.join(known)}: give one of them"
            )
        place = (self.dir.absolute() if self.dir else home(self.lab)) / specification.name
        return [
            Target(
                spec,
                place.with_name(f"{place.name}-{spec.name}"),
                connect_timeout_s=self.connect_timeout_s,
                allow_restart=self.allow_restart,
            )
            for name, spec in known.items()
            if not names or name in names
        ]

    def _conductor(
        self, lab: Lab, specification: Specification, interrupts: Interrupts, events: TextIO | None
    ) -> Conductor:
        work = work_of(specification)
        return Conductor(
            lab,
            specification,
            work,
            self.tier,
            steady,
            interrupts,
            lambda run, walks: observing(run, walks, work.sizes, events),
        )

    def _tell(self, lab: Lab, runs: Sequence[tuple[int, Specification]], ends: Sequence[End]) -> int:
        shown = redacted(self.lab) + (f" --dir {self.dir}" if self.dir else "")
        stopped = [end.stopped_by for end in ends if end.stopped_by is not None]
        try:
            found = [status(lab, progress(lab, run_id), work_of(spec).sizes) for run_id, spec in runs]
        except LabError:
            for end in ends:
                if end.stopped_by is not None:
                    print(f"tare: {end.stopped_by}", file=sys.stderr)
            print(f"go on with: tare experiment resume {_ids(runs)} --lab {shown}", file=sys.stderr)
        else:
            if self.json:
                print(json.dumps({"lab": lab.where, "runs": [as_json(one) for one in found]}, indent=2))
            else:
                for one in found:
                    typer.echo("\n".join(lines(one, shown)))
            for error in stopped:
                if isinstance(error, TareError):
                    print(f"tare: {error}", file=sys.stderr)
        signals = [error.exit_code for error in stopped if isinstance(error, Interrupted)]
        if signals:
            print(
                f"tare: paused; go on with: tare experiment resume {_ids(runs)} --lab {shown}",
                file=sys.stderr,
            )
            return signals[0]
        return 1 if stopped else 0


def _in_turn(turns: Sequence[tuple[Conductor, int, Target]]) -> list[End]:
    """A run that pauses of itself lets the next one begin; the user's wish to pause is for all."""
    ends = []
    for conductor, run_id, target in turns:
        ends.append(conductor.conduct(run_id, target))
        if isinstance(ends[-1].stopped_by, Interrupted):
            break
    return ends


def _ids(runs: Sequence[tuple[int, Specification]]) -> str:
    return " ".join(experiment_id(run_id) for run_id, _ in runs)


@contextmanager
def _opened(target: str) -> Iterator[TextIO]:
    if target == "-":
        yield sys.stdout
        return
    try:
        out = open(target, "a", encoding="utf-8")  # noqa: PTH123, SIM115
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}", "name another file") from error
    with out:
        yield out


def _say_pausing() -> None:
    """From a signal's handler: no buffer that the interrupted code may hold is touched."""
    with suppress(OSError):
        os.write(2, b"\ntare: pausing after the query execution in hand; once more to pause at once\n")
