"""`tare experiment`: the group, and commands that need no DBMS: print a specification, check one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tare.cli import destinations, experiment_run, experiment_status, experiment_watch, options
from tare.cli.command import Commands, needs

if TYPE_CHECKING:
    from tare.experiment.specification import Specification

app = Commands(
    help="Run experiments: many queries at many cardinalities, as a specification describes them.\n\n"
    "Example: tare experiment run e.toml --lab lab.db",
    no_args_is_help=True,
)

SpecificationFile = Annotated[Path, typer.Argument(metavar="FILE", help="The specification, in TOML.")]


@app.command()
def new(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="onepass, exhaustive, or the scenario of a package.")
    ] = "onepass",
    json: Annotated[
        str | None, options.output("--json", "Write the specification as JSON, without comments.")
    ] = None,
) -> None:
    """Print a commented specification to start from. Send it to a file, then change it.

    Example: tare experiment new onepass
    """
    from tare.experiment.read import read_specification
    from tare.experiment.scenario.registry import find
    from tare.experiment.template import template

    destinations.check({"json": json})
    text = template(find(scenario))
    if destinations.write_json(read_specification(text)[0].model_dump(mode="json"), json):
        typer.echo(text, nl=False)


@app.command()
@needs("duckdb")
def check(
    file: SpecificationFile,
    queries: Annotated[bool, typer.Option("--queries", help="Print every query's SQL too.")] = False,
    json: Annotated[
        str | None, options.output("--json", "Write the preview, or the mistakes, as JSON.")
    ] = None,
) -> None:
    """Print what an experiment will do, or every mistake in it with its line.

    Example: tare experiment check e.toml --queries
    """
    from tare.errors import SpecificationMistake
    from tare.experiment.preview import preview
    from tare.experiment.read import read_specification, warnings

    destinations.check({"json": json})
    try:
        specification, text = read_specification(file)
    except SpecificationMistake as mistake:
        if json is None:
            raise
        mistakes = _as_json(mistake.mistakes) or [{"line": 1, "column": 1, "text": mistake.what}]
        if destinations.write_json({"ok": False, "mistakes": mistakes}, json):
            raise
        raise typer.Exit(mistake.exit_code) from None
    odd = warnings(specification, text)
    document = {"ok": True, "warnings": _as_json(odd), **preview(specification)}
    if not destinations.write_json(document, json):
        return
    _show(specification, preview(specification), queries)
    for line, column, warning in odd:
        typer.echo(f"{file}, line {line}, column {column}: warning: {warning}", err=True)


def _as_json(placed: Any) -> list[dict[str, Any]]:
    return [{"line": line, "column": column, "text": text} for line, column, text in placed]


def _show(specification: Specification, seen: dict[str, Any], queries: bool) -> None:
    walk, count = seen["cardinalities"], seen["queries"]
    lines = [
        ("experiment", f"{seen['name']}{': ' + seen['description'] if seen['description'] else ''}"),
        ("scenario", f"{seen['scenario']['name']}: {seen['scenario']['summary']}"),
        (
            "DBMSes",
            ", ".join(f"{one['name']} ({one['url'] or one['start'] + ', started'})" for one in seen["dbms"]),
        ),
    ]
    for table in seen["tables"]:
        key = f"primary key {table['primary_key']}" if table["primary_key"] else "no primary key"
        kind = "variable" if table["variable"] else "fixed"
        lines.append(
            (
                "table",
                f"{table['name']}: {table['cardinality']:,} rows, {kind}, {len(table['columns'])} columns, {key}",
            )
        )
    if walk["step"] is None:
        sizes = f"{walk['count']:,}: {walk['maximum']:,} down to {walk['minimum']:,}"
    else:
        sizes = (
            f"{walk['count']:,} of {seen['variable']}: {walk['maximum']:,} down to {walk['minimum']:,} "
            f"by {walk['step']:,}"
        )
    queries_said = f"{count['written']:,} written, {count['generated']:,} generated"
    if specification.wisconsin:
        queries_said = (
            f"{count['of_a_workload']:,} of the Wisconsin benchmark, {specification.wisconsin.generation}"
        )
    timeout = f", at most {seen['timeout_s']:g} s each" if seen["timeout_s"] else ""
    lines += [
        ("cardinalities", sizes),
        ("queries", queries_said),
        (
            "Q@Cs",
            f"{seen['qatcs_at_most']['per_dbms']:,} at most for each DBMS, "
            f"{seen['qatcs_at_most']['total']:,} in all",
        ),
        (
            "QEs",
            f"{seen['qes']['per_qatc']} for each Q@C, {seen['cache']}{timeout}: {seen['qes']['at_most']:,} at most",
        ),
        (
            "rows to load",
            f"{seen['rows_to_load']['per_dbms']:,} for each DBMS, {seen['rows_to_load']['total']:,} in all",
        ),
        ("SHA-256", seen["sha256"]),
    ]
    for name, text in lines:
        typer.echo(f"{name:<14}{text}")
    if queries:
        for name, sql in zip(count["names"], count["sql"], strict=True):
            typer.echo(f"\n-- {name}\n{sql};")


@app.command()
@needs("report")
def submit(
    specification: SpecificationFile,
    lab: options.Lab = "lab.db",
    machines: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[,...]",
            help="Executors by name; each measures the whole experiment. Default: any one of them.",
        ),
    ] = None,
    dbms: Annotated[
        list[str] | None,
        typer.Option("--dbms", metavar="NAME", help="Only this DBMS of the specification. Repeatable."),
    ] = None,
    json: options.Json = None,
) -> None:
    """Add an experiment to a shared lab, for executors on other machines: a job for each DBMS.

    The lab is a PostgreSQL database. `tare executor run` on a machine claims jobs; `tare executor list` shows them.

    Example: tare experiment submit e.toml --lab postgresql://lab/tare --machines m1,m2
    """
    from tare.cli.executor import submitted

    destinations.check({"json": json})
    jobs = submitted(specification, lab, machines, dbms)
    if destinations.write_json({"jobs": jobs}, json):
        typer.echo(f"submitted: {', '.join(f'job {one}' for one in jobs)}")


app.command()(experiment_run.run)
app.command()(experiment_run.resume)
app.command()(experiment_status.status)
app.command()(experiment_watch.watch)
