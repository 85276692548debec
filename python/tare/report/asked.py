"""Request of the user, by which reports and warnings are worded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tare.measure.choices import AnswerRule, Blocks, CacheState, Clocked
from tare.protocol.stop import Stop


@dataclass(frozen=True, slots=True)
class Attempt:
    """Tier of the probe, tried at start."""

    name: str
    works: bool
    reason: str
    next_step: str = ""


@dataclass(frozen=True, slots=True)
class Places:
    """CPUs that the server's process and Tare's may use, and all that are online."""

    server: frozenset[int]
    ours: frozenset[int]
    online: frozenset[int]


@dataclass(frozen=True, slots=True)
class Means:
    """Means of measuring in a run. `reasons`: by measure, why the whole run lacks it. `keeps_results`: whether the DBMS
    had a cache of results on."""

    tier: str
    attempts: Sequence[Attempt]
    delay_accounting: bool | None
    tick_ns: int
    reasons: Mapping[str, str] = field(default_factory=dict)
    places: Places | None = None  # None where they could not be read
    keeps_results: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """`runs`: timed runs of each query. `until`: the rule that ends the run, if one was given.
    `compare`: the measure that a comparison is about; None for none."""

    runs: int
    cache: CacheState = CacheState.WARM
    warmup: int | None = None  # None: as many as it takes
    until: Stop | None = None
    compare: str | None = None
    isolated: bool = False  # under `tare isolate`
    tier: str | None = None  # asked for by name
    clocked: Clocked = Clocked.EXECUTION
    answer: AnswerRule = AnswerRule.CLOSE
    blocks: Blocks = Blocks.RUN  # of a comparison
    margin: float | None = None  # change of a ratio that does not matter, 0.05 for 5%; None: any matters
