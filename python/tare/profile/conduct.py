"""A profile from beginning to end: its folder made, the server watched, each round written down, its health after."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from tare.dbms import local
from tare.errors import ServerFailed, TareError, TooFewTransactions, UsageError, WatchedServerEnded
from tare.lab.profile_about import (
    About,
    Activity,
    Failure,
    FailureKind,
    Machine,
    Named,
    Prices,
    Probes,
    Rates,
    Shed,
    State,
    Watching,
)
from tare.lab.profile_about import Round as Written
from tare.lab.profiles import Run, create, usual_name
from tare.measure.environment import machine_facts
from tare.profile import told, watched
from tare.profile.activity import counters
from tare.profile.background import foreground
from tare.profile.costs import Price
from tare.profile.counting import BATCH
from tare.profile.ending import WORDS, Ending
from tare.profile.first_look import FirstLook, NoTransactions
from tare.profile.functions import Functions
from tare.profile.health import WATCH_S, Death, Health, health_of
from tare.profile.images import in_our_words
from tare.profile.made import Made
from tare.profile.made import Shed as Let
from tare.profile.other_tracers import OtherTracers
from tare.profile.pointers import PointerSearch
from tare.profile.presets import of_dbms
from tare.profile.prices import measured as measured_prices
from tare.profile.reading import Reading, described
from tare.profile.recording import Recording
from tare.profile.refine import Refinement
from tare.profile.request import Asked
from tare.profile.server import Server, children
from tare.profile.session import Session
from tare.profile.transactions import Transactions, transactions
from tare.protocol.profile.failure import ended_how
from tare.protocol.profile.found import Findings
from tare.protocol.profile.loss import Activity as Counted
from tare.protocol.profile.refinement import Costs
from tare.protocol.profile.shares import TRANSACTION

if TYPE_CHECKING:
    from tare._probe import ProfileRecorder

Opened = Callable[[str], "ProfileRecorder"]
"""Opens a backend with the path that its recording goes to."""

CHEAP_BATCH = 4_096
"""Functions counted at the same time where an entry costs nanoseconds."""

WITH_BARE_WINDOWS = ("attach",)
"""Backends of which even the transactions' markers cost enough to be measured."""

LONGEST_WAIT_S = 30.0
"""For the first transaction of a server that runs already."""


@dataclass(frozen=True)
class Subject:
    """A server to watch, and how."""

    server: Server
    functions: Functions
    transactions: Transactions
    backend: str
    opened: Opened
    shown: str  # the server as a user knows it: a URL without its password, a process, a command
    folder: Path | None = None  # of the agent's shared memory
    exit_code: Callable[[], int | None] = lambda: (
        None
    )  # of a child of ours, as `subprocess` has it; None: not known


@dataclass(frozen=True)
class Kept:
    """Folder and name of the run, and the command that asked for it."""

    out: Path
    name: str | None
    command: Sequence[str]


def usual_txn(asked: str | None, dbms: str | None) -> str:
    """Raises UsageError where a DBMS has no usual one."""
    known = of_dbms(dbms)
    if asked is None and not known:
        raise UsageError(
            "what a transaction of this program is, is not known",
            "say it: --txn function:NAME, usdt:PROVIDER:BEGIN,END or annotation",
        )
    return asked or known[0].txn


def transactions_of(asked: Asked, server: Server, functions: Functions) -> Transactions:
    """Raises UsageError and NoSuchFunction."""
    return transactions(usual_txn(asked.txn, server.dbms), server.dbms, server.major, functions)


