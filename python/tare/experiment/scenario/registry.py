"""Which scenario answers to a name: entry points of `tare.scenario` over the two built in."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

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
    entries = {name: EntryPoint(name, target, GROUP) for name, target in _BUILT_IN.items()}
    entries.update({entry.name: entry for entry in entry_points(group=GROUP)})
    loaded: dict[str, Scenario] = {}
    broken: dict[str, str] = {}
    for name, entry in entries.items():
        try:
            loaded[name] = getattr(import_module(entry.module), entry.attr)()
        except (ImportError, AttributeError, TypeError) as error:  # TypeError: it is abstract still
            broken[name] = f"{entry.value}: {error}"
    return loaded, broken
