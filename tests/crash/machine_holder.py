"""A run that holds a machine setting, for the tests to end in every way a run can end.

Arguments: the journal directory, the setting, its value, and how the run goes on.
Prints ``held`` and the guardian's pid once the setting is made.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from tare.measure.machine import MachineSettings


def guardian_of(pid: int) -> int:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return next(int(c) for c in children if Path(f"/proc/{c}/comm").read_text().strip() == "tare-guardian")


def main() -> None:
    directory, name, value, then = sys.argv[1:]
    with MachineSettings(Path(directory)) as settings:
        changed = settings.set_sysctl(name, value)
        print("held" if changed else "shared", guardian_of(os.getpid()), flush=True)
        if then == "raise":
            raise RuntimeError("the run failed")
        if then == "fork" and os.fork() == 0:
            print("forked", os.getpid(), flush=True)
            time.sleep(60)
            os._exit(0)
        if then == "leave":
            sys.stdin.readline()
            return
        time.sleep(60)


if __name__ == "__main__":
    main()
