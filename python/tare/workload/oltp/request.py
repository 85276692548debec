"""Request to the driver: one JSON document, since a URL holds a password and has no place on a command line.

`crates/tare-load/src/oltp/request.rs` reads it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, FiniteFloat

from tare.records import Record


class Isolation(StrEnum):
    """SQL's levels, as asked of the DBMS; SQLite is always serializable."""

    READ_COMMITTED = "read_committed"
    REPEATABLE_READ = "repeatable_read"
    SERIALIZABLE = "serializable"


class Load(Record):
    """Make and fill the tables."""

    do: Literal["load"] = "load"
    connections: int  # loading at the same time
    replace: bool  # drop tables of these names that are not ours, or that are loaded already


class Check(Record):
    """Hold the conditions against the data."""

    do: Literal["check"] = "check"
    rows: int  # failing ones of each to name


class Drop(Record):
    """Drop the tables."""

    do: Literal["drop"] = "drop"


class Closed(Record):
    """Each connection sends its next when the last has ended."""

    kind: Literal["closed"] = "closed"


class Constant(Record):
    """Evenly spaced."""

    kind: Literal["constant"] = "constant"


class Poisson(Record):
    """Exponential gaps, drawn from the seed."""

    kind: Literal["poisson"] = "poisson"


class Trace(Record):
    """A line for each arrival: seconds from the start, rising. Phases give only the duration."""

    kind: Literal["trace"] = "trace"
    file: str


Arrivals = Annotated[Closed | Constant | Poisson | Trace, Field(discriminator="kind")]


class Phase(Record):
    """A stretch at one rate."""

    rate: FiniteFloat | None  # transactions a second; None: closed loop or trace
    duration_s: FiniteFloat


class Run(Record):
    """Send transactions."""

    do: Literal["run"] = "run"
    connections: int
    arrivals: Arrivals
    phases: tuple[Phase, ...]
    warmup_s: FiniteFloat  # at the first phase's rate, before the clock starts
    drain_s: FiniteFloat  # after the last arrival is due; what is left is counted as never started
    shed_after_s: FiniteFloat | None  # an arrival that starts later is not sent; None: all are
    mix: dict[str, FiniteFloat]  # type to weight; empty: the default
    isolation: Isolation
    tries: int  # of one transaction in all
    think: FiniteFloat  # closed loop: the workload's keying and think times, times this
    norm: FiniteFloat  # p of the L_p norm
    samples: str | None  # see samples.py


class Request(Record):
    """Call of the driver."""

    url: str = Field(repr=False)  # with its password
    workload: str
    scale: FiniteFloat | None  # None: as it was loaded
    options: dict[str, str]  # of the workload
    seed: int  # of the data (load), or of mix, parameters and arrivals (run)
    connect_timeout_s: FiniteFloat
    action: Annotated[Load | Check | Drop | Run, Field(discriminator="do")]

    def line(self) -> bytes:
        """Return the request as the driver reads it."""
        return self.model_dump_json().encode() + b"\n"
