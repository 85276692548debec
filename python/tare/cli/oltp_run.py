"""`tare bench oltp run`: makes and watches the run, keeps it in the lab, prints its report."""

from __future__ import annotations

import sys
from contextlib import ExitStack, suppress
from pathlib import Path

from tare.cli import destinations
from tare.cli.oltp_actions import print_failing
from tare.cli.oltp_call import Call, bound
from tare.cli.oltp_json import document
from tare.cli.oltp_live import shown
from tare.dbms.url import redacted
from tare.errors import TareError
from tare.interruption import exit_code_of
from tare.lab import oltp as runs
from tare.lab.store import open_lab
from tare.measure.machine.settings import MachineSettings, delay_accounting_on
from tare.workload.oltp import samples
from tare.workload.oltp.conditions import ConditionsFail
from tare.workload.oltp.conduct import Conductor
from tare.workload.oltp.request import Request, Run
from tare.workload.oltp.run import OltpRun


def made(call: Call, request: Request, to: Path | None, *, check: bool, machine_settings: bool) -> int:
    """The exit code. `to`: where every transaction is written. Raises what is wrong before the run begins."""
    destinations.check({"samples": str(to) if to else None, "json": call.json})
    assert isinstance(request.action, Run)
    action = request.action
    with ExitStack() as stack:
        lab = stack.enter_context(open_lab(call.lab, create=True))
        settings = stack.enter_context(MachineSettings())
        if machine_settings:
            with suppress(TareError):  # then `unmeasured` says that it is off
                delay_accounting_on(settings)
        url = stack.enter_context(call.at(shared=True))
        raw = stack.enter_context(samples.beside(to)) if to else None
        asked = bound(request, url).model_copy(
            update={"action": action.model_copy(update={"samples": str(raw) if raw else None})}
        )
        measured_s = sum(one.duration_s for one in action.phases)
        title = f"{call.workload} on {redacted(call.db)}"
        try:
            with shown(title, action.phases[0].rate, measured_s, quiet=call.quiet) as hear:
                conductor = Conductor(asked, hear, checks=check)
                run = conductor.run()
        except ConditionsFail as error:
            print_failing(error.conditions.failing, stderr=True)
            raise
        number, failure = None, conductor.unchecked
        try:
            number = runs.record(lab, run)
            if raw is not None and to is not None:
                samples.write_parquet(
                    raw, [one.name for one in run.outcome.types], run.outcome.started_ns, to
                )
        except TareError as error:  # what was measured is told all the same
            failure = error
    _tell(call, run, number)
    if failure is not None:
        print(f"tare: {failure}", file=sys.stderr)
    if conductor.stopped_by is not None:
        return exit_code_of(conductor.stopped_by)
    return 1 if run.invalid or failure is not None else 0


def _tell(call: Call, run: OltpRun, number: int | None) -> None:
    if not destinations.write_json(document(run, number), call.json, indent=None):
        return
    from tare.report.kit.deliver import show
    from tare.report.oltp.build import build
    from tare.report.oltp.story import story
    from tare.report.safe import lab_name

    show(story(build(run, number or 0, lab=lab_name(call.lab))))
