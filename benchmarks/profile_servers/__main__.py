"""Does `tare profile attach` harm a server? Everything that clients do to servers goes on while each is watched.

PostgreSQL 18 and 15, MariaDB and MySQL 5.6 under TPC-C, programs with DuckDB and SQLite in their process, a Java
virtual machine, Redis and nginx. A second client's statements fail, are cancelled and run out of memory, its
connections are ended and its process is killed; some of the load's own statements and connections are ended too. `tare
profile attach` watches for 60 s with automatic refinement, `--attaches` times in turns with quiet stretches. Then the
server has to be the same process, its log without a crash, its code without a probe, and its data without a
contradiction. `--moments 1` attaches at bad moments: while the server starts, twice at once, and with an end of Tare or
of the server in mid-run.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from benchmarks.common import Figure, arguments
from benchmarks.page import publish, table
from benchmarks.profile_servers import harm
from benchmarks.profile_servers.moments import Moment, moments
from benchmarks.profile_servers.subjects import SUBJECTS, Ends, Missing, Subject, new_folder
from tare.cli.profile_request import share
from tare.errors import TareError
from tare.protocol.signed_ranks import interval

NOT_IN_TIME_S = 120.0
BEYOND = 2.0
"""Points of throughput that may be lost beyond the budget, by the clients' count."""

BLOCK_S = 5

REFUSED = 2
"""Exit code of Tare where a transaction's markers alone take more than the budget allows while they are on."""

SECOND = 1_000_000_000
MOMENTS_FOR = ("postgresql-18", "mariadb")


@dataclass(frozen=True)
class Pace:
    """Transactions a second and the longest time in which none ended, of one phase."""

    rate: float
    low: float
    high: float
    standstill_ms: float
    error: float = math.nan  # standard error of the rate, as a share of it

    def __str__(self) -> str:
        interval = "" if math.isnan(self.low) else f" ({self.low:,.0f}–{self.high:,.0f})"
        return f"{self.rate:,.0f}{interval}"


@dataclass(frozen=True)
class Outcome:
    name: str
    alive: bool
    same_process: bool
    exit_code: int | None
    headline: str
    transactions: int  # that Tare saw
    rounds: int
    functions: int  # that were watched, in all rounds
    failures: int  # of clients, as they were meant
    surprises: tuple[str, ...]
    wrong: tuple[str, ...]
    crashes: tuple[str, ...]  # lines of the log
    kernel: tuple[str, ...]  # lines
    breakpoints: int
    allowed: float  # share of the throughput, over the whole profile
    told: float | None  # of it, lost by Tare's own word; None: not measured
    before: Pace
    during: Pace  # all the time that Tare was there
    after: Pace
    losses: tuple[float, ...]  # shares of the throughput, one for each time that Tare was there

    @property
    def lost(self) -> float:
        """Share of the throughput that was lost while Tare was there, analysis included, by the clients' own count."""
        return statistics.mean(self.losses)

    @property
    def error(self) -> float:
        """Half of the 95% interval of `lost`: of several times that Tare was there, by their spread."""
        if len(self.losses) > 1:
            spread = statistics.stdev(self.losses) / math.sqrt(len(self.losses))
            return float(stdtrit(len(self.losses) - 1, 0.975)) * spread
        around = math.hypot(self.before.error, self.after.error) / 2
        return 1.96 * (1 - self.lost) * math.hypot(self.during.error, around)

    @property
    def is_unharmed(self) -> bool:
        return (
            self.alive
            and self.same_process
            and self.exit_code in (0, REFUSED)
            and not (self.surprises or self.wrong or self.crashes or self.breakpoints)
        )


Span = tuple[int, int]
"""Begin and end, CLOCK_MONOTONIC in ns."""


def measure(subject: Subject, seconds: int, around_s: int, budget: str, attaches: int) -> Outcome:
    subject.start()
    try:
        pid, logged = subject.pid, subject.log.stat().st_size if subject.log.exists() else 0
        kernel = harm.kernel_lines()
        subject.begin()
        time.sleep(around_s / 3)
        quiet, watched = [_pause(around_s)], []
        code: int | None = 0
        documents = []
        while len(watched) < attaches and code == 0 and subject.is_alive:
            begin = time.monotonic_ns()
            code, document = attach(subject, seconds, budget, len(watched))
            documents.append(document)
            watched.append((begin, time.monotonic_ns()))
            quiet.append(_pause(around_s))
        alive = subject.is_alive
        left = harm.probes_in(pid) if alive else 0
        same = alive and subject.pid == pid
        ends = subject.end()
        wrong = subject.wrong() if alive else ["the server has ended"]
        rounds = [one for document in documents for one in document.get("rounds", ())]
        told = [loss for document in documents if (loss := told_loss(document)) is not None]
        return Outcome(
            name=subject.name,
            alive=alive,
            same_process=same,
            exit_code=code,
            headline=" ".join(documents[-1].get("headline", ())),
            transactions=sum(int(document.get("transactions", 0)) for document in documents),
            rounds=len(rounds),
            functions=len({name for one in rounds for name in one["added"]}),
            failures=sum(count for what, count in subject.counts.items() if what != "unexpected"),
            surprises=tuple(subject.surprises),
            wrong=tuple(wrong),
            crashes=tuple(harm.crash_lines(subject.log, logged)),
            kernel=tuple(harm.new_kernel_lines(kernel)),
            breakpoints=left,
            allowed=share(budget, "--budget"),
            told=statistics.mean(told) if told else None,
            before=pace(ends, quiet[:1]),
            during=pace(ends, watched),
            after=pace(ends, quiet[1:]),
            losses=tuple(losses(ends, quiet, watched, seconds)),
        )
    finally:
        subject.give_up()
        subject.stop()


