"""Kill a starting or running cluster at a random moment, stop it, and look for what stays.

sudo python -m benchmarks.cluster_kill [ROUNDS]
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress

from tests.cluster.leftovers import leftovers

from tare.cluster import removal
from tare.cluster.journal import Journal


def main(rounds: int) -> int:
    failures = 0
    chance = random.Random(29)
    tare = [sys.executable, "-m", "tare", "cluster"]
    for number in range(1, rounds + 1):
        name = f"kill{os.getpid()}"
        start = [*tare, "start", "postgresql", "--shards", "2", "--name", name, "--disk", "512MB"]
        begin = time.monotonic()
        starting = subprocess.Popen(start, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if number % 2:
            time.sleep(chance.uniform(0.3, 8))
            starting.kill()
            starting.wait()
            victim = "start"
        else:
            if starting.wait() != 0:
                raise SystemExit(f"{number}: the cluster did not start")
            pids = sorted(removal.processes(Journal(name).resources()))
            assert pids, "a cluster that runs has processes"
            for pid in chance.sample(pids, min(2, len(pids))):
                with suppress(ProcessLookupError):  # others end with their postmaster
                    os.kill(pid, signal.SIGKILL)
            victim = "servers"
        subprocess.run([*tare, "stop", "--name", name], stdout=subprocess.DEVNULL, check=False)
        found = leftovers(name)
        failures += bool(found)
        print(
            f"{number}: killed {victim}, {time.monotonic() - begin:.1f} s, leftovers: {found or 'none'}",
            flush=True,
        )
    print(f"{rounds - failures} of {rounds} stops left nothing")
    return failures


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
