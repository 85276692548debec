"""The command line: one file per command, thin. Errors become messages and exit codes here."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn, TextIO, cast

from tare.cli.interrupted import Ended, exit_code_of


def main() -> None:
    """The entry point of `tare`: 0 done, 1 the run failed, 2 the request was at fault, 130 Ctrl-C."""
    try:
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:  # nohup has SIGHUP ignored: leave it so
                signal.signal(number, _end)
        from tare.cli.app import app
        from tare.cli.printing import Output
        from tare.errors import TareError
    except KeyboardInterrupt as interrupt:
        _interrupted(interrupt)
    sys.stdout = cast(TextIO, Output(sys.stdout))
    try:
        try:
            app(standalone_mode=True)
        finally:
            sys.stdout.flush()
    except TareError as error:
        print(f"tare: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt as interrupt:
        _interrupted(interrupt)
    except BrokenPipeError:
        # Whoever read our output has gone; what is left of it has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _end(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # a second one must not stop the first one's clearing up
    raise Ended(number)


def _interrupted(interrupt: KeyboardInterrupt) -> NoReturn:
    print("tare: interrupted: nothing was weighed; machine settings are as they were", file=sys.stderr)
    sys.exit(exit_code_of(interrupt))
