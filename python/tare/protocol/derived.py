"""The measures of every QE of a lab, derived once: one pass over the processes, kept in the engine.

One row per QE: its own counters, the sums over its processes by type (TTPv2 §7.1), which process ran
the query and how that is known, and what `quantities.DEFINED` computes from them. Ticks, ns, counts;
NULL where any process of the type lacks the counter.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import ibis
import ibis.expr.types as ir

from tare.dbms.known import THREADED
from tare.lab.answers import kept
from tare.lab.columns import LEFT_OUT
from tare.lab.frames import Frames
from tare.lab.schema import ELAPSED_PARTS, OVERALL_TICKS, PROCESS_COUNTERS
from tare.measure.lacks import Cause
from tare.measure.records import Fate
from tare.protocol.exact.checks import Trace
from tare.protocol.identify import query_processes
from tare.protocol.named import Columns, say
from tare.protocol.quantities import COUNTS, DEFINED, EXACT, PER_TYPE, TICK_COUNTERS, TYPES
from tare.protocol.unmeasured import NO_TRACE, WORDS

_OF_QE = (
    "qatc_id", "run_id", "query_id", "dbms", "cardinality", "number", "run_order", "attempt", "outcome",
    "plan_fingerprint", "wall_ns", "tick_ns", "online_cpus", "unaccounted_births", "leader_pid",
    *(f"leader_{part}" for part in ELAPSED_PARTS if f"leader_{part}" not in LEFT_OUT["qe"]),
    *(f"overall_{mode}" for mode in OVERALL_TICKS),
)  # fmt: skip

_OF_JOINS = ("of_qe", "of_qatc", "query_pid")

_made: WeakKeyDictionary[Frames, dict[bool, ir.Table]] = WeakKeyDictionary()


def derived(frames: Frames, *, by_paper: bool = False) -> ir.Table:
    """The derived measures of these frames, computed at the first call and kept while the frames live.

    The query process is the one that the server told of, where it told it in every QE of the Q@C;
    else, or with `by_paper`, the one with the most user and system time (TTPv2 §7.2).
    """
    made = _made.setdefault(frames, {})
    if by_paper not in made:
        made[by_paper] = kept(_derive(frames, by_paper))
    return made[by_paper]


def _derive(frames: Frames, by_paper: bool) -> ir.Table:
    who = kept(query_processes(frames, by_paper))
    of_processes = _sums(_typed(frames, who))
    qe = frames.qe
    own = qe.select(
        qe_id=qe.id,
        **{name: qe[name] for name in _OF_QE},
        exit_records_lost=qe.exits_lost.fill_null(0),
        **_trace(qe),
    )
    joined = own.left_join(of_processes, own.qe_id == of_processes.of_qe)
    joined = joined.left_join(who, joined.qatc_id == who.of_qatc)
    made: dict[str, Any] = {
        **{name: joined[name] for name in joined.columns if name not in _OF_JOINS},
        **_sums_of_each(joined, of_processes),
        "told": joined.told.fill_null(False),
        "tied": joined.tied.fill_null(0),
    }
    made |= _of_workers(made)
    for one in DEFINED:  # out of what is above them: a selection out of a selection is compiled anew
        made[one.name] = one.formula(Columns(made))
    return joined.select(**made)


def _of_workers(made: dict[str, Any]) -> dict[str, Any]:
    """Return run time and block I/O of those who worked for the query, ns: the query processes; of a server with
    a thread for each connection the leader's thread, where it is known. The waits of such a server's other
    threads are booked to the same process, and are not the query's."""
    alone = made["dbms"].isin(THREADED)
    return {
        f"worker_{name}": alone.ifelse(
            ibis.coalesce(made[f"leader_{part}"], made[f"query_{name}"]), made[f"query_{name}"]
        )
        for name, part in (("run_ns", "cpu_ns"), ("block_io_ns", "block_io_ns"))
    }


def _trace(qe: ir.Table) -> dict[str, Any]:
    """State of the scheduler trace, NULL where the leader was not seen; and why it is not whole.

    A lab of an older Tare holds a sentence in place of the facts: then a rejected trace is one that left no residue
    either, and the sentence is only shown."""
    sleep: Any = qe.leader_why.cast("json")["sleep"]
    cause = _text(sleep["cause"])
    sentence = cause.isnull().ifelse(_text(sleep), None).nullif("")
    whole = qe.leader_sleep_ns.notnull()
    rejected = (cause == Cause.TRACE_REJECTED.value).fill_null(
        sentence.notnull() & qe.leader_residue_ns.isnull()
    )
    numbers = Columns({name: _text(sleep[name]) for name in ("switch_ins", "slices")})
    return {
        "trace": ibis.cases(
            (whole, Trace.WHOLE.value),
            (qe.leader_cpu_ns.isnull(), None),
            (rejected, Trace.REJECTED.value),
            else_=Trace.NONE.value,
        ),
        "trace_why": ibis.cases(
            (whole, None),
            (sentence.notnull(), sentence),
            (rejected, say(WORDS[Cause.TRACE_REJECTED], numbers)),
            else_=ibis.coalesce(_text(sleep["detail"]), NO_TRACE),
        ),
    }


