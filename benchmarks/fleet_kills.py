"""Does a fleet lose or double an execution when its executors are killed at random points?

Three executors work on small experiments over one PostgreSQL lab. Again and again one of them is killed, or frozen for
a while; whoever was killed is started again. Then every job's run must have each execution of its specification once.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from math import inf
from pathlib import Path

from tests.crash.test_fleet import EACH, Member, rows, states, submit

from benchmarks.common import Figure, arguments, report
from tare.dbms.servers import start_postgresql

FREEZE_S = 1.0


def main() -> None:
    asked = arguments(__doc__ or "", kills=1000, members=3, seed=1)
    kills = 6 if asked.small else asked.kills
    chance = random.Random(asked.seed)
    with tempfile.TemporaryDirectory(prefix="tare-fleet-") as name, start_postgresql() as server:
        folder = Path(name)
        submit(server.url, folder, 2)
        members = [Member(server.url, f"m{number}", folder) for number in range(asked.members)]
        killed = frozen = 0
        jobs = 2
        while killed < kills or states(server.url)["done"] < jobs:
            time.sleep(chance.uniform(0.05, 2.5))
            if killed < kills and states(server.url)["done"] >= jobs - 1:
                submit(server.url, folder, 1)
                jobs += 1
            member = chance.choice(members)
            if killed < kills and member.process.poll() is None:
                if chance.random() < 0.2:
                    os.kill(member.process.pid, signal.SIGSTOP)
                    time.sleep(FREEZE_S)
                    os.kill(member.process.pid, signal.SIGCONT)
                    frozen += 1
                else:
                    member.kill()
                    killed += 1
                    print(f"{killed} kills, {dict(states(server.url))}", file=sys.stderr, flush=True)
            for one in members:
                if one.process.poll() is not None:
                    one.start()
        for member in members:
            member.kill()
        found = figures(server.url, jobs, killed, frozen)
    report(found, asked.json)


def figures(lab: str, jobs: int, killed: int, frozen: int) -> list[Figure]:
    counts = rows(
        lab,
        "SELECT count(e.id), count(DISTINCT (e.qatc_id, e.number)) FROM job j JOIN run r ON r.uuid = j.run_uuid "
        "LEFT JOIN qatc c ON c.run_id = r.id LEFT JOIN qe e ON e.qatc_id = c.id AND e.attempt = c.attempt "
        "AND e.number IS NOT NULL AND NOT e.warmup GROUP BY r.id",
    )
    lost = sum(EACH - distinct for _, distinct in counts) + EACH * (jobs - len(counts))  # type: ignore[operator]
    doubled = sum(all_ - distinct for all_, distinct in counts)  # type: ignore[operator]
    ((runs,),) = rows(lab, "SELECT count(*) FROM run")
    return [
        Figure("executors killed", killed, "", inf),
        Figure("executors frozen for a second", frozen, "", inf),
        Figure(f"executions lost, of {jobs * EACH}", float(lost), "", 0),  # type: ignore[arg-type]
        Figure("executions doubled", float(doubled), "", 0),  # type: ignore[arg-type]
        Figure("runs beyond one a job", float(runs) - jobs, "", 0),  # type: ignore[arg-type]
    ]


if __name__ == "__main__":
    main()
