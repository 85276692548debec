"""The report of a profile, version 1: the models behind `schemas/profile-v1.json`.

All that the other forms say in numbers is in it. Times are ns; shares are of Var(T), where T is a transaction's
duration, and 1.0 is all of it. A figure of a profile that has none (no transactions, or all alike) is null.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tare.report.document import Document

SCHEMA_NAME: Literal["tare-profile/1"] = "tare-profile/1"


class Figure(Document):
    """With its 95% bootstrap interval over blocks of neighbouring transactions."""

    value: float
    low: float
    high: float


class Site(Document):
    """Place from which a path is called."""

    address: str = Field(description="Return address in its object, hexadecimal; empty: not known.")
    caller: str
    calls: float = Field(description="Per transaction.")
    variance: float | None


class Node(Document):
    """A path of the variance tree: a function as called from another path."""

    path: int
    parent: int | None
    function: int | None = Field(
        description="Null: the transaction itself, or waiting between its intervals."
    )
    name: str
    inferred: bool = Field(description="The name is inferred, not a symbol's.")
    depth: int
    height: int | None = Field(
        description="In the static call graph, raised by the calls that were seen; null: it is no function."
    )
    calls: float
    mean_ns: float
    sd_ns: float
    variance: Figure | None = Field(description="Var(inclusive) / Var(T); these overlap.")
    own_mean_ns: float
    own_variance: float | None = Field(description="Var(own) / Var(T).")
    own_covariance: Figure | None = Field(
        description="Cov(own, T) / Var(T); over all nodes these add up to 1."
    )
    covariance: float | None = Field(description="Cov(inclusive, T) / Var(T).")
    residue: float | None = Field(description="Residue of equation 1, relative to Var(inclusive).")
    sites: list[Site]
    children: list[int]
    recursion: int = Field(
        default=1, description="Calls of the function within each other, at most; they are this one path."
    )


class Pair(Document):
    """Two children of one path, or a child and the body, that vary together."""

    parent: int
    left: int = Field(description="A path; the parent stands for its body.")
    right: int
    covariance: float | None = Field(description="2 Cov / Var(T).")


class Factor(Document):
    names: list[str]
    kind: str = Field(description='"function", "body", "pair", or "waiting" (between intervals).')
    functions: list[int] = Field(description="Empty: waiting.")
    share: Figure | None = Field(description="Sum of V over its paths; equation 3 without specificity.")
    height: int
    specificity: float = Field(description="Equation 2.")
    score: float | None = Field(description="Equation 3.")
    own_covariance: Figure | None
    instances: int
    mean_ns: float
    inferred: bool
    beneath: list[str] = Field(
        default=[],
        description="Callers that tell this path from the function's other paths, the nearest first; empty: all of its "
        "paths, or the others.",
    )
    others: bool = Field(
        default=False, description="The paths of the function that are no factor of their own."
    )


class Tail(Document):
    name: str
    mean_ns: float = Field(description="Own time in a transaction that is not in the tail.")
    tail_ns: float = Field(description="In one above the 99th percentile.")
    excess: Figure | None = Field(description="Share of what those in the tail take longer; adds up to 1.")


class Type(Document):
    label: int
    name: str
    transactions: int
    mean_ns: float
    sd_ns: float
    p50_ns: float
    p99_ns: float
    max_ns: float
    on_cpu_ns: float | None
    off_cpu_ns: float | None


class Spread(Document):
    """Durations of one type's transactions, for a picture."""

    name: str
    histogram: list[tuple[float, float, int]] = Field(description="From, to (ns), how many.")
    slower: list[tuple[float, float]] = Field(
        description="ns, and the share that took as long or longer; thinned."
    )


class Turn(Document):
    """A window of the kinds that take turns."""

    probed: bool = Field(description="With all probes; else with the transactions' markers alone.")
    seconds: float
    transactions: int
    mean_ns: float


