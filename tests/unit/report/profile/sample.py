"""Profiles as a server under load would give them: times are drawn, everything else follows from them by the analysis.

A committer either waits for another's flush or flushes itself, so that the two vary against each other; an update
sometimes waits for a row; statements of one transaction have the client between them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tare.lab.profile_about import About, Machine, Named, Round
from tare.protocol.profile.analyse import analyse
from tare.protocol.profile.found import Estimate, Findings, Node, Overhead
from tare.protocol.profile.measured import Function, Measured, Path
from tare.protocol.profile.overhead import Turn
from tare.report.profile.build import Built, build
from tare.report.profile.drawn import drawn

Floats = NDArray[np.float64]

LONG = (
    "std::_Rb_tree<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::pair<const "
    "std::__cxx11::basic_string<char>, ha_innobase::lock_wait_queue_entry>, std::less<void> >::_M_emplace_hint_unique"
)
HOSTILE = "</script><b onclick=alert(1)>`|*_[x](y)\x1b[31m\u202ered;"

FUNCTIONS = (
    Function(1, "exec_simple_query", inferred=True, height=40, object="/pg", address=0x1000, size=0x900),
    Function(2, "PortalRun", height=38, object="/pg", address=0x2000, size=0x400),
    Function(3, "heap_update", height=24, object="/pg", address=0x3000, size=0x1800),
    Function(4, "ProcSleep", height=6, object="/pg", address=0x5000, size=0x800),
    Function(5, "CommitTransactionCommand", height=33, object="/pg", address=0x6000, size=0x200),
    Function(6, "XLogFlush", height=14, object="/pg", address=0x7000, size=0x500),
    Function(7, "LWLockAcquireOrWait", height=4, object="/pg", address=0x8000, size=0x300),
    Function(8, "XLogWrite", height=9, object="/pg", address=0x9000, size=0x700),
    Function(9, "issue_xlog_fsync", height=2, object="/pg", address=0xA000, size=0x100),
)
PATHS = (
    Path(None, None),
    Path(0, None),
    Path(0, 1, 0x10),
    Path(2, 2, 0x1400),
    Path(3, 3, 0x2200),
    Path(4, 4, 0x3100),
    Path(2, 5, 0x1700),
    Path(6, 6, 0x6100),
    Path(7, 7, 0x7080),
    Path(7, 8, 0x7180),
    Path(9, 9, 0x9200),
    Path(4, 4, 0x3900),
)
TEXTS = {11: "UPDATE pgbench_accounts SET abalance = abalance + ? WHERE aid = ?", 12: "SELECT ?"}


def measured(
    n: int = 4000,
    seed: int = 1,
    *,
    flush: float = 1.0,
    names: Mapping[int, str] | None = None,
    texts: Mapping[int, str] = TEXTS,
    invalid: Mapping[str, int] | None = None,
    lost: int = 0,
) -> Measured:
    """`flush`: how long flushes take, times this. `names`: instead of those of FUNCTIONS."""
    random = np.random.default_rng(seed)
    select = random.random(n) < 0.2
    waits = ~select & (random.random(n) < 0.6)
    writes = ~select & ~waits
    own = np.zeros((len(PATHS), n))
    own[0] = random.exponential(3e3, n)
    own[1] = np.where(random.random(n) < 0.3, random.exponential(8e4, n), 0)
    own[2] = random.normal(4e4, 5e3, n).clip(1e3)
    own[3] = random.normal(2e4, 2e3, n).clip(1e3)
    own[4] = np.where(select, 0, random.lognormal(11, 0.5, n))
    own[5] = np.where(~select & (random.random(n) < 0.08), random.exponential(4e6, n), 0)
    own[11] = np.where(~select & (random.random(n) < 0.02), random.exponential(1e6, n), 0)
    own[6] = random.normal(9e3, 1e3, n).clip(1e3)
    own[7] = np.where(select, 0, random.exponential(5e3, n))
    own[8] = np.where(waits, flush * random.gamma(4, 9e5, n), 0)
    own[9] = np.where(writes, random.exponential(3e4, n), 0)
    own[10] = np.where(writes, flush * random.gamma(4, 4e5, n), 0)
    own = own.astype(np.int64)
    inclusive = own.copy()
    for path in range(len(PATHS) - 1, 0, -1):
        parent = PATHS[path].parent
        assert parent is not None
        inclusive[parent] += inclusive[path]
    gone = (inclusive > 0).T
    gone[:, 0] = True
    transaction, path = np.nonzero(gone)
    duration = inclusive[0]
    begin = 10**12 + np.cumsum(random.exponential(4e5, n)).astype(np.int64)
    cpu = own[[0, 2, 3, 4, 6, 7, 9]].sum(axis=0) + random.integers(0, 2000, n)
    return Measured(
        begin_ns=begin,
        duration_ns=duration,
        waited_ns=own[1],
        cpu_ns=cpu,
        label=np.where(select, 12, 11).astype(np.int64),
        window=np.zeros(n, dtype=np.int64),
        cell_transaction=transaction.astype(np.int64),
        cell_path=path.astype(np.int64),
        calls=np.ones(len(path), dtype=np.int64),
        inclusive_ns=inclusive[path, transaction],
        own_ns=own[path, transaction],
        paths=PATHS,
        functions={one.id: replace(one, name=(names or {}).get(one.id, one.name)) for one in FUNCTIONS},
        texts=texts,
        invalid=invalid or {"changed": 31, "unfinished": 8},
        records=2 * len(path) + lost,
        lost=lost,
        call_graph_height=41,
    )


OVERHEAD = Overhead(
    windows=12,
    latency=Estimate(0.018, 0.015, 0.021),
    throughput=Estimate(0.016, 0.009, 0.023),
    predicted=0.021,
    events=18.4,
    pair_ns=52.0,
    markers=0.002,
)


def turns(pairs: int = 12, seed: int = 3) -> list[Turn]:
    random = np.random.default_rng(seed)
    return [
        Turn(probed, int(random.normal(300, 12)), float(random.normal(3.05e6 if probed else 3e6, 3e4)), 1.5)
        for pair in range(pairs)
        for probed in ((True, False) if pair % 2 else (False, True))
    ]


ABOUT = About(
    tare="0.1.0",
    name="pg-tpcb",
    when="2026-11-22T10:00:05+00:00",
    state="complete",
    command=("tare", "profile", "attach", "--db", "postgresql://postgres@127.0.0.1/pgbench", "--txn", "commit"),
    server="postgresql://postgres@127.0.0.1/pgbench",
    dbms="postgresql",
    dbms_version="18.1",
    backend="agent",
    says="trampolines in 4 processes, children followed",
    preset="postgresql",
    transaction="from the first statement to the commit",
    rules={"rule": "function", "root": 1},
    functions=tuple(
        Named(id=one.id, name=one.name, object=one.object, inferred=one.inferred, height=one.height)
        for one in (*FUNCTIONS, Function(10, "pg_lzcompress"), Function(11, "MemoryContextAlloc"))
    ),
    call_graph_height=41,
    budget=0.05,
    pair_ns=52.0,
    rounds=(
        Round(number=1, reason="known phases and waits", functions=(1, 2, 5), added=(1, 2, 5), predicted=0.004),
        Round(number=2, reason="CommitTransactionCommand has 61%", functions=(1, 2, 3, 5, 6), added=(3, 6)),
        Round(number=3, reason="XLogFlush has 58%", functions=(1, 3, 4, 5, 6, 7, 8, 9), added=(4, 7, 8, 9),
              dropped=(2,), predicted=0.021),
    ),
    ended="a body dominates",
    refused={10: "its first 5 bytes are the target of a jump"},
    left_out=(11,),
    notes=("the machine was not idle before",),
    machine=Machine(
        cpu_model="AMD EPYC 7B13", online_cpus=4, usable_cpus=4, memory_bytes=16 << 30, hypervisor="KVM",
        kernel="6.1.0-28-amd64", operating_system="Debian GNU/Linux 12", python="3.11.2", tare="0.1.0",
    ),
)  # fmt: skip


def findings(of: Measured | None = None, **changes: Any) -> Findings:
    found = analyse(of or measured(), overhead=OVERHEAD, budget=ABOUT.budget, replicates=200)
    return replace(found, **changes)


def report(of: Measured | None = None, about: About = ABOUT, **changes: Any) -> Built:
    of = of or measured()
    return build(findings(of, **changes), about, drawn(of, turns()), naive_rounds=11)


def hostile() -> Built:
    """Too many invalid ones, few transactions, and names that mean harm or are too long."""
    of = measured(
        150,
        names={3: HOSTILE, 7: LONG, 8: "x" * 3000},
        texts={11: HOSTILE, 12: LONG},
        invalid={"lost": 40, "changed": 9},
        lost=1234,
    )
    about = ABOUT.model_copy(
        update={
            "name": "a b';--" + HOSTILE,
            "says": HOSTILE,
            "functions": tuple(
                Named(id=one, name=name) for one, name in ((10, HOSTILE), (11, LONG), (1, "x" * 3000))
            ),
            "refused": {10: HOSTILE, 11: "x" * 3000},
            "left_out": (10, 11, 1),
            "notes": (HOSTILE,),
            "ended": HOSTILE,
        }
    )
    return build(findings(of), about, drawn(of, turns(1)), title="Sample <b>profile</b>")


# By hand: what the analysis itself has no findings for -----------------------------------


@dataclass(frozen=True)
class Bare:
    """Findings of next to nothing."""

    transactions: int = 0
    nodes: Sequence[Node] = ()

    def findings(self, **changes: Any) -> Findings:
        found = Findings(
            transactions=self.transactions,
            invalid={},
            records=0,
            lost=0,
            mean_ns=0.0,
            sd_ns=0.0,
            p50_ns=0.0,
            p99_ns=0.0,
            max_ns=0.0,
            between_types=0.0,
            on_cpu=None,
            waiting=0.0,
            call_graph_height=0,
            nodes=tuple(self.nodes),
            pairs=(),
            factors=(),
            tail=(),
            kinds=(),
            enough=None,
            reservations=(),
        )
        return replace(found, **changes)


def nothing() -> Built:
    return build(Bare().findings(invalid={"lost": 12}), ABOUT.model_copy(update={"rounds": ()}))


def alike() -> Built:
    """Every transaction took the same time: there are no shares."""
    root = node(0, None, "transaction", own=math.nan)
    return build(
        Bare(50, (root,)).findings(mean_ns=2e6, p50_ns=2e6, p99_ns=2e6, max_ns=2e6),
        ABOUT,
    )


def node(path: int, parent: int | None, name: str, *, own: float, depth: int = 0, children: tuple[int, ...] = (),
         variance: float | None = None) -> Node:  # fmt: skip
    """With these shares, and nothing else of note."""

    def sure(value: float) -> Estimate:
        return Estimate(value, value - 0.01, value + 0.01)

    return Node(
        path=path,
        parent=parent,
        function=None if parent is None else path,
        name=name,
        inferred=False,
        depth=depth,
        height=None,
        calls=1.0,
        mean_ns=1000.0,
        sd_ns=10.0,
        variance=sure(own if variance is None else variance),
        own_mean_ns=100.0,
        own_variance=own,
        own_covariance=sure(own),
        covariance=own,
        residue=0.0,
        sites=(),
        children=children,
    )


def forest(n: int, seed: int = 5, *, chain: bool = False) -> list[Node]:
    """`n` paths in random order below one root, own shares of both signs that add up to 1.

    `chain`: each below the last."""
    random = np.random.default_rng(seed)
    own = random.normal(0, 1, n) ** 3
    own = own / own.sum() if abs(own.sum()) > 0.1 else own - own.mean() + 1 / n
    parents = [None, *((one - 1) if chain else int(random.integers(0, one)) for one in range(1, n))]
    depths = [0] * n
    for path in range(1, n):
        depths[path] = depths[parents[path] or 0] + 1
    return [
        node(
            path,
            parents[path],
            f"f{path}",
            own=float(own[path]),
            depth=depths[path],
            children=tuple(one for one in range(n) if parents[one] == path),
            variance=abs(float(own[path])),
        )
        for path in range(n)
    ]
