"""The variance tree as the page shows it: paths to open and close, with what makes each level add up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tare.report.kit.names import Names
from tare.report.numbers import MINUS
from tare.report.profile import words
from tare.report.profile.document import Node, Pair, ProfileReport
from tare.report.profile.names import report_names
from tare.report.profile.tree import LEAST, Branch, cut

_OPEN = 0.1  # of Var(T): paths with more are open at first
_MOST_PAIRS = 5
_MOST_SITES = 12
_NAME = 90  # characters


def branches(report: ProfileReport, most: int) -> dict[str, Any] | None:
    """For the template; None for a profile without paths."""
    root = cut(report, most)
    if root is None:
        return None
    pairs: dict[int, list[Pair]] = {}
    for one in report.pairs:
        pairs.setdefault(one.parent, []).append(one)
    return _branch(root, report.nodes, pairs, report_names(report))


def _branch(of: Branch, nodes: Sequence[Node], pairs: dict[int, list[Pair]], names: Names) -> dict[str, Any]:
    node = of.node
    inner: list[dict[str, Any]] = []
    if node.children and node.own_variance is not None and abs(node.own_variance) >= LEAST / 10:
        inner.append(_aside("its body", words.percent(node.own_variance), mean=words.ns(node.own_mean_ns)))
    if node.children and abs(of.together) >= LEAST / 10:
        inner.append(
            _aside("what varies together", words.percent(of.together), said=_pairs(node, nodes, pairs))
        )
    if of.rest is not None:
        paths = "1 more path" if of.rest.paths == 1 else f"{words.thousands(of.rest.paths)} more paths"
        inner.append(
            _aside(
                f"{paths}, the largest {words.percent(of.rest.largest)}",
                "",
                own=words.percent(of.rest.own),
                calls=words.calls(of.rest.calls),
            )
        )
    return {
        "name": names.cut(of.title, _NAME),
        "whole": of.title if len(of.title) > _NAME else "",
        "recursion": node.recursion,
        "inferred": node.inferred,
        "variance": words.share(node.variance),
        "interval": words.interval(node.variance),
        "bar": _bar(node),
        "own": words.share(node.own_covariance),
        "own_interval": words.interval(node.own_covariance),
        "negative": words.share(node.own_covariance).startswith(MINUS),
        "mean": words.ns(node.mean_ns),
        "calls": words.calls(node.calls),
        "sites": _sites(node),
        "open": node.parent is None or (node.variance is not None and node.variance.value >= _OPEN),
        "branches": [_branch(one, nodes, pairs, names) for one in of.branches],
        "inner": inner,
    }


def _aside(name: str, variance: str, **more: Any) -> dict[str, Any]:
    empty = dict.fromkeys(("interval", "own", "own_interval", "mean", "calls", "said", "whole"), "")
    return {
        **empty,
        "name": name,
        "variance": variance,
        "bar": None,
        "negative": False,
        "inferred": False,
        "recursion": 1,
        **more,
    }


def _bar(node: Node) -> float:
    """Per cent of the widest that there is room for."""
    return 0.0 if node.variance is None else round(100 * min(1.0, max(0.0, node.variance.value)), 2)


def _pairs(node: Node, nodes: Sequence[Node], pairs: dict[int, list[Pair]]) -> str:
    def name(path: int) -> str:
        return "its body" if path == node.path else words.middle(nodes[path].name, 40)

    found = [one for one in pairs.get(node.path, []) if abs(one.covariance or 0.0) >= LEAST / 10][
        :_MOST_PAIRS
    ]
    return ", ".join(f"{name(one.left)} × {name(one.right)} {words.percent(one.covariance)}" for one in found)


def _sites(node: Node) -> list[dict[str, str]]:
    """Where it is called from, if that is more than one place."""
    if len(node.sites) < 2:
        return []
    return [
        {
            "letter": chr(ord("A") + place),
            "caller": words.middle(one.caller or one.address or "not known", 60),
            "calls": words.calls(one.calls),
            "variance": words.percent(one.variance),
        }
        for place, one in enumerate(node.sites[:_MOST_SITES])
    ]
