"""Scenarios by name: entry points of `tare.scenario` over the two built in."""

from __future__ import annotations

from tare import entries
from tare.errors import UsageError
from tare.experiment.scenario.base import Scenario

GROUP = "tare.scenario"

_BUILT_IN = {
    "onepass": "tare.experiment.scenario.onepass:OnePass",
    "exhaustive": "tare.experiment.scenario.exhaustive:Exhaustive",
}


def scenarios() -> dict[str, Scenario]:
    """Every scenario that can be loaded, by its name."""
    return _loaded()[0]


def find(name: str) -> Scenario:
    """Raises UsageError, with the known names or why this one cannot be loaded."""
    loaded, broken = _loaded()
    if name in loaded:
        return loaded[name]
    if name in broken:
        raise UsageError(
            f"the scenario {name} cannot be loaded: {broken[name]}",
            "install what it needs, or uninstall the package that brings it",
        )
    raise UsageError(
        f"there is no scenario {name!r}",
        f"use one of {', '.join(sorted(loaded))}, or install a package with an entry point in the group {GROUP}",
    )


def _loaded() -> tuple[dict[str, Scenario], dict[str, str]]:
    """Scenarios by name, and why the others (of other packages) could not be loaded."""
    return entries.loaded(GROUP, _BUILT_IN)
