"""The story of an observation: the bottlenecks, the overhead, the paper's tables, and checks of the counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tare.os.level import Level
from tare.report.kit.blocks import (
    Block,
    Charts,
    Code,
    Column,
    Facts,
    Item,
    Items,
    Kind,
    Paragraph,
    Section,
    Story,
    Table,
    Tone,
    Verdict,
    WarningBlock,
)
from tare.report.numbers import percent, thousands
from tare.report.os import paper_tables, tables
from tare.report.os.document import CheckKind, CheckResult, OsReport, RoleReport
from tare.report.os.paper import TABLE_3
from tare.report.os.sentences import (
    CHECK_REASONS,
    CHECK_SIDES,
    bottleneck_sentence,
    checks_sentence,
    finding_sentence,
    headline,
    overhead_sentence,
)
from tare.report.words import counted, dbms_name, joined, sentence

if TYPE_CHECKING:
    from tare.report.charts.chart import Chart, NoChart

FEW_QUERIES = 3
"""Queries up to which a terminal shows the calls of each role."""

TIME_READING = (
    "The parts add up to the time present; the residue is what no part explains. CPU time outside of system calls "
    "counts as user time: page faults and interrupts are in it, except at level proc."
)
PAPER_READING = (
    "A jiffy is 10 ms. Paper: DB2 under TPC-H at 30 GB, on one of eight nodes, each of two CPUs, under Linux 2.4.8 "
    "(2002)."
)
READ_READING = (
    "Time on a CPU alone: copying, page cache and bookkeeping. Waits for the disk are not in it. Reads of sockets by "
    "read and readv are."
)
CACHE_READING = (
    "Ready: in the page cache when requested. In flight: brought in already, and the read waited for it; at level "
    "light it is in ready. Missed: brought in by the read itself. Read ahead: brought in beyond the request. Mapped: "
    "brought in by page faults of mapped files."
)
WRITE_BACK_READING = (
    "* Requests of the whole machine that threads of the kernel submitted, such as write-back."
)
CHECK_READING = (
    "Results of read calls are of read, pread64, readv, preadv, preadv2, sendfile and copy_file_range, as the kernel "
    "counts rchar: sockets read by read or readv are in both, recvfrom and recvmsg in neither. Write calls "
    "likewise."
)


def story(report: OsReport) -> Story:
    observation = report.observation
    begun = observation.started_at[:16].replace("T", " ")
    return Story(
        title=report.title,
        under=f"begun {begun} UTC · level {observation.level.value} · written {report.written_at[:10]} by "
        f"Tare {report.written_by}",
        written_by=report.written_by,
        blocks=list(_blocks(report)),
    )


def _blocks(report: OsReport) -> Iterator[Block]:
    yield Verdict("", headline(report), _tone(report))
    if len(report.queries) > 1:
        yield Items([Item(bottleneck_sentence(query, report.has_nodes)) for query in report.queries])
    yield Paragraph(overhead_sentence(report))
    yield from _stopped(report)
    yield from _section("findings", "Findings", _findings(report))
    yield from _section("time", "Time", _time(report))
    yield from _section("absolute", "Absolute times", _present(tables.absolute_table(report)), printed=False)
    yield from _section("system", "System profile", _profile(report))
    yield from _section("reads", "Read calls", _reads(report))
    yield from _section("calls", "System calls", _calls(report), printed=len(report.queries) <= FEW_QUERIES)
    yield from _section("cache", "Page cache", _cache(report))
    yield from _section("disk", "Disk", _disk(report))
    yield from _section("sockets", "Sockets", _sockets(report))
    yield from _section("messages", "Messages", _messages(report))
    yield from _section("files", "Files", _files(report))
    yield from _section(
        "overhead", "Overhead by query", _present(tables.overhead_table(report)), printed=False
    )
    yield from _section("checks", "Checks", _checks(report))
    yield from _section("all-checks", "Every check", _all_checks(report), printed=False)
    yield from _section("absent", "Not observed", _not_observed(report))
    yield from _section("conditions", "Conditions", [Facts("", list(_facts(report)))])
    yield from _section("texts", "Queries", _statements(report), printed=False)


def _section(key: str, title: str, blocks: Sequence[Block], printed: bool = True) -> Iterator[Section]:
    if blocks:
        yield Section(key, title, blocks, printed=printed)


def _present(table: Table | None) -> list[Block]:
    return [] if table is None else [table]


def _tone(report: OsReport) -> Tone:
    if not report.queries:
        return Tone.BAD
    return Tone.GOOD if report.is_reliable else Tone.CAUTION


def _stopped(report: OsReport) -> Iterator[Block]:
    if report.observation.is_stopped:
        yield WarningBlock(
            "stopped before its end",
            f"{counted(len(report.observation.windows), 'window')} had been completed",
            "run it again for all executions",
        )


def _findings(report: OsReport) -> list[Block]:
    items = [
        Item(f"{finding.query}, {finding.kind.value}: {finding_sentence(finding, report.has_nodes)}")
        for finding in report.findings
    ]
    return [Items(items)] if items else []


# Tables, or why they are refused ---------------------------------------------------------
def _loss_warnings(report: OsReport, part: str, table: str) -> list[Block]:
    """A warning in the place of a table, or of those of its rows that rest on lost events."""
    queries = [query for query in report.queries if query.lost.get(part)]
    if not queries:
        return []
    events = joined([f"{query.name} {thousands(query.lost[part])}" for query in queries])
    return [
        WarningBlock(
            f"{table}: left out where events were lost",
            f"events of {part} that found no room, by query: {events}",
            "observe again at a lower level, or one query at a time",
        )
    ]


def _resting_on(report: OsReport, parts: Sequence[str], table: str) -> list[Block]:
    return [block for part in parts for block in _loss_warnings(report, part, table)]


def _time(report: OsReport) -> list[Block]:
    refused = _resting_on(report, ["threads"], "times by role")
    table = tables.time_table(report)
    if table is None:
        return refused
    return [
        Charts(partial(_charts, "resources", report)),
        *refused,
        table,
        Paragraph(TIME_READING, Tone.QUIET),
    ]


def _profile(report: OsReport) -> list[Block]:
    return _with_reading(
        _resting_on(report, ["threads", "calls"], "Table 1"),
        [paper_tables.profile_table(report), paper_tables.top_calls_table(report)],
        [PAPER_READING] if any(query.profile and query.profile.paper for query in report.queries) else [],
    )


def _reads(report: OsReport) -> list[Block]:
    return _with_reading(
        _resting_on(report, ["threads", "calls"], "Table 2"),
        [paper_tables.read_table(report)],
        [READ_READING],
    )


def _calls(report: OsReport) -> list[Block]:
    refused = _resting_on(report, ["threads", "calls"], "calls by role")
    return _with_reading(refused, [tables.calls_table(report)], [])


def _cache(report: OsReport) -> list[Block]:
    refused = _resting_on(report, ["threads", "cache"], "Table 3")
    return _with_reading(
        refused,
        [tables.cache_table(report)],
        [CACHE_READING, *_paper_hits(report)],
        _if_observed(report, lambda role: role.cache, "No page was read through the page cache."),
    )


def _paper_hits(report: OsReport) -> Iterator[str]:
    hits = [
        f"{query.name} {percent(TABLE_3[query.name.lower()])}"
        for query in report.queries
        if query.name.lower() in TABLE_3
    ]
    if hits:
        yield (
            f"The paper's Table 3, requests that hit the file cache: prefetchers {', '.join(hits)}; agents 100% in "
            "every query."
        )


def _disk(report: OsReport) -> list[Block]:
    table = tables.disk_table(report)
    has_write_back = any(query.write_back is not None for query in report.queries)
    blocks = _with_reading(
        _resting_on(report, ["threads", "disk"], "disk requests and Figure 2"),
        [table],
        [WRITE_BACK_READING] if has_write_back else [],
        _if_observed(report, lambda role: role.disk, "No block request was completed."),
    )
    return blocks if table is None else [*blocks, Charts(partial(_charts, "requests", report))]


def _sockets(report: OsReport) -> list[Block]:
    refused = _resting_on(report, ["threads", "sockets"], "sockets")
    return _with_reading(
        refused,
        [tables.sockets_table(report)],
        [],
        _if_observed(report, lambda role: role.sockets, "No socket was used."),
    )


def _with_reading(
    refused: Sequence[Block], found: Sequence[Table | None], readings: Sequence[str], nothing: str = ""
) -> list[Block]:
    """The tables that there are, with how they are read. `nothing`: stands for counts that are all 0."""
    shown = [table for table in found if table is not None]
    quiet = [Paragraph(reading, Tone.QUIET) for reading in readings] if shown else []
    empty = [Paragraph(nothing)] if nothing and not shown else []
    return [*refused, *shown, *empty, *quiet]


def _if_observed(report: OsReport, part: Callable[[RoleReport], object], text: str) -> str:
    """Return the text if a role has this part."""
    is_observed = any(part(role) is not None for query in report.queries for role in query.roles)
    return text if is_observed else ""


def _messages(report: OsReport) -> list[Block]:
    refused = _resting_on(report, ["messages"], "messages, Table 5, Figures 4 and 5")
    if refused or not any(window.messages for window in report.observation.windows):
        return refused
    from tare.report.os.traffic import traffic_blocks

    return list(traffic_blocks(report.observation))


def _files(report: OsReport) -> list[Block]:
    if not any(window.files for window in report.observation.windows):
        return []
    from tare.report.os.file_tables import file_blocks

    return file_blocks(report.observation)


def _checks(report: OsReport) -> list[Block]:
    """All checks of a few queries, else those that are not within 1%."""
    if not report.checks:
        return []
    outside = [check for check in report.checks if check.result is CheckResult.OUTSIDE]
    shown = report.checks if len(report.queries) <= FEW_QUERIES else outside
    has_calls = any(check.kind is CheckKind.READ_BYTES for check in report.checks)
    reasons = [
        Item(f"{CHECK_SIDES[kind][0]} and {CHECK_SIDES[kind][1]} can differ by: {CHECK_REASONS[kind]}")
        for kind in dict.fromkeys(check.kind for check in outside)
    ]
    return [
        Paragraph(checks_sentence(report)),
        *_present(tables.checks_table(shown)),
        *([Items(reasons)] if reasons else []),
        *([Paragraph(CHECK_READING, Tone.QUIET)] if has_calls else []),
    ]


def _all_checks(report: OsReport) -> list[Block]:
    return _present(tables.checks_table(report.checks)) if len(report.queries) > FEW_QUERIES else []


# What is not there, and the conditions ---------------------------------------------------
def _not_observed(report: OsReport) -> list[Block]:
    observation = report.observation
    blocks: list[Block] = []
    if observation.level is Level.PROC:
        blocks.append(
            Paragraph(
                "Level proc has no table of calls, page cache, disk requests or sockets: these need a deeper level."
            )
        )
    if observation.absent:
        blocks.append(
            Table(
                "Parts that are not observed",
                [Column("part", Kind.NAME), Column("why", Kind.PROSE)],
                [[part, why] for part, why in observation.absent.items()],
            )
        )
    if observation.lacks:
        blocks.append(Paragraph(f"A deeper level needs: {sentence(observation.lacks)}"))
    if observation.failures:
        blocks.append(
            Table(
                "Queries that could not be run",
                [Column("query", Kind.NAME), Column("error", Kind.PROSE)],
                [[query, error] for query, error in observation.failures.items()],
            )
        )
    if observation.notes:
        blocks.append(Items([Item(sentence(note)) for note in observation.notes]))
    return blocks


def _facts(report: OsReport) -> Iterator[tuple[str, str]]:
    observation = report.observation
    yield "observed", observation.subject
    if observation.dbms is not None:
        yield "server", f"{dbms_name(observation.dbms)} {observation.server_version or ''}".rstrip()
    yield "level", observation.level.value
    yield "windows", str(len(observation.windows))
    yield "caches", "emptied before each execution" if observation.cold else "not emptied"
    if observation.read_ahead_kb is not None:
        yield "read-ahead", f"{thousands(observation.read_ahead_kb)} KiB, of the device that holds the data"
    yield "kernel", observation.kernel
    yield "CPUs", str(observation.online_cpus)
    yield "page", f"{thousands(observation.page_bytes)} B"


def _statements(report: OsReport) -> list[Block]:
    return [Code(f"-- {name}\n{text}", "sql") for name, text in report.observation.queries.items()]


def _charts(which: str, report: OsReport) -> Sequence[Chart | NoChart]:
    from tare.report.os.charts import request_charts, resource_charts

    drawers: dict[str, Callable[[OsReport], Sequence[Chart | NoChart]]] = {
        "resources": resource_charts,
        "requests": request_charts,
    }
    return drawers[which](report)
