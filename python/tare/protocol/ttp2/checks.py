"""TTPv2's sanity checks of one QE (Table XI). Step 2 drops each QE that violates one.

The paper names the checks and gives no formulas for them; each ground below is the formula.
Counters come in whole ticks, so the difference of one may be a tick too high: where a sum of such
differences is held against a clock or another sum (checks 4, 6 and 7), one tick for each process
or CPU in the sum is let pass.
"""

from __future__ import annotations

from typing import Final

from tare.measure.records import Outcome
from tare.protocol.check import Check, Ground
from tare.protocol.outcome import Level
from tare.protocol.quantities import MISSING

SOURCE: Final = "TTPv2 Table XI"


def _check(number: int, name: str, *grounds: Ground, unless: Ground | None = None) -> Check:
    return Check(number, name, SOURCE, Level.QE, grounds, unless, MISSING)


EPHEMERAL: Final = _check(
    1,
    "ephemeral process",
    Ground(
        ("exit_records_lost",),
        lambda m: m.exit_records_lost > 0,
        "{exit_records_lost} exit records were lost",
    ),
    Ground(
        ("unaccounted_births",),
        lambda m: m.unaccounted_births > 0,
        "{unaccounted_births} forks that no snapshot and no exit record accounts for",
    ),
)

DBMS_TIME: Final = _check(
    2,
    "DBMS time",
    Ground(
        ("dbms_cpu_ticks", "daemon_cpu_ticks"),
        lambda m: m.dbms_cpu_ticks < m.daemon_cpu_ticks,
        "the DBMS used {dbms_cpu_ticks} ticks, daemon processes {daemon_cpu_ticks}",
    ),
)

ZERO_QUERY_TIME: Final = _check(
    3,
    "zero query time",
    Ground(
        ("query_processes", "query_cpu_ticks"),
        lambda m: (m.query_processes > 0) & (m.query_cpu_ticks == 0),
        "the query process shows {query_user_ticks} user and {query_system_ticks} system ticks",
    ),
)

QUERY_TIME: Final = _check(
    4,
    "query time",
    Ground(
        ("query_could_ticks", "query_cpu_ticks", "query_processes"),
        lambda m: m.query_cpu_ticks > m.query_could_ticks + m.query_processes,
        "the query process used {query_cpu_ticks} ticks; {width} threads had {query_could_ticks:.1f}",
    ),
)

QUERY_USER_TICK: Final = _check(
    5,
    "query user tick",
    Ground(
        ("query_user_ticks", "query_system_ticks"),
        lambda m: (m.query_user_ticks == 0) & (m.query_system_ticks > 0),
        "the query process shows 0 user ticks and {query_system_ticks} system ticks",
    ),
)

OVERALL_COMPUTATION_TIME: Final = _check(
    6,
    "overall computation time",
    Ground(
        ("busy_ticks", "active_cpu_ticks", "active_processes"),
        lambda m: m.active_cpu_ticks > m.busy_ticks + m.active_processes,
        "{active_processes} processes used {active_cpu_ticks} ticks, the machine only {busy_ticks}",
    ),
)

COMPUTATION_TIME: Final = _check(
    7,
    "computation time",
    Ground(
        ("busy_ticks", "machine_could_ticks", "online_cpus"),
        lambda m: m.busy_ticks > m.machine_could_ticks + m.online_cpus,
        "the machine computed {busy_ticks} ticks; its CPUs ({online_cpus}) had {machine_could_ticks:.1f}",
    ),
)

BLOCK_IO_DELAY: Final = _check(
    8,
    "block-I/O delay time",
    Ground(
        ("query_longest_block_io", "wall_ticks"),
        lambda m: m.query_longest_block_io > m.wall_ticks,
        "a query process waited {query_longest_block_io:.1f} ticks a thread for block I/O "
        "in {wall_ticks:.1f} ticks",
    ),
)

IOWAIT: Final = _check(
    9,
    "iowait time",
    Ground(
        ("overall_iowait", "query_block_io_ticks"),
        lambda m: m.overall_iowait > m.query_block_io_ticks,
        "{overall_iowait} iowait ticks, {query_block_io_ticks} ticks of the query's block-I/O delay",
    ),
    unless=Ground(
        ("online_cpus",),
        lambda m: m.online_cpus > 1,
        "{online_cpus} CPUs: one may be in iowait while the query runs on another",
    ),
)

CONTEXT_SWITCH: Final = _check(
    10,
    "context switch",
    Ground(
        ("query_never_switched",),
        lambda m: m.query_never_switched > 0,
        "{query_never_switched} query processes waited for block I/O and never gave up their CPU",
    ),
)

AMBIGUOUS: Final = _check(
    11,
    "ambiguous query process",
    Ground(
        ("tied",),
        lambda m: m.tied > 1,
        "{tied} processes tie for the highest user + system time, {tied_low} and {tied_high} among them",
    ),
)

NO_QUERY_PROCESS: Final = _check(
    12,
    "no query process",
    Ground(("query_processes",), lambda m: m.query_processes == 0, "no query process is in this QE"),
)

TIMED_OUT: Final = _check(
    13,
    "timed-out QE",
    Ground(("outcome",), lambda m: m.outcome == Outcome.TIMEOUT.value, "the QE ran into its time-out"),
)

QE_CHECKS: Final = (
    EPHEMERAL, DBMS_TIME, ZERO_QUERY_TIME, QUERY_TIME, QUERY_USER_TICK, OVERALL_COMPUTATION_TIME,
    COMPUTATION_TIME, BLOCK_IO_DELAY, IOWAIT, CONTEXT_SWITCH, AMBIGUOUS, NO_QUERY_PROCESS, TIMED_OUT,
)  # fmt: skip
