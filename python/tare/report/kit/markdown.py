"""Blocks as Markdown: a file for a repository, a ticket or a paper's notes. Charts are left to the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tare.report.kit.blocks import (
    Block,
    Charts,
    Code,
    Detail,
    Digest,
    Facts,
    Heading,
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
    cell,
)
from tare.report.safe import printable

_FIRST_LEVEL = 2
_WIDTH = 100  # columns of a tree
MOST_ROWS = 2000  # of a table that grows with the run


def render(story: Story) -> str:
    blocks = [f"# {plain(story.title)}", plain(story.under), *_blocks(story.blocks, _FIRST_LEVEL)]
    return "\n\n".join(one for one in blocks if one) + "\n"


def _blocks(blocks: Iterable[Block], level: int) -> Iterator[str]:
    for block in blocks:
        yield from _block(block, level)


def _block(block: Block, level: int) -> Iterator[str]:
    match block:
        case Section():
            aside = f" ({plain(block.aside)})" if block.aside else ""
            yield f"{'#' * level} {plain(block.title)}{aside}"
            yield from _blocks(block.blocks, level + 1)
        case Detail():
            yield f"{'#' * level} {plain(block.summary)}"
            yield from _blocks(block.blocks, level + 1)
        case Heading():
            yield f"{'#' * level} {plain(block.text)}"
        case Paragraph():
            yield f"**{plain(block.text)}**" if block.tone is Tone.STRONG else plain(block.text)
        case Verdict():
            yield (
                f"**{plain(block.title)}**: {plain(block.text)}"
                if block.title
                else f"**{plain(block.text)}**"
            )
            if block.reasons:
                yield "\n".join(f"- {plain(one)}" for one in block.reasons)
        case Facts():
            yield table(
                (block.caption or "fact", "value"),
                ((name, cell(value).text) for name, value in block.pairs),
                (False, False),
            )
        case Items() | Digest():
            yield "\n".join(
                f"- {plain(one.text)}" if one.sign == "-" else f"- {plain(one.sign)} {plain(one.text)}"
                for one in block.items
            )
        case WarningBlock():
            yield f"- **{plain(block.cause)}**: {plain(block.evidence)}. Next: {plain(block.next_step)}."
        case Code():
            yield fenced(block.text, block.language)
        case Table():
            yield from _table(block)
        case Tree():
            yield _drawn(block)
        case Charts():
            pass


def _drawn(tree: Tree) -> str:
    """The tree as a terminal draws it."""
    from tare.report.kit.terminal import lines

    return fenced("\n".join(line.plain.rstrip() for line in lines([tree], _WIDTH)))


def _table(block: Table) -> Iterator[str]:
    if block.caption:
        yield plain(block.caption)
    rows = block.rows[:MOST_ROWS] if block.grows else block.rows
    width = len(block.columns)
    yield table(
        [f"{one.group}: {one.heading}" if one.group else one.heading for one in block.columns],
        (
            [row, *[""] * (width - 1)] if isinstance(row, str) else [cell(one).text for one in row]
            for row in rows
            if row != ""
        ),
        [one.kind is Kind.NUMBER for one in block.columns],
    )
    if len(rows) < len(block.rows):
        yield f"The first {len(rows)} of {len(block.rows)}; all are in the JSON report."


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[bool] | None = None) -> str:
    """`right`: columns that are set flush right; by default all but the first."""
    flush = [place > 0 for place in range(len(head))] if right is None else right
    lines = [
        f"| {' | '.join(plain(one) for one in head)} |",
        f"| {' | '.join('---:' if one else '---' for one in flush)} |",
        *(f"| {' | '.join(plain(one) for one in row)} |" for row in rows),
    ]
    return "\n".join(lines)


def fenced(text: str, language: str = "") -> str:
    """A code block that no fence within it can end."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{printable(text).rstrip()}\n{fence}"


def plain(text: object) -> str:
    """Kept from being read as markup."""
    kept = printable(text)
    for sign in "\\|*_`<>[]":
        kept = kept.replace(sign, "\\" + sign)
    return " ".join(kept.split())
