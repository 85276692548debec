"""`tare doctor`: what this machine and this user allow, what disturbs, and what to do about it."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from tare.cli.options import seconds


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    put_back: Annotated[
        bool, typer.Option("--restore", help="Put back the settings that a crashed run left.")
    ] = False,
    sample: Annotated[
        float,
        typer.Option(
            parser=seconds("--sample", "100ms"),
            metavar="DURATION",
            show_default="1s",
            help="Time to watch who runs.",
        ),
    ] = 1.0,
) -> None:
    """Say what can be measured here, what disturbs, and what to do about each.

    The exit code is 1 only if nothing can be measured or a setting could not be put back.
    """
    from tare.measure.machine.doctor.examine import can_measure, examine

    if put_back:
        raise typer.Exit(_restore(as_json))
    findings = examine(sample)
    able = can_measure(findings)
    if as_json:
        print(
            json.dumps(
                {"can_measure": able, "findings": [finding.as_json() for finding in findings]}, indent=2
            )
        )
    else:
        from tare.cli.doctor_show import show

        show(findings, able)
    raise typer.Exit(0 if able else 1)


def _restore(as_json: bool) -> int:
    from tare.measure.machine.leftovers import restore
    from tare.measure.machine.putback.steps import FAILED

    undone = restore()
    if as_json:
        print(json.dumps({"restored": [vars(one) for one in undone]}, indent=2))
    else:
        for one in undone:
            print(f"{one.how}: {one.what} {one.detail}".rstrip())
        if not undone:
            print("nothing was left by a crashed run")
    return 1 if any(one.how == FAILED for one in undone) else 0
