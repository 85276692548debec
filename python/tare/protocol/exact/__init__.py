"""The exact protocol, ours: nanosecond counters whose parts must add up to the wall time.

**Its definition.** A QE's time is the CPU run time of its query processes plus their own block-I/O
delay, by the kernel's nanosecond counters, summed over every process that worked for the query; in a
server with a thread for each connection (MariaDB, MySQL) over the thread that answers, since the kernel
books the waits of all its threads to the one process. A
Q@C's time is the median over the QEs that are retained.

What a query itself asks for is computation, and the blocks that it waits for. Run-queue wait is
others' computation, steal is other machines', and sleep is waiting for processes, locks or the client,
whose own work is counted where it is done. Those are the disturbance that is to be told apart: they
are measured and shown beside the time, never in it. The leader's timeline holds the sum to account:
CPU + block I/O + run-queue wait + sleep + steal add up to the wall time within `checks.RESIDUE_SHARE`.

The scheduler's clock is not the switch: part of a switch may be booked to the other thread. A preempted thread loses up
to `PREEMPTION_MS` of its run time each time, as measured by kernel traces on one virtual machine (docs/truth.md).
Preemptions are counted, and the bound stands with the time.

There are no halves, no floor of two ticks and no assumption on the number of CPUs. What it shares
with TTPv2: block-I/O delay also counts the time in which the disk worked for another.
"""

from tare.protocol.exact.checks import EXACT_CHECKS, SOURCE
from tare.protocol.exact.single import PREEMPTION_MS, check, lost_to_preemption, result_cache

__all__ = ["EXACT_CHECKS", "PREEMPTION_MS", "SOURCE", "check", "lost_to_preemption", "result_cache"]
