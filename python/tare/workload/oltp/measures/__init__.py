"""What the server and the machine are seen to do in each second of a run, on the clock of the transactions."""

from tare.workload.oltp.measures.names import NAMES, Name
from tare.workload.oltp.measures.watch import Watch

__all__ = ["NAMES", "Name", "Watch"]
