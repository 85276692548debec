"""Document of a tuning run, as `--json` writes it (`schemas/tune-v1.json`)."""

from __future__ import annotations

from typing import Literal

from tare.report.document import Document
from tare.report.ratio import Ratio
from tare.tune.record import DroppedArm, RunRecord, WindowRecord
from tare.tune.specification import TuneSpecification
from tare.tune.verdicts import Objective, Verdict


class Result(Document):
    """An arm by one objective: the arm over the baseline."""

    objective: Objective
    verdict: Verdict
    ratio: Ratio | None  # None: fewer than two blocks have the figure
    p: float | None  # after Holm's correction over the arms
    blocks_needed: int | None  # in all, to decide; None: decided, or out of reach
    baseline: float | None  # median over blocks, in the objective's unit
    arm: float | None


class DurabilityLoss(Document):
    """Data that a crash may lose under a value."""

    setting: str
    value: str
    what: str
    source: str


class ArmReport(Document):
    name: str
    settings: dict[str, str]
    losses: tuple[DurabilityLoss, ...]
    left_backlog: int  # windows after which transactions waited
    results: tuple[Result, ...]


class FloorReport(Document):
    """The baseline's copy over the baseline: the smallest difference that this machine can see now."""

    objective: Objective
    ratio: Ratio | None
    holds_1: bool


class Candidate(Document):
    """A candidate of a search. `ratios`: candidate over baseline after each round that it took part in, over the blocks
    of all rounds so far (Hodges–Lehmann); None: fewer than six."""

    name: str
    settings: dict[str, str]
    ratios: tuple[Ratio | None, ...]
    why_ended: str | None  # None: it was measured again in fresh blocks


class SearchReport(Document):
    """The rounds before the blocks that the verdicts are of."""

    objective: Objective  # that ranked the candidates
    budget_s: float
    took_s: float
    rounds: int
    candidates: tuple[Candidate, ...]  # those that stayed longest first
    runs: tuple[RunRecord, ...]
    windows: tuple[WindowRecord, ...]


class TuningReport(Document):
    version: Literal[1] = 1
    id: str
    title: str
    written_at: str
    written_by: str
    url: str
    dbms: str
    server_version: str
    online_cpus: int
    scale: float
    specification: TuneSpecification
    baseline: dict[str, str]
    headline: tuple[str, ...]
    is_result: bool  # False: over capacity, changed regime, or no whole block
    blocks: int  # whole ones that are judged
    warming: tuple[int, ...] = ()  # blocks that are not: the first of each run
    others: float | None  # CPUs that neither server, driver nor Tare used, on average
    floors: tuple[FloorReport, ...]
    arms: tuple[ArmReport, ...]
    dropped: tuple[DroppedArm, ...]
    runs: tuple[RunRecord, ...]
    windows: tuple[WindowRecord, ...]
    is_restarted: bool = False  # each window on a server that was started for it
    is_separate: bool = False  # each window is a run of its own, with new connections
    search: SearchReport | None = None

    @property
    def all_runs(self) -> tuple[RunRecord, ...]:
        """Runs of the load, with those of the search."""
        return (*(self.search.runs if self.search else ()), *self.runs)
