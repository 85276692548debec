"""`tare isolate`: runs a command on reserved CPUs of a quieted machine and puts everything back."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from tare.errors import UsageError


def _say(line: str) -> None:
    print(f"tare isolate: {line}", file=sys.stderr, flush=True)


def _servers(command: list[str]) -> list[int]:
    """Return the local servers that the command is given. One that does not answer is left to the command to report."""
    from tare.errors import TareError
    from tare.measure.machine.isolation.servers import addresses, server_of

    found = []
    for url in addresses(command, os.environ):
        try:
            pid = server_of(url)
        except TareError as error:
            _say(f"no server is taken in: {error.what}")
            continue
        if pid is not None:
            found.append(pid)
    return found


def isolate(
    command: Annotated[list[str], typer.Argument(metavar="CMD", help="The command and its arguments.")],
    cpus: Annotated[
        int | None,
        typer.Option(help="How many CPUs to reserve (1): those that take the fewest device interrupts."),
    ] = None,
    cpu: Annotated[
        str | None, typer.Option(metavar="LIST", help="CPUs to reserve instead, such as 2,4-5.")
    ] = None,
    with_pid: Annotated[
        list[int] | None,
        typer.Option(help="Take this running server and its descendants in too. Repeatable."),
    ] = None,
    stop_daemons: Annotated[
        bool, typer.Option("--stop-daemons", help="Hold cron, updaters and indexers by SIGSTOP meanwhile.")
    ] = False,
    no_delay_accounting: Annotated[
        bool, typer.Option("--no-delay-accounting", help="Leave kernel.task_delayacct as it is.")
    ] = False,
) -> None:
    """Run a command on CPUs that everybody else is kept off, and put the machine back afterwards.

    A local server that a command of Tare's is given (--db, TARE_DB) is taken in with it.
    The exit code is the command's. Settings are put back on an error, Ctrl-C and a crash too.
    """
    from tare.measure.machine.isolation.run import Wishes
    from tare.measure.machine.isolation.run import isolate as run_isolated

    if cpu is not None and cpus is not None:
        raise UsageError("--cpu and --cpus both say what to reserve", "give one of them")
    count = 1 if cpus is None else cpus
    servers = _servers(command)
    wishes = Wishes(count, cpu, stop_daemons, not no_delay_accounting, [*(with_pid or []), *servers])
    raise typer.Exit(run_isolated(command, wishes, _say))
