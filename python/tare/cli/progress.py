"""Progress on standard error while runs are made; nothing is drawn between the clocks."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from tare.measure.query import Query
from tare.measure.records import QE, Outcome


class Live:
    """A bar over all timed runs. Rich's own refresh thread is off: it would wake up
    while a query is being weighed."""

    def __init__(self, total: int | None, quiet: bool) -> None:
        console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[last]}"),
            console=console,
            auto_refresh=False,
            transient=True,
            disable=quiet or not console.is_terminal,
        )
        self._task: TaskID = self._progress.add_task("weighing", total=total, last="")

    def say(self, what: str) -> None:
        self._progress.update(self._task, description=what, refresh=True)

    def done(self, query: Query, qe: QE) -> None:
        last = f"{qe.elapsed.wall_ns / 1e6:.4g} ms" if qe.elapsed else qe.outcome
        timed = not qe.warmup and qe.outcome is Outcome.OK
        self._progress.update(
            self._task, description=query.name, advance=1 if timed else 0, last=last, refresh=True
        )

    def __enter__(self) -> Live:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()
