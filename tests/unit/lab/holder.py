"""A process that holds a run until it is killed: `python -m tests.unit.lab.holder LAB RUN`."""

from __future__ import annotations

import sys
import time

from tare.lab.hold import held
from tare.lab.store import open_lab

with open_lab(sys.argv[1]) as lab, held(lab, int(sys.argv[2])):
    print("held", flush=True)
    time.sleep(600)