def _pause(seconds: int) -> Span:
    begin = time.monotonic_ns()
    time.sleep(seconds)
    return begin, time.monotonic_ns()


def losses(ends: Ends, quiet: Sequence[Span], watched: Sequence[Span], seconds: int) -> Iterator[float]:
    """Share of the throughput that was lost in each watched stretch, against the quiet ones before and after it. A
    profile that ends before the requested time may take what it was allowed of that time."""
    rates = [_rate(ends, span) for span in quiet]
    for number, (begin, end) in enumerate(watched):
        lost = 1 - _rate(ends, (begin, end)) / statistics.mean(rates[number : number + 2])
        yield lost * min(1.0, (end - begin) / (seconds * SECOND))


def _rate(ends: Ends, span: Span) -> float:
    begin, end = span
    return np.count_nonzero((ends >= begin) & (ends < end)) / (end - begin) * SECOND


def told_loss(document: dict[str, Any]) -> float | None:
    loss = (document.get("overhead") or {}).get("loss") or {}
    average = loss.get("average")
    return None if average is None else float(average["value"])


def attach(subject: Subject, seconds: int, budget: str, number: int) -> tuple[int | None, dict[str, Any]]:
    """Exit code of Tare, None where it did not end in time, and its report."""
    document = subject.folder / f"profile-{number}.json"
    words = (*subject.words, "--duration", f"{seconds}s", "--rounds", "50", "--budget", budget)
    kept = ("--profiles", str(subject.folder / "profiles"), "--json", str(document))
    command = [sys.executable, "-m", "tare", "profile", "attach", *words, *kept]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds + NOT_IN_TIME_S, check=False
        )
        code: int | None = done.returncode
        if code:
            print(done.stdout[-1500:], done.stderr[-1500:], file=sys.stderr, flush=True)
    except subprocess.TimeoutExpired:
        code = None
    return code, json.loads(document.read_text()) if document.exists() else {}


