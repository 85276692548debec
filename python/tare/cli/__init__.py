"""The command line: one file per command, thin. Errors become messages and exit codes here."""

from __future__ import annotations

import os
import sys
from typing import NoReturn, TextIO, cast

from tare.interruption import exit_code_of, install
from tare.words import print_in_any_locale


def main() -> None:
    """The entry point of `tare`: 0 done, 1 the run failed, 2 the request was at fault, 130 Ctrl-C."""
    try:
        print_in_any_locale()
        install()
        _put_back_first()
        _put_back_tuned()
        from tare.cli.app import application
        from tare.cli.printing import Output
        from tare.errors import TareError
    except KeyboardInterrupt as interrupt:
        _interrupted(interrupt)
    sys.stdout = cast(TextIO, Output(sys.stdout))
    try:
        try:
            application(sys.argv[1:])(standalone_mode=True)
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


def _put_back_first() -> None:
    """Puts back the settings that a run left which was killed together with its guardian."""
    from tare.journals import with_journals

    if not with_journals():
        return
    from tare.measure.machine.leftovers import put_back_first
    from tare.measure.machine.putback.steps import FAILED

    results = put_back_first()
    for undone in results:
        print(
            f"tare: left by a crashed run: {undone.what}: {undone.how} {undone.detail}".rstrip(),
            file=sys.stderr,
        )
    if any(undone.how == FAILED for undone in results):
        print("  next: tare doctor --restore", file=sys.stderr)


def _put_back_tuned() -> None:
    """Put back the server settings that a killed tuning run left. A server that does not answer is named each time."""
    from tare.journals import has_tuning_journals

    if sys.argv[1:3] == ["tune", "restore"] or not has_tuning_journals():
        return
    from tare.errors import TareError
    from tare.tune.journal import restore

    try:
        for restored in restore():
            how = "put back" if restored.failure is None else f"not put back: {restored.failure}"
            print(
                f"tare: left by a killed tuning run on {restored.url}: {restored.what}: {how}",
                file=sys.stderr,
            )
            if restored.failure is not None:
                print("  next: start that server, then: tare tune restore", file=sys.stderr)
    except TareError as error:
        print(f"tare: {error}", file=sys.stderr)


def _interrupted(interrupt: KeyboardInterrupt) -> NoReturn:
    print("tare: interrupted: nothing was weighed; machine settings are as they were", file=sys.stderr)
    sys.exit(exit_code_of(interrupt))
