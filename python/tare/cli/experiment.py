"""`tare experiment`: the group, and what needs no DBMS: a new specification, and a look at one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tare.cli import experiment_run, experiment_status, experiment_watch
from tare.cli.command import Commands

if TYPE_CHECKING:
    from tare.experiment.specification import Specification

app = Commands(
    help="Experiments: many queries at many cardinalities, from a specification.", no_args_is_help=True
)

SpecificationFile = Annotated[Path, typer.Argument(metavar="FILE", help="The specification, in TOML.")]


@app.command()
def new(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="onepass, exhaustive, or one that a package brings.")
    ] = "onepass",
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON, without its comments.")] = False,
) -> None:
    """Print a commented specification to start from: tare experiment new onepass > e.toml

    Exit code 2: there is no such scenario.
    """
    from tare.experiment.read import read_specification
    from tare.experiment.scenario.registry import find
    from tare.experiment.template import template

    text = template(find(scenario))
    if as_json:
        typer.echo(read_specification(text)[0].model_dump_json(indent=2))
    else:
        typer.echo(text, nl=False)


@app.command()
def check(
    file: SpecificationFile,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outlook, or the mistakes, as JSON.")
    ] = False,
    queries: Annotated[bool, typer.Option("--queries", help="Print every query's SQL too.")] = False,
) -> None:
    """Say what an experiment will do, or every mistake in it with its line.

    Exit codes: 0 it can be run, 2 it has mistakes (or cannot be read).
    """
    from tare.errors import SpecificationMistake
    from tare.experiment.outlook import outlook
    from tare.experiment.read import read_specification, warnings

    try:
        specification, text = read_specification(file)
    except SpecificationMistake as mistake:
        if not as_json:
            raise
        shown = _as_json(mistake.mistakes) or [{"line": 1, "column": 1, "text": mistake.what}]
        typer.echo(json.dumps({"ok": False, "mistakes": shown}, indent=2, ensure_ascii=False))
        raise typer.Exit(mistake.exit_code) from None
    odd = warnings(specification, text)
    if as_json:
        found = {"ok": True, "warnings": _as_json(odd), **outlook(specification)}
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    _show(specification, outlook(specification), queries)
    for line, column, said in odd:
        typer.echo(f"{file}, line {line}, column {column}: warning: {said}", err=True)


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


app.command()(experiment_run.run)
app.command()(experiment_run.resume)
app.command()(experiment_status.status)
app.command()(experiment_watch.watch)
