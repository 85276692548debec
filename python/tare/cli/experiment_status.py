"""`tare experiment status` and `list`: how runs stand, read while they are made."""

from __future__ import annotations

import typer

from tare.cli import options


def status(runs: options.Runs, lab: options.Lab = "lab.db", json: options.AsJson = False) -> None:
    """Tell how runs stand: state, Q@Cs done of those planned, QEs, failures, missing queries, time to go.

    `planned` is what the scenario may visit at most. A run that is `stopped` is said to be running and nobody holds
    it: its executor was killed.

    Exit code: 0 told, 1 the lab cannot be read, 2 there is no such run.
    """
    from json import dumps

    from tare.cli.experiment_show import as_json, lines
    from tare.dbms.url import redacted
    from tare.experiment.recorded import specification_of
    from tare.experiment.status import status as status_of
    from tare.experiment.works import work_of
    from tare.lab.progress import progress
    from tare.lab.store import find_runs, open_lab

    with open_lab(lab) as opened:
        found = []
        for run_id in find_runs(opened, runs):
            at = progress(opened, run_id)
            found.append(status_of(opened, at, work_of(specification_of(at.run)).sizes))
        where = opened.where
    if json:
        typer.echo(dumps({"lab": where, "runs": [as_json(one) for one in found]}, indent=2))
        return
    for one in found:
        typer.echo("\n".join(lines(one, redacted(lab))))


def list_(lab: options.Lab = "lab.db", json: options.AsJson = False) -> None:
    """List the lab's runs, oldest first.

    Exit code: 0 listed, 1 the lab cannot be read.
    """
    from json import dumps

    from tare.cli.run_json import run_json
    from tare.experiment.status import shown_state
    from tare.lab.hold import is_held
    from tare.lab.progress import runs
    from tare.lab.store import open_lab

    with open_lab(lab) as opened:
        found = [(one, shown_state(one.run.state, is_held(opened, one.run.id))) for one in runs(opened)]
        where = opened.where
    if json:
        rows = [
            {
                **run_json(one.run, state=state),
                "queries": one.queries,
                "missing_queries": one.failed_queries,
                "qatcs": one.qatcs,
                "timed_qatcs": one.timed_qatcs,
                "failed_qatcs": one.failed_qatcs,
                "qes": one.qes,
            }
            for one, state in found
        ]
        typer.echo(dumps({"lab": where, "runs": rows}, indent=2))
        return
    if not found:
        typer.echo(f"{where} holds no runs yet")
        return
    from tare.lab.ids import experiment_id
    from tare.report.kit.blocks import Column, Kind, Row, Table
    from tare.report.kit.deliver import show_blocks
    from tare.report.kit.figure import JOINED

    listed: list[Row] = [
        [
            experiment_id(one.run.id),
            one.run.uuid[:8],
            one.run.experiment,
            f"{one.run.dbms} {one.run.dbms_version}",
            state,
            one.run.started_at[:16].replace("T", JOINED),
            f"{one.qatcs:,}",
            f"{one.qes:,}",
            str(one.failed_queries),
        ]
        for one, state in found
    ]
    names = ("id", "uuid", "experiment", "DBMS", "state", "begun (UTC)")
    columns = [Column(name, Kind.NAME) for name in names]
    show_blocks([Table("", [*columns, *map(Column, ("Q@Cs", "QEs", "missing"))], listed)])
