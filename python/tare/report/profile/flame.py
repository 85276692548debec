"""The icicle for a terminal: what calls what downwards, as wide as the share of the variance that lies in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tare.report.kit.names import middle
from tare.report.kit.terminal import wrap
from tare.report.profile.charts.layout import Place, places
from tare.report.profile.document import Node
from tare.report.profile.words import share

NOTE = (
    "As wide as the own shares of covariance in it and below it; blank below: its own share. What is too narrow to be "
    "seen is left out."
)

_LEVELS = 40
_NARROW = 4  # columns: below it, a path has no name
_LEAST_SHRINKING = 0.01  # of Var(T)


def explained(nodes: Sequence[Node], width: int) -> list[str]:
    """The icicle and how it is read."""
    drawn = lines(nodes, width)
    return [*drawn, "", *wrap(NOTE, width)] if drawn else wrap("There is no variance to draw.", width)


def lines(nodes: Sequence[Node], width: int) -> list[str]:
    """None of them longer than `width`; empty without variance. Paths that shrink where transactions are long come
    after the others, on the same scale."""
    found = places(nodes, 0.0, _LEVELS)
    grow = [one for one in found if one.positive]
    shrink = [one for one in found if not one.positive]
    most = max((abs(one.high - one.low) for one in found), default=0.0)
    if not most:
        return []
    scale = width / most
    drawn = list(_drawn(grow, scale, width))
    if shrink and max(-one.low for one in shrink) >= _LEAST_SHRINKING:
        drawn += ["", "shorter where transactions are long:", *_drawn(shrink, scale, width)]
    return drawn


def _drawn(found: Sequence[Place], scale: float, width: int) -> Iterator[str]:
    for depth in range(1 + max((one.node.depth for one in found), default=-1)):
        row = [" "] * width
        for one in found:
            if one.node.depth == depth:
                begin, end = sorted((round(abs(one.low) * scale), round(abs(one.high) * scale)))
                row[begin:end] = _block(one, end - begin)
        if text := "".join(row).rstrip():
            yield text


def _block(of: Place, width: int) -> str:
    if width < _NARROW:
        return "▪" * width
    percent = share((of.high - of.low) * (1 if of.positive else -1)).text
    name = middle(of.node.name.strip("[]"), width - 2)
    if len(name) + len(percent) + 3 <= width:
        name = f"{name} {percent}"
    return f"[{name}{'─' * (width - 2 - len(name))}]"
