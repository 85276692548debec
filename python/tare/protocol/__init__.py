"""Timing protocols: from QEs to a query's time. Nothing here talks to a DBMS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # an engine is only loaded where a whole lab is judged
    from tare.lab.frames import Frames
    from tare.protocol.outcome import Outcome


def run_protocol(
    frames: Frames, name: str, *, min_qes: int = 6, accept: Sequence[str] = (), by_paper: bool = False
) -> Outcome:
    """Runs protocol "ttp1", "ttp2" or "exact" over a lab.

    `min_qes`: a Q@C with fewer retained QEs is dropped. `accept`: names of experiment-wide checks that
    need not stop the analysis. `by_paper`: the query process is inferred (TTPv2 §7.2) though the server
    told it. Raises UsageError for a name that there is not.
    """
    from tare.protocol.run import run_protocol as run

    return run(frames, name, min_qes=min_qes, accept=accept, by_paper=by_paper)
