"""Two runs held against each other: the document behind text, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from tare.lab.ids import oltp_id
from tare.lab.oltp import load
from tare.lab.store import find_oltp_run, open_lab
from tare.protocol.oltp.compare import Compared, compare, objections
from tare.protocol.oltp.precision import precision
from tare.report.document import Document
from tare.report.oltp import figures, reasons
from tare.report.oltp.document import Figure, Precision
from tare.report.origin import written_at, written_by
from tare.report.safe import lab_name
from tare.workload.oltp.run import OltpRun

SCHEMA_NAME: Literal["tare-oltp-comparison/1"] = "tare-oltp-comparison/1"


class Side(Document):
    run: int
    uuid: str
    workload: str
    scale: float
    dbms: str
    version: str
    started_at: str
    rate: float
    intended_rate: float | None
    valid: bool
    not_judged: bool = Field(
        description="Whether it is too short to be judged, or disturbed; then it is not invalid."
    )
    precision: dict[str, Precision]


class Ratio(Document):
    """A figure of a type in both runs, and A's over B's. Times in ms, the variance in ms²."""

    type: str
    times: Literal["response", "service"]
    figure: Literal["mean", "variance", "sd", "p99"]
    a: Figure | None
    b: Figure | None
    ratio: Figure | None = Field(
        description="A over B: above 1 B is the smaller. Null: no interval can be given."
    )
    established: bool = Field(description="The interval leaves out 1.")
    n: tuple[int, int]
    why: str | None = Field(description="Why there is no ratio.")


class Comparison(Document):
    schema_: Literal["tare-oltp-comparison/1"] = Field(default=SCHEMA_NAME, alias="schema")
    title: str
    written_at: str
    written_by: str
    lab: str
    a: Side
    b: Side
    objections: list[str] = Field(description="Reasons that keep the runs from being compared; empty: none.")
    method: str
    ratios: list[Ratio]


METHOD = (
    "Ratios are A over B with 95% intervals; above 1, B is the smaller. Each run's own precision is read off its "
    "seconds, put together to batches: what the batches' means spread more than independent transactions would is "
    "taken off the number of transactions (effective n). Means and variances have the wider of a plain and a "
    "logarithmic scale's interval, the variance by its fourth moment; "
    "percentiles lie between two order statistics; the two runs' intervals are "
    "joined as of independent estimates (MOVER). Assumed: what lasts longer than a batch is a change of the "
    "schedule, and neighbours are alike in variance and percentiles no more than in their means. Two runs "
    "say nothing of how runs differ from each other: repeat them."
)


def build(a: OltpRun, b: OltpRun, ids: tuple[int, int], *, lab: str, title: str | None = None) -> Comparison:
    return Comparison(
        title=title or f"Run {oltp_id(ids[0])} over run {oltp_id(ids[1])}",
        written_at=written_at(),
        written_by=written_by(),
        lab=lab,
        a=_side(a, ids[0]),
        b=_side(b, ids[1]),
        objections=[*_unreliable("A", a), *_unreliable("B", b), *objections(a, b)],
        method=METHOD,
        ratios=[_ratio(one) for one in compare(a, b)],
    )


def _unreliable(name: str, run: OltpRun) -> Iterator[str]:
    yield from (f"run {name} is not valid: {why}" for why in reasons.reasons(run.invalid))
    if run.not_judged:
        yield f"run {name} {reasons.not_judged(run.not_judged)}"


def _side(run: OltpRun, run_id: int) -> Side:
    return Side(
        run=run_id,
        uuid=run.uuid,
        workload=run.workload,
        scale=run.loaded.scale,
        dbms=run.server.dbms,
        version=run.server.version,
        started_at=run.started_at,
        rate=run.sustained_rate,
        intended_rate=run.outcome.intended_rate,
        valid=run.is_valid,
        not_judged=not run.is_valid and not run.invalid,
        precision={times: figures.precision(precision(run, times)) for times in ("response", "service")},
    )


def _ratio(of: Compared) -> Ratio:
    return Ratio.model_validate(
        {
            "type": of.type,
            "times": of.times,
            "figure": of.figure,
            "a": figures.figure(of.a),
            "b": figures.figure(of.b),
            "ratio": figures.figure(of.ratio),
            "established": of.established,
            "n": of.n,
            "why": of.why,
        }
    )


def make_comparison(where: str, a: str, b: str, *, title: str | None = None) -> Comparison:
    """Raises NoSuchRun, LabError."""
    with open_lab(where) as lab:
        ids = find_oltp_run(lab, a), find_oltp_run(lab, b)
        runs = [load(lab, one) for one in ids]
    return build(runs[0], runs[1], ids, lab=lab_name(where), title=title)
