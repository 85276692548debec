"""Arms: sets of settings that take turns under one load. The baseline is always an arm, and so is its copy (A/A)."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tare.errors import UsageError
from tare.tune.settings.setting import Reach, Setting
from tare.tune.settings.values import in_unit, plain_number, same

BASELINE = "baseline"
AGAIN = "baseline again"


@dataclass(frozen=True, slots=True)
class Arm:
    """`settings`: changes from the baseline; settings that are not named keep their values."""

    name: str
    settings: Mapping[str, str]

    @property
    def is_copy(self) -> bool:
        """Whether the arm is the baseline, or its copy."""
        return not self.settings


def with_baselines(arms: Sequence[Arm]) -> tuple[Arm, ...]:
    """The baseline, its copy, then the arms. Raises UsageError for names that are used twice."""
    whole = (Arm(BASELINE, {}), Arm(AGAIN, {}), *arms)
    names = [arm.name for arm in whole]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise UsageError(f"two arms are called {doubled[0]}", "give each arm a name of its own")
    return whole


def single_settings(values: Mapping[str, Sequence[str]]) -> tuple[Arm, ...]:
    """An arm for each value of each setting."""
    return tuple(Arm(f"{name}={value}", {name: value}) for name, each in values.items() for value in each)


def is_baseline(arm: Arm, facts: Mapping[str, Setting]) -> bool:
    """Whether an arm only asks for values that the server has."""
    return bool(arm.settings) and not differing(arm, facts)


def differing(arm: Arm, facts: Mapping[str, Setting]) -> dict[str, str]:
    """The server's values of settings for which the arm asks another value."""
    return {
        name: facts[name].value
        for name, value in arm.settings.items()
        if not same(_in_own_unit(value, facts[name]), facts[name].value)
    }


def needs(arm: Arm, facts: Mapping[str, Setting]) -> Reach:
    """The strongest condition among the arm's settings."""
    reaches = {facts[name].reach for name in arm.settings}
    for reach in (Reach.FIXED, Reach.RESTART, Reach.NEW_SESSIONS):
        if reach in reaches:
            return reach
    return Reach.AT_ONCE


def turns(arms: int, seed: int) -> Iterator[tuple[int, ...]]:
    """Order of the arms in each block: a random order, then its mirror image, without end."""
    chance = random.Random(seed)
    for block in itertools.count():
        if block % 2 == 0:
            order = tuple(chance.sample(range(arms), arms))
        yield order if block % 2 == 0 else order[::-1]


def _in_own_unit(value: str, fact: Setting) -> str:
    if fact.unit is not None:
        return in_unit(value, fact.unit)
    return plain_number(value) or value
