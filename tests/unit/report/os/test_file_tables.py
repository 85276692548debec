"""The report's part on reads of files: the finding, the table, the chart, and what keeps them from being shown."""

from __future__ import annotations

import copy
import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import vl_convert

from tare.os.level import Level
from tare.os.record import FileReads, Observation, Window
from tare.report.charts.chart import MOST_MARKS, Chart, NoChart
from tare.report.kit.blocks import Block, Charts, Paragraph, Table, Tone, WarningBlock, cell
from tare.report.numbers import THIN
from tare.report.os.file_tables import MOST_ROWS, file_blocks
from tare.report.words import NOTHING

Points = Sequence[tuple[float, int, int, int]]


def file(
    name: str,
    reads: int,
    pages: int,
    missed: int = 0,
    sequential: int = 0,
    *,
    role: str = "query",
    node: str = "server",
    in_flight: int = 0,
    points: Points = (),
    is_known: bool = True,
) -> FileReads:
    return FileReads(
        node=node,
        role=role,
        file=name,
        path=f"/data/{name}" if is_known else None,
        reads=reads,
        pages=pages,
        missed=missed,
        in_flight=in_flight,
        sequential=sequential,
        points=tuple(points),
        thinned=len(points) < reads,
    )


def observation(
    *windows: tuple[str, Sequence[FileReads]],
    level: Level = Level.READS,
    absent: Mapping[str, str] | None = None,
    lost: Mapping[str, int] | None = None,
    is_load: bool = False,
) -> Observation:
    """`windows`: name of the query and the files it read, each in a window 1 ms longer than the one before; `lost`:
    records that found no room, by query."""
    return Observation(
        level=level,
        subject="server",
        dbms="postgresql",
        server_version="18.4",
        url=None,
        started_at="2026-11-29T12:00:00Z",
        online_cpus=2,
        page_bytes=4096,
        kernel="6.18",
        windows=tuple(
            Window(
                name=name,
                number=number,
                is_traced=True,
                started_at="2026-11-29T12:00:00Z",
                wall_ns=10**9 + number * 10**6,
                read_ns=2 * 10**9,
                files=tuple(files),
                lost={"reads": (lost or {}).get(name, 0)},
            )
            for number, (name, files) in enumerate(windows)
        ),
        queries={} if is_load else {name: "SELECT 1" for name, _ in windows},
        absent=dict(absent or {}),
    )


def findings(blocks: Sequence[Block]) -> list[str]:
    return [block.text for block in blocks if isinstance(block, Paragraph) and block.tone is Tone.STRONG]


def tables(blocks: Sequence[Block]) -> list[Table]:
    return [block for block in blocks if isinstance(block, Table)]


def rows(table: Table) -> list[list[str]]:
    assert all(len(row) == len(table.columns) for row in table.rows)
    return [[cell(value).text for value in row] for row in table.rows]


def charts(blocks: Sequence[Block]) -> list[Chart | NoChart]:
    return [chart for block in blocks if isinstance(block, Charts) for chart in block.draw()]


def chart(blocks: Sequence[Block]) -> Chart:
    (found,) = charts(blocks)
    assert isinstance(found, Chart)
    return found


def svg(drawn: Chart) -> str:
    spec: dict[str, Any] = copy.deepcopy(drawn.spec)
    return vl_convert.vegalite_to_svg(spec | {"width": 600, "datasets": dict(drawn.data)})


SCATTERED = file("lineitem", 60_112, 120_224, missed=12_022, sequential=30)


# The finding --------------------------------------------------------------------------
def test_the_finding_says_whether_a_table_is_read_in_sequence() -> None:
    assert findings(file_blocks(observation(("q9", [SCATTERED])))) == [
        f"q9 reads lineitem in 60{THIN}112 requests of 8.0 KiB, 0.050% of them in sequence. "
        "Of the pages read, 10% missed the page cache."
    ]


def test_a_file_among_others_has_its_share_of_the_pages() -> None:
    files = [file("lineitem", 10, 300, sequential=9), file("orders", 10, 100)]
    assert findings(file_blocks(observation(("q1", files)))) == [
        "q1 reads lineitem in 10 requests of 120 KiB, 90% of them in sequence; these are 75% of all pages that it "
        "reads. Of the pages read, 0% missed the page cache."
    ]


