"""From a lab and some runs to their report: every protocol and both models over the same frames."""

from __future__ import annotations

from collections.abc import Sequence

from tare.errors import UsageError
from tare.lab.answers import rows
from tare.lab.frames import Frames, open_frames
from tare.report.conditions.facts import facts_of
from tare.report.experiment.build import Built, build
from tare.report.safe import lab_name

PROTOCOLS = ("ttp1", "ttp2", "exact")
MODELS = ("ttp2", "ttp1")


def make(
    where: str,
    runs: Sequence[str],
    *,
    accept: Sequence[str] = (),
    primary: str | None = None,
    title: str | None = None,
) -> Built:
    """`where`: a lab, or the folder of an export; `accept`: experiment-wide checks taken as deviations.

    Raises NoSuchRun, LabError, ForeignFile, UsageError.
    """
    from tare.protocol import run_protocol
    from tare.protocol.model.holding import hold

    frames = open_frames(where, runs)
    outcomes = [run_protocol(frames, name, accept=of) for name, of in _accepted(accept).items()]
    models = [hold(frames, name) for name in MODELS]
    return build(
        frames,
        facts_of(where, _ids(frames)),
        outcomes,
        models,
        lab=lab_name(where),
        primary=primary,
        title=title,
    )


def _accepted(accept: Sequence[str]) -> dict[str, list[str]]:
    """By protocol: each has checks of its own. Raises UsageError for a check that none has."""
    from tare.protocol.run import METHODS
    from tare.protocol.step1 import ALL

    checks = {name: [check.name for check in METHODS[name].experiment] for name in PROTOCOLS}
    known = dict.fromkeys(check for names in checks.values() for check in names)
    for name in accept:
        if name not in known and name != ALL:
            raise UsageError(
                f"--accept {name}: no protocol has such an experiment-wide check",
                f"give one of {', '.join(known)}, {ALL}",
            )
    return {
        name: [check for check in names if check in accept or ALL in accept] for name, names in checks.items()
    }


def _ids(frames: Frames) -> list[int]:
    return [run["id"] for run in rows(frames.run.select("id").order_by("id"))]
