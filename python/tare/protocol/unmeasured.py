"""Words of what was not measured: the one place that turns a `Lack` into a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tare.measure.lacks import Cause, Lack
from tare.protocol.named import Numbers, say

NO_TRACE: Final = "there is no scheduler trace"
UNSEEN: Final = "the leader was not seen in both snapshots"
NO_EXECUTION: Final = "no QE was run to its end"

WORDS: Final[Mapping[Cause, str]] = {
    Cause.NO_TRACE: NO_TRACE,
    Cause.TRACE_REJECTED: "scheduler trace rejected: {switch_ins} switch-ins traced, {slices} counted by the kernel",
    Cause.SLEEP_UNKNOWN: "includes the leader's sleep, which was not measured",
    Cause.NO_RUN_TIME: "this tier gives no exact run time of the leader's thread",
    Cause.NO_RUN_QUEUE: "this kernel or tier gives no run-queue wait",
    Cause.NO_THROTTLE: "the throttled time of the leader's control group could not be read; run-queue wait includes it",
    Cause.NO_DELAYS: "delay accounting is off",
    Cause.BORN_BEFORE_DELAYS: "the leader was born before delay accounting was on",
    Cause.IMPOSSIBLE_DELAY: "the kernel counted more block-I/O delay than the leader can have waited, and its count is "
    "not used",
    Cause.UNREADABLE: "{counter} of process {process} ({process_name}) is not readable by this user",
    Cause.UNSEEN_ENDS: "{tasks} query processes ended without an exit record; their last use is not in the sum",
    Cause.UNSEEN_LIVES: "{tasks} processes or threads came and went unseen, since this tier has no exit records; "
    "what parallel workers among them used is not in the sum",
    Cause.PLANNING_INSIDE: "the DBMS does not show where planning ends",
    Cause.SHARED_PROCESS: "the server is one process, whose other threads work for other connections, too",
    Cause.HELPERS_UNCOUNTED: "{process_name} ({process}) worked for the query, too, and its instructions were not "
    "counted",
    Cause.LEADER_UNSEEN: UNSEEN,
}
"""Templates (`named.say`) over the fields of a `Lack`; its own detail comes before them."""

_OF_A_PROCESS: Final[Mapping[Cause, str]] = {
    Cause.BORN_BEFORE_DELAYS: "process {process} ({process_name}) has no block-I/O delay: it was born before delay "
    "accounting was on",
    Cause.IMPOSSIBLE_DELAY: "the kernel counted more block-I/O delay of process {process} ({process_name}) than its "
    "threads can have waited, and its count is not used",
}


def reason(lack: Lack) -> str:
    """Sentence without its full stop."""
    if lack.detail:
        return lack.detail
    templates = WORDS if lack.process is None else {**WORDS, **_OF_A_PROCESS}
    return str(say(templates[lack.cause], Numbers(_fields(lack))))


def _fields(lack: Lack) -> dict[str, Any]:
    return {name: getattr(lack, name) for name in Lack.__dataclass_fields__}
