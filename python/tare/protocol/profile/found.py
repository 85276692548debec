"""Findings of a profile's analysis. Times in ns; shares are of Var(T), T a transaction's duration, 1.0 = all of it.

A *path* is a function as called from another path; call sites of one path are put together, and kept beside it.
*Own* time is the paper's body (Fig. 1): what is left of a path without the children that were recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95% bootstrap interval over transactions (in blocks: neighbours are not independent)."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Site:
    """Place from which a path is called (the paper's os_event_wait A and B)."""

    address: int  # return address in its object; 0: not known
    caller: str  # "heap_update+0x1f4" where a symbol covers it, else ""
    calls: float  # per transaction
    variance: float  # Var(inclusive at this site) / Var(T)


@dataclass(frozen=True, slots=True)
class Node:
    """A path of the variance tree (Fig. 1)."""

    path: int  # its place in `Findings.nodes`
    parent: int | None
    function: int | None  # None: the transaction itself, or waiting between its intervals
    name: str  # "transaction", "[waiting for the client]", or the function's
    inferred: bool  # the name is inferred, not a symbol's
    depth: int
    height: (
        int | None
    )  # of the function in the call graph, with the calls that were seen; None where it is no function
    calls: float  # per transaction
    mean_ns: float  # inclusive, over all valid transactions (0 where it was not called)
    sd_ns: float
    variance: Estimate  # Var(inclusive) / Var(T): the paper's share; these overlap
    own_mean_ns: float
    own_variance: float  # Var(own) / Var(T)
    own_covariance: Estimate  # Cov(own, T) / Var(T): over all nodes these add up to 1
    covariance: float  # Cov(inclusive, T) / Var(T): own plus that of the children
    residue: float  # of equation 1 at this node, relative to Var(inclusive); below 1e-9
    sites: tuple[Site, ...]
    children: tuple[int, ...]
    recursion: int = 1  # calls of the function within each other, at most; they are this one path


@dataclass(frozen=True, slots=True)
class Pair:
    """Two children of one path, or a child and the body, that vary together (equation 1's second sum)."""

    parent: int
    left: int  # a node; the parent itself stands for its body
    right: int
    covariance: float  # 2 Cov / Var(T); negative where one grows as the other shrinks


@dataclass(frozen=True, slots=True)
class Factor:
    """A function, its body, or a pair of functions (equations 2 and 3): over all paths where it is, or, of a function
    that has much of the variance on several, on one of them (the paper's os_event_wait [A] and [B])."""

    names: tuple[str, ...]  # one, or two of a pair
    kind: str  # "function", "body", "pair", or "waiting" (between intervals)
    functions: tuple[int, ...]  # empty: waiting
    share: Estimate  # sum of V(phi_i) / Var(T)
    height: int
    specificity: float  # (height of the call graph - height)^2
    score: float  # specificity x share
    own_covariance: Estimate | None  # of a function: its own time's share, which add up; None for a pair
    instances: int  # paths in which it is
    mean_ns: float  # per transaction
    inferred: bool
    beneath: tuple[str, ...] = ()  # callers that tell its path from the function's others, the nearest first
    others: bool = False  # the function's paths that are no factor of their own


@dataclass(frozen=True, slots=True)
class Tail:
    """How transactions above the 99th percentile differ from the others in one function's own time."""

    name: str
    mean_ns: float  # of the others
    tail_ns: float  # of those in the tail
    excess: (
        Estimate  # (tail - mean) / (mean T in the tail - mean T of the others): adds up to 1 over functions
    )


@dataclass(frozen=True, slots=True)
class Kind:
    """Transactions of one type, by label: what varies between types is inherent, within one may be avoidable (§2)."""

    label: int  # 0: no label
    name: str
    transactions: int
    mean_ns: float
    sd_ns: float
    p50_ns: float
    p99_ns: float
    max_ns: float
    on_cpu_ns: float | None  # mean CPU time
    off_cpu_ns: float | None  # mean of the rest


class Counter(StrEnum):
    """Counter of the kernel for a server, in place of its transactions, while no probe is on."""

    WAITS = "waits"  # voluntary context switches
    USER_TIME = "user time"


@dataclass(frozen=True, slots=True)
class MarkersLoss:
    """Loss of throughput by the transactions' markers alone: windows with them against windows without any probe."""

    figure: Estimate
    by: Counter
    pairs: int  # of windows


@dataclass(frozen=True, slots=True)
class Loss:
    """Throughput that a server lost to the whole profile, as shares of what it does without any probe."""

    on: Estimate | None  # while all probes are on, markers included; None: not measured
    average: Estimate | None  # over the whole profile, windows without probes and Tare's own work included
    in_windows: Estimate | None  # its part in windows with probes and in counting; None: it holds no other
    predicted_on: float
    predicted_average: float
    markers: (
        MarkersLoss | None
    )  # None: not measured; what was predicted of them is then in `on` and `average`
    predicted_markers: float
    probed_share: float  # of the profile's time, in windows with all probes on
    markers_share: float  # in windows with the markers alone
    counting: float  # the part of `average` that is due to counting calls, predicted
    own: float  # the part that is due to Tare's own work between windows, predicted
    allowed_on: float  # while all probes are on; the budget is for `average`


@dataclass(frozen=True, slots=True)
class Overhead:
    """Effect of profiling itself: windows with all probes against windows with the markers only, taking turns."""

    windows: int  # pairs
    latency: Estimate | None  # ratio of mean durations less 1
    throughput: Estimate | None  # 1 less the ratio of transactions per second
    predicted: float  # events per transaction x cost of a pair / `tare.protocol.profile.overhead.own_ns`
    events: float  # per transaction
    pair_ns: float  # cost of an entry and exit, measured for this backend
    markers: float  # the part that stays in the windows without probes, predicted likewise
    growth: float | None = (
        None  # times as long a transaction took at the end: too unsteady for figures; None: steady
    )
    loss: Loss | None = None  # None: not known, in profiles of earlier versions


class Invalidity(StrEnum):
    """Reasons for which a profile is not valid."""

    SERVER_ENDED = "server ended"
    SERVER_HANGS = "server hangs"
    NO_TRANSACTIONS = "no transactions"
    LEFT_OUT = "transactions left out"
    OVER_BUDGET = "overhead above the budget"
    NOT_MEASURABLE = "overhead not measurable"
    NOT_STEADY = "load not steady"


class Doubt(StrEnum):
    """Reasons for which a valid profile is less sure than it looks."""

    CUT = "transactions cut"
    FEW = "few transactions"
    SLOWED = "overhead may be above the budget"
    LED = "few transactions lead"
    LOST = "records lost"


@dataclass(frozen=True, slots=True)
class Reservation:
    """A warning that comes with the figures."""

    kind: Invalidity | Doubt
    says: str


@dataclass(frozen=True, slots=True)
class Findings:
    """All of a profile's last round, or of the round that was asked for."""

    transactions: int  # valid ones
    invalid: Mapping[
        str, int
    ]  # by why: "lost", "changed", "overlap", "unfinished", "unnested", "deep", "unwound"
    records: int
    lost: int
    mean_ns: float
    sd_ns: float
    p50_ns: float
    p99_ns: float
    max_ns: float
    between_types: float  # share of Var(T) that lies between types: inherent (0 where there is one type)
    on_cpu: Estimate | None  # Cov(CPU time, T) / Var(T)
    waiting: float  # Cov(time waiting for the client, T) / Var(T)
    call_graph_height: int
    nodes: tuple[Node, ...]  # the root first
    pairs: tuple[Pair, ...]  # largest first, by absolute share
    factors: tuple[Factor, ...]  # by score, highest first
    tail: tuple[Tail, ...]  # by excess
    kinds: tuple[Kind, ...]
    enough: (
        int | None
    )  # transactions needed so that the first factor's interval is no wider than +-10 points; None: there are
    reservations: tuple[Reservation, ...]  # first those that make the profile invalid
    overhead: Overhead | None = None  # where it was measured
    unwound: int = 0  # calls left without an exit
    unrecorded: int = 0  # calls of signal handlers that are in no record
    server_time: bool = False  # T is without waiting for the client

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(one.says for one in self.reservations)
