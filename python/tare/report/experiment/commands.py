"""How to do an experiment and its report once more."""

from __future__ import annotations

from collections.abc import Sequence

from tare.report.conditions.facts import Facts


def commands(facts: Sequence[Facts], primary: str, accepted: Sequence[str]) -> list[str]:
    """Commands that make the experiment, and then this report, once more."""
    names = list(dict.fromkeys(one.experiment["name"] for one in facts))
    accept = "".join(f' --accept "{name}"' for name in accepted)
    return [
        *(f"tare experiment run {name}.toml --lab lab.db" for name in names),
        "tare lab list --lab lab.db",
        f"tare protocol RUN… --lab lab.db --protocol {primary}{accept}",
        f"tare report RUN… --lab lab.db --html report.html{accept}",
    ]
