"""`tare doctor`: checks what can be measured on this machine, and what disturbs it."""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli import destinations, options


def doctor(
    put_back: Annotated[
        bool, typer.Option("--restore", help="Put back the settings that a crashed run left.")
    ] = False,
    sample: Annotated[
        float, options.duration("--sample", "Watch which processes run for this long.", least=0.1)
    ] = 1.0,
    json: options.Json = None,
) -> None:
    """Check what can be measured here, find what disturbs, and say what to do about it.

    The exit code is 1 only if nothing can be measured, or a setting could not be put back.

    Example: tare doctor --sample 10s
    """
    from tare.measure.machine.doctor.examine import can_measure, examine

    destinations.check({"json": json})
    if put_back:
        raise typer.Exit(_restore(json))
    findings = examine(sample)
    able = can_measure(findings)
    document = {"can_measure": able, "findings": [finding.as_json() for finding in findings]}
    if destinations.write_json(document, json):
        from tare.cli.doctor_show import show

        show(findings, able)
    raise typer.Exit(0 if able else 1)


def _restore(json: str | None) -> int:
    from tare.measure.machine.leftovers import restore
    from tare.measure.machine.putback.steps import FAILED

    undone = restore()
    if destinations.write_json({"restored": [vars(step) for step in undone]}, json):
        for step in undone:
            print(f"{step.how}: {step.what} {step.detail}".rstrip())
        if not undone:
            print("no crashed run left a setting changed")
    return 1 if any(step.how == FAILED for step in undone) else 0
