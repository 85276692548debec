"""Ctrl-C and SIGTERM: the first asks for a pause after the QE in hand, a second one ends at once."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from tare.interruption import SIGNALS, Came, Interrupted, came, deliver, end_for_good, forget

_SLICE_S = 0.05


class Interrupts:
    """Use in the main thread. Within the block a signal is held back until `check`, or `at_once`."""

    def __init__(self, told: Callable[[], None] | None = None) -> None:
        """`told` is called within the handler of the first signal that is held back."""
        self._told = told
        self._asked: int | None = None
        self._at_once = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        forget()
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup has SIGHUP ignored: leave it so
                self._before[number] = signal.signal(number, self._come)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """Raises Interrupted if a signal has come."""
        if self._asked is not None:
            raise Interrupted(self._asked)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Around what takes long and can be made again: a signal ends it."""
        self.check()
        self._at_once = True
        try:
            yield
        finally:
            self._at_once = False

    def sleep(self, seconds: float) -> None:
        """Raises Interrupted if a signal comes meanwhile."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.check()
            time.sleep(min(left, _SLICE_S))
        self.check()

    def _come(self, number: int, frame: FrameType | None) -> None:
        order = came()
        if order is Came.SAME:
            return
        self._asked = number
        if order is Came.AGAIN:
            end_for_good(128 + number)
        if order is Came.AGAIN or self._at_once:
            deliver(Interrupted(number))
        elif self._told is not None:
            self._told()
