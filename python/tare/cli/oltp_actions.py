"""`tare bench oltp load`, `check`, `drop` and `list`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import typer

from tare.cli.oltp_call import Call, bound
from tare.cli.oltp_live import shown
from tare.report.oltp import words
from tare.workload.oltp import conditions
from tare.workload.oltp.request import Check, Drop, Load
from tare.workload.oltp.told import Checked, LoadDone
from tare.workload.oltp.workloads import WORKLOADS, kinds


def loaded(
    call: Call,
    *,
    scale: float | None,
    seed: int,
    settings: Mapping[str, str],
    connections: int,
    replace: bool,
) -> None:
    request = call.request(Load(connections=connections, replace=replace), seed, scale, settings)
    with call.at(make=True) as url, shown(f"load {call.workload}", None, 0, quiet=call.json) as hear:
        done = conditions.last_of(conditions.carry_out(bound(request, url), hear), LoadDone)
    if call.json:
        typer.echo(done.model_dump_json(exclude={"event"}))
        return
    rows = sum(one.rows for one in done.tables)
    for one in done.tables:
        typer.echo(f"{one.table}: {one.rows:,} rows")
    typer.echo(
        f"{done.loaded.workload}, scale {done.loaded.scale:g}, seed {done.loaded.seed}: {rows:,} rows in "
        f"{done.rows_ns / 1e9:.1f} s ({rows / max(done.rows_ns, 1) * 1e9:,.0f} rows/s), "
        f"{done.all_ns / 1e9:.1f} s with keys, indexes and statistics"
    )


def checked(call: Call, rows: int) -> int:
    """The exit code."""
    request = call.request(Check(rows=rows))
    with call.at() as url, shown(f"check {call.workload}", None, 0, quiet=call.json) as hear:
        found = conditions.check(bound(request, url), hear)
    if call.json:
        held = [one.model_dump(exclude={"event"}) for one in found.checked]
        typer.echo(json.dumps({"holds": not found.failing, "took_ns": found.took_ns, "conditions": held}))
    else:
        for one in found.checked:
            state = f"does NOT hold in {words.rows(one.failing)}" if one.failing else "holds"
            typer.echo(f"{one.name}: {state} ({one.took_ns / 1e9:.2f} s): {one.says}")
        print_failing(found.failing)
        held_count = len(found.checked) - len(found.failing)
        typer.echo(f"{held_count} of {len(found.checked)} conditions hold; {found.took_ns / 1e9:.1f} s")
    return 1 if found.failing else 0


def dropped(call: Call) -> None:
    with call.at() as url, shown(f"drop {call.workload}", None, 0, quiet=call.json) as hear:
        conditions.carry_out(bound(call.request(Drop()), url), hear)
    typer.echo(
        json.dumps({"dropped": call.workload}) if call.json else f"dropped the tables of {call.workload}"
    )


def listed(*, as_json: bool) -> None:
    found = {name: (one, kinds(name)) for name, one in WORKLOADS.items()}
    if as_json:
        document = [
            {
                "workload": name,
                "says": one.says,
                "scale": one.scale,
                "options": dict(one.options),
                "types": [asdict(kind) for kind in types],
            }
            for name, (one, types) in found.items()
        ]
        typer.echo(json.dumps(document, indent=2))
        return
    for name, (one, types) in found.items():
        mix = ", ".join(f"{kind.name} {kind.share:g}" for kind in types)
        typer.echo(f"{name}: {one.says}\n  scale 1: {one.scale}\n  mix, %: {mix}")
        for option, says in one.options.items():
            typer.echo(f"  {option}: {says}")


def print_failing(conditions: Sequence[Checked], *, stderr: bool = False) -> None:
    """Prints conditions that do not hold, each with its first failing rows."""
    from tare.report.kit.deliver import show_blocks
    from tare.report.oltp.story import failing

    for one in conditions:
        blocks = list(failing(one.name, one.says, one.failing, one.columns, one.rows))
        show_blocks(blocks, stderr=stderr)
