"""A process that records QEs until it is killed: `python -m tests.unit.lab.writer LAB RUN Q@C`."""

from __future__ import annotations

import sys

from tare.lab.recorder import Recorder
from tare.lab.store import open_lab
from tests.unit.protocol import qe_records

with open_lab(sys.argv[1]) as lab:
    recorder = Recorder(lab)
    print("writing", flush=True)
    for order in range(1_000_000):
        uses = tuple(qe_records.process(pid) for pid in range(20))
        recorder.record(int(sys.argv[3]), 1, order + 1, qe_records.qe(order, processes=uses))
        print(order, flush=True)
