"""`tare experiment status`: how runs stand, read while they are made."""

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