class Loss(Document):
    """Throughput that the server lost to the profile, as shares of what it does without any probe."""

    average: Figure | None = Field(description="Over the whole profile; null: not measured.")
    in_windows: Figure | None = Field(
        default=None,
        description="Part of `average` that windows with probes and counting calls took; null: it holds nothing else.",
    )
    on: Figure | None = Field(description="While all probes were on.")
    predicted_average: float
    predicted_on: float
    allowed_average: float | None = Field(description="The budget.")
    allowed_on: float
    markers: Figure | None = Field(
        description="By the transactions' markers alone; null: not measured, and what was predicted of them is in `on` "
        "and `average`."
    )
    markers_by: str | None = Field(
        description='Counter of the kernel that stood for transactions while no probe was on: "waits" (voluntary '
        'context switches) or "user time".'
    )
    markers_pairs: int = Field(description="Pairs of windows, with the markers alone and without any probe.")
    predicted_markers: float
    probed_share: float = Field(description="Share of the profile's time with all probes on.")
    markers_share: float = Field(description="With the markers alone.")
    counting: float = Field(description="Part of `average` that is due to counting calls, predicted.")
    own: float = Field(
        default=0.0,
        description="Share lost to Tare's own work between windows, predicted; in `average` beside `in_windows` alone.",
    )


class Overhead(Document):
    """Overhead of profiling, by windows with all probes and with the markers alone, taking turns."""

    windows: int = Field(description="Pairs.")
    latency: Figure | None = Field(description="Ratio of mean durations, less 1.")
    throughput: Figure | None = Field(description="1 less the ratio of transactions a second.")
    predicted: float
    events: float = Field(description="Per transaction.")
    pair_ns: float = Field(description="Cost of an entry and exit.")
    markers: float = Field(description="Predicted of what stays on in the windows without probes.")
    loss: Loss | None = Field(default=None, description="Null: windows do not show it.")
    growth: float | None = Field(
        description="Times as long as at its beginning a transaction took at the end, where the load was too unsteady "
        "for figures; null: it was steady."
    )
    verdict: str = Field(
        description='"measured", "above" (the budget, with the whole interval), "too wide" (an interval wider than the '
        'budget, on both sides of it), "too few" (windows) or "unsteady".'
    )


class Shed(Document):
    """Functions that were let go in mid-round, since probes took more than the budget."""

    round: int
    functions: list[str] = Field(description="The dearest first.")
    predicted: list[float] = Field(description="Cost of each, as a share of the time that a transaction has.")
    measure: str = Field(description='Measure of the overhead: "latency" or "throughput".')
    overhead: Figure = Field(description="Measured when the functions were let go.")
    pairs: int = Field(description="Pairs of windows until then.")
    allowed: float | None = Field(
        default=None, description="Limit of the overhead while all probes were on; null: the budget."
    )
    left: int = Field(description="Functions that stayed watched.")


class Failure(Document):
    """The server ended or hangs."""

    kind: str = Field(description='"server ended", "process ended" (the server goes on) or "server hangs".')
    process: int
    process_name: str
    signal: int | None = Field(description="Null: none, or not known.")
    exit_status: int | None = Field(description="Null: a signal, or not known.")
    thread: int | None = Field(
        description="Thread that the signal hit, or one of those that hang; null: not known."
    )
    thread_name: str
    function: str = Field(description="In which the recording saw the thread last; empty: not known.")
    threads: int = Field(description="Number of threads that hang.")
    probes: str = Field(description='Probes of Tare that were on: "functions", "markers" or "none".')
    functions: int = Field(description="Functions watched at that time.")


class Watching(Document):
    """How the last round's functions were watched."""

    ways: dict[str, int] = Field(
        default={},
        description='Functions by how both ends of their calls are seen: "exit sites" (probes at each place where they '
        'leave), "trampoline" (agent), "sled" (xray) or "return probe" (attach, in profiles of earlier versions).',
    )
    refused: dict[str, int] = Field(
        default={}, description="Functions that no probe could be put on, by why."
    )


class Rates(Document):
    """Transactions a second; null: not known."""

    before: float | None = Field(description="With the markers alone, before any function was watched.")
    during: float | None = Field(description="In the last window with all probes.")
    after: float | None = Field(
        description="In the last window, with the markers alone; 0 if the server ended."
    )


class Round(Document):
    number: int
    reason: str
    added: list[str]
    dropped: list[str]
    functions: int = Field(description="With a probe on.")
    predicted: float | None = Field(
        description="Share of the time that a transaction has of the CPUs, or lasts."
    )


