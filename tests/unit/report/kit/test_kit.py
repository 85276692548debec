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
    Digest,
    Facts,
    Item,
    Items,
    Kind,
    Paragraph,
    Section,
    Table,
    Tone,
    Tree,
    Verdict,
    WarningBlock,
)
from tare.report.kit.figure import UNITS, Figure
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
    root = draw(
        st.recursive(
            st.builds(Branch, words, values, mark=words),
            lambda below: st.builds(Branch, words, values, st.lists(below, max_size=3), mark=words),
            max_leaves=12,
        )
    )
    return Tree(heads, lambda most: root)


blocks: st.SearchStrategy[Block] = (
    tables()
    | trees()
    | st.builds(Paragraph, sentences, st.sampled_from(list(Tone)))
    | st.builds(Verdict, words, sentences, st.sampled_from(list(Tone)), st.lists(sentences, max_size=3))
    | st.builds(Facts, words, st.lists(st.tuples(words, cells), max_size=4))
    | st.builds(Items, st.lists(st.builds(Item, sentences, st.sampled_from("-–✗")), max_size=4))
    | st.builds(WarningBlock, sentences, sentences, sentences)
    | st.builds(
        Digest, st.lists(st.builds(Item, sentences, most=st.none() | st.integers(1, 3), name=words)), words
    )
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
        values = [value.value for value in branch.cells if isinstance(value, Cell)]
        return [*values, *(number for below in branch.branches for number in numbers(below))]

    for number in numbers(tree.cut(99)):
        assert number in shown or _broken(number, letters)


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


def test_a_digest_leaves_out_the_last_named_items_and_names_them() -> None:
    named = [Item(f"warning {number}", "!", most=1, name=f"name {number}") for number in range(5)]
    digest = Digest([Item("answer", "✓"), *named, Item("last", " ")], "also: ", most=5)
    assert printed(digest, 80) == [
        "✓ answer",
        "! warning 0",
        "! warning 1",
        "! also: name 2, name 3, name 4",
        "  last",
    ]


def test_a_digest_with_room_shows_all() -> None:
    named = [Item(f"warning {number}", "!", name="w") for number in range(3)]
    assert printed(Digest([Item("answer"), *named], "also: ", most=4), 80)[-1] == "! warning 2"


def test_an_item_is_cut_with_an_ellipsis_at_its_last_line() -> None:
    assert printed(Items([Item("word " * 60, most=2)]), 80)[1].endswith(" wo…")
    assert len(printed(Items([Item("word " * 60, most=2)]), 40)) == 4, (
        "a narrow terminal has as many lines more"
    )


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


def test_a_page_shows_a_long_paragraph_whole() -> None:
    story = replace(sample.story(), blocks=[Paragraph("word " * 1500 + "end")])
    assert "word end</p>" in page.render(story)


def test_a_command_to_copy_stands_on_one_line() -> None:
    command = f"tare profile refine {'a' * 90} b\x1b[31m"
    [line] = terminal.lines([Code(command, whole=True)], 40)
    assert line.plain == f"  tare profile refine {'a' * 90} b[31m"
    story = replace(sample.story(), blocks=[Code(command, whole=True)])
    assert terminal.render(story, 40) == f"{line.plain}\n"


def test_no_word_is_broken_for_the_indent_of_a_further_line() -> None:
    heads = [Column("added", Kind.PROSE), Column("why", Kind.PROSE)]
    table = Table("", heads, [["lock, CommitTransactionCommand", "CommitTransactionCommand has 61%"]])
    shown = "\n".join(line.plain for line in terminal.lines([table], 51))
    assert shown.count("CommitTransactionCommand") == 2


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
    ],
)
def test_the_digits_follow_the_interval(figure: Figure, text: str) -> None:
    assert figure.text == text


def test_a_scale_that_is_given_is_kept() -> None:
    cell = Figure(-0.0132, -0.02, 0.01, unit="ms").cell(Scale("ms", 1.0))
    assert (cell.value, cell.unit, cell.interval) == ("−0.013", "ms", "[−0.020, 0.010]")