def test_roles_and_nodes_of_a_file_are_added_up_in_the_finding() -> None:
    files = [
        file("orders", 10, 150),
        file("lineitem", 5, 100, role="prefetcher"),
        file("lineitem", 5, 100, node="shard 2"),
    ]
    (text,) = findings(file_blocks(observation(("q1", files))))
    assert text.startswith("q1 reads lineitem in 10 requests of 80.0 KiB")


def test_a_query_without_reads_has_a_sentence_and_no_table() -> None:
    blocks = file_blocks(observation(("q1", [])))
    assert findings(blocks) == ["q1 reads no file by way of the page cache."]
    assert len(blocks) == 1


# The table ----------------------------------------------------------------------------
def test_files_are_listed_by_role_most_pages_first() -> None:
    files = [
        file("orders", 4, 4, missed=1, in_flight=2, role="prefetcher"),
        file("lineitem", 8, 256, sequential=6),
        file("orders", 2, 2, sequential=1),
    ]
    (table,) = tables(file_blocks(observation(("q1", files))))
    assert table.caption == "Buffered reads of files: q1"
    assert rows(table) == [
        ["query", "lineitem", "8", "1.0 MiB", "128 KiB", "75%", "0%", "0%"],
        ["prefetcher", "orders", "4", "16.0 KiB", "4.0 KiB", "0%", "25%", "50%"],
        ["query", "orders", "2", "8.0 KiB", "4.0 KiB", "50%", "0%", "0%"],
    ]


def test_executions_of_a_query_are_averaged() -> None:
    executions = [("q1", [file("lineitem", reads, 2 * reads)]) for reads in (1, 2)]
    (table,) = tables(file_blocks(observation(*executions)))
    assert table.caption == "Buffered reads of files: q1, mean of two executions"
    assert rows(table)[0][:5] == ["query", "lineitem", "1.5", "12.0 KiB", "8.0 KiB"]


def test_windows_of_a_load_are_added_up() -> None:
    windows = [("load", [file("lineitem", reads, 2 * reads)]) for reads in (1, 2)]
    (table,) = tables(file_blocks(observation(*windows, is_load=True)))
    assert table.caption == "Buffered reads of files: load, sum of two windows"
    assert rows(table)[0][2:4] == ["3", "24.0 KiB"]


def test_files_without_a_row_are_added_up() -> None:
    files = [file(f"table {at}", 1, 100 - at) for at in range(MOST_ROWS + 3)]
    (table,) = tables(file_blocks(observation(("q1", files))))
    assert len(table.rows) == MOST_ROWS + 1
    pages = sum(100 - at for at in range(MOST_ROWS, MOST_ROWS + 3))
    assert rows(table)[-1][:4] == ["three others", NOTHING, "3", f"{pages * 4 / 1024:.1f} MiB"]


def test_pages_missed_by_a_read_before_the_window_divide_by_nothing() -> None:
    blocks = file_blocks(observation(("q1", [file("lineitem", 0, 0, missed=3)])))
    assert findings(blocks) == ["q1 reads no file by way of the page cache."]
    assert rows(tables(blocks)[0])[0][4:] == [NOTHING] * 4


def test_files_without_a_name_are_one() -> None:
    files = [file(f"file {inode} on 8:1", 5, 10, sequential=4, is_known=False) for inode in range(20)]
    blocks = file_blocks(observation(("q1", [*files, file("lineitem", 3, 100)])))
    assert [row[1:3] for row in rows(tables(blocks)[0])] == [
        ["files without a name", "100"],
        ["lineitem", "3"],
    ]
    assert findings(blocks)[0].startswith(
        "q1 reads files without a name in 100 requests of 8.0 KiB, 80% of them"
    )


def test_each_query_has_a_table() -> None:
    blocks = file_blocks(observation(("q1", [SCATTERED]), ("q2", []), ("q3", [SCATTERED])))
    assert [table.caption[-2:] for table in tables(blocks)] == ["q1", "q3"]
    assert len(findings(blocks)) == 3


