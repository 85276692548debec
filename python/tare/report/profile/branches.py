"""The variance tree of a story: paths with their shares, and the parts that make each level add up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tare.report.kit.blocks import Block, Branch, Cell, Column, Kind, Paragraph, Table, Tone, Tree
from tare.report.profile import tree, words
from tare.report.profile.document import Node, Pair, ProfileReport
from tare.report.profile.tree import LEAST

COLUMNS = (
    Column("call path", Kind.NAME), Column("variance (95%)"), Column("own"), Column("mean"), Column("calls"),
)  # fmt: skip

_OPEN = 0.1  # share of Var(T) from which on a path is open at first
_LARGE = 0.1  # own share from which on it stands out
_FEW = 60  # paths, up to which a medium has no room for the smallest parts and for intervals of own shares
_MOST_PAIRS = 5
_MOST_SITES = 12


def variance_tree(report: ProfileReport) -> Tree | None:
    """Return the tree; None for a profile without paths."""
    if not report.nodes:
        return None
    pairs: dict[int, list[Pair]] = {}
    for pair in report.pairs:
        pairs.setdefault(pair.parent, []).append(pair)

    def cut(most: int) -> Branch:
        root = tree.cut(report, most)
        assert root is not None, "there are nodes"
        return _Level(report.nodes, pairs, most > _FEW).branch(root)

    return Tree(COLUMNS, cut)


@dataclass(frozen=True, slots=True)
class _Level:
    """`pairs`: by their parent. `is_fine`: with the smallest parts, and with intervals of own shares."""

    nodes: Sequence[Node]
    pairs: dict[int, list[Pair]]
    is_fine: bool

    def branch(self, path: tree.Branch) -> Branch:
        node = path.node
        return Branch(
            path.title,
            self._cells(node),
            [*map(self.branch, path.branches), *self._parts(path)],
            mark=_mark(node),
            blocks=list(_sites(node, path.title)),
            opened=node.parent is None or (node.variance is not None and node.variance.value >= _OPEN),
        )

    def _cells(self, node: Node) -> list[Cell | str]:
        variance, own = node.variance, node.own_covariance
        stands_out = own is not None and own.value >= _LARGE
        return [
            Cell(
                words.share(variance),
                interval=words.in_brackets(variance),
                share=None if variance is None else variance.value,
            ),
            Cell(
                words.share(own),
                interval=words.in_brackets(own) if self.is_fine else "",
                tone=Tone.STRONG if stands_out else Tone.PLAIN,
            ),
            words.ns(node.mean_ns),
            words.calls(node.calls),
        ]

    def _parts(self, path: tree.Branch) -> Iterator[Branch]:
        """The body, the covariances and the small paths: with the branches they add up to the path."""
        node = path.node
        least = LEAST / 10 if self.is_fine else LEAST
        if node.children and node.own_variance is not None and abs(node.own_variance) >= least:
            yield _part("its body", words.percent(node.own_variance), mean=words.ns(node.own_mean_ns))
        if node.children and abs(path.together) >= least:
            pairs = self._pairs(node)
            yield _part(
                "what varies together",
                words.percent(path.together),
                blocks=[Paragraph(pairs, Tone.QUIET)] if pairs else [],
            )
        if path.rest is not None:
            rest = path.rest
            yield _part(
                "1 more path" if rest.paths == 1 else f"{words.thousands(rest.paths)} more paths",
                "",
                own=words.percent(rest.own),
                calls=words.calls(rest.calls),
                mark=f"the largest {words.percent(rest.largest)}" if self.is_fine else "",
            )

    def _pairs(self, node: Node) -> str:
        def name(path: int) -> str:
            return "its body" if path == node.path else words.middle(self.nodes[path].name, 40)

        large = [pair for pair in self.pairs.get(node.path, ()) if abs(pair.covariance or 0.0) >= LEAST / 10]
        return ", ".join(
            f"{name(pair.left)} × {name(pair.right)} {words.percent(pair.covariance)}"
            for pair in large[:_MOST_PAIRS]
        )


def _part(
    name: str,
    variance: str,
    *,
    own: str = "",
    mean: str = "",
    calls: str = "",
    mark: str = "",
    blocks: Sequence[Block] = (),
) -> Branch:
    return Branch(name, [variance, own, mean, calls], mark=mark, tone=Tone.QUIET, blocks=blocks)


def _mark(node: Node) -> str:
    recursive = f"recursive, depth {node.recursion}" if node.recursion > 1 else ""
    return ", ".join(part for part in ("inferred" if node.inferred else "", recursive) if part)


def _sites(node: Node, title: str) -> Iterator[Table]:
    """The places from which the path is called, if there is more than one."""
    if len(node.sites) < 2:
        return
    yield Table(
        f"{words.middle(title, 90)}, by where it is called from",
        [Column("", Kind.NAME), Column("returns to", Kind.PROSE), Column("calls"), Column("variance")],
        [
            [
                chr(ord("A") + place),
                words.middle(site.caller or site.address or "not known", 60),
                words.calls(site.calls),
                words.percent(site.variance),
            ]
            for place, site in enumerate(node.sites[:_MOST_SITES])
        ],
    )
