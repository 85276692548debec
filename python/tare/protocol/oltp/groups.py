"""Any number of runs, grouped where their settings are equal, and the groups' figures over those of the first one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tare.protocol.comparison.groups import ratio_of_groups
from tare.protocol.oltp.comparable import SAME, SERVER, concerns
from tare.protocol.oltp.compare import FIGURES, TIMES
from tare.protocol.oltp.precision import Estimate, Figures, precision
from tare.workload.oltp.run import OltpRun

Numbered = tuple[int, OltpRun]


@dataclass(frozen=True, slots=True)
class Group:
    """Runs of equal settings, in the order in which they were named."""

    label: str  # "A", "B", …
    runs: tuple[Numbered, ...]

    @property
    def first(self) -> OltpRun:
        return self.runs[0][1]


@dataclass(frozen=True, slots=True)
class GroupFigure:
    """A figure of every run of two groups, and the ratio of the groups."""

    groups: tuple[str, str]
    type: str
    times: str  # of TIMES; "" for a rate
    figure: str  # of FIGURES, or "rate"
    values: tuple[tuple[float, ...], tuple[float, ...]]  # by group and run; ms, ms² or transactions a second
    ratio: Estimate | None  # first group over second
    why: str | None  # why there is no ratio

    @property
    def established(self) -> bool:
        """The interval leaves out 1."""
        if self.ratio is None or self.ratio.low is None or self.ratio.high is None:
            return False
        return not self.ratio.low <= 1 <= self.ratio.high


def settings(run: OltpRun) -> Mapping[str, str]:
    """All that puts two runs into different groups, by name."""
    named = {name: of(run) for name, of in (*SERVER, *SAME)}
    return {**named, **{f"setting {name}": str(value) for name, value in run.server.settings.items()}}


def grouped(runs: Sequence[Numbered]) -> list[Group]:
    """Groups in the order in which their first run was named."""
    found: dict[tuple[tuple[str, str], ...], list[Numbered]] = {}
    for number, run in runs:
        found.setdefault(tuple(sorted(settings(run).items())), []).append((number, run))
    return [Group(_label(place), tuple(of)) for place, of in enumerate(found.values())]


def differences(groups: Sequence[Group]) -> dict[str, list[str]]:
    """Settings that are not alike in all groups, with the value of each group."""
    each = [settings(group.first) for group in groups]
    names = dict.fromkeys(name for one in each for name in one)
    shown = {name: [one.get(name, "none") for one in each] for name in names}
    return {name: values for name, values in shown.items() if len(set(values)) > 1}


def objections(groups: Sequence[Group]) -> list[str]:
    """Reasons why the groups cannot be compared, in sentences."""
    unlike = [
        f"{name}: " + ", ".join(f"{of(group.first)} in {group.label}" for group in groups)
        for name, of in SAME
        if len({of(group.first) for group in groups}) > 1
    ]
    return [*(one for group in groups for n, run in group.runs for one in concerns(f"o{n}", run)), *unlike]


def compare_groups(groups: Sequence[Group]) -> list[GroupFigure]:
    """The first group over each other one: rate, then all types together, then each that all runs have."""
    return [one for other in groups[1:] for one in _pair(groups[0], other)]


def _pair(a: Group, b: Group) -> Iterator[GroupFigure]:
    pair = (a.label, b.label)
    rates = [tuple(run.outcome.rate for _, run in group.runs) for group in (a, b)]
    yield _figure(pair, "all", "", "rate", rates)
    runs = [run for group in (a, b) for _, run in group.runs]
    has = [{one.name for one in run.outcome.types if one.counts.finished} for run in runs]
    for kind in (
        "all",
        *(one.name for one in a.first.outcome.types if all(one.name in one_has for one_has in has)),
    ):
        for times in TIMES:
            figures = [[_figures(run, kind, times) for _, run in group.runs] for group in (a, b)]
            for name, read in FIGURES.items():
                values = [tuple(_value(read(one)) for one in group) for group in figures]
                if all(value is not None for group in values for value in group):
                    yield _figure(pair, kind, times, name, values)  # type: ignore[arg-type]


def _figures(run: OltpRun, kind: str, times: str) -> Figures:
    found = run.outcome.all if kind == "all" else next(one for one in run.outcome.types if one.name == kind)
    return Figures(getattr(found, times), precision(run, times))


def _value(of: Estimate | None) -> float | None:
    return None if of is None else of.value


def _figure(
    groups: tuple[str, str], kind: str, times: str, name: str, values: Sequence[tuple[float, ...]]
) -> GroupFigure:
    a, b = values
    found = ratio_of_groups(a, b)
    ratio = None if found is None else Estimate(found.ratio, found.low, found.high)
    return GroupFigure(groups, kind, times, name, (a, b), ratio, None if found else _why(groups, values))


def _why(groups: tuple[str, str], values: Sequence[tuple[float, ...]]) -> str:
    alone = [label for label, of in zip(groups, values, strict=True) if len(of) < 2]
    if not alone:
        return "a figure is 0"
    return f"{' and '.join(alone)} {'has' if len(alone) == 1 else 'have'} one run, which shows no spread over runs"


def _label(place: int) -> str:
    """A, …, Z, A1, …"""
    round_, letter = divmod(place, 26)
    return chr(ord("A") + letter) + (str(round_) if round_ else "")
