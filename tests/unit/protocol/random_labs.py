"""Labs in which anything may go wrong: Q@Cs of QEs whose every measure is drawn, near its checks' bounds."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tare.dbms.base import Role
from tare.measure.records import QE, Fate, Outcome, ProcessUse
from tests.unit.protocol.lab_records import RecordedQatC, RecordedRun
from tests.unit.protocol.qe_records import MS, elapsed, machine, process, qe

QATCS = 8


def random_run(chance: Random) -> RecordedRun:
    qatcs = []
    for number in range(QATCS):
        size = chance.choice((1, 2, 5, 6, 7, 10))
        trouble = chance.choice((0.0, 0.0, 0.1, 0.5))
        base = chance.choice((0, 1, 5, 40))
        made = [_qe(chance, i, base, trouble) for i in range(size)]
        if number == 0:
            made = [replace(one, leader_pid=None) for one in made]
        plan = chance.choice(("plan a", "plan b"))
        qatcs.append(RecordedQatC(made, query=number // 4, cardinality=1000 * (number + 1), plan=plan))
    return RecordedRun(qatcs, dbms=chance.choice(("postgresql", "mysql")), qes_per_qatc=10)


def _qe(chance: Random, i: int, base: int, trouble: float) -> QE:
    def odd() -> bool:
        return chance.random() < trouble

    user, system = base + chance.randint(0, 3), chance.randint(0, 2)
    delay, iowait = chance.randint(0, 4), chance.randint(0, 3)
    processes = [_process(chance, 100, Role.QUERY, user, system, delay, odd())]
    if odd():
        processes.append(_process(chance, 101, Role.QUERY, chance.randint(0, 3), 0, delay, odd()))
    if odd():
        processes = []
    for pid, role in ((1, Role.UTILITY), (2, Role.UTILITY), (3, Role.DAEMON), (4, Role.EXECUTOR)):
        if chance.random() < 0.7:
            processes.append(_process(chance, pid, role, chance.randint(0, 1 + 9 * odd()), 0, 0, odd()))
    busy = sum(p.user_ticks + p.system_ticks for p in processes) + chance.randint(-2, 2) * odd()
    wall_ms = (busy + delay + chance.randint(0, 3)) * 10 + chance.random() * 5 - 15 * odd()
    overall = machine(user=max(busy, 0), system=0, iowait=iowait if odd() else min(iowait, delay))
    cpu_ms = float(10 * (user + system))
    leader = elapsed(max(wall_ms, 1.0), cpu_ms, residue_ns=chance.choice((0, 3 * MS, -2 * MS)) * odd())
    return qe(
        i,
        elapsed=None if odd() and odd() else leader,
        machine=None if odd() and odd() else overall,
        outcome=Outcome.TIMEOUT if odd() else Outcome.OK,
        online_cpus=chance.choice((1, 1, 1, 2)),
        processes=tuple(processes),
        unaccounted_births=chance.choice((0, 1, None)) if odd() else 0,
        exits_lost=chance.choice((0, 1, None)) if odd() else 0,
    )


def _process(
    chance: Random, pid: int, role: Role, user: int, system: int, delay: int, odd: bool
) -> ProcessUse:
    return process(
        pid,
        role,
        user_ticks=user,
        system_ticks=system,
        run_ns=(user + system) * 10 * MS + chance.randint(0, 9 * MS),
        block_io_ns=None if odd and chance.random() < 0.3 else delay * 10 * MS + chance.randint(0, 9 * MS),
        voluntary_switches=chance.choice((0, None)) if odd else 5,
        threads=chance.choice((1, 1, 2)),
        fate=chance.choice((Fate.STEADY, Fate.PHANTOM, Fate.STOPPED)) if odd else Fate.STEADY,
    )
