"""`tare observe`: live pages of a lab in a browser."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from tare.cli import options
from tare.cli.command import needs


@needs("web")
def observe(
    lab: options.Lab = "lab.db",
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="PORT", help="Port of 127.0.0.1. Default: a free one.")
    ] = 0,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in this machine's browser.")] = False,
    allow_control: Annotated[
        bool,
        typer.Option("--allow-control", help="Let the pages pause, resume, stop and abort runs."),
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Answer to this host name as well, behind a proxy or a forwarded port. Repeatable.",
        ),
    ] = None,
    with_process: Annotated[
        int | None,
        typer.Option("--with-process", metavar="PID", help="Process with which the observer ends."),
    ] = None,
) -> None:
    """Show a lab in a browser, also while experiments run: progress, last executions, growing estimates, the machine.

    The pages are served on 127.0.0.1 until Ctrl-C, to whoever knows the address that is printed. From another machine:
    ssh -L 8080:127.0.0.1:PORT. They show and do not change anything, unless --allow-control is given.

    Example: tare observe --lab lab.db --open
    """
    from tare.lab.store import open_lab
    from tare.observe.access import Rules
    from tare.observe.serve import serve

    def ready(address: str) -> None:
        print(f"{opened.where} is shown at {address}", flush=True)
        if open_:
            import webbrowser

            webbrowser.open(address)

    with open_lab(lab) as opened:
        serve(opened, lab, Rules(frozenset(allow_host or ()), allow_control), port, ready, with_process)


@contextmanager
def beside(lab: str) -> Iterator[None]:
    """Block with an observer of the lab, which may be made by it, in a process of its own."""
    from tare import extras
    from tare.lab.store import open_lab

    extras.need("--web", "web")
    open_lab(lab, create=True).close()
    observer = subprocess.Popen(
        [sys.executable, "-m", "tare", "observe", "--allow-control", "--with-process", str(os.getpid())],
        env={**os.environ, "TARE_LAB": lab},
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        start_new_session=True,  # Ctrl-C pauses the run, which is then still to be seen
    )
    try:
        yield
    finally:
        observer.terminate()
        observer.wait()
