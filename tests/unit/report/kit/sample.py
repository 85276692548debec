"""A story with a block of every kind, as a subject would write it."""

from __future__ import annotations

from tare.report.kit.blocks import (
    Cell,
    Charts,
    Code,
    Column,
    Detail,
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
    Verdict,
    WarningBlock,
)
from tare.report.kit.figure import Figure


def story() -> Story:
    mean = Figure(57.83, 57.48, 58.12, n=10, unit="ms")
    return Story(
        title="count <b>all</b>",
        under="weighed 2026-11-25 by Tare 0.1.0",
        written_by="0.1.0",
        blocks=[
            Verdict("Steady", f"count takes {mean.text}; nothing disturbed it.", Tone.GOOD, ["all checks passed"]),
            Section("times", "Times", [_times(), Paragraph("In brackets: 95% intervals.", Tone.QUIET)], "10 runs"),
            Section(
                "conditions",
                "Conditions",
                [
                    Facts("", [("plan", "f91d377f622556cc"), ("memory", Cell("8.0", "GiB"))]),
                    Heading("Deviations"),
                    Items([Item("none was recorded"), Item("sleep: the trace was rejected", "–", Tone.QUIET)]),
                    WarningBlock("the cache was not cold", "40.0 MiB resident", "run as root"),
                    Code("SELECT count(*)\n  FROM t", "sql", line="SELECT count(*) FROM t"),
                ],
            ),
            Section(
                "more",
                "More",
                [Detail("Settings", [Facts("Settings", [("io_method", "worker")])]), Charts(list)],
                printed=False,
            ),
        ],
    )  # fmt: skip


def _times() -> Table:
    return Table(
        "Medians over the timed runs",
        [Column("part", Kind.NAME), Column("time"), Column("of wall"), Column("what it is", Kind.PROSE)],
        [
            "elapsed",
            ["wall", Figure(57.83, 57.48, 58.12, unit="ms").cell(), "",
             "from the first byte sent to the last one received"],
            ["CPU", Figure(55.46, 55.10, 55.74, unit="ms").cell(), Cell("96%", share=0.96), "run time of the leader"],
            "resources",
            ["read", Figure(12 << 20, 12 << 20, 12 << 20, unit="bytes").cell(), "", "from the disk"],
            ["sleep", Figure(None).cell(), "", "not measured"],
        ],
    )  # fmt: skip