class Durations(Document):
    mean_ns: float
    sd_ns: float
    p50_ns: float
    p99_ns: float
    max_ns: float


class Equation(Document):
    """Whether equation 1 holds, and whether the shares that must add up do."""

    paths: int
    residue: float | None = Field(description="The largest, relative.")
    own_sum: float | None = Field(description="Sum of all own_covariance, which should be 1.")


class Next(Document):
    says: str
    command: str = Field(description="Empty: there is none.")


class Prices(Document):
    """Cost of an entry and exit, ns, in a process of Tare's own on this machine."""

    emulated_ns: float = Field(description="The kernel emulates the instructions at both ends.")
    stepped_ns: float = Field(description="The kernel steps over both.")


class Of(Document):
    """Subject and way of the profile."""

    server: str = Field(description="Without its password.")
    dbms: str
    dbms_version: str
    backend: str
    says: str = Field(description="Description that the backend gives of itself.")
    preset: str
    transaction: str = Field(description="Definition of a transaction.")
    budget: float | None = Field(
        description="Share of the throughput that probes may take, over the whole profile."
    )
    prices: Prices | None = Field(
        default=None, description="Prices of probes, by `attach`; null: not measured."
    )
    state: str = Field(
        description='"complete", "interrupted", "server ended", "server hangs" or "recording".'
    )


class ProfileReport(Document):
    schema_: Literal["tare-profile/1"] = Field(default=SCHEMA_NAME, alias="schema")
    title: str
    written_at: str
    written_by: str = Field(description="Version of Tare.")
    run: str
    started_at: str
    valid: bool = Field(description="`invalid_because` is empty.")
    invalid_because: list[str] = Field(
        description='The gravest first: "server ended", "server hangs", "no transactions", "transactions left out" '
        '(more than 1%, except for those that the windows cut), "overhead above the budget", "overhead not measurable" '
        '(an interval wider than the budget, or too few windows), "load not steady".'
    )
    headline: list[str] = Field(description="The findings in a few sentences; what makes it invalid first.")
    warnings: list[str]
    failure: Failure | None = Field(description="Null: the server lives.")
    rates: Rates
    shed: list[Shed]
    of: Of
    transactions: int = Field(description="Valid ones.")
    invalid: dict[str, int] = Field(
        description='Transactions that were left out, by why: "lost" (records), "changed" (probes), "overlap", '
        '"unfinished", "unnested", "deep", or "unwound": an exception, a longjmp or the end of its thread left it at '
        "an unknown time."
    )
    records: int
    lost: int
    unwound: int = Field(
        default=0,
        description="Calls left without a return, by an exception, a longjmp or the end of their thread. Each ends "
        "when that is seen.",
    )
    unrecorded: int = Field(
        default=0,
        description="Calls of signal handlers that interrupted Tare's library at work. They are in no record; their "
        "time is that of the functions they interrupted.",
    )
    enough: int | None = Field(
        description="Transactions needed for an interval of ±10 points of the first factor; null: there are enough."
    )
    server_time: bool = Field(
        description="T is the server's own time, without waiting for the client; else the whole duration."
    )
    durations: Durations | None
    between_types: float | None = Field(description="Share of the variance between types: inherent.")
    on_cpu: Figure | None = Field(description="Cov(CPU time, T) / Var(T).")
    waiting: float | None = Field(description="Cov(time waiting for the client, T) / Var(T).")
    call_graph_height: int
    equation: Equation
    nodes: list[Node]
    pairs: list[Pair]
    factors: list[Factor]
    tail: list[Tail]
    types: list[Type]
    spreads: list[Spread]
    turns: list[Turn] = Field(description="In order of time.")
    overhead: Overhead | None
    rounds: list[Round]
    naive_rounds: int | None = Field(description="Level after level, to the same functions.")
    ended: str = Field(description="Why there was no further round.")
    next: Next
    refused: dict[str, str] = Field(description="Why a function has no probe, by name.")
    left_out: list[str] = Field(description="Functions that are called too often for the budget.")
    watching: Watching = Watching()
    machine: dict[str, str | int | float | bool | None]
    notes: list[str] = Field(description="Notes on what was out of the ordinary.")
    commands: list[str]
