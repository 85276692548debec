"""Buffered reads of files in the report: which files a query reads, in which order, and what the page cache lacks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from tare.os.record import FileReads, Observation, Window
from tare.report.charts.chart import Chart, NoChart
from tare.report.kit.blocks import Block, Charts, Column, Kind, Paragraph, Row, Table, Tone, WarningBlock
from tare.report.numbers import bytes_text, fixed, thousands
from tare.report.os.file_charts import MOST_MARKS_OF_ALL, address_chart
from tare.report.words import NOTHING, counted, joined, two_digits

MOST_ROWS = 8
"""Files of a query with a row of their own."""

UNNAMED = "files without a name"

_BRIEF = 4

READING = (
    "A read is in sequence if it begins at the page after the last one that the same thread read of this file: the "
    "kernel's read-ahead follows each open file of a process by itself. Missed pages are brought in by the read "
    "itself; pages in flight were on their way from the disk, and the read waited for them. The rest of the pages were "
    "in the page cache. Files without a name were opened and closed again within the window, as temporary files are. "
    "Not counted are reads that bypass the page cache (O_DIRECT) and page faults of mapped files."
)


@dataclass(frozen=True, slots=True)
class FileSums:
    """Sums over the reads of a file, or of several."""

    reads: int = 0
    pages: int = 0
    missed: int = 0
    in_flight: int = 0
    sequential: int = 0

    @staticmethod
    def of(files: Iterable[FileReads]) -> FileSums:
        """Return the sums over all of them."""
        return sum(
            (FileSums(one.reads, one.pages, one.missed, one.in_flight, one.sequential) for one in files),
            FileSums(),
        )

    def __add__(self, other: FileSums) -> FileSums:
        return FileSums(
            self.reads + other.reads,
            self.pages + other.pages,
            self.missed + other.missed,
            self.in_flight + other.in_flight,
            self.sequential + other.sequential,
        )


@dataclass(frozen=True, slots=True)
class QueryReads:
    """Reads of files in the traced windows of a query, or of a load."""

    name: str
    windows: tuple[Window, ...]
    is_query: bool  # a load has windows; a query has executions
    page_bytes: int

    @property
    def files(self) -> list[FileReads]:
        """Reads of all windows."""
        return [file for window in self.windows for file in window.files]

    @property
    def lost(self) -> int:
        return sum(window.lost.get("reads", 0) for window in self.windows)

    @property
    def divisor(self) -> int:
        """Number by which sums are divided: a query's are given for one execution, a load's as a whole."""
        return len(self.windows) if self.is_query else 1

    def sums(self) -> dict[tuple[str, str], FileSums]:
        """Sums by role and file over nodes and windows, most pages first."""
        parts: defaultdict[tuple[str, str], list[FileReads]] = defaultdict(list)
        for file in self.files:
            parts[file.role, _name(file)].append(file)
        found = {key: FileSums.of(files) for key, files in parts.items()}
        return dict(sorted(found.items(), key=lambda item: (-item[1].pages, item[0])))


def file_blocks(observation: Observation) -> list[Block]:
    """Return the report's part on reads of files. Empty if the observation did not request them."""
    if not observation.level.has_reads:
        return []
    if "cache" in observation.absent:
        return [Paragraph(f"Reads of files are not observed: {observation.absent['cache']}.")]
    queries = query_reads(observation)
    return [*_losses(queries), *_blocks([query for query in queries if not query.lost])]


def query_reads(observation: Observation) -> list[QueryReads]:
    """Return the reads of each query that was traced, in the order of their first executions."""
    windows: defaultdict[str, list[Window]] = defaultdict(list)
    for window in observation.windows:
        if window.is_traced:
            windows[window.name].append(window)
    return [
        QueryReads(name, tuple(group), name in observation.queries, observation.page_bytes)
        for name, group in windows.items()
    ]