def _text(value: Any) -> Any:
    """Text or number of a JSON value, NULL if there is none. Engines differ in whether they keep a text's quotes."""
    return value.cast("string").replace('"', "")


def _typed(frames: Frames, who: ir.Table) -> ir.Table:
    """Each process with its type in this QE, and its counters in the units that are summed."""
    runs = frames.run.select(of_run=frames.run.id, tick_ns=frames.run.tick_ns)
    qatcs = frames.qatc.select(qatc=frames.qatc.id, run_of=frames.qatc.run_id, own_dbms=frames.qatc.dbms)
    qatcs = qatcs.join(runs, qatcs.run_of == runs.of_run)
    qatcs = qatcs.left_join(who, qatcs.qatc == who.of_qatc).select(
        "qatc", "own_dbms", "tick_ns", "told", "query_pid"
    )
    process = frames.process
    p = process.join(qatcs, process.qatc_id == qatcs.qatc)
    of_dbms = p.role.isin(["query", "utility"])
    is_query = of_dbms & (
        (p.told & (p.role == "query")) | (~p.told & (p.pid == p.query_pid).fill_null(False))
    )
    cpu = p.user_ticks + p.system_ticks
    foreign = (p.dbms.notnull() & (p.dbms != p.own_dbms) & (cpu > 0)).fill_null(False)
    block_ticks = (p.block_io_ns // p.tick_ns).cast("int64")
    negative: Any = ibis.literal(False)
    for name in (name for name in PROCESS_COUNTERS if name in p.columns):
        negative = negative | (p[name] < 0).fill_null(False)
    return p.select(
        of_qe=p.qe_id,
        is_query=is_query,
        is_utility=of_dbms & ~is_query,
        is_daemon=p.role == "daemon",
        is_executor=p.role == "executor",
        is_foreign_query=foreign & (p.role == "query"),
        is_foreign_utility=foreign & (p.role != "query"),
        is_negative=negative,
        is_stopped=p.fate.isin([Fate.STOPPED.value, Fate.UNSEEN_END.value]),
        is_phantom=p.fate == Fate.PHANTOM.value,
        is_active=cpu > 0,
        cpu_ticks=_sure(cpu),
        threads=_sure(p.threads),
        never_switched=_sure((p.block_io_ns > 0).cast("int64") * (p.voluntary_switches == 0).cast("int64")),
        block_per_thread=_sure(block_ticks / ibis.greatest(p.threads, 1)),
        block_io_ticks=_sure(block_ticks),
        guest_ticks=_sure((p.guest_ns // p.tick_ns).cast("int64")),
        **{name: _sure(p[name]) for name in (*TICK_COUNTERS, *COUNTS, *EXACT)},
    )


def _sums(p: ir.Table) -> ir.Table:
    """Return a row per QE, in one grouping of the processes."""
    sums = {
        "processes": p.count(),
        "stopped_processes": _number(p.is_stopped),
        "phantom_processes": _number(p.is_phantom),
        "negative_processes": _number(p.is_negative),
        "other_query_processes": _number(p.is_foreign_query),
        "other_utility_processes": _number(p.is_foreign_utility),
        "active_processes": _number(p.is_active),
        "active_cpu_ticks": _total(p.cpu_ticks, p.is_active),
        "query_threads": _total(p.threads, p.is_query),
        "query_never_switched": _total(p.never_switched, p.is_query),
        "query_longest_block_io": ibis.cases((p.is_query, p.block_per_thread), else_=0.0).max(),
    }
    for kind in TYPES:
        of_type = p[f"is_{kind}"]
        sums[f"{kind}_processes"] = _number(of_type)
        for name in PER_TYPE[kind]:
            sums[f"{kind}_{name}"] = _total(p[name], of_type)
    for name in EXACT:
        sums[f"query_{name}"] = _total(p[name], p.is_query)
    return p.group_by("of_qe").aggregate(**sums)


def _sure(counter: Any) -> Any:
    """For summing: an unknown counter makes its sum NaN. Whole numbers below 2^53 stay exact."""
    return counter.cast("float64").fill_null(float("nan"))


def _total(counter: Any, of_type: Any) -> Any:
    return ibis.cases((of_type, counter), else_=0.0).sum()


def _number(what: Any) -> Any:
    return what.cast("int64").sum()


def _sums_of_each(joined: ir.Table, of_processes: ir.Table) -> dict[str, Any]:
    """The sums of a QE as whole numbers, 0 where no process was active, NULL where one did not tell."""
    made = {}
    for name, kind in of_processes.schema().items():
        if name == "of_qe":
            continue
        value = joined[name].fill_null(0)
        if kind.is_floating():
            value = ibis.cases((~value.isnan(), value), else_=None)
        made[name] = value if name == "query_longest_block_io" else value.cast("int64")
    return made
