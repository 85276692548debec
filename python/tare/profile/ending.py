"""Ends of a profiling session, and their words."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from tare.lab.profile_about import State


class Ending(StrEnum):
    """Why there was no further round."""

    REFINED = (
        "refined"  # nothing is left to divide, or nothing that the budget allows: the last step says which
    )
    ROUNDS = "rounds"
    TIME = "time"
    BUDGET = "budget"  # all probes were let go
    HOT_MARKERS = "hot markers"  # they alone took more than is allowed while they are on
    SPENT = "spent"  # a further search would take more than the budget leaves
    TOO_FEW = "too few"  # transactions
    STALLED = "stalled"  # no transaction ended any more
    REFUSED = "refused"  # the kernel refused probes where it had set some before
    INTERRUPTED = "interrupted"
    SERVER_ENDED = "server ended"

    @property
    def cuts_a_round_short(self) -> bool:
        """Whether the last round was not analysed when it came."""
        return self in (
            Ending.BUDGET,
            Ending.HOT_MARKERS,
            Ending.STALLED,
            Ending.REFUSED,
            Ending.INTERRUPTED,
            Ending.SERVER_ENDED,
        )

    @property
    def state(self) -> State:
        """State of a profile that ended so."""
        return _STATES.get(self, State.COMPLETE)


_STATES: Mapping[Ending, State] = {
    Ending.INTERRUPTED: State.INTERRUPTED,
    Ending.SERVER_ENDED: State.SERVER_ENDED,
}

WORDS: Mapping[Ending, str] = {
    Ending.ROUNDS: "the requested number of rounds is complete",
    Ending.TIME: "the requested time is over",
    Ending.SPENT: "a further search would take more of the throughput than the budget leaves; profile for longer, or "
    "allow more with --budget",
    Ending.BUDGET: "no function can be watched within the budget under this load",
    Ending.STALLED: "transactions stopped ending",
    Ending.INTERRUPTED: "interrupted",
    Ending.SERVER_ENDED: "the server ended",
}
"""Sentences without their full stop, for endings that bring none of their own."""
