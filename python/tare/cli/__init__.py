"""The command line: one file per command, thin. Errors become messages and exit codes here."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


def main() -> None:
    """The entry point of `tare`: 0 done, 1 the run failed, 2 the request was at fault, 130 Ctrl-C."""
    from tare.cli.app import app
    from tare.errors import TareError

    try:
        app(standalone_mode=True)
    except TareError as error:
        print(f"tare: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("tare: interrupted; machine settings are as they were", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has gone; what is left of it has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
