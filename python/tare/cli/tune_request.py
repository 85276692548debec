"""Options of `tare tune run` and `search` as parts of a specification, and specifications from files."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import ValidationError

from tare.cli import oltp_request
from tare.cli.profile_report import built
from tare.cli.values import duration
from tare.errors import SpecificationMistake, UsageError
from tare.lab.profiles import open_run
from tare.meant import meant
from tare.tune.arms import single_settings
from tare.tune.specification import (
    SETTING_NAME,
    ArmSpec,
    BlocksSpec,
    GoalSpec,
    LoadSpec,
    TuneSpecification,
)
from tare.tune.verdicts import Objective

LEAST_SHARE = 0.01
"""Share of the variance from which a factor's settings are worth a try."""


def read(path: Path) -> TuneSpecification:
    """Raises SpecificationMistake."""
    try:
        document = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise SpecificationMistake(f"{path} cannot be read: {error.strerror}", "name a TOML file") from None
    except ValueError as error:
        raise SpecificationMistake(f"{path} is not TOML: {error}", "correct it there") from None
    try:
        return TuneSpecification.model_validate(document)
    except ValidationError as error:
        mistakes = [
            f"{'.'.join(map(str, mistake['loc'])) or 'the file'}: {mistake['msg']}"
            for mistake in error.errors()
        ]
        raise SpecificationMistake(
            f"{path} has {len(mistakes)} mistakes:\n  " + "\n  ".join(mistakes),
            "docs/tune.md describes each key",
        ) from None


def load(
    workload: str,
    rate: float | None,
    connections: int,
    warmup: str,
    mix: Sequence[str] | None,
    option: Sequence[str] | None,
) -> LoadSpec:
    """Raises UsageError."""
    if rate is None:
        raise UsageError("--rate is needed", "write e.g. --rate 300; `tare bench oltp curve` finds one")
    return LoadSpec(
        workload=workload,
        rate=rate,
        connections=connections,
        warmup_s=duration(warmup, "--warmup"),
        mix=oltp_request.mix(mix or ()),
        options=oltp_request.options(option or ()),
    )


def blocks(window: str, settle: str, count: int) -> BlocksSpec:
    """Raises UsageError."""
    window_s, settle_s = duration(window, "--window"), duration(settle, "--settle")
    if window_s < 1:
        raise UsageError(f"--window {window} is too short for figures", "give 1s or more, such as 5s")
    if settle_s > window_s / 2:
        raise UsageError("--settle is longer than half of --window", "give a longer --window")
    return BlocksSpec(window_s=window_s, settle_s=settle_s, count=count)


def goal(objective: str, share: str, keep_durability: bool) -> GoalSpec:
    """Raises UsageError."""
    return GoalSpec(objectives=objectives(objective), margin=margin(share), keep_durability=keep_durability)


def knobs(text: str | None) -> tuple[str, ...] | None:
    """Names from --knobs; None: all."""
    if text is None or text.strip() == "auto":
        return None
    return tuple(name.strip() for name in text.split(",") if name.strip())


def functions(profile: str, folder: Path) -> tuple[str, ...]:
    """Functions of a profile's factors, those with most of the variance first. Raises UsageError where none has a share
    worth a search, and what reading the profile raises."""
    factors = built(open_run(profile, folder)).report.factors
    found = [factor for factor in factors if factor.share is not None and factor.share.value >= LEAST_SHARE]
    found.sort(key=lambda factor: factor.share.value if factor.share else 0.0, reverse=True)
    names = tuple(dict.fromkeys(name for factor in found for name in factor.names))
    if not names:
        raise UsageError(
            f"no factor of {profile} has {100 * LEAST_SHARE:g}% of the variance",
            "profile more transactions, or name settings: --knobs auto",
        )
    return names


def arms(texts: Iterable[str]) -> tuple[ArmSpec, ...]:
    """An arm for each value, from --set. Raises UsageError."""
    values: dict[str, list[str]] = {}
    for text in texts:
        name, equals, several = (part.strip() for part in text.partition("="))
        each = [value.strip() for value in several.split(",") if value.strip()]
        if not (name and equals and each):
            raise UsageError(
                f"--set {text}: not NAME=VALUE,…", "write it like this: --set synchronous_commit=off"
            )
        if not re.match(SETTING_NAME, name):
            raise UsageError(
                f"--set {text}: {name!r} is no name of a setting", "write the name as the server lists it"
            )
        values.setdefault(name, []).extend(value for value in each if value not in values.get(name, ()))
    return tuple(ArmSpec(name=arm.name, set=dict(arm.settings)) for arm in single_settings(values))


def objectives(text: str) -> tuple[Objective, ...]:
    """From --objective. Raises UsageError."""
    found = []
    for word in (part.strip() for part in text.split(",")):
        try:
            found.append(Objective(word))
        except ValueError:
            known = [objective.value for objective in Objective]
            raise UsageError(
                f"--objective {word}: unknown", meant(word, known, f"choose among {', '.join(known)}")
            ) from None
    return tuple(dict.fromkeys(found))


def margin(text: str) -> float:
    """Share, from --margin. Raises UsageError."""
    try:
        value = float(text.strip().removesuffix("%")) / 100
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise UsageError(f"--margin {text}: not a percentage between 0 and 100", "write it like this: 10%")
    return value