def profiled(
    subject: Subject,
    asked: Asked,
    kept: Kept,
    tell: Callable[[told.Told], None],
    *,
    wait_s: float | None = None,
    begin_with: Sequence[int] = (),
) -> tuple[Run, Made]:
    """`wait_s`: for the first transaction; None: as long as the profile lasts, `LONGEST_WAIT_S` at most. `begin_with`:
    functions, where they are not asked for by name.

    Raises what is wrong before the first round; later trouble is in what was made, which is always analysed."""
    named = [subject.functions.named(one).id for one in asked.functions] or list(begin_with)
    with _folder(subject, asked, kept) as run, in_our_words(), health_of(subject.server) as health:
        compares = subject.backend in WITH_BARE_WINDOWS
        with foreground():
            prices = measured_prices() if compares else None
        price = Price.of(subject.backend, prices)
        if prices is not None:
            run = run.save(run.about.model_copy(update={"prices": Prices(**asdict(prices))}))
        with foreground():  # its threads receive what the probes send
            recorder = subject.opened(str(run.recording))
        tell(told.Watching(recorder.name, recorder.says, subject.transactions.says, asked.duration_s))
        cpus = machine_facts().online_cpus
        reading = Reading(run.recording, subject.transactions, subject.functions, asked, cpus)
        recording = Recording(
            recorder,
            subject.functions,
            subject.transactions,
            healthy=health.healthy,
            counters=lambda: counters(subject.server),
            step=price.step,
        )
        refinement = Refinement(
            subject.functions,
            subject.transactions,
            asked.budget,
            begin_with=named,
            most=asked.most_named if compares else asked.budget,
            pointers=PointerSearch(
                recording, reading, subject.functions, asked.budget, asked.searching_s, cpus
            ),
        )

        def hear(event: told.Told) -> None:
            _heard(event, tell, health, lambda: _written(run, subject, recording, session.made, refinement))

        first_look = FirstLook(
            recording,
            reading,
            subject.transactions,
            subject.functions,
            asked,
            price,
            hear,
            cpus=cpus,
            compares=compares,
        )
        session = Session(
            recording,
            asked,
            reading,
            first_look,
            refinement,
            hear,
            price=price,
            compares=compares,
            name_of=lambda number: subject.functions[number].name,
            weight_of=recording.weight,
            batch=BATCH if subject.backend == "attach" else CHEAP_BATCH,
        )
        others = OtherTracers(subject.server.pid)

        def note_others() -> None:
            for sentence in others.look() if compares else ():
                session.made.notes.append(sentence)
                tell(told.Noted(sentence))

        note_others()
        health.begin()
        try:
            made = session.run(wait_s=min(LONGEST_WAIT_S, asked.duration_s) if wait_s is None else wait_s)
        except NoTransactions as none:
            raise _with_children(none, subject.server) from None
        if made.rates.after == 0 and workers_unwatched(subject.server):
            made.rates = replace(made.rates, after=None)
        failure = _after(made, subject, health, reading, tell, note_others)
        if not made.rounds:
            _nothing(made, subject, failure)
        _caught_up(made, reading, refinement)
        run = _written(
            run, subject, recording, made, refinement, state=_state(made, failure), failure=failure
        )
        _ended(run, subject, made, refinement, recording.weight)
        return run, made


def _heard(
    event: told.Told, tell: Callable[[told.Told], None], health: Health, write: Callable[[], object]
) -> None:
    match event:
        case told.RoundDone():
            write()
        case told.Waiting():
            health.begin()
        case told.Counting() | told.Window():
            health.settle()
    tell(event)


def _after(
    made: Made,
    subject: Subject,
    health: Health,
    reading: Reading,
    tell: Callable[[told.Told], None],
    note_others: Callable[[], None],
) -> Failure | None:
    """Return the failure of the server, if it ended or hangs once no probe is on. Others may have come meanwhile."""
    probes = Probes.NONE
    if made.ending is Ending.SERVER_ENDED:
        probes = Probes.FUNCTIONS if made.probes_at_end else Probes.MARKERS
    try:
        death = health.death()
        if death is None:
            tell(told.Detached(WATCH_S))
            note_others()
            progress = health.progress()
            note_others()
            death = health.death()
            if death is None and progress.standstill and (hung := _hung(progress.still, health, reading)):
                return _hang(subject, health, reading, hung)
    except KeyboardInterrupt:  # a second Ctrl-C ends the watching
        death = health.death()
    if death is None:
        return None
    made.ending, made.ended = Ending.SERVER_ENDED, WORDS[Ending.SERVER_ENDED]
    return _failure(death, probes, made, subject, reading)


def _hung(still: frozenset[int], health: Health, reading: Reading) -> frozenset[int]:
    """Threads of transactions that stand still: within one, waiting for something else than their client; or waiting
    for a mutex. The recording does not have transactions that began while probes were put on or taken off."""
    with suppress(TareError, OSError):
        reading.look()
    return health.blocked(still & reading.open_threads()) | health.locked_out(still & reading.threads())


