"""The paper's Tables 1 and 2 of an observation, each query with the paper's row where it has one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tare.report.kit.blocks import Cell, Column, Kind, Row, Table, Tone
from tare.report.numbers import percent, significant
from tare.report.os.document import OsReport, PaperProfile, Rate, SystemProfile
from tare.report.os.tables import Rows, share_text
from tare.report.words import NOTHING


def profile_table(report: OsReport) -> Table | None:
    """Table 1 without the calls."""
    rows: Rows = []
    for query in report.queries:
        if query.profile is not None:
            rows.extend(_profile_rows(query.name, query.profile))
    if not rows:
        return None
    return Table(
        "Table 1: all roles together; user, system and CPU use during I/O: 100% is one CPU; blocks of 4 KiB",
        [
            Column("query", Kind.NAME),
            Column("", Kind.NAME),
            *map(
                Column,
                ("user", "system", "faults", "blocks read", "blocks written", "packets sent",
                 "packets received", "CPU in I/O"),
            ),
        ],
        rows,
        grouped=True,
    )  # fmt: skip


def _profile_rows(name: str, profile: SystemProfile) -> Iterator[Row]:
    rates = (
        profile.faults,
        profile.blocks_read,
        profile.blocks_written,
        profile.packets_sent,
        profile.packets_received,
    )

    def each(figure: Callable[[Rate], float]) -> list[str]:
        return [NOTHING if rate is None else significant(figure(rate)) for rate in rates]

    yield [
        name,
        "per jiffy",
        share_text(profile.user),
        share_text(profile.system),
        *each(lambda rate: rate.per_jiffy),
        share_text(profile.cpu_during_io),
    ]
    yield [name, "per second", "", "", *each(lambda rate: rate.per_second), ""]
    if profile.paper is not None:
        yield _paper_row(name, profile.paper)


def _paper_row(name: str, paper: PaperProfile) -> Row:
    figures = (
        paper.faults,
        paper.blocks_read,
        paper.blocks_written,
        paper.packets_sent,
        paper.packets_received,
    )
    shares = (percent(paper.user), percent(paper.system), percent(paper.cpu_during_io))
    return [
        name,
        Cell("paper", tone=Tone.QUIET),
        shares[0],
        shares[1],
        *(significant(figure) for figure in figures),
        shares[2],
    ]


def top_calls_table(report: OsReport) -> Table | None:
    """The calls of Table 1."""
    rows: Rows = []
    for query in report.queries:
        profile = query.profile
        if profile is None or profile.calls is None:
            continue
        rows.append(
            [query.name, "here", ", ".join(f"{call.name} {percent(call.share)}" for call in profile.calls)]
        )
        if profile.paper is not None:
            calls = ", ".join(f"{call.name} {percent(call.share)}" for call in profile.paper.calls)
            rows.append([query.name, Cell("paper", tone=Tone.QUIET), calls])
    if not rows:
        return None
    return Table(
        "Table 1: calls with the most CPU time, with their shares in the CPU time of all calls",
        [Column("query", Kind.NAME), Column("", Kind.NAME), Column("calls", Kind.PROSE)],
        rows,
        grouped=True,
    )


def read_table(report: OsReport) -> Table | None:
    """Table 2."""
    found = [(query.name, query.read_calls) for query in report.queries if query.read_calls is not None]
    if not found:
        return None
    found.sort(key=lambda pair: -pair[1].share)
    return Table(
        "Table 2: CPU time in read calls (read, pread64, readv, preadv, preadv2) over wall time",
        [Column("query", Kind.NAME), Column("read calls"), Column("paper (pread)")],
        [[name, share_text(reads.share), share_text(reads.paper)] for name, reads in found],
    )
