"""Ctrl-C, SIGTERM and SIGHUP: raised where nothing is half done; a second one ends the process.

Within `deferred` a signal waits until the block is over. After a second signal the process has `LAST_S` to clean up,
then it ends wherever it is: guardians put back what it had changed. Standard library only, so that signals are
handled before anything else is imported.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from enum import Enum, auto
from types import FrameType, TracebackType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = 128 + signal.SIGINT
"""Exit code after Ctrl-C, as shells have it."""

LAST_S = 2.0
"""Time to clean up after the second signal."""

SAME_S = 0.3
"""Time within which a further signal is the first one again: `timeout` and terminals signal a whole group, too."""

AGAIN_S = 0.01
"""Time after which a signal that was lost is sent again."""


class Interrupted(KeyboardInterrupt):
    """The user, or the system, ends the command."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


def exit_code_of(interrupt: KeyboardInterrupt) -> int:
    """Exit code of the signal, where it is known which one came."""
    code: int = getattr(interrupt, "exit_code", INTERRUPTED)
    return code


class Came(Enum):
    """A signal by those before it."""

    FIRST = auto()
    SAME = auto()  # the first one again, sent to the whole group
    AGAIN = auto()  # somebody insists


def came() -> Came:
    """Tell a second signal from an echo of the first, which may come when the first one's handler is gone. Call in a
    signal's handler."""
    now = time.monotonic()
    if _Command.first_s is None:
        _Command.first_s = now
        return Came.FIRST
    return Came.SAME if now - _Command.first_s < SAME_S else Came.AGAIN


def forget() -> None:
    """The next signal is the first one."""
    _Command.first_s = None


class Deferred:
    """Holds signals back until the block is over. Blocks may be nested. Costs nothing outside the main thread, where
    no signal is raised."""

    depth = 0
    pending: KeyboardInterrupt | None = None

    def __enter__(self) -> Deferred:
        self._counts = threading.current_thread() is threading.main_thread()
        if self._counts:
            Deferred.depth += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._counts:
            return
        Deferred.depth -= 1
        if Deferred.depth == 0:
            check()


def deferred() -> Deferred:
    """Block in which no signal is raised."""
    return Deferred()


def check() -> None:
    """Raises the signal that is held back, if one is. For waits within `deferred` that may be given up."""
    if threading.current_thread() is threading.main_thread():
        held, Deferred.pending = Deferred.pending, None
        if held is not None:
            raise held


def deliver(interrupt: KeyboardInterrupt) -> None:
    """Raises it, or has it wait until `deferred` is over. Call in a signal's handler."""
    if Deferred.depth:
        Deferred.pending = interrupt
        return
    raise interrupt


def install() -> None:
    """Call in the main thread of a command, first of all."""
    _Command.installed = True
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup has SIGHUP ignored: leave it so
            signal.signal(number, _come)
    before = sys.unraisablehook

    def unraisable(ignored: sys.UnraisableHookArgs) -> None:
        if isinstance(ignored.exc_value, Interrupted):
            _send_again(ignored.exc_value.exit_code - 128)
        else:
            before(ignored)

    sys.unraisablehook = unraisable


def _send_again(number: int) -> None:
    """For a signal that was raised where Python ignores exceptions, as in a finalizer or a library's callback."""
    forget()
    again = threading.Timer(AGAIN_S, os.kill, (os.getpid(), number))
    again.daemon = True
    again.start()


def end_for_good(code: int) -> None:
    """Ends a command if it is still there after `LAST_S`, whatever it is doing."""
    if _Command.installed:
        last = threading.Timer(LAST_S, os._exit, (code,))
        last.daemon = True
        last.start()


class _Command:
    installed = False
    first_s: float | None = None
    """Instant of the first signal."""


def _come(number: int, frame: FrameType | None) -> None:
    order = came()
    if order is Came.AGAIN:
        end_for_good(128 + number)
    if order is not Came.SAME:
        deliver(Interrupted(number))
