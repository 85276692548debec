"""Options that several commands share, each defined once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from tare.cli.command import OPTIONAL_FILE
from tare.cli.durations import parser
from tare.cli.help import ADVANCED, BASIC, CACHES, OUTPUT, PHASES
from tare.measure.choices import AnswerRule, CacheState, Tier


def url(value: str | None) -> str | None:
    """A database's URL, also where libpq's connection string was given."""
    from tare.dbms.conninfo import url_of

    return None if value is None else url_of(value)


def urls(values: list[str] | None) -> list[str] | None:
    """URLs of an option that may be repeated: as `url`."""
    return None if values is None else [url(value) or "" for value in values]


def duration(name: str, text: str, *, least: float = 0.0, panel: str = BASIC) -> Any:
    """An option that takes a duration, and gives seconds."""
    return typer.Option(
        name, metavar="DURATION", parser=parser(name, least), help=text, rich_help_panel=panel
    )


def output(name: str, text: str) -> Any:
    """An option that writes to a file, or to standard output where FILE is `-` or left out."""
    return typer.Option(name, metavar=OPTIONAL_FILE, help=text, rich_help_panel=OUTPUT)


def choices(kind: type[StrEnum]) -> str:
    """Metavar of an option that takes one of few words."""
    return "|".join(kind)


# A query and its database ------------------------------------------------------------
Sql = Annotated[list[str] | None, typer.Argument(metavar="SQL", help="Statements to weigh, each in quotes.")]
Files = Annotated[
    list[Path] | None,
    typer.Option(
        "--file",
        "-f",
        metavar="FILE[:N]",
        help="Weigh the statement in FILE (- for standard input), or its Nth. Repeatable.",
    ),
]
_DB = typer.Option(
    "--db",
    envvar="TARE_DB",
    metavar="URL",
    callback=url,
    help="Database to weigh on: postgresql://… (or libpq's 'host=… dbname=…', 'service=…'), mariadb://…, "
    "sqlite:///f.db or duckdb:///f.duckdb.",
)
Db = Annotated[str, _DB]
MaybeDb = Annotated[str | None, _DB]
Timeout = Annotated[
    float | None, duration("--timeout", "Cancel an execution that takes longer.", least=0.001)
]
ConnectTimeout = Annotated[
    float,
    duration("--connect-timeout", "Give up connecting after this time.", least=0.1, panel=ADVANCED),
]
Scan = Annotated[
    tuple[str, str, str] | None,
    typer.Option(
        "--parameter-scan",
        "-P",
        metavar="NAME MIN MAX",
        help="Weigh each query with {NAME} replaced by every number from MIN to MAX.",
        rich_help_panel=ADVANCED,
    ),
]
Step = Annotated[
    str,
    typer.Option(
        "--parameter-step-size",
        "-D",
        metavar="STEP",
        help="Step of --parameter-scan.",
        rich_help_panel=ADVANCED,
    ),
]
Values = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter-list",
        "-L",
        metavar="NAME=V1,V2",
        help="Weigh each query with {NAME} replaced by every value. Repeatable.",
        rich_help_panel=ADVANCED,
    ),
]

# Caches ------------------------------------------------------------------------------
Cache = Annotated[
    CacheState,
    typer.Option(
        metavar=choices(CacheState),
        help="Empty these caches before each run. Warm runs are proved by the bytes they read from disk, cold ones by "
        "what is resident before they start.",
        rich_help_panel=CACHES,
    ),
]
Cold = Annotated[bool, typer.Option("--cold", help="Short for --cache cold.", rich_help_panel=CACHES)]
AllowRestart = Annotated[
    bool,
    typer.Option(
        "--allow-restart",
        help="Let Tare restart a server that it did not start, to empty its caches.",
        rich_help_panel=CACHES,
    ),
]

# Phases ------------------------------------------------------------------------------
Warmup = Annotated[
    str,
    typer.Option(
        metavar="N|auto",
        help="Untimed runs before the first timed one. auto: until the times are steady, ten at most; "
        "one when lukewarm, none when cold.",
        rich_help_panel=PHASES,
    ),
]
Answer = Annotated[
    AnswerRule,
    typer.Option(
        metavar=choices(AnswerRule),
        help="Comparison of the answers of a query's runs. close: floating-point values to a relative 1e-9, all else "
        "exactly. any: none, for queries with random(), now() or sampling.",
        rich_help_panel=ADVANCED,
    ),
]
Setup = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SQL|!CMD",
        help="Run before a query's first run: SQL, or a shell command after `!`. The SQL runs again in each new "
        "session (after a restart that emptied caches, or a lost server). Repeatable: all run in order.",
        rich_help_panel=PHASES,
    ),
]
Prepare = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SQL|!CMD",
        help="Run before each run, outside the clock, before caches are emptied. Repeatable.",
        rich_help_panel=PHASES,
    ),
]
Conclude = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SQL|!CMD",
        help="Run after each run, outside the clock. Repeatable.",
        rich_help_panel=PHASES,
    ),
]
Cleanup = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SQL|!CMD", help="Run after a query's last run. Repeatable.", rich_help_panel=PHASES
    ),
]

# Results -----------------------------------------------------------------------------
Json = Annotated[str | None, output("--json", "Write the whole result as JSON.")]
Csv = Annotated[str | None, output("--csv", "Write every run's readings as CSV.")]
Formats = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="NAME[=FILE]",
        help="Write for continuous integration: bmf (Bencher), gh-benchmark (github-action-benchmark), openmetrics, "
        "benchstat or github-summary. Repeatable.",
        rich_help_panel=OUTPUT,
    ),
]
Html = Annotated[str | None, output("--html", "Write the report as one HTML file; it needs no network.")]
Markdown = Annotated[str | None, output("--markdown", "Write the report as Markdown.")]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Print every measure, check and condition, as the files have.",
        rich_help_panel=OUTPUT,
    ),
]
Title = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Title of the report.", rich_help_panel=OUTPUT)
]

# Rights and machine ------------------------------------------------------------------
AllowWrites = Annotated[
    bool,
    typer.Option("--allow-writes", help="Let statements change data.", rich_help_panel=ADVANCED),
]
TierFlag = Annotated[
    Tier | None,
    typer.Option(
        "--tier",
        metavar=choices(Tier),
        help="Source of the kernel's counts. Default: the best that works here.",
        rich_help_panel=ADVANCED,
    ),
]
Settings = Annotated[
    bool,
    typer.Option(
        "--machine-settings/--no-machine-settings",
        help="Set kernel.task_delayacct during the run where allowed. It is always put back.",
        rich_help_panel=ADVANCED,
    ),
]

# The lab and its runs ----------------------------------------------------------------
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
        metavar="RUN", help="Runs by id, as `tare lab list` shows them: e3. Or the beginning of a UUID."
    ),
]
Dir = Annotated[
    Path | None,
    typer.Option(
        "--dir",
        metavar="DIR",
        help="Folder for the data of servers that Tare starts; they stay for the next command. Default: beside the "
        "lab.",
        rich_help_panel=ADVANCED,
    ),
]
Profiles = Annotated[
    str,
    typer.Option(
        "--profiles",
        envvar="TARE_PROFILES",
        metavar="DIR",
        help="Folder that keeps profiles, each in a folder of its own.",
    ),
]
Tunings = Annotated[
    str,
    typer.Option(
        "--tunings",
        envvar="TARE_TUNINGS",
        metavar="DIR",
        help="Folder that keeps tuning runs, each in a folder of its own.",
    ),
]
Accept = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CHECK",
        help="Continue although this experiment-wide check is violated, and list it as a deviation; `all` accepts "
        "every one. Repeatable.",
        rich_help_panel=ADVANCED,
    ),
]
