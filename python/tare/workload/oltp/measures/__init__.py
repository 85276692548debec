"""Measures of the server and the machine in each second of a run, on the clock of the transactions."""

from tare.workload.oltp.measures.names import NAMES, Name
from tare.workload.oltp.measures.watch import Watch

__all__ = ["NAMES", "Name", "Watch"]
