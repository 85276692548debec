"""The part that all commands share that make a profile: options, the session, its report, the exit code."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tare.cli import destinations
from tare.cli.profile_live import shown
from tare.cli.profile_report import built
from tare.dbms.redaction import redacted_command
from tare.errors import NoSuchProfile, TareError, TooFewTransactions, WatchedServerEnded
from tare.interruption import exit_code_of
from tare.lab.profile_about import Failure
from tare.lab.profiles import Run, open_run
from tare.profile import going_on, running, starting
from tare.profile.background import background
from tare.profile.conduct import Kept, Subject, profiled
from tare.profile.made import Made
from tare.profile.request import Asked
from tare.profile.told import Told
from tare.protocol.profile.failure import ended_how

SERVER_ENDED = WatchedServerEnded.exit_code
"""Exit code where the watched server ended or hangs."""

LARGE_MB = 30.0
"""Recordings from this size on take seconds to analyse."""


@dataclass(frozen=True)
class Call:
    """Options of one command."""

    name: str | None
    profiles: str
    top: int
    given: Mapping[str, str | None]  # destinations of the report

    def attached(
        self,
        asked: Asked,
        db: str | None,
        pid: int | None,
        connect_timeout_s: float,
        children: bool | None = None,
    ) -> int:
        """Return the exit code."""
        destinations.check(self.given)
        with background():
            subject = running.subject(asked, db, pid, connect_timeout_s, children)
        return self._made(subject, asked)

    def launched(
        self,
        asked: Asked,
        command: Sequence[str],
        backend: str,
        *,
        user: str | None,
        load: str | None,
        keep: bool,
    ) -> int:
        """Return the exit code."""
        destinations.check(self.given)
        with starting.subject(asked, command, backend, user=user, load=load, keep=keep) as started:
            return self._made(started.subject, asked, wait_s=starting.WAIT_S, watch=started.watch)

    def refined(self, asked: Asked, which: str) -> int:
        """Return the exit code."""
        destinations.check(self.given)
        run = open_run(which, Path(self.profiles))
        subject, begin_with = going_on.subject(run, asked)
        return self._made(subject, going_on.as_before(asked, run.about), begin_with=begin_with)

    def _made(
        self,
        subject: Subject,
        asked: Asked,
        *,
        wait_s: float | None = None,
        begin_with: Sequence[int] = (),
        watch: starting.Watch | None = None,
    ) -> int:
        quiet = "-" in self.given.values()
        kept = Kept(Path(self.profiles), self.name, ("tare", *redacted_command(sys.argv[1:])))
        with background(), shown(f"profile of {subject.shown}", asked.duration_s, quiet=quiet) as show:

            def hear(event: Told) -> None:
                if watch is not None:
                    watch(event)
                show(event)

            run, made = profiled(subject, asked, kept, hear, wait_s=wait_s, begin_with=begin_with)
        try:
            with background():
                self._report(run)
        except (TooFewTransactions, NoSuchProfile) as none:
            if run.about.failure is None:
                raise
            raise _without_a_report(run, run.about.failure, none) from None
        return self._ended(run, made)

    def _report(self, run: Run) -> None:
        from tare.report.kit.deliver import deliver
        from tare.report.profile.story import answer, printed, story

        megabytes = run.recording.stat().st_size / 1e6
        if megabytes > LARGE_MB:
            print(f"tare: analysing {megabytes:.0f} MB of records; no probe is on any more", file=sys.stderr)
        found = built(run)
        deliver(
            story(found), found.report, self.given, printed=printed(found, top=self.top), answer=answer(found)
        )

    def _ended(self, run: Run, made: Made) -> int:
        print(f"tare: kept as {run.folder}", file=sys.stderr)
        for note in made.notes:
            print(f"tare: {note}", file=sys.stderr)
        if run.about.failure is not None:
            print(f"tare: {ended_how(run.about.failure)}", file=sys.stderr)
            return SERVER_ENDED
        return 0 if made.stopped_by is None else exit_code_of(made.stopped_by)


def _without_a_report(run: Run, failure: Failure, none: TareError) -> WatchedServerEnded:
    """Return the error that reports what became of the server, where there is nothing else to report."""
    from tare.report.profile.failure import sentences

    names = {one.id: one.name for one in run.about.functions}
    said = " ".join(
        sentences(failure, run.about.rates, lambda number: names.get(number, f"function {number}"))
    )
    return WatchedServerEnded(
        f"{said} {none.what[0].upper()}{none.what[1:]}", f"look at the server's log; kept as {run.folder}"
    )