def finding(query: QueryReads) -> str:
    """Return the main result of a query in a sentence or two."""
    by_file: defaultdict[str, list[FileReads]] = defaultdict(list)
    for one in query.files:
        by_file[_name(one)].append(one)
    sums = {file: FileSums.of(reads) for file, reads in by_file.items()}
    total = FileSums.of(query.files)
    if not total.reads:
        return f"{query.name} reads no file by way of the page cache."
    file = max(sums, key=lambda one: sums[one].pages)
    read = sums[file]
    number = _number(read.reads, query)
    text = (
        f"{query.name} reads {file} in {number} {'request' if number == '1' else 'requests'} of {_size(read, query)}, "
        f"{two_digits(read.sequential / read.reads)} of them in sequence"
    )
    if read.pages < total.pages:
        text += f"; these are {two_digits(read.pages / total.pages)} of all pages that it reads"
    return f"{text}. Of the pages read, {two_digits(total.missed / total.pages)} missed the page cache."


def _name(file: FileReads) -> str:
    """Return the file's name. Files that no source names are one."""
    return UNNAMED if file.path is None else file.file


def _losses(queries: Sequence[QueryReads]) -> Iterator[Block]:
    lossy = [query for query in queries if query.lost]
    if lossy:
        evidence = (
            f"{query.name}: {thousands(query.lost)} of "
            f"{thousands(query.lost + FileSums.of(query.files).reads)} records found no room in the trace's buffer"
            for query in lossy
        )
        yield WarningBlock(
            "reads of files were lost",
            "; ".join(evidence),
            f"there is no table of reads for {joined([query.name for query in lossy])}: a gap in the record looks like "
            "a read out of sequence; run again with fewer programs beside it, or observe fewer nodes",
        )


def _blocks(queries: Sequence[QueryReads]) -> Iterator[Block]:
    for query in queries:
        yield Paragraph(finding(query), Tone.STRONG)
        if query.files:
            yield file_table(query)
    reading = [query for query in queries if query.files]
    if reading:
        yield Paragraph(READING, Tone.QUIET)
        yield Charts(partial(_charts, reading))


def _charts(queries: Sequence[QueryReads]) -> list[Chart | NoChart]:
    most = MOST_MARKS_OF_ALL // len(queries)
    return [
        address_chart(query.name, number, _typical(query.windows), most)
        for number, query in enumerate(queries, 1)
    ]


def _typical(windows: Sequence[Window]) -> Window:
    """Return the window of the median wall time, the lower one of two."""
    return sorted(windows, key=lambda window: window.wall_ns)[(len(windows) - 1) // 2]


def file_table(query: QueryReads) -> Table:
    """Files of a query by role, most pages first; those without a row of their own are added up."""
    sums = query.sums()
    rows: list[Row | str] = [
        [role, file, *_cells(found, query)] for (role, file), found in list(sums.items())[:MOST_ROWS]
    ]
    if rest := list(sums.values())[MOST_ROWS:]:
        others = counted(len(rest), "other")
        rows.append([others, NOTHING, *_cells(sum(rest, FileSums()), query)])
    number = len(query.windows)
    if query.is_query:
        span = f", mean of {counted(number, 'execution')}" if number > 1 else ""
    else:
        span = f", sum of {counted(number, 'window')}" if number > 1 else ""
    return Table(
        f"Buffered reads of files: {query.name}{span}",
        [
            Column("role", Kind.NAME),
            Column("file", Kind.NAME),
            Column("reads"),
            Column("bytes"),
            Column("size of a read"),
            Column("in sequence"),
            *(Column(heading, group="of its pages") for heading in ("missed", "in flight")),
        ],
        rows,
        brief=_BRIEF,
    )


def _cells(sums: FileSums, query: QueryReads) -> list[str]:
    return [
        _number(sums.reads, query),
        bytes_text(sums.pages * query.page_bytes / query.divisor),
        _size(sums, query),
        _share(sums.sequential, sums.reads),
        _share(sums.missed, sums.pages),
        _share(sums.in_flight, sums.pages),
    ]


def _number(number: int, query: QueryReads) -> str:
    """A count for one execution: with a decimal where it is a fraction below 10."""
    mean = number / query.divisor
    return fixed(mean, 0 if mean >= 10 or mean == round(mean) else 1)


def _size(sums: FileSums, query: QueryReads) -> str:
    return bytes_text(sums.pages * query.page_bytes / sums.reads) if sums.reads else NOTHING


def _share(part: int, whole: int) -> str:
    return two_digits(part / whole) if whole else NOTHING
