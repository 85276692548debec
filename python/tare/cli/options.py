"""Flags that several commands share, each defined once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from tare.measure.choices import AnswerRule, CacheState, Tier


def url(value: str | None) -> str | None:
    """A database's URL, also where libpq's connection string was given."""
    from tare.dbms.conninfo import url_of

    return None if value is None else url_of(value)


def urls(values: list[str] | None) -> list[str] | None:
    """Return databases' URLs, like `url`, for an option that may be repeated."""
    return None if values is None else [url(value) or "" for value in values]


def seconds(option: str, least: str) -> Callable[[str | float], float]:
    """Return a parser of this option's durations. It raises UsageError, and returns a default as it is."""

    def parse(value: str | float) -> float:
        from tare.cli.values import between

        return value if isinstance(value, float) else between(least, "277h", value, option)

    return parse


Sql = Annotated[list[str] | None, typer.Argument(metavar="[SQL]...", help="Statements to weigh, one each.")]
SqlOrResults = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SQL|RESULT.json|ID",
        help="Two statements, two results of `tare time --json`, two transactional runs (o1 o2) or two profiles "
        "(p1 p2).",
    ),
]
Files = Annotated[
    list[Path] | None,
    typer.Option(
        "--file",
        "-f",
        metavar="FILE",
        help="Weigh the statement in FILE, in each FILE/*.sql of a folder, or on standard input (-). FILE:7: the "
        "seventh statement of a file. Repeatable.",
    ),
]
Each = Annotated[
    bool, typer.Option("--each", help="Weigh each statement of the files, not one statement a file.")
]
_DB = typer.Option(
    "--db",
    envvar="TARE_DB",
    metavar="URL",
    callback=url,
    help="postgresql://… (or libpq's 'host=… dbname=…', 'service=…'), mariadb://…, sqlite:///f.db or "
    "duckdb:///f.duckdb; sqlite:///:memory: and duckdb:///:memory: for a database in memory.",
)
Db = Annotated[str, _DB]
DbOfStatements = Annotated[str | None, _DB]
Warmup = Annotated[
    str,
    typer.Option(
        metavar="N|auto",
        help="Untimed runs before the first timed one. auto: until the times are steady, at most ten; "
        "one when lukewarm, none when cold.",
    ),
]
Cache = Annotated[
    CacheState,
    typer.Option(help="Caches to empty before each run; what is still resident is read and reported."),
]
Cold = Annotated[bool, typer.Option("--cold", help="Short for --cache cold.")]
ExecutionOnly = Annotated[
    bool,
    typer.Option(
        "--execution-only",
        help="Clock the execution of a statement that is prepared once, as TTPv2 does. Default: parsing and planning "
        "are clocked, too, in each run.",
    ),
]
Answer = Annotated[
    AnswerRule,
    typer.Option(
        "--answer",
        help="How the answers of a query's runs are compared. exact: bit for bit; close: floating-point values within "
        "a tolerance, everything else exactly; any: not at all, for now(), random() or a sample.",
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        parser=seconds("--timeout", "1ms"),
        metavar="DURATION",
        help="Cancel a run that takes longer: 500ms, 30s, 2m.",
    ),
]
ConnectTimeout = Annotated[
    float,
    typer.Option(
        parser=seconds("--connect-timeout", "100ms"),
        metavar="DURATION",
        show_default="10s",
        help="Give up connecting after this.",
    ),
]
Setup = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SQL|!CMD",
        help="Run before a query's first run, and its SQL again in each new session (after a restart that cleared "
        "caches, or a lost server), without changes that last. SQL, or a shell command after `!`. Repeatable: all run "
        "in order.",
    ),
]
Prepare = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SQL|!CMD",
        help="Run before each run, outside the clock, before caches are emptied. Repeatable.",
    ),
]
Conclude = Annotated[
    list[str] | None,
    typer.Option(metavar="SQL|!CMD", help="Run after each run, outside the clock. Repeatable."),
]
Cleanup = Annotated[
    list[str] | None, typer.Option(metavar="SQL|!CMD", help="Run after a query's last run. Repeatable.")
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Print every measure, who ran meanwhile and the conditions, too."),
]
Scan = Annotated[
    tuple[str, str, str] | None,
    typer.Option("--parameter-scan", "-P", metavar="NAME MIN MAX", help="Weigh with {NAME} from MIN to MAX."),
]
Step = Annotated[
    str, typer.Option("--parameter-step-size", "-D", metavar="STEP", help="Step of --parameter-scan.")
]
Values = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter-list", "-L", metavar="NAME=V1,V2", help="Weigh with {NAME} as each value. Repeatable."
    ),
]
Json = Annotated[str | None, typer.Option("--json", metavar="FILE|-", help="Write the whole result as JSON.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Csv = Annotated[
    str | None, typer.Option("--csv", metavar="FILE|-", help="Write every run's readings as CSV.")
]
AllowWrites = Annotated[bool, typer.Option("--allow-writes", help="Let statements change data.")]
AllowRestart = Annotated[
    bool,
    typer.Option(
        "--allow-restart",
        help="Let Tare restart a server that it did not start, to clear its caches or between the blocks of a "
        "comparison.",
    ),
]
TierFlag = Annotated[
    Tier | None, typer.Option("--tier", help="Read the kernel this way, not the best way that works.")
]
Lab = Annotated[
    str,
    typer.Option(
        "--lab",
        envvar="TARE_LAB",
        metavar="FILE|URL",
        callback=url,
        help="The lab: a SQLite file, or postgresql://…",
    ),
]
Runs = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN...", help="Runs of the lab, by their ids or the beginnings of their uuids: e1 e2."
    ),
]
Tunings = Annotated[
    str,
    typer.Option(
        "--tunings", envvar="TARE_TUNINGS", metavar="DIR", help="Folder of tuning runs, one folder each."
    ),
]
Profiles = Annotated[
    str,
    typer.Option(
        "--profiles",
        envvar="TARE_PROFILES",
        metavar="DIR",
        help="The folder that keeps profiles, one folder each.",
    ),
]
Settings = Annotated[
    bool,
    typer.Option(
        "--machine-settings/--no-machine-settings",
        help="Set kernel.task_delayacct during the run where allowed; it is always put back.",
    ),
]
Html = Annotated[
    str | None,
    typer.Option("--html", metavar="FILE|-", help="Write the report as one HTML file; it needs no network."),
]
Words = Annotated[
    str | None,
    typer.Option("--markdown", metavar="FILE|-", help="Write the report as Markdown."),
]
Numbers = Annotated[str | None, typer.Option("--json", metavar="FILE|-", help="Write every number as JSON.")]
Title = Annotated[str | None, typer.Option(metavar="TEXT", help="The report's title.")]
Accept = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CHECK|all",
        help="Take violations of this experiment-wide check, or of all, as deviations. Repeatable.",
    ),
]
