"""Observations of `tare os watch` and `tare os run`: made, shown while they are made, and reported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version

from tare.cli import destinations
from tare.cli.os_live import shown
from tare.dbms.base import Session
from tare.dbms.url import redacted
from tare.interruption import exit_code_of
from tare.measure.namespace import check_namespace
from tare.measure.query import Query
from tare.os.events import Event, Hear, Stopped
from tare.os.facts import now
from tare.os.level import Level
from tare.os.record import Observation
from tare.os.roles import Rules
from tare.os.run import RunRequest
from tare.os.run import run as run_queries
from tare.os.subject import Subject
from tare.os.watch import observe


@dataclass
class Call:
    """Destinations as they were given: a path, "-" for standard output, or None, by the name of the form."""

    given: Mapping[str, str | None]
    interrupt: KeyboardInterrupt | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        destinations.check(self.given)

    def watch(
        self,
        subject: Subject,
        level: Level | None,
        duration_s: float | None,
        interval_s: float | None,
        rules: Rules | None,
    ) -> int:
        """Observe a load; the exit code."""
        with self._progress(subject.name) as hear:
            observation = observe(subject, level, duration_s, interval_s=interval_s, rules=rules, hear=hear)
        return self._deliver(observation)

    def run(
        self, connect: Callable[[], Session], queries: Sequence[Query], request: RunRequest, db: str
    ) -> int:
        """Run queries and observe each; the exit code."""
        check_namespace()
        with self._progress(
            f"{len(queries)} {'query' if len(queries) == 1 else 'queries'} on {redacted(db)}"
        ) as hear:
            observation = run_queries(connect, queries, request, hear)
        return self._deliver(observation)

    @contextmanager
    def _progress(self, title: str) -> Iterator[Hear]:
        """Show progress, and keep the signal that ends the observation."""
        with shown(title, quiet="-" in self.given.values()) as show:

            def hear(event: Event) -> None:
                if isinstance(event, Stopped):
                    self.interrupt = event.interrupt
                show(event)

            yield hear

    def _deliver(self, observation: Observation) -> int:
        """Write the requested forms, or print the story. Raises ExportFailed."""
        from tare.report.kit.deliver import deliver
        from tare.report.os.build import build_report
        from tare.report.os.story import story

        for query, error in observation.failures.items():
            print(f"tare: {query}: {error}", file=sys.stderr)
        if observation.windows:
            report = build_report(observation, version("tare-db"), now())
            deliver(story(report), report, self.given)
        if self.interrupt is not None:
            if not observation.windows:
                print("tare: interrupted: no window was complete, so there is no report", file=sys.stderr)
            return exit_code_of(self.interrupt)
        return 1 if observation.failures or not observation.windows else 0
