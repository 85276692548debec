"""Chart of the places that a query reads in its files over time, and of those that the page cache lacks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tare.os.reads import evenly
from tare.os.record import FileReads, Window
from tare.report.charts.chart import MOST_POINTS, Chart, NoChart, Row
from tare.report.charts.theme import NUMBER, PALETTE, spec
from tare.report.numbers import thousands
from tare.report.words import counted

SECTION = "files"
MOST_FILES = 4
MOST_MARKS_OF_ALL = 16_000
"""Marks of the charts of all queries, for the page's size."""

PRESENT, MISSED = "present or in flight", "missed"
_BAND = 0.9
"""Height of a file's band; the rest keeps it apart from the next one."""


@dataclass(frozen=True, slots=True)
class _Band:
    """A file with its place on the axis: bands lie above each other, the file with most pages at the top."""

    file: str
    base: int
    last_page: int
    reads: int
    points: Sequence[tuple[str, tuple[float, int, int, int]]]  # role, and the record's point

    def height(self, page: int) -> float:
        return self.base + _BAND * page / max(1, self.last_page)


def address_chart(query: str, number: int, window: Window, most: int) -> Chart | NoChart:
    """Pages of the files over the time of a window: the paper's Figure 3. `number`: keeps the chart's name apart from
    those of other queries. `most`: marks."""
    title = f"Pages read over time: {query}"
    bands = _bands(window.files)
    if not bands:
        return NoChart(
            title, "the execution of the median time read no file by way of the page cache", SECTION
        )
    share = max(1, min(most, MOST_POINTS) // len(bands))
    rows: list[Row] = [
        {
            "file": band.file,
            "role": role,
            "at": at_ms,
            "height": band.height(page),
            "page": page,
            "pages": pages,
            "missed": missed,
            "kind": MISSED if missed else PRESENT,
        }
        for band in bands
        for role, (at_ms, page, pages, missed) in evenly(band.points, share)
    ]
    reads = sum(band.reads for band in bands)
    is_thinned = len(rows) < reads
    files = len({file.file for file in window.files})
    return Chart(
        name=f"file-pages-{number}",
        title=title,
        caption="Each mark is a read at its first page; each file has a band from its first page to the last one read. "
        "A rising line is a scan in sequence; a cloud is access at random. Triangles are reads of which pages "
        "missed the page cache."
        + (f" Shown are the {len(bands)} files with most pages of {files}." if files > len(bands) else "")
        + (
            f" Shown are {thousands(len(rows))} of {thousands(reads)} reads, evenly chosen."
            if is_thinned
            else ""
        ),
        spec=spec(
            90 * len(bands) + 40,
            data={"name": f"file-pages-{number}"},
            mark={"type": "point", "filled": True},
            encoding=_encoding(bands),
        ),
        data={f"file-pages-{number}": rows},
        marks=len(rows),
        alt=f"Pages of {counted(len(bands), 'file')} that {query} reads over time; sums stand in the table above.",
        section=SECTION,
    )


def _bands(files: Sequence[FileReads]) -> list[_Band]:
    """Bands of the files with most pages, each over all nodes and roles."""
    parts: defaultdict[str, list[FileReads]] = defaultdict(list)
    for file in files:
        if file.points:
            parts[file.file].append(file)
    names = sorted(parts, key=lambda name: -sum(one.pages for one in parts[name]))[:MOST_FILES]
    bands = []
    for place, name in enumerate(names):
        points = sorted(
            ((one.role, point) for one in parts[name] for point in one.points), key=lambda found: found[1]
        )
        bands.append(
            _Band(
                file=name,
                base=len(names) - 1 - place,
                last_page=max(page + max(1, pages) - 1 for _, (_, page, pages, _) in points),
                reads=sum(one.reads for one in parts[name]),
                points=points,
            )
        )
    return bands


def _encoding(bands: Sequence[_Band]) -> dict[str, Any]:
    files = [band.file for band in bands]
    is_missed = f"datum.kind === '{MISSED}'"
    return {
        "x": {
            "field": "at",
            "type": "quantitative",
            "title": "time in the execution, ms",
            "axis": {"format": NUMBER, "tickCount": 8, "labelOverlap": "greedy"},
        },
        "y": {
            "field": "height",
            "type": "quantitative",
            "title": "page of the file",
            "scale": {"domain": [0, len(bands) - 1 + _BAND], "nice": False},
            "axis": _page_axis(bands),
        },
        "color": {
            "field": "file",
            "type": "nominal",
            "title": "file",
            "scale": {"domain": files, "range": list(PALETTE[: len(files)])},
        },
        "shape": {
            "field": "kind",
            "type": "nominal",
            "title": "pages",
            "scale": {"domain": [PRESENT, MISSED], "range": ["circle", "triangle-up"]},
        },
        "size": {"condition": {"test": is_missed, "value": 44}, "value": 12},
        "opacity": {"condition": {"test": is_missed, "value": 1}, "value": 0.45},
        "tooltip": [
            {"field": "file"},
            {"field": "role"},
            {"field": "at", "title": "ms", "format": ".3f"},
            {"field": "page", "title": "first page", "format": ","},
            {"field": "pages"},
            {"field": "missed"},
        ],
    }


def _page_axis(bands: Sequence[_Band]) -> dict[str, Any]:
    """Ticks at both ends of each band, with the pages that they stand for."""
    texts = {band.height(page): thousands(page) for band in bands for page in (0, band.last_page)}
    labels = "".join(f"abs(datum.value - {value:.3f}) < 0.001 ? '{text}' : " for value, text in texts.items())
    return {"values": list(texts), "labelExpr": f"{labels}''", "labelOverlap": False, "grid": True}
