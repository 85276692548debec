"""Blocks as lines of a terminal, at any width from 40 columns on.

No line is wider than the terminal except a command to copy, no text is cut without an ellipsis, no number loses its
unit. A table that does not fit wraps its words, then folds into a stack: a row becomes its name and lines of "heading
value". The numbers of a tree stand beside its names, or below them where there is no room.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console
from rich.text import Text

from tare.report.kit.blocks import (
    Block,
    Branch,
    Cell,
    Charts,
    Code,
    Column,
    Detail,
    Digest,
    Facts,
    Heading,
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
    cell,
)
from tare.report.kit.figure import JOINED, joined_units
from tare.report.kit.names import Names
from tare.report.kit.spelling import LONGER, blocks_in
from tare.report.numbers import thousands
from tare.report.safe import printable

_STYLES = {
    Tone.PLAIN: "",
    Tone.STRONG: "bold",
    Tone.QUIET: "dim",
    Tone.GOOD: "green",
    Tone.CAUTION: "yellow",
    Tone.BAD: "red",
}
_SIGNS = {Tone.GOOD: "✓", Tone.CAUTION: "!", Tone.BAD: "✗"}
_GAPS = (2, 1)  # columns between those of a table; the second before it folds
_LEAST = 14  # columns that words of a table keep at least, before it folds
_BAR = 10  # columns of a bar
_LEAST_NAME = 16  # columns of a tree's name beside its numbers
MOST_BRANCHES = 40  # of a tree


def print_story(story: Story, console: Console) -> None:
    """Prints what a terminal shows of a story."""
    print_blocks(story.blocks, console)


def print_blocks(blocks: Sequence[Block], console: Console) -> None:
    width = console.width
    if not console.encoding.startswith("utf"):
        blocks, width = blocks_in(blocks, console.encoding), width - LONGER
    for line in lines(blocks, width):
        console.print(line, no_wrap=True, soft_wrap=True, highlight=False)


def render(story: Story, width: int = 80) -> str:
    """The same as plain text."""
    out = io.StringIO()
    print_story(story, Console(file=out, width=width, color_system=None, force_terminal=False))
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


def lines(blocks: Sequence[Block], width: int) -> Iterator[Text]:
    """Lines of all blocks, an empty one between two of them."""
    first = True
    for block in blocks:
        found = list(_lines(block, width))
        if not found:
            continue
        if not first:
            yield Text()
        yield from found
        first = False


def _lines(block: Block, width: int) -> Iterator[Text]:
    match block:
        case Section() if block.printed:
            yield from _title(block, width)
            yield from lines(block.blocks, width)
        case Heading():
            yield from _styled(block.text, width, Tone.STRONG)
        case Paragraph():
            yield from _styled(block.text, width, block.tone)
        case Verdict():
            sign = f"{_SIGNS[block.tone]} " if block.tone in _SIGNS else ""
            said = f"{block.title}: {block.text}" if block.title else block.text
            yield from _hanging(sign, said, width, block.tone, Tone.STRONG)
            for reason in block.reasons:
                yield from _hanging("  - ", reason, width)
        case Facts():
            yield from _facts(block, width)
        case Items():
            for item in block.items:
                yield from _item(item, width)
        case Digest():
            yield from _digest(block, width)
        case WarningBlock():
            yield from _hanging("! ", block.cause, width, Tone.CAUTION, Tone.CAUTION)
            yield from _hanging("  ", block.evidence, width)
            yield from _hanging("  next: ", block.next_step, width, Tone.STRONG, indent=2)
        case Code(line=""):
            return
        case Code():
            if block.line is not None:
                yield Text(_cut(block.line, width), _STYLES[Tone.QUIET])
            elif block.whole:
                for line in printable(block.text).splitlines():
                    yield Text(f"  {line}", _STYLES[Tone.STRONG])
            else:
                for line in printable(block.text).expandtabs().splitlines():
                    yield from (Text(part) for part in chop_cells(line, width) or [""])
        case Table():
            yield from _table(block, width)
        case Tree():
            yield from _tree(block, width)
        case Charts(lines=drawn) if drawn is not None:
            yield from map(Text, drawn(width))
        case Charts() | Detail() | Section():
            pass


# Text ------------------------------------------------------------------------------------
def wrap(text: object, width: int, first: int | None = None) -> list[str]:
    """Lines of at most `width` columns, the first of at most `first`. A number stays with its unit; a word that is
    wider than a line is broken."""
    found: list[str] = []
    room = width if first is None else first
    for paragraph in printable(text).expandtabs().split("\n"):
        line = ""
        for word in joined_units(paragraph).split(" "):
            joint = f"{line} {word}" if line else word
            if cell_len(joint) <= room:
                line = joint
                continue
            if line or room < cell_len(word) <= width:
                found.append(line)
                room = width
            while cell_len(word) > room:
                part = chop_cells(word, room)[0]
                found.append(part)
                word, room = word[len(part) :], width
            line = word
        found.append(line)
        room = width
    return [line.replace(JOINED, " ") for line in found]


def _styled(text: str, width: int, tone: Tone) -> Iterator[Text]:
    return (Text(line, _STYLES[tone]) for line in wrap(text, width))


def _hanging(
    lead: str,
    text: str,
    width: int,
    lead_tone: Tone = Tone.PLAIN,
    tone: Tone = Tone.PLAIN,
    indent: int | None = None,
    most: int | None = None,
) -> Iterator[Text]:
    """The text behind its lead; further lines below the text, or at `indent`. Of more than `most` lines the last is cut
    with an ellipsis."""
    deep = cell_len(lead) if indent is None else indent
    start, *rest = wrap(text, width - deep, width - cell_len(lead))
    if most is not None and len(rest) >= most:
        room = width - (deep if most > 1 else cell_len(lead))
        whole = [start, *rest]
        start, *rest = [*whole[: most - 1], _cut(" ".join(whole[most - 1 :]), room)]
    yield Text.assemble((lead, _STYLES[lead_tone]), (start, _STYLES[tone]))
    yield from (Text(" " * deep + line, _STYLES[tone]) for line in rest)


def _item(item: Item, width: int) -> Iterator[Text]:
    most = None if item.most is None else _lines_at(width, item.most)
    return _hanging(f"{item.sign} ", item.text, width, item.tone, item.tone, most=most)


def _lines_at(width: int, most: int) -> int:
    """Return the number of lines that hold as much as `most` lines of 80 columns."""
    return max(most, -(-80 * most // width))


def _digest(digest: Digest, width: int) -> Iterator[Text]:
    """Lines of the items that have room, and of the names of the rest at the place of the first of these."""
    shown = [list(_item(item, width)) for item in digest.items]
    named = [place for place, item in enumerate(digest.items) if item.name]
    for kept in range(len(named), -1, -1):
        omitted = named[kept:]
        rest: list[Text] = []
        if omitted:
            names = ", ".join(dict.fromkeys(digest.items[place].name for place in omitted))
            first = digest.items[omitted[0]]
            rest = list(_item(replace(first, text=f"{digest.more}{names}", most=2 if kept else 1), width))
        lines = [
            line
            for place, found in enumerate(shown)
            for line in (rest if omitted[:1] == [place] else [] if place in omitted else found)
        ]
        if len(lines) <= _lines_at(width, digest.most):
            break
    yield from lines


def _cut(text: str, width: int) -> str:
    """Cut a text to one line, with an ellipsis where it is cut."""
    flat = " ".join(printable(text).split())
    return flat if cell_len(flat) <= width else set_cell_size(flat, width - 1).rstrip() + "…"


def _title(section: Section, width: int) -> Iterator[Text]:
    aside = f"  {section.aside}" if section.aside else ""
    *above, last = wrap(section.title, width)
    yield from (Text(line, "bold") for line in above)
    if aside and cell_len(last + aside) > width:
        yield Text(last, "bold")
        yield from _styled(section.aside, width, Tone.PLAIN)
        return
    room = width - cell_len(last + aside) - 1
    yield Text.assemble((last, "bold"), aside, (f" {'─' * room}" if room > 0 else "", "dim"))


def _facts(facts: Facts, width: int) -> Iterator[Text]:
    if facts.caption:
        yield from _styled(facts.caption, width, Tone.QUIET)
    names = [printable(name) for name, _ in facts.pairs]
    widest = max((cell_len(name) for name in names), default=0)
    aligned = widest <= width // 3
    for name, (_, value) in zip(names, facts.pairs, strict=True):
        shown = cell(value)
        lead = name + " " * (widest - cell_len(name) + 2) if aligned else f"{name}: "
        tone = Tone.QUIET if shown.tone is not Tone.BAD else Tone.BAD
        if cell_len(lead) < width // 2:
            yield from _hanging(lead, shown.text, width, tone, shown.tone, indent=None if aligned else 2)
        else:
            yield from _styled(f"{name}:", width, tone)
            yield from _hanging("  ", shown.text, width, Tone.PLAIN, shown.tone)


# Tables ----------------------------------------------------------------------------------
@dataclass(slots=True)
class _Widths:
    """Widths of a column of numbers: before the point, from the point on, unit, interval, note. Words have one."""

    whole: int = 0
    fraction: int = 0
    unit: int = 0
    interval: int = 0
    note: int = 0

    @property
    def number(self) -> int:
        return self.whole + self.fraction

    @property
    def all(self) -> int:
        return self.number + sum(1 + part for part in (self.unit, self.interval, self.note) if part)


def _table(table: Table, width: int) -> Iterator[Text]:
    if table.caption:
        yield from _styled(table.caption, width, Tone.QUIET)
    rows = [
        row if isinstance(row, str) else [_plain(one) for one in row] for row in table.rows[: table.brief]
    ]
    columns = [
        Column(f"{one.group}: {one.heading}" if one.group else one.heading, one.kind) for one in table.columns
    ]
    cells = [row for row in rows if not isinstance(row, str)]
    parts = [_parts([row[place] for row in cells], column) for place, column in enumerate(columns)]
    for gap in _GAPS:
        sizes = _fitted(columns, parts, cells, width - gap * (len(columns) - 1))
        if sizes is not None:
            break
    if sizes is None:
        yield from _stacked(columns, rows, width)
    else:
        yield from _rows(table, columns, parts, sizes, rows, gap, width)
    if len(rows) < len(table.rows):
        cut = f"the first {len(rows)} of {thousands(len(table.rows))}; all are in the JSON report"
        yield from _styled(cut, width, Tone.QUIET)


def _rows(
    table: Table,
    columns: Sequence[Column],
    parts: Sequence[_Widths],
    sizes: Sequence[int],
    rows: Sequence[str | list[Cell]],
    gap: int,
    width: int,
) -> Iterator[Text]:
    """The headings and the rows of a table that has room."""
    cells = [row for row in rows if not isinstance(row, str)]
    yield from _headings(columns, parts, sizes, gap)
    bars = any(one.share is not None for row in cells for one in row)
    bars = bars and sum(sizes) + gap * len(sizes) + _BAR <= width
    before = ""
    for place, row in enumerate(rows):
        if isinstance(row, str):
            yield from _within(row, width, place)
            continue
        first = row[0]
        if table.grouped:
            row = [Cell("") if first.text == before else first, *row[1:]]
            before = first.text
        yield from _row(columns, parts, sizes, row, gap, bars)


def _within(heading: str, width: int, place: int) -> Iterator[Text]:
    """A heading within a table; an empty one only parts the rows."""
    if place:
        yield Text()
    if heading:
        yield from _styled(heading, width, Tone.QUIET)


def _plain(given: Cell | str) -> Cell:
    """On one line, without what could steer a terminal."""
    one = cell(given)
    value, unit, interval, note = (
        printable(part).replace("\n", " ").replace("\t", " ")
        for part in (one.value, one.unit, one.interval, one.note)
    )
    return replace(one, value=value, unit=unit, interval=interval, note=note)


def _split(value: str) -> tuple[str, str]:
    """Before the decimal point, and from it on; all of what is no number before it."""
    point = value.find(".")
    return (value, "") if point < 0 or not value[point + 1 :].isdigit() else (value[:point], value[point:])


def _parts(cells: Sequence[Cell], column: Column) -> _Widths:
    found = _Widths()
    for one in cells:
        if column.kind is not Kind.NUMBER:
            found.whole = max(found.whole, cell_len(one.text))
            continue
        whole, fraction = _split(one.value)
        found.whole = max(found.whole, cell_len(whole))
        found.fraction = max(found.fraction, cell_len(fraction))
        found.unit = max(found.unit, cell_len(one.unit))
        found.interval = max(found.interval, cell_len(one.interval))
        found.note = max(found.note, cell_len(one.note))
    return found


def _fitted(
    columns: Sequence[Column], parts: Sequence[_Widths], cells: Sequence[Sequence[Cell]], room: int
) -> list[int] | None:
    """Width of each column, or None where they have no room."""
    natural = [max(part.all, cell_len(one.heading)) for one, part in zip(columns, parts, strict=True)]
    if sum(natural) <= room:
        return natural
    least = []
    for place, (column, part) in enumerate(zip(columns, parts, strict=True)):
        word = max((cell_len(one) for one in joined_units(column.heading).split(" ")), default=0)
        if column.kind is Kind.NUMBER:
            least.append(max(part.all, word))
        else:
            words = [one for row in cells for one in joined_units(row[place].text).split(" ")]
            longest = max((cell_len(one) for one in words), default=0)
            least.append(min(natural[place], max(word, longest, _LEAST)))
    if sum(least) > room:
        return None
    spare = room - sum(least)
    sizes = list(least)
    for kind in (Kind.NAME, Kind.NUMBER, Kind.PROSE):
        for place, column in enumerate(columns):
            if column.kind is kind:
                more = min(spare, natural[place] - sizes[place])
                sizes[place] += more
                spare -= more
    return sizes


def _headings(
    columns: Sequence[Column], parts: Sequence[_Widths], sizes: Sequence[int], gap: int
) -> Iterator[Text]:
    wrapped = [wrap(one.heading, size) for one, size in zip(columns, sizes, strict=True)]
    if not any(line for one in wrapped for line in one):
        return
    deep = max(len(one) for one in wrapped)
    for place in range(deep):
        cells = []
        for column, part, size, filled in zip(columns, parts, sizes, wrapped, strict=True):
            line = filled[place - deep + len(filled)] if place >= deep - len(filled) else ""
            lead = 0
            if column.kind is Kind.NUMBER:  # ends where the numbers end, else begins where they begin
                end = size - part.all + part.number
                lead = max(end - cell_len(line), min(size - part.all, size - cell_len(line)))
            cells.append(" " * lead + line + " " * (size - lead - cell_len(line)))
        yield Text((" " * gap).join(cells).rstrip(), "dim")


def _row(
    columns: Sequence[Column],
    parts: Sequence[_Widths],
    sizes: Sequence[int],
    row: Sequence[Cell],
    gap: int,
    bars: bool,
) -> Iterator[Text]:
    filled = [
        [_number(one, part, size)] if column.kind is Kind.NUMBER else _words(one, size)
        for column, part, size, one in zip(columns, parts, sizes, row, strict=True)
    ]
    for place in range(max(len(one) for one in filled)):
        text = Text()
        for at, (one, size) in enumerate(zip(filled, sizes, strict=True)):
            part = one[place] if place < len(one) else Text()
            text.append_text(part)
            if at < len(sizes) - 1 or bars:
                text.append(" " * (size - part.cell_len + gap))
        share = next((one.share for one in row if one.share is not None), None)
        if bars and place == 0 and share is not None:
            text.append(_bar(share), "cyan")
        text.rstrip()
        yield text


def _words(one: Cell, size: int) -> list[Text]:
    """Further lines are indented, where there is room and no word is broken for it."""
    indent = len(one.text) - len(one.text.lstrip()) + 2
    longest = max(cell_len(word) for word in joined_units(one.text).split(" "))
    indent = indent if indent < size // 3 and longest <= size - indent else 0
    first, *rest = wrap(one.text, size - indent, size)
    return [Text(line, _STYLES[one.tone]) for line in (first, *(" " * indent + line for line in rest))]


def _number(one: Cell, part: _Widths, size: int) -> Text:
    whole, fraction = _split(one.value)
    value = whole.rjust(part.whole + len(whole) - cell_len(whole)) + fraction
    text = Text(" " * (size - part.all))
    text.append(value + " " * (part.number - cell_len(value)), _STYLES[one.tone])
    for piece, wide, style in (
        (one.unit, part.unit, _STYLES[one.tone]),
        (one.interval, part.interval, "dim"),
        (one.note, part.note, "dim"),
    ):
        if wide:
            text.append(f" {piece}", style)
            text.append(" " * (wide - cell_len(piece)))
    return text


def _bar(share: float) -> str:
    eighths = max(0, min(8 * _BAR, round(share * 8 * _BAR)))
    part: str = " ▏▎▍▌▋▊▉"[eighths % 8]
    return ("█" * (eighths // 8) + part).rstrip()


def _stacked(columns: Sequence[Column], rows: Sequence[str | Sequence[Cell]], width: int) -> Iterator[Text]:
    """Each row as its name, and below it the other columns as "heading value"."""
    names = 0
    while names < len(columns) and columns[names].kind is Kind.NAME:
        names += 1
    names = max(1, names)
    for place, row in enumerate(rows):
        if isinstance(row, str):
            yield from _within(row, width, place)
            continue
        name = ", ".join(
            f"{column.heading} {one.text}" if column.kind is Kind.NUMBER and column.heading else one.text
            for column, one in zip(columns[:names], row[:names], strict=True)
            if one.text
        )
        yield from _hanging("", name, width, tone=row[0].tone, indent=2)
        yield from _pairs(columns[names:], row[names:], width)


def _pairs(columns: Sequence[Column], row: Sequence[Cell], width: int) -> Iterator[Text]:
    """Cells as "heading value", as many on a line as have room."""
    line = ""
    for column, value in zip(columns, row, strict=True):
        if not value.text:
            continue
        joint = " " if column.kind is Kind.NUMBER else ": "
        pair = f"{column.heading}{joint}{value.text}" if column.heading else value.text
        joint = f"{line}   {pair}" if line else pair
        if cell_len(joint) <= width - 2:
            line = joint
            continue
        if line:
            yield Text(f"  {line}")
        *above, line = wrap(pair, width - 4)
        yield from (Text(("  " if place == 0 else "    ") + part) for place, part in enumerate(above))
        if above:
            yield Text(f"    {line}")
            line = ""
    if line:
        yield Text(f"  {line}")


# Trees -----------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Node:
    """A branch with the guides that lead to it."""

    guides: str
    branch: Branch
    cells: list[Cell]

    def name(self, names: Names, room: int) -> Text:
        guides = self._guides(room)
        mark = f" ({_plain(self.branch.mark).text})" if self.branch.mark else ""
        most = max(_LEAST_NAME // 2, room - cell_len(guides) - cell_len(mark))
        name = names.cut(self.branch.name, most)
        text = Text.assemble((guides, "dim"), (name, _STYLES[self.branch.tone]), (mark, "dim"))
        text.truncate(room, overflow="ellipsis")
        return text

    def below_name(self, room: int) -> Text:
        """Guides before the numbers that stand below the name; none where they have no room."""
        guides = self._guides(room).translate(str.maketrans("├└╴", "│  "))
        return Text(guides if cell_len(guides) <= room else "", "dim")

    def _guides(self, room: int) -> str:
        """Guides of the last levels if there is no room for all."""
        most = max(2, room // 2)
        return self.guides if len(self.guides) <= most else "…" + self.guides[1 - most :]


def _tree(tree: Tree, width: int) -> Iterator[Text]:
    nodes = list(_nodes(tree.cut(MOST_BRANCHES), "", ""))
    names = Names(node.branch.name for node in nodes)
    heading, *columns = tree.columns
    parts = [_parts([node.cells[place] for node in nodes], column) for place, column in enumerate(columns)]
    sizes = [max(part.all, cell_len(column.heading)) for column, part in zip(columns, parts, strict=True)]
    gap = next((gap for gap in _GAPS if sum(sizes) + gap * len(sizes) <= width), 0)
    room = width - sum(sizes) - gap * len(sizes)
    deepest = max(len(node.guides) for node in nodes)
    if room < deepest + _LEAST_NAME:
        nodes = [replace(node, guides=node.guides[::2]) for node in nodes]
        deepest //= 2
    beside = gap > 0 and room >= deepest + _LEAST_NAME
    if beside:  # no farther from the names than these need
        longest = max(node.name(names, width).cell_len for node in nodes)
        room = min(room, max(longest, cell_len(heading.heading)))
    title = Text(_cut(heading.heading, room if beside else width), "dim")
    headings = list(_headings(columns, parts, sizes, gap)) if gap else []
    if not beside:
        headings = [_padded(Text(), room + gap) + line for line in headings]
        yield from ([title] if title else []) + headings
    elif headings or title:
        first, *rest = headings or [Text()]
        yield _padded(title, room + gap) + first
        yield from (_padded(Text(), room + gap) + line for line in rest)
    for node in nodes:
        has_numbers = any(value.text for value in node.cells)
        name = node.name(names, room if beside else width)
        if not (gap and has_numbers):
            yield name
            yield from _pairs(columns, node.cells, width)
            continue
        if not beside:
            yield name
        before = name if beside else node.below_name(room)
        yield _padded(before, room + gap) + next(_row(columns, parts, sizes, node.cells, gap, bars=False))


def _nodes(branch: Branch, guides: str, below: str) -> Iterator[_Node]:
    """The branch and those below it, in the order of their lines."""
    yield _Node(guides, branch, [_plain(value) for value in branch.cells])
    for place, child in enumerate(branch.branches, 1):
        here, under = ("└╴", "  ") if place == len(branch.branches) else ("├╴", "│ ")
        yield from _nodes(child, below + here, below + under)


def _padded(text: Text, width: int) -> Text:
    return text + Text(" " * max(0, width - text.cell_len))
