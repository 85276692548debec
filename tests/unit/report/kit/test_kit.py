"""The kit keeps what a report says, in every medium and at every width."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tare.report.kit import markdown, page, terminal
from tare.report.kit.blocks import (
    Block,
    Branch,
    Cell,
    Code,
    Column,
    Detail,
    Facts,
    Item,
    Items,
    Kind,
    Paragraph,
    Section,
    Story,
    Table,
    Tone,
    Tree,
    Verdict,
    WarningBlock,
)
from tare.report.kit.figure import UNITS, Figure
from tare.report.kit.names import middle, whole
from tare.report.numbers import Scale
from tests.unit.report.kit import sample

GOLDEN = Path(__file__).parent / "golden"

# Any block ----------------------------------------------------------------------------------
words = st.text(
    st.sampled_from("aAz09 .,:;-–[]<>&|*_`\\¶éß中文🙂\t\n") | st.characters(codec="utf-8"),
    min_size=0,
    max_size=90,
)
measured = st.builds(
    lambda number, unit: f"{number} {unit}",
    st.sampled_from(["1", "57.83", "2\u202f067"]),
    st.sampled_from(UNITS),
)
sentences = st.lists(words | measured, max_size=6).map(" ".join)
figures = st.builds(
    lambda value, half, unit: Figure(value, value - half, value + half, unit=unit).cell(),
    st.floats(-1e7, 1e7),
    st.floats(0, 1e5),
    st.sampled_from(["ms", "bytes", "instructions"]),
)
cells = figures | st.builds(Cell, sentences, st.sampled_from(["", *UNITS]), note=sentences)
columns = st.builds(Column, words, st.sampled_from(list(Kind)), st.sampled_from(["", "group"]))


@st.composite
def tables(draw: st.DrawFn) -> Table:
    heads = draw(st.lists(columns, min_size=1, max_size=9))
    rows = st.lists(cells, min_size=len(heads), max_size=len(heads))
    return Table(draw(sentences), heads, draw(st.lists(rows | words, max_size=6)), draw(st.booleans()))


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    heads = draw(st.lists(st.builds(Column, words), min_size=2, max_size=6))
    values = st.lists(figures, min_size=len(heads) - 1, max_size=len(heads) - 1)
    leaves = st.builds(Branch, words, values, mark=words)
    root = st.recursive(
        leaves,
        lambda below: st.builds(Branch, words, values, st.lists(below, max_size=3), mark=words),
        max_leaves=12,
    )
    branch = draw(root)
    return Tree(heads, lambda most: branch)


blocks: st.SearchStrategy[Block] = (
    tables()
    | trees()
    | st.builds(Paragraph, sentences, st.sampled_from(list(Tone)))
    | st.builds(Verdict, words, sentences, st.sampled_from(list(Tone)), st.lists(sentences, max_size=3))
    | st.builds(Facts, words, st.lists(st.tuples(words, cells), max_size=4))
    | st.builds(Items, st.lists(st.builds(Item, sentences, st.sampled_from("-–✗")), max_size=4))
    | st.builds(WarningBlock, sentences, sentences, sentences)
)
widths = st.integers(40, 200)


def printed(block: Block, width: int) -> list[str]:
    return [line.plain for line in terminal.lines([block], width)]


@settings(deadline=None, max_examples=150)
@given(blocks, widths)
def test_no_line_is_wider_than_the_terminal(block: Block, width: int) -> None:
    for line in printed(Section("key", "title", [block], aside="aside " * 9), width):
        assert cell_len(line) <= width


@settings(deadline=None, max_examples=150)
@given(tables(), widths)
def test_every_cell_of_a_table_is_printed_whole(table: Table, width: int) -> None:
    shown = "\n".join(printed(table, width))
    letters = "".join(shown.split())
    before = None
    for row in table.rows:
        if isinstance(row, str):
            continue
        for place, one in enumerate(row):
            assert isinstance(one, Cell)
            if place == 0 and table.grouped and one.text == before:
                continue
            for word in terminal.wrap(one.text.replace("\n", " ").replace("\t", " "), 10**6)[0].split():
                assert word in shown or _broken(word, letters), (word, shown)
        assert isinstance(row[0], Cell)
        before = row[0].text


@settings(deadline=None, max_examples=100)
@given(trees(), widths)
def test_every_number_of_a_tree_is_printed_whole(tree: Tree, width: int) -> None:
    shown = "\n".join(printed(tree, width))
    letters = "".join(shown.split())

    def numbers(branch: Branch) -> list[str]:
        mine = [one.value for one in branch.cells if isinstance(one, Cell)]
        return [*mine, *(value for below in branch.branches for value in numbers(below))]

    for value in numbers(tree.cut(99)):
        assert value in shown or _broken(value, letters)


def test_branches_that_are_cut_in_a_terminal_do_not_read_alike() -> None:
    begin, end = "std::map<std::string, Lock", ">::_M_get_insert_unique_pos(std::string const&)"
    leaves = [Branch(f"{begin}{name}{end}", [Cell("1")]) for name in ("Table", "Space", "Index")]
    tree = Tree([Column("path", Kind.NAME), Column("n")], lambda most: Branch("root", [Cell("3")], leaves))
    for width in (40, 60, 80):
        shown = "\n".join(printed(tree, width))
        assert all(one in shown for one in ("ckT", "ckS", "ckI"))


def _broken(word: str, letters: str) -> bool:
    """A word may go over several lines of its column; its letters are then all there, in their order."""
    rest = iter(letters)
    return all(letter in rest for letter in "".join(word.split()))


@settings(deadline=None, max_examples=150)
@given(st.lists(st.text("aZ09é中 ", max_size=9) | measured, max_size=20), widths)
def test_no_unit_is_parted_from_its_number(parts: list[str], width: int) -> None:
    unit = re.compile(rf"^(?:{'|'.join(UNITS)})(?![\w-])")
    for before, after in pairwise(terminal.wrap(" ".join(parts), width)):
        assert not (before[-1:].isdigit() and unit.match(after)), (before, after)


@settings(deadline=None, max_examples=12)
@given(blocks)
def test_any_block_is_rendered_in_every_medium(block: Block) -> None:
    story = sample.story()
    story = type(story)(story.title, story.under, story.written_by, [block])
    assert markdown.render(story)
    assert "<main>" in page.render(story)


# One report -----------------------------------------------------------------------------------
@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_the_sample_in_a_terminal(width: int) -> None:
    _golden(f"terminal-{width}.txt", terminal.render(sample.story(), width))


def test_the_sample_as_markdown() -> None:
    _golden("story.md", markdown.render(sample.story()))


def test_the_sample_as_a_page() -> None:
    body = page.render(sample.story()).partition("<main>")[2].partition("</main>")[0]
    _golden("main.html", re.sub(r"\n\s*\n+", "\n", body).strip() + "\n")


def _golden(name: str, text: str) -> None:
    """To renew: delete the file and run the test twice."""
    file = GOLDEN / name
    if not file.exists():
        file.write_text(text, encoding="utf-8")
        pytest.fail(f"{file} was not there; it is written now, look at it")
    assert text == file.read_text(encoding="utf-8")


def test_a_page_without_charts_carries_no_library_and_stays_small() -> None:
    assert len(page.render(sample.story()).encode()) < 40_000


def test_markup_in_a_title_is_text() -> None:
    assert "count &lt;b&gt;all&lt;/b&gt;" in page.render(sample.story())
    assert "count \\<b\\>all\\</b\\>" in markdown.render(sample.story())


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (Figure(57.2134, 57.02, 57.90, unit="ms"), "57.21 ms [57.02, 57.90]"),
        (Figure(57.2134, 49.0, 70.0, unit="ms"), "57 ms [49, 70]"),
        (Figure(2067.4, 1512.0, 2396.0, unit="ms"), "2\u202f067 ms [1\u202f512, 2\u202f396]"),
        (Figure(-0.0132, -0.02, 0.01, unit="ms"), "−13 µs [−20, 10]"),
        (Figure(0.0, 0.0, 0.0, unit="ms"), "0 ms [0, 0]"),
        (Figure(11.52, unit="ms"), "11.5 ms"),
        (Figure(12 << 20, unit="bytes"), "12.0 MiB"),
        (Figure(None, unit="ms"), "–"),
        (Figure(0.623, 0.512, 0.709, unit="share"), "62% [51, 71]"),
        (Figure(0.0182, 0.0151, 0.0213, unit="share"), "1.8% [1.5, 2.1]"),
        (Figure(-0.031, -0.08, 0.02, unit="share"), "−3% [−8, 2]"),
        (Figure(0.00012, 0.0001, 0.00014, unit="share"), "0.01% [0.01, 0.01]"),
        (Figure(1.0, 1.0, 1.0, unit="share"), "100% [100, 100]"),
        (Figure(0.00001, -0.00004, 0.00003, unit="share"), "0% [0, 0]"),
        (Figure(0.0412, unit="share"), "4.1%"),
        (Figure(840.4, unit="ns"), "840 ns"),
        (Figure(12_345, unit="ns"), "12.3 µs"),
        (Figure(2.04e6, unit="ns"), "2.04 ms"),
        (Figure(0, unit="ns"), "0 ns"),
    ],
)
def test_the_digits_follow_the_interval(figure: Figure, text: str) -> None:
    assert figure.text == text


@given(st.text(max_size=200), st.integers(5, 60))
def test_a_cut_name_is_never_longer_and_keeps_its_ends(name: str, most: int) -> None:
    found = middle(name, most)
    assert len(found) <= most
    if len(whole(name)) > most:
        assert whole(name).startswith(found.split("…")[0])
        assert found[-1] == whole(name)[-1]


@pytest.mark.parametrize("width", [40, 80])
def test_a_command_to_copy_stands_on_one_line_in_a_terminal(width: int) -> None:
    command = "tare profile refine pg-tpcb " + "LWLockAcquireOrWait," * 5
    assert printed(Code(command, copied=True), width) == [f"  {command}"]


def test_rows_that_a_terminal_leaves_out_are_counted() -> None:
    table = Table("", [Column("n")], [[str(n)] for n in range(9)], grows=True, total=12, brief=4)
    assert printed(table, 80)[-1] == "the first 4 of 12; all are in the JSON report"
    assert "| 8 |" in markdown.render(Story("", "", "", [table]))


def test_a_scale_that_is_given_is_kept() -> None:
    cell = Figure(-0.0132, -0.02, 0.01, unit="ms").cell(Scale("ms", 1.0))
    assert (cell.value, cell.unit, cell.interval) == ("−0.013", "ms", "[−0.020, 0.010]")


def test_a_table_that_grows_shows_its_first_rows_and_says_how_many_there_are() -> None:
    rows = [["one", str(place)] for place in range(50)]
    table = Table("Times", [Column("query", Kind.NAME), Column("ms")], rows, grows=True, total=5000)
    assert printed(table, 80)[-1] == "the first 40 of 5\u202f000; all are in the JSON report"
    assert "The first 50 of 5\u202f000; all are in the JSON report." in markdown.render(_story(table))
    assert "Times (the first 50 of 5\u202f000; all are in the JSON report)" in page.render(_story(table))
    assert not any("first" in line for line in printed(replace(table, grows=False, total=None), 80))


def test_a_row_without_a_name_adds_to_the_one_above_where_a_table_is_stacked() -> None:
    heads = [Column("group", Kind.NAME), *(Column(f"measure {place}") for place in range(9))]
    table = Table("", heads, [["I", *["high"] * 9], ["", *["0.995"] * 9]])
    assert printed(table, 40)[0] == "I"
    assert "" not in printed(table, 40)


def _story(block: Block) -> Story:
    return replace(sample.story(), blocks=[block])


def test_a_page_that_becomes_too_large_leaves_spare_details_out_and_names_them() -> None:
    row = ["x" * 120] * 10
    columns = [Column("", Kind.PROSE)] * 10
    details = [
        Detail(f"size {size}", [Table("", columns, [row] * 600)], spare=size > 1) for size in (1, 2, 3)
    ]
    shown = page.render(replace(sample.story(), blocks=details))
    assert len(shown.encode()) < page.MOST_BYTES
    assert "<summary>size 1</summary>" in shown
    assert "size 2: in the JSON report." in shown
    assert "<summary>size 3</summary>" in page.render(replace(sample.story(), blocks=details[2:]))
