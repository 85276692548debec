"""Runs of any kind on the command line: which kind they are, and options that apply to it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tare.errors import NoSuchRun, UsageError
from tare.lab.run_ids import Kind, parse


def kind_of(texts: Sequence[str], lab: str, profiles: str) -> Kind:
    """The kind of all these runs, which are ids, names of profiles, or beginnings of UUIDs.

    Raises UsageError where kinds differ, and LabError."""
    kinds = {text: _kind(text, lab, profiles) for text in texts}
    if len(set(kinds.values())) > 1:
        named = ", ".join(f"{text} ({kind.noun})" for text, kind in kinds.items())
        raise UsageError(f"runs of different kinds: {named}", "give runs of one kind")
    return next(iter(kinds.values()))


def _kind(text: str, lab: str, profiles: str) -> Kind:
    from tare.lab.oltp import find
    from tare.lab.profile_about import ABOUT
    from tare.lab.store import open_lab

    run_id = parse(text)
    if run_id is not None:
        return run_id.kind
    if (Path(profiles) / text / ABOUT).exists():
        return Kind.PROFILE
    if not Path(lab).is_dir():  # the folder of an export has experiments only
        with suppress(NoSuchRun), open_lab(lab) as opened:
            find(opened, text)
            return Kind.OLTP
    return Kind.EXPERIMENT


def refuse_other_options(ctx: Any, applicable: Collection[str], subject: str) -> None:
    """Raises UsageError for an option on the command line that does not apply to the subject."""
    names = [parameter.name for parameter in ctx.command.params if parameter.param_type_name == "option"]
    refuse_given(ctx, [name for name in names if name not in applicable], subject)


def refuse_given(ctx: Any, names: Collection[str], subject: str) -> None:
    """Raises UsageError for one of these options on the command line."""
    for parameter in ctx.command.params:
        source = ctx.get_parameter_source(parameter.name)
        if parameter.name in names and source is not None and source.name == "COMMANDLINE":
            name = max(parameter.opts, key=len)
            raise UsageError(f"{name} does not apply to {subject}", "leave it out")


DOCUMENT = ("lab", "profiles", "tunings", "html", "markdown", "json", "title")
"""Options that apply to reports of every kind of run."""
