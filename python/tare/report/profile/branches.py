"""The variance tree of a report: its paths, with what makes each level add up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tare.report.kit.blocks import Block, Branch, Cell, Column, Kind, Paragraph, Row, Table, Tone
from tare.report.kit.names import middle
from tare.report.numbers import percent, significant, thousands
from tare.report.profile.document import Node, Pair, ProfileReport
from tare.report.profile.tree import LEAST, Rest, Subtree, cut
from tare.report.profile.words import share, time
from tare.report.words import NOTHING

COLUMNS = (Column("call path", Kind.NAME), *map(Column, ("variance [95%]", "own", "mean", "calls")))

_OPEN = 0.1  # of Var(T): a page has paths with more open at first
_STRONG = 0.1  # of Var(T): an own share that stands out
_MOST_PAIRS = 5
_MOST_SITES = 12


def branches(report: ProfileReport, most: int) -> Branch:
    """At most so many paths. For a profile that has any."""
    pairs: dict[int, list[Pair]] = {}
    for pair in report.pairs:
        pairs.setdefault(pair.parent, []).append(pair)
    return _branch(cut(report, most), report.nodes, pairs)


def _branch(subtree: Subtree, nodes: Sequence[Node], pairs: dict[int, list[Pair]]) -> Branch:
    node = subtree.node
    own = node.own_covariance.value if node.own_covariance else None
    variance = node.variance.value if node.variance else None
    marks = (
        "inferred" if node.inferred else "",
        f"recursive, depth {node.recursion}" if node.recursion > 1 else "",
    )
    return Branch(
        name=subtree.title,
        cells=[
            replace(share(node.variance).cell(), share=variance),
            share(own).cell(tone=Tone.STRONG if own is not None and own >= _STRONG else Tone.PLAIN),
            time(node.mean_ns).text,
            significant(node.calls),
        ],
        branches=[*(_branch(one, nodes, pairs) for one in subtree.subtrees), *_others(subtree, nodes, pairs)],
        mark=", ".join(mark for mark in marks if mark),
        blocks=list(_sites(node)),
        opened=node.parent is None or (variance is not None and variance >= _OPEN),
    )


def _others(subtree: Subtree, nodes: Sequence[Node], pairs: dict[int, list[Pair]]) -> Iterator[Branch]:
    """Parts of a path's variance that are no path of their own."""
    node = subtree.node
    if node.children and node.own_variance is not None and abs(node.own_variance) >= LEAST:
        cells: list[Cell | str] = [Cell(percent(node.own_variance)), "", time(node.own_mean_ns).text, ""]
        yield Branch("its body", cells, tone=Tone.QUIET)
    if node.children and abs(subtree.together) >= LEAST:
        listed = _pairs(node, nodes, pairs.get(node.path, []))
        blocks: list[Block] = [Paragraph(listed, Tone.QUIET)] if listed else []
        yield Branch(
            "what varies together",
            [Cell(percent(subtree.together)), "", "", ""],
            tone=Tone.QUIET,
            blocks=blocks,
        )
    if subtree.rest is not None:
        yield _rest(subtree.rest)


def _rest(rest: Rest) -> Branch:
    paths = "1 more path" if rest.paths == 1 else f"{thousands(rest.paths)} more paths"
    cells: list[Cell | str] = [
        f"≤ {share(rest.largest).text}",
        share(rest.own).cell(),
        "",
        significant(rest.calls),
    ]
    return Branch(paths, cells, tone=Tone.QUIET)


def _pairs(node: Node, nodes: Sequence[Node], pairs: Sequence[Pair]) -> str:
    def name(path: int) -> str:
        return "its body" if path == node.path else middle(nodes[path].name, 40)

    shown = [pair for pair in pairs if abs(pair.covariance or 0.0) >= LEAST / 10][:_MOST_PAIRS]
    return ", ".join(
        f"{name(pair.left)} × {name(pair.right)} {share(pair.covariance).text}" for pair in shown
    )


def _sites(node: Node) -> Iterator[Table]:
    """Callers, if there is more than one place."""
    if len(node.sites) < 2:
        return
    rows: list[Row] = [
        [
            chr(ord("A") + place),
            middle(site.caller or site.address or "not known", 60),
            significant(site.calls),
            NOTHING if site.variance is None else share(site.variance).cell(),
        ]
        for place, site in enumerate(node.sites[:_MOST_SITES])
    ]
    columns = [
        Column("site", Kind.NAME),
        Column("returns to", Kind.NAME),
        Column("calls"),
        Column("variance"),
    ]
    yield Table(f"{middle(node.name, 80)}, by where it is called from", columns, rows)
