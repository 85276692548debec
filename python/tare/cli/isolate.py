"""`tare isolate`: runs a command on reserved CPUs of a quieted machine and puts everything back."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated

import typer

from tare.cli import options
from tare.errors import UsageError


def _say(line: str) -> None:
    print(f"tare isolate: {line}", file=sys.stderr, flush=True)


def isolate(
    command: Annotated[list[str], typer.Argument(metavar="COMMAND", help="The command and its arguments.")],
    cpus: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Number of CPUs to reserve: those with the fewest device interrupts. Default: 1.",
        ),
    ] = None,
    cpu_list: Annotated[
        str | None,
        typer.Option("--cpu-list", metavar="LIST", help="Reserve these CPUs instead, such as 2,4-5."),
    ] = None,
    with_pid: Annotated[
        list[int] | None,
        typer.Option(
            metavar="PID",
            help="Also move this running server and its descendants to these CPUs. Repeatable. Servers of the "
            "command's --db and of TARE_DB need no --with-pid.",
        ),
    ] = None,
    stop_daemons: Annotated[
        bool, typer.Option("--stop-daemons", help="Stop cron, updaters and indexers during the command.")
    ] = False,
    machine_settings: options.Settings = True,
) -> None:
    """Run a command on CPUs that all other processes are kept off, then put the machine back.

    The exit code is the command's. Settings are also put back after an error, Ctrl-C or a crash.

    Example: tare isolate --cpus 2 -- tare time -f q.sql --db sqlite:///f.db
    """
    from tare.measure.machine.isolation.run import Wishes
    from tare.measure.machine.isolation.run import isolate as run_isolated

    if cpu_list is not None and cpus is not None:
        raise UsageError("--cpus and --cpu-list both say what to reserve", "give one of them")
    count = 1 if cpus is None else cpus
    pids = dict.fromkeys([*(with_pid or []), *_servers(command)])
    wishes = Wishes(count, cpu_list, stop_daemons, machine_settings, list(pids))
    raise typer.Exit(run_isolated(command, wishes, _say))


def _servers(command: Sequence[str]) -> Iterator[int]:
    """Process of each server on this machine that the command connects to."""
    from tare.dbms.conninfo import is_conninfo
    from tare.dbms.url import redacted, shown_name
    from tare.errors import TareError
    from tare.profile.server import LIBRARIES, NAMES, server

    for database in dict.fromkeys(_databases(command)):
        is_address = "://" in database or is_conninfo(database)
        if not (is_address or database in NAMES) or database.partition("://")[0].lower() in LIBRARIES:
            continue
        try:
            yield server((options.url(database) or database) if is_address else database, None).pid
        except TareError as error:
            shown = redacted(database) if is_address else shown_name(database)
            _say(f"the server of {shown} is not taken in: {error.what}; {error.next_step}")


def _databases(command: Sequence[str]) -> Iterator[str]:
    """Values of --db in the command's words; without any, that of TARE_DB."""
    given = [value for word, value in pairwise(command) if word == "--db"]
    given += [word.removeprefix("--db=") for word in command if word.startswith("--db=")]
    if not given and (database := os.environ.get("TARE_DB")):
        given = [database]
    yield from given