def pace(ends: Ends, spans: Sequence[Span]) -> Pace:
    """Rates of whole seconds. Neighbouring seconds are alike, so the error is that of means over BLOCK_S."""
    seconds = [_each_second(ends, span) for span in spans]
    rates = np.concatenate(seconds)
    sure = interval(rates)
    low, high = (sure.low, sure.high) if sure else (math.nan, math.nan)
    blocks = np.concatenate(
        [one[: len(one) // BLOCK_S * BLOCK_S].reshape(-1, BLOCK_S).mean(axis=1) for one in seconds]
    )
    error = blocks.std(ddof=1) / blocks.mean() / math.sqrt(len(blocks)) if len(blocks) > 1 else math.nan
    still_ms = max(_standstill_ns(ends, span) for span in spans) / 1e6
    return Pace(float(rates.mean()), low, high, still_ms, float(error))


def _each_second(ends: Ends, span: Span) -> NDArray[np.float64]:
    begin, end = span
    seconds = max(1, (end - begin) // SECOND)
    return np.histogram(ends, bins=seconds, range=(begin, begin + seconds * SECOND))[0].astype(float)


def _standstill_ns(ends: Ends, span: Span) -> float:
    begin, end = span
    within = ends[(ends >= begin) & (ends < end)]
    return float(np.diff(np.concatenate(([begin], within, [end]))).max())


HEADER = (
    *(
        "server",
        "unharmed",
        "exit code",
        "rounds",
        "functions",
        "failures of clients",
        "transactions/s before",
    ),
    *("while", "after", "throughput lost, by the clients' count", "by Tare's", "allowed"),
    *("longest standstill, ms: before", "while", "after"),
)


def line(one: Outcome) -> tuple[str, ...]:
    stills = (f"{phase.standstill_ms:,.0f}" for phase in (one.before, one.during, one.after))
    return (
        one.name,
        "yes" if one.is_unharmed else "**no**",
        {None: "none in time", REFUSED: "2, refused"}.get(one.exit_code, str(one.exit_code)),
        str(one.rounds),
        str(one.functions),
        f"{one.failures:,}",
        *(str(phase) for phase in (one.before, one.during, one.after)),
        "–" if one.exit_code == REFUSED else f"{one.lost:.1%} (±{100 * one.error:.1f})",
        "not measured" if one.told is None else f"{one.told:.1%}",
        f"{one.allowed:.0%}",
        *stills,
    )


def figures(outcomes: Sequence[Outcome], at_moments: Sequence[Moment]) -> Iterator[Figure]:
    if outcomes:
        unharmed = sum(one.is_unharmed for one in outcomes)
        yield Figure("servers unharmed", unharmed, f"of {len(outcomes)}", len(outcomes), at_most=False)
        still = max(one.during.standstill_ms for one in outcomes)
        yield Figure("longest standstill while watched", still, "ms", math.inf)
        for one in outcomes:
            change = 100 * (one.after.rate / one.before.rate - 1)
            yield Figure(f"{one.name}: transactions/s after against before", change, "%", math.inf)
            if one.exit_code == REFUSED:
                continue
            beyond = 100 * (one.lost - one.allowed)
            yield Figure(
                f"{one.name}: throughput lost beyond the budget",
                beyond,
                "points",
                BEYOND,
                spread=f"95% interval ±{100 * one.error:.1f}",
            )
    if at_moments:
        right = sum(one.is_right for one in at_moments)
        yield Figure("bad moments survived", right, f"of {len(at_moments)}", len(at_moments), at_most=False)


def page(outcomes: Sequence[Outcome], at_moments: Sequence[Moment]) -> str:
    parts = []
    if outcomes:
        parts.append(table(HEADER, [line(one) for one in outcomes]))
    if at_moments:
        rows = [(one.server, one.name, "yes" if one.is_right else "**no**", one.says) for one in at_moments]
        parts.append(table(("server", "moment", "as it has to be", "what happened"), rows))
    return "\n\n".join(parts)


def explain(one: Outcome) -> Iterator[str]:
    for what, lines in (
        ("otherwise than meant", one.surprises),
        ("the data", one.wrong),
        ("the log", one.crashes),
        ("the kernel", one.kernel),
    ):
        for text in lines:
            yield f"{one.name}: {what}: {text}"
    if one.breakpoints:
        yield f"{one.name}: {one.breakpoints} probes are still in its code"
    yield f"{one.name}: {one.headline}"


def main() -> None:
    asked = arguments(
        __doc__ or "",
        files=("markdown", "results"),
        seconds=60,
        around=30,
        attaches=3,
        budget="20%",
        servers="",
        moments=0,
    )
    if os.geteuid() != 0:
        raise SystemExit("attaching needs root: sudo -E python -m benchmarks.profile_servers")
    names = [name for name in asked.servers.split(",") if name] or list(SUBJECTS)
    unknown = set(names) - set(SUBJECTS)
    if unknown:
        raise SystemExit(f"no server is named {', '.join(sorted(unknown))}; servers: {', '.join(SUBJECTS)}")
    seconds, around_s, attaches = (6, 3, 1) if asked.small else (asked.seconds, asked.around, asked.attaches)
    kept = Kept.read(asked.results)
    for name in names:
        try:
            with new_folder() as folder:
                subject = SUBJECTS[name](Path(folder))
                if not asked.moments:
                    outcome = measure(subject, seconds, around_s, asked.budget, attaches)
                    kept.add(outcome)
                    for text in explain(outcome):
                        print(text, file=sys.stderr, flush=True)
                elif name in MOMENTS_FOR:
                    others = [one for one in kept.moments if one.server != subject.name]
                    kept.moments = [*others, *moments(subject)]
        except (Missing, TareError) as error:
            print(f"NOT MEASURED: {name}: {error}", file=sys.stderr, flush=True)
        kept.write(asked.results)
    outcomes, at_moments = kept.outcomes, kept.moments
    made = page(outcomes, at_moments)
    publish(asked, made, list(figures(outcomes, at_moments)))


@dataclass
class Kept:
    """Results of this call and, where a file keeps them, of earlier ones."""

    outcomes: list[Outcome]
    moments: list[Moment]

    @staticmethod
    def read(file: Path | None) -> Kept:
        said = json.loads(file.read_text()) if file is not None and file.exists() else {}
        moments = [Moment(**one) for one in said.get("moments", ())]
        return Kept([outcome_of(one) for one in said.get("servers", ())], moments)

    def add(self, outcome: Outcome) -> None:
        """A server's last with a budget counts."""
        others = [one for one in self.outcomes if (one.name, one.allowed) != (outcome.name, outcome.allowed)]
        self.outcomes = [*others, outcome]

    def write(self, file: Path | None) -> None:
        if file is not None:
            servers = [asdict(one) for one in self.outcomes]
            moments = [asdict(one) for one in self.moments]
            file.write_text(json.dumps({"servers": servers, "moments": moments}, indent=1))


def outcome_of(kept: dict[str, Any]) -> Outcome:
    """Result that was kept as JSON."""
    phases = {name: Pace(**kept.pop(name)) for name in ("before", "during", "after")}
    lists = {name: tuple(value) for name, value in kept.items() if isinstance(value, list)}
    return Outcome(**{**kept, **lists, **phases})


if __name__ == "__main__":
    main()
