"""A tree keeps its shape, its names and its numbers in every medium."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tare.report.kit import markdown, page, terminal
from tare.report.kit.blocks import Branch, Cell, Column, Kind, Paragraph, Story, Tree
from tests.unit.report.kit import sample

MEAN = Cell("7.1", "ms")


def tree(*means: str) -> Tree:
    """A transaction that calls lock, which calls wait, and write. `means`: headings of columns with times."""
    heads = [Column("path", Kind.NAME), Column("variance"), *map(Column, means)]

    def branch(name: str, share: str, *below: Branch) -> Branch:
        return Branch(name, [Cell(share), *[MEAN] * len(means)], below)

    wait = replace(branch("wait", "60%"), mark="inferred", blocks=[Paragraph("3 sites")])
    root = branch("transaction", "100%", branch("lock", "62%", wait), branch("write<b>", "4%"))
    return Tree(heads, lambda most: replace(root, opened=True))


def story(shown: Tree) -> Story:
    return replace(sample.story(), blocks=[shown])


def printed(shown: Tree, width: int) -> list[str]:
    return [line.plain for line in terminal.lines([shown], width)]


@pytest.mark.parametrize("width", [60, 80, 200])
def test_numbers_stand_beside_the_names(width: int) -> None:
    assert printed(tree("mean"), width) == [
        "path                 variance  mean",
        "transaction              100%  7.1 ms",
        "├╴lock                    62%  7.1 ms",
        "│ └╴wait (inferred)       60%  7.1 ms",
        "└╴write<b>                 4%  7.1 ms",
    ]


def test_numbers_stand_below_the_names_where_there_is_no_room() -> None:
    times = "7.1 ms  7.1 ms  7.1 ms"
    assert printed(tree("m", "n", "o"), 40) == [
        "path",
        "        variance    m       n       o",
        "transaction",
        f"            100%  {times}",
        "├lock",
        f"│            62%  {times}",
        "│└wait (inferred)",
        f"│            60%  {times}",
        "└write<b>",
        f"              4%  {times}",
    ]


def test_numbers_that_fit_nowhere_are_printed_with_their_headings() -> None:
    shown = printed(tree(*(f"mean {number}" for number in range(9))), 40)
    assert shown[:3] == [
        "path",
        "transaction",
        "  variance 100%   mean 0 7.1 ms",
    ]


def test_branches_that_are_shortened_in_a_terminal_do_not_read_alike() -> None:
    begin, end = "std::map<std::string, Lock", ">::_M_get_insert_unique_pos(std::string const&)"
    leaves = [Branch(f"{begin}{name}{end}", [Cell("1")]) for name in ("Table", "Space", "Index")]
    root = Branch("root", [Cell("3")], leaves)
    for width in (40, 60, 80):
        shown = "\n".join(printed(Tree([Column("path", Kind.NAME), Column("n")], lambda most: root), width))
        assert all(part in shown for part in ("ckT", "ckS", "ckI"))


def test_markdown_has_the_tree_as_a_terminal_draws_it() -> None:
    lines = printed(tree("mean"), 100)
    assert "```\n" + "\n".join(lines) + "\n```" in markdown.render(story(tree("mean")))


def test_a_page_opens_and_closes_branches_that_have_something_below_them() -> None:
    shown = page.render(story(tree("mean"))).partition("<main>")[2].partition("</main>")[0]
    assert shown.count("<details open>") == 1, "the transaction"
    assert shown.count("<details>") == 2, "lock and wait"
    assert shown.count('<li class="path">') == 1, "write"
    assert '<span class="name">wait <span class="mark">inferred</span></span>' in shown
    assert "3 sites" in shown
    assert "write&lt;b&gt;" in shown
    assert '<b data-of="mean">7.1&nbsp;ms</b>' in shown


def test_each_medium_requests_as_many_branches_as_it_has_room_for() -> None:
    requested: list[int] = []
    root = Branch("root", [Cell("1")])

    def cut(most: int) -> Branch:
        requested.append(most)
        return root

    shown = Tree([Column("path", Kind.NAME), Column("n")], cut)
    printed(shown, 80)
    page.render(story(shown))
    assert requested == [terminal.MOST_BRANCHES, 400]
