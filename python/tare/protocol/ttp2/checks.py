"""TTPv2's sanity checks of one QE (Table XI). Step 2 drops each QE that violates one.

The paper names the checks and gives no formulas for them; each predicate below is the formula.
Counters come in whole ticks, so the difference of one may be a tick too high: where a sum of such
differences is held against a clock or another sum (checks 4, 6 and 7), one tick for each process
or CPU in the sum is let pass.
"""

from __future__ import annotations

from tare.dbms.base import Role
from tare.measure.records import Outcome
from tare.protocol.check import Check, Judgement, Unjudged
from tare.protocol.ttp2.case import Case, block_io_ticks, cpu_ticks

SOURCE = "TTPv2 Table XI"

_NO_MACHINE = Unjudged("the overall measures of /proc/stat are missing")
_NO_TIME = Unjudged("the measured time is missing")
_NO_DELAY = Unjudged("block-I/O delay is missing: delay accounting was off, or on only later")


def ephemeral(case: Case) -> Judgement:
    if case.qe.exits_lost:
        return f"{case.qe.exits_lost} exit records were lost"
    if case.qe.unaccounted_births is None:
        return Unjudged("no exit records in this tier: short processes cannot be told")
    if case.qe.unaccounted_births > 0:
        return f"{case.qe.unaccounted_births} forks that no snapshot and no exit record accounts for"
    return None


def dbms_time(case: Case) -> Judgement:
    dbms = cpu_ticks(case.of(Role.QUERY)) + cpu_ticks(case.of(Role.UTILITY))
    daemon = cpu_ticks(case.of(Role.DAEMON))
    if dbms < daemon:
        return f"the DBMS used {dbms} ticks, daemon processes {daemon}"
    return None


def zero_query_time(case: Case) -> Judgement:
    if case.query and cpu_ticks(case.query) == 0:
        return "the query process shows 0 user and 0 system ticks"
    return None


def query_time(case: Case) -> Judgement:
    if case.wall_ticks is None:
        return _NO_TIME
    used, could = cpu_ticks(case.query), case.wall_ticks * case.threads_that_could_run
    if used > could + len(case.query):
        return f"the query process used {used} ticks; {case.threads_that_could_run} threads had {could:.1f}"
    return None


def query_user_tick(case: Case) -> Judgement:
    user, system = (
        sum(p.user_ticks for p in case.query),
        sum(p.system_ticks for p in case.query),
    )
    if user == 0 and system > 0:
        return f"the query process shows 0 user ticks and {system} system ticks"
    return None


def overall_computation_time(case: Case) -> Judgement:
    if case.busy_ticks is None:
        return _NO_MACHINE
    ran = [p for p in case.qe.processes if cpu_ticks([p]) > 0]
    used = cpu_ticks(ran)
    if used > case.busy_ticks + len(ran):
        return f"{len(ran)} processes used {used} ticks, the machine only {case.busy_ticks}"
    return None


def computation_time(case: Case) -> Judgement:
    if case.busy_ticks is None:
        return _NO_MACHINE
    if case.wall_ticks is None:
        return _NO_TIME
    cpus = case.qe.online_cpus
    if case.busy_ticks > case.wall_ticks * cpus + cpus:
        had = case.wall_ticks * cpus
        return f"the machine computed {case.busy_ticks} ticks; its CPUs ({cpus}) had {had:.1f}"
    return None


def block_io_delay(case: Case) -> Judgement:
    if case.wall_ticks is None:
        return _NO_TIME
    for process in case.query:
        if process.block_io_ns is None:
            return _NO_DELAY
        delay, could = process.block_io_ns // case.tick_ns, case.wall_ticks * max(1, process.threads)
        if delay > could:
            return f"process {process.pid} waited {delay} ticks for block I/O in {could:.1f} ticks"
    return None


def iowait(case: Case) -> Judgement:
    if case.qe.online_cpus > 1:
        return Unjudged(f"{case.qe.online_cpus} CPUs: one may be in iowait while the query runs on another")
    if case.overall is None:
        return _NO_MACHINE
    delay = block_io_ticks(case.query, case.tick_ns)
    if delay is None:
        return _NO_DELAY
    if case.overall["iowait"] > delay:
        return f"{case.overall['iowait']} iowait ticks, {delay} ticks of the query's block-I/O delay"
    return None


def context_switch(case: Case) -> Judgement:
    for process in case.query:
        if process.block_io_ns is None:
            return _NO_DELAY
        if process.voluntary_switches is None:
            return Unjudged("voluntary context switches are missing")
        if process.block_io_ns > 0 and process.voluntary_switches == 0:
            return f"process {process.pid} waited for block I/O and never gave up its CPU"
    return None


def ambiguous_query_process(case: Case) -> Judgement:
    if case.tied:
        return f"processes {', '.join(map(str, case.tied))} tie for the highest user + system time"
    return None


def no_query_process(case: Case) -> Judgement:
    return None if case.query else "no query process is in this QE"


def timed_out(case: Case) -> Judgement:
    return "the QE ran into its time-out" if case.qe.outcome is Outcome.TIMEOUT else None


QE_CHECKS: tuple[Check[Case], ...] = tuple(
    Check(number, name, SOURCE, predicate)
    for number, name, predicate in (
        (1, "ephemeral process", ephemeral),
        (2, "DBMS time", dbms_time),
        (3, "zero query time", zero_query_time),
        (4, "query time", query_time),
        (5, "query user tick", query_user_tick),
        (6, "overall computation time", overall_computation_time),
        (7, "computation time", computation_time),
        (8, "block-I/O delay time", block_io_delay),
        (9, "iowait time", iowait),
        (10, "context switch", context_switch),
        (11, "ambiguous query process", ambiguous_query_process),
        (12, "no query process", no_query_process),
        (13, "timed-out QE", timed_out),
    )
)
