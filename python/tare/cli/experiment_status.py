"""`tare experiment status`: the state of runs, also while they are running."""

from __future__ import annotations

import typer

from tare.cli import options
from tare.cli.command import needs


@needs("report")
def status(runs: options.Runs, lab: options.Lab = "lab.db", json: options.Json = None) -> None:
    """Print the state of runs: Q@Cs done and planned, executions, failures, missing queries, remaining time.

    `planned` is the most that the scenario may visit. A run is `stopped` when the lab lists it as running but no
    process holds it: its executor was killed.

    Example: tare experiment status e3 --lab lab.db
    """
    from tare.cli import destinations
    from tare.cli.experiment_show import as_json, lines
    from tare.dbms.url import redacted
    from tare.experiment.read import specification_of
    from tare.experiment.specified_work import work_of
    from tare.experiment.status import status as status_of
    from tare.lab.progress import progress
    from tare.lab.store import find_runs, open_lab

    destinations.check({"json": json})
    with open_lab(lab) as opened:
        found = []
        for run_id in find_runs(opened, runs):
            at = progress(opened, run_id)
            found.append(status_of(opened, at, work_of(specification_of(at.run)).sizes))
        where = opened.where
    if destinations.write_json({"lab": where, "runs": [as_json(state) for state in found]}, json):
        for state in found:
            typer.echo("\n".join(lines(state, redacted(lab))))