# What is not shown --------------------------------------------------------------------
@pytest.mark.parametrize("level", [level for level in Level if level is not Level.READS])
def test_other_levels_have_no_reads(level: Level) -> None:
    assert file_blocks(observation(("q1", []), level=level)) == []


def test_a_kernel_without_the_tracepoint_is_named() -> None:
    (block,) = file_blocks(
        observation(("q1", []), absent={"cache": "the kernel has no mm_filemap_get_pages"})
    )
    assert isinstance(block, Paragraph)
    assert block.text == "Reads of files are not observed: the kernel has no mm_filemap_get_pages."


def test_lost_reads_refuse_the_query_and_no_other() -> None:
    blocks = file_blocks(observation(("q1", [SCATTERED]), ("q9", [SCATTERED]), lost={"q9": 40}))
    (warning,) = (block for block in blocks if isinstance(block, WarningBlock))
    assert warning.cause == "reads of files were lost"
    assert warning.evidence == (f"q9: 40 of 60{THIN}152 records found no room in the trace's buffer")
    assert "there is no table of reads for q9" in warning.next_step
    assert [table.caption for table in tables(blocks)] == ["Buffered reads of files: q1"]
    assert len(charts(blocks)) == 1


# The chart ----------------------------------------------------------------------------
def scan(number: int, missed: int = 0) -> Points:
    return [(float(at), 32 * at, 32, missed) for at in range(number)]


def test_the_chart_has_a_band_for_each_file_and_marks_misses() -> None:
    scattered = [(float(at), random.Random(at).randrange(900), 2, at % 2 * 2) for at in range(50)]
    files = [
        file("lineitem", 100, 3200, points=scan(100)),
        file("orders", 50, 100, points=scattered),
        file("tiny", 1, 1, points=[(5.0, 0, 1, 1)]),
    ]
    drawn = chart(file_blocks(observation(("q9", files))))
    assert drawn.title == "Pages read over time: q9"
    (found,) = drawn.data.values()
    assert len(found) == drawn.marks == 151
    assert {row["kind"] for row in found if row["file"] == "lineitem"} == {"present or in flight"}
    assert sum(row["kind"] == "missed" for row in found) == 26
    bands = {
        name: [row["height"] for row in found if row["file"] == name]
        for name in ("lineitem", "orders", "tiny")
    }
    assert 2 <= min(bands["lineitem"]) < max(bands["lineitem"]) < 3
    assert 1 <= min(bands["orders"]) < max(bands["orders"]) < 2
    assert bands["tiny"] == [0]
    picture = svg(drawn)
    for text in ("lineitem", "orders", f"3{THIN}199", "page of the file", "time in the execution", "missed"):
        assert text in picture


def test_the_chart_shows_four_files_and_says_so() -> None:
    files = [file(f"table {at}", 3, 96, points=scan(3)) for at in range(6)]
    drawn = chart(file_blocks(observation(("q1", files))))
    assert "Shown are the 4 files with most pages of 6." in drawn.caption
    (found,) = drawn.data.values()
    assert len({row["file"] for row in found}) == 4


def test_a_chart_of_many_reads_is_thinned_and_says_so() -> None:
    drawn = chart(file_blocks(observation(("q1", [file("lineitem", 9000, 9000, points=scan(4000))]))))
    assert drawn.marks <= MOST_MARKS
    assert f"of 9{THIN}000 reads, evenly chosen" in drawn.caption


def test_the_charts_of_many_queries_share_the_pages_room() -> None:
    queries = [(f"q{at}", [file("lineitem", 4000, 4000, points=scan(4000))]) for at in range(22)]
    drawn = [one for one in charts(file_blocks(observation(*queries))) if isinstance(one, Chart)]
    assert len({one.name for one in drawn}) == 22
    assert sum(one.marks for one in drawn) <= 16_000


def test_the_chart_is_of_the_execution_of_the_median_time() -> None:
    executions = [("q1", [file("lineitem", reads, reads, points=scan(reads))]) for reads in (1, 2, 3)]
    assert chart(file_blocks(observation(*executions))).marks == 2


def test_an_execution_without_reads_has_no_chart() -> None:
    blocks = file_blocks(observation(("q1", []), ("q1", [SCATTERED])))
    (missing,) = charts(blocks)
    assert isinstance(missing, NoChart)
