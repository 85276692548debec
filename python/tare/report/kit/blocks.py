"""Blocks of a report. A subject writes its story once, as a list of these; each medium is one renderer of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from tare.report.charts.chart import Chart, NoChart


class Tone(StrEnum):
    """How a text is meant. A medium without colour loses nothing: the words say it too."""

    PLAIN = "plain"
    STRONG = "strong"
    QUIET = "quiet"
    GOOD = "good"
    CAUTION = "caution"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Cell:
    """Value of a row in a column. `interval` and `note` stand behind it, more quietly."""

    value: str
    unit: str = ""
    interval: str = ""
    note: str = ""
    tone: Tone = Tone.PLAIN
    share: float | None = None  # drawn as a bar where there is room
    span: tuple[float, float] | None = None  # 95% interval of the share, which a page draws over the bar

    @property
    def text(self) -> str:
        """The whole cell on one line."""
        return " ".join(part for part in (self.value, self.unit, self.interval, self.note) if part)


class Kind(StrEnum):
    NAME = "name"
    NUMBER = "number"
    PROSE = "prose"


@dataclass(frozen=True, slots=True)
class Column:
    heading: str
    kind: Kind = Kind.NUMBER
    group: str = ""  # heading over neighbouring columns of one group


Row = Sequence[Cell | str]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells. A row that is a string is a heading within the table.

    `grouped`: rows with the same first cell belong together, and the cell is written once.
    `grows`: the number of rows grows with the run; a page that becomes too large shows the first of them.
    `brief`: rows that a terminal shows at most."""

    kind: ClassVar[str] = "table"
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Row | str]
    grouped: bool = False
    grows: bool = False
    brief: int | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """A node of a tree, with the nodes below it.

    `cells`: its values, one for each column after that of the names. `mark`: a remark behind the name. `blocks`: more
    about the node, which a page shows where the branch is open; no charts. `opened`: open from the start."""

    name: str
    cells: Sequence[Cell | str]
    branches: Sequence[Branch] = ()
    mark: str = ""
    tone: Tone = Tone.PLAIN
    blocks: Sequence[Block] = ()
    opened: bool = False


@dataclass(frozen=True, slots=True)
class Tree:
    """Nodes below each other, each with its numbers.

    The first column is that of the names; one or more follow. `cut`: returns the root of a tree with about as many
    branches as given, since each medium has room for another number of them."""

    kind: ClassVar[str] = "tree"
    columns: Sequence[Column]
    cut: Callable[[int], Branch]


@dataclass(frozen=True, slots=True)
class Paragraph:
    kind: ClassVar[str] = "paragraph"
    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Heading:
    """Title of what follows within a section."""

    kind: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer. `tone`: GOOD only if the reader may rely on what stands in it."""

    kind: ClassVar[str] = "verdict"
    title: str
    text: str
    tone: Tone
    reasons: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with their values."""

    kind: ClassVar[str] = "facts"
    caption: str
    pairs: Sequence[tuple[str, Cell | str]]


@dataclass(frozen=True, slots=True)
class Item:
    """`most`: lines of a terminal of 80 columns; longer text is cut with an ellipsis. `name`: stands for the item in a
    digest that has no room for it."""

    text: str
    sign: str = "-"
    tone: Tone = Tone.PLAIN
    most: int | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list, cut like a table that grows."""

    kind: ClassVar[str] = "items"
    items: Sequence[Item]


@dataclass(frozen=True, slots=True)
class Digest:
    """Items in at most `most` lines of a terminal of 80 columns or more; a narrower one has as many lines more. Where
    there is no room, the last of those with a name are left out, and one or two lines name them behind `more`. Items
    without a name are always shown: they need fewer than `most` lines."""

    kind: ClassVar[str] = "items"
    items: Sequence[Item]
    more: str
    most: int = 12


@dataclass(frozen=True, slots=True)
class WarningBlock:
    """Reason not to trust a number, with its evidence and what to do."""

    kind: ClassVar[str] = "warning"
    cause: str
    evidence: str
    next_step: str


@dataclass(frozen=True, slots=True)
class Code:
    """`line`: text that stands for it in a terminal, which shows nothing for an empty one. `whole`: a terminal breaks
    none of its lines, since they are copied."""

    kind: ClassVar[str] = "code"
    text: str
    language: str = ""
    line: str | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Charts:
    """Charts, drawn only by a medium that shows them. `lines`: drawn in characters, as wide as given, by a terminal."""

    kind: ClassVar[str] = "charts"
    draw: Callable[[], Sequence[Chart | NoChart]]
    side_by_side: bool = False
    lines: Callable[[int], Sequence[str]] | None = None


class HasCharts(Protocol):
    """Report whose charts are drawn when they are read."""

    @property
    def charts(self) -> Sequence[Chart | NoChart]: ...


def section_charts(built: HasCharts, section: str, *, side_by_side: bool = False) -> Charts:
    """Return the charts of a section of the page."""
    return Charts(lambda: [chart for chart in built.charts if chart.section == section], side_by_side)


@dataclass(frozen=True, slots=True)
class Detail:
    """Blocks that a reader may open. A terminal leaves them out."""

    kind: ClassVar[str] = "detail"
    summary: str
    blocks: Sequence[Block]
    opened: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """`printed`: a terminal shows it too; files always do. `key`: its anchor. `aside`: stands behind the title."""

    kind: ClassVar[str] = "section"
    key: str
    title: str
    blocks: Sequence[Block]
    aside: str = ""
    printed: bool = True


Block = (
    Table
    | Tree
    | Paragraph
    | Heading
    | Verdict
    | Facts
    | Items
    | Digest
    | WarningBlock
    | Code
    | Charts
    | Detail
    | Section
)


@dataclass(frozen=True, slots=True)
class Story:
    """A whole report. What stands before the first section is the answer."""

    title: str
    under: str  # line below the title of a file: which run, when, by which Tare
    written_by: str
    blocks: Sequence[Block]


def cell(given: Cell | str) -> Cell:
    return given if isinstance(given, Cell) else Cell(given)