def _hang(subject: Subject, health: Health, reading: Reading, hung: frozenset[int]) -> Failure:
    thread = min(hung)
    window = reading.window_of(thread)
    watched = set(window.functions) - set(subject.transactions.marking) if window is not None else set()
    return Failure(
        kind=FailureKind.SERVER_HANGS,
        process=subject.server.pid,
        process_name=health.name_of(subject.server.pid),
        thread=thread,
        thread_name=health.name_of(thread),
        function=reading.last_function(thread),
        threads=len(hung),
        probes=Probes.FUNCTIONS if watched else Probes.MARKERS,
        functions=len(watched),
    )


def _failure(death: Death, probes: Probes, made: Made, subject: Subject, reading: Reading) -> Failure:
    code = subject.exit_code() if death.whole else None
    if code is not None and death.signal is None and death.exit_status is None:
        death = replace(death, signal=-code if code < 0 else None, exit_status=code if code >= 0 else None)
    return Failure(
        kind=FailureKind.SERVER_ENDED if death.whole else FailureKind.PROCESS_ENDED,
        process=death.pid,
        process_name=death.name,
        signal=death.signal,
        exit_status=death.exit_status,
        thread=death.thread,
        function=None if death.thread is None else reading.last_function(death.thread, death.ended_ns),
        probes=probes,
        functions=len(made.probes_at_end) if probes is Probes.FUNCTIONS else 0,
    )


def _state(made: Made, failure: Failure | None) -> State:
    if failure is not None and failure.kind is FailureKind.SERVER_HANGS:
        return State.SERVER_HANGS
    return State.COMPLETE if made.ending is None else made.ending.state


@contextmanager
def _folder(subject: Subject, asked: Asked, kept: Kept) -> Iterator[Run]:
    """It goes again if nothing came of it."""
    now = datetime.now().astimezone()
    about = About(
        tare=version("tare-db"),
        name=kept.name or usual_name(subject.server.dbms or "process", now),
        when=now.isoformat(timespec="seconds"),
        command=tuple(kept.command),
        server=subject.shown,
        dbms=subject.server.dbms or "",
        dbms_version=subject.server.version,
        backend=subject.backend,
        preset=subject.transactions.txn,
        transaction=subject.transactions.says,
        rules=subject.transactions.rules,
        markers=tuple(sorted(subject.transactions.marking)),
        server_time=asked.server_time,
        budget=asked.budget,
        peak=asked.most_on if subject.backend in WITH_BARE_WINDOWS else None,
        machine=Machine(**asdict(machine_facts())),
    )
    run = create(about, kept.out, chosen=kept.name is not None)
    try:
        watched.save(run.folder, watched.of_server(subject.server, subject.folder))
        yield run
    except BaseException:
        shutil.rmtree(run.folder, ignore_errors=True)
        raise


def _with_children(none: NoTransactions, server: Server) -> NoTransactions:
    """Names the workers that were not watched, in which they may have ended."""
    workers = workers_unwatched(server)
    if not workers:
        return none
    number = children(len(workers))
    return NoTransactions(
        f"{none.what}; {number} of process {server.pid} run the same program and were not watched",
        "watch them too: --children",
    )


def workers_unwatched(server: Server) -> Sequence[int]:
    """Children that run the server's program and may run its transactions too, though nobody watches them."""
    return () if server.follow_children else local.twins_beneath(server.pid)


def did_not_run(exit_code: int) -> ServerFailed:
    """Error of a program that Tare started and that exited by itself before a function was timed."""
    return ServerFailed(
        f"the program ended with exit code {exit_code} before it could be profiled",
        "read what it said above; a server that refuses to run as root needs --user NAME",
    )


def _nothing(made: Made, subject: Subject, failure: Failure | None) -> None:
    """The session ended before its first round."""
    if made.stopped_by is not None:
        raise made.stopped_by
    code = subject.exit_code()
    if code is not None and code >= 0:
        raise did_not_run(code)
    if failure is not None:
        raise WatchedServerEnded(
            f"{subject.shown}: {ended_how(failure)} before a function was timed", "look at the server's log"
        )
    raise TareError(
        f"{subject.shown}: {made.ended or 'nothing was recorded'} before a function was timed",
        "look at the server's log, then profile again",
    )


def _caught_up(made: Made, reading: Reading, refinement: Refinement) -> None:
    """Findings and call sites of a round that was cut short."""
    if made.ending is not None and made.ending.cuts_a_round_short:
        with suppress(TooFewTransactions):
            reading.look()
            made.findings = reading.findings(made.rounds[-1].number)
            refinement.learn(made.findings)


