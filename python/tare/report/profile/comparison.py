"""Two profiles held against each other: the document behind text, page, Markdown and JSON."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tare.lab.profile_about import About
from tare.protocol.profile.difference import Change, Difference
from tare.report.document import Document
from tare.report.kit.names import whole
from tare.report.origin import written_at, written_by
from tare.report.profile import figures
from tare.report.profile.document import Figure
from tare.report.words import sentence

SCHEMA_NAME: Literal["tare-profile-comparison/1"] = "tare-profile-comparison/1"

SERVER_TIME = "T is the server's own time, without waiting for the client. "

METHOD = (
    "Functions are compared by what they have in the variance itself, Cov(own time, T) in ns², here as a share of the "
    "variance before; over all functions the changes add up to the change of the variance. Shares of each profile's "
    "own variance would say little: where one source is gone, those of all others grow. Intervals are of two "
    "independent block bootstraps. A function that was watched in one profile only is in its caller's own time in the "
    "other. Two profiles say nothing of how runs differ from each other: repeat them."
)


class Side(Document):
    run: str
    started_at: str
    dbms: str
    dbms_version: str
    backend: str
    transactions: int
    mean_ns: float
    sd_ns: float
    variance_ns2: float
    p99_ns: float


class Changed(Document):
    """Function in both profiles; pairs are before and after."""

    name: str
    inferred: bool
    watched: tuple[bool, bool] = Field(
        description="False: its time is in its caller's own, and here it is 0."
    )
    calls: tuple[float, float]
    own_mean_ns: tuple[float, float]
    own_mean_change: Figure | None = Field(description="ns.")
    own_covariance: tuple[float, float] = Field(description="Cov(own, T), ns².")
    share: tuple[float, float] = Field(description="Share of own_covariance in each profile's own variance.")
    change: Figure | None = Field(
        description="Change of own_covariance, as a share of the variance before; those of all functions add up to the "
        "variance's."
    )
    established: bool = Field(description="The interval leaves out 0.")


class Comparison(Document):
    schema_: Literal["tare-profile-comparison/1"] = Field(default=SCHEMA_NAME, alias="schema")
    title: str
    written_at: str
    written_by: str
    before: Side
    after: Side
    server_time: bool = Field(description="T is the server's own time, without waiting for the client.")
    mean_change: Figure | None = Field(description="ns, after less before.")
    variance_ratio: Figure | None = Field(description="After over before.")
    p99_change: Figure | None = Field(description="ns.")
    functions: list[Changed] = Field(description="By size of the change, the largest first.")
    warnings: list[str]
    method: str


def build(before: About, after: About, found: Difference, *, title: str | None = None) -> Comparison:
    return Comparison(
        title=whole(title or f"{before.name} and {after.name}"),
        written_at=written_at(),
        written_by=written_by(),
        before=_side(before, found, 0),
        after=_side(after, found, 1),
        server_time=found.server_time,
        mean_change=figures.figure(found.mean_change),
        variance_ratio=figures.figure(found.variance_ratio),
        p99_change=figures.figure(found.p99_change),
        functions=[_changed(one, found.variance_ns2[0]) for one in found.functions],
        warnings=[sentence(whole(one)) for one in found.warnings],
        method=(SERVER_TIME if found.server_time else "") + METHOD,
    )


def _side(about: About, found: Difference, side: Literal[0, 1]) -> Side:
    return Side(
        run=about.name,
        started_at=about.when,
        dbms=about.dbms,
        dbms_version=about.dbms_version,
        backend=about.backend,
        transactions=found.transactions[side],
        mean_ns=found.mean_ns[side],
        sd_ns=found.sd_ns[side],
        variance_ns2=found.variance_ns2[side],
        p99_ns=found.p99_ns[side],
    )


def _changed(of: Change, variance: float) -> Changed:
    change = figures.figure(of.change)
    if change is not None:
        change = Figure(value=change.value / variance, low=change.low / variance, high=change.high / variance)
    return Changed(
        name=whole(of.name),
        inferred=of.inferred,
        watched=of.watched,
        calls=of.calls,
        own_mean_ns=of.own_mean_ns,
        own_mean_change=figures.figure(of.own_mean_change),
        own_covariance=of.own_covariance,
        share=of.share,
        change=change,
        established=of.established,
    )


def shares(function: Changed, comparison: Comparison) -> tuple[float, float]:
    """Own shares of the function before and after, of the variance before."""
    whole = comparison.before.variance_ns2 or 1.0
    return function.own_covariance[0] / whole, function.own_covariance[1] / whole