def _written(
    run: Run,
    subject: Subject,
    recording: Recording,
    made: Made,
    refinement: Refinement,
    *,
    state: State = State.RECORDING,
    failure: Failure | None = None,
) -> Run:
    numbers = set(subject.transactions.marking) | set(made.calls) | refinement.met
    numbers |= {one for round_ in made.rounds for one in round_.watched} | set(made.left_out)
    numbers |= {failure.function} if failure is not None and failure.function is not None else set()
    known = described(subject.functions, numbers)
    price = made.price
    return run.save(
        run.about.model_copy(
            update={
                "state": state,
                "says": recording.recorder.says,
                "functions": tuple(Named(**asdict(one)) for one in known),
                "call_graph_height": refinement.height([one.height or 0 for one in known]),
                "pair_ns": price.pair_ns if price else None,
                "pair_measured": bool(price and price.measured),
                "marker_pairs": made.marker_pairs,
                "of_cycle": made.of_cycle,
                "counting_s": made.counting_s,
                "activity": _counted(recording.activity),
                "between": _counted(recording.between),
                "own_s": made.own_s,
                "calls": made.calls,
                "rounds": tuple(_round(made, place) for place in range(len(made.rounds))),
                "ended": made.ended,
                "failure": failure,
                "rates": Rates(**asdict(made.rates)),
                "shed": tuple(_shed(one) for one in made.shed),
                "alike": made.alike,
                "refused": made.refused,
                "left_out": tuple(made.left_out),
                "undivided": _undivided(made, refinement),
                "watching": Watching(ways=made.ways),
                "notes": tuple(made.notes),
            }
        )
    )


def _counted(activity: Mapping[int, Counted]) -> dict[int, Activity]:
    return {window: Activity(**asdict(one)) for window, one in activity.items()}


def _shed(shed: Let) -> Shed:
    excess = shed.excess
    return Shed(
        round=shed.round,
        functions=shed.functions,
        predicted=shed.predicted,
        measure=excess.measure,
        value=excess.figure.value,
        low=excess.figure.low,
        high=excess.figure.high,
        pairs=excess.pairs,
        allowed=excess.allowed,
        left=shed.left,
    )


def _round(made: Made, place: int) -> Written:
    one = made.rounds[place]
    before = made.rounds[place - 1].watched if place else ()
    return Written(
        number=one.number,
        functions=one.watched,
        reason=one.reason,
        added=one.added,
        dropped=tuple(number for number in before if number not in one.watched),
        predicted=one.predicted,
        seconds=one.seconds,
    )


def _ended(
    run: Run, subject: Subject, made: Made, refinement: Refinement, weight_of: Callable[[int], float]
) -> None:
    """Whether refinement came to its end, and how many rounds dividing everything would have taken to the same."""
    rounds = None
    if (sources := _sources(made.findings)) and made.price is not None and made.own_ns > 0:
        costs = Costs(made.calls, made.price.pair_ns, made.own_ns, weight_of)
        rounds = refinement.naive_rounds(sources, costs)
    before = watched.of_server(subject.server, subject.folder)
    after = {"naive_rounds": rounds, "settled": made.settled}
    watched.save(run.folder, before.model_copy(update=after))


def _undivided(made: Made, refinement: Refinement) -> dict[int, tuple[int, ...]]:
    """Callees that could not be watched, by the function or TRANSACTION that varies and has no other left to watch."""
    watched = {one for round_ in made.rounds for one in round_.watched}
    shed = {one for let_go in made.shed for one in let_go.functions}
    shed -= set(made.rounds[-1].watched if made.rounds else ())
    unable = {*shed, *made.left_out, *made.refused}
    found = {}
    for source in (TRANSACTION, *_sources(made.findings)):
        callees = [*refinement.callees(source), *refinement.perhaps_called(source)]
        blocked = tuple(one for one in callees if one in unable)
        others = (one for one in callees if one not in watched and one not in unable)
        if blocked and not any(
            made.calls.get(one, 1.0) > 0 for one in others
        ):  # that are called, as far as is known
            found[source] = blocked
    return found


def _sources(findings: Findings | None, most: int = 3) -> list[int]:
    """Functions of whose own time most of the variance is."""
    nodes = [one for one in (findings.nodes if findings else ()) if one.function is not None]
    first = sorted(nodes, key=lambda one: -one.own_covariance.value)[:most]
    return [one.function for one in first if one.function is not None and one.own_covariance.value >= 0.05]
