"""A profile's folder as a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tare.errors import TareError
from tare.lab.profile_about import About
from tare.lab.profile_tables import Tables
from tare.lab.profiles import Run
from tare.profile import watched
from tare.profile.reading import marker_pairs
from tare.protocol.profile.analyse import analyse
from tare.protocol.profile.difference import difference
from tare.protocol.profile.found import Loss, Overhead
from tare.protocol.profile.loss import Activity, loss, markers_loss, whole_loss
from tare.protocol.profile.measured import Measured
from tare.protocol.profile.overhead import Turn, ends, overhead, throughput, turns
from tare.report.profile import comparison
from tare.report.profile.build import Built, build
from tare.report.profile.comparison import Comparison
from tare.report.profile.drawn import drawn


def built(
    run: Run,
    *,
    round_: int | None = None,
    type_: str | None = None,
    within: bool = False,
    server_time: bool | None = None,
    title: str | None = None,
) -> Built:
    """`server_time`: None: as the profile was made. Raises TooFewTransactions, NoSuchProfile, ProfileDamaged."""
    tables = run.tables()
    measured = _timed(run.measured(round_=round_, tables=tables), run, server_time)
    pairs = turns(tables.transactions, run.windows(tables, round_))
    found = analyse(
        measured,
        type_=type_,
        within=within,
        overhead=_overhead(run, round_, pairs, tables),
        budget=run.about.budget,
    )
    kept = _kept(run)
    return build(
        found,
        run.about,
        drawn(measured, pairs),
        refine=() if kept is not None and kept.settled and round_ is None else None,
        naive_rounds=kept.naive_rounds if kept is not None else None,
        title=title,
    )


def compared(
    before: Run, after: Run, *, server_time: bool | None = None, title: str | None = None
) -> Comparison:
    """Compare the last rounds. `server_time`: None: where both were made so.

    Raises TooFewTransactions, NoSuchProfile, ProfileDamaged."""
    if server_time is None:
        server_time = before.about.server_time and after.about.server_time
    found = difference(*(_timed(one.measured(), one, server_time) for one in (before, after)))
    return comparison.build(before.about, after.about, found, title=title)


def _timed(measured: Measured, run: Run, server_time: bool | None) -> Measured:
    wanted = run.about.server_time if server_time is None else server_time
    return measured.without_waiting() if wanted else measured


def _overhead(run: Run, round_: int | None, pairs: Sequence[Turn], tables: Tables) -> Overhead | None:
    about = run.about
    rounds = [one for one in about.rounds if round_ in (None, one.number)]
    if not rounds or about.pair_ns is None or not any(one.transactions for one in pairs):
        return None
    functions = [one for one in rounds[-1].functions if one not in about.refused]
    found = overhead(
        pairs,
        events=sum(about.calls.get(one, 0.0) for one in functions),
        pair_ns=about.pair_ns,
        marker_events=marker_pairs(tables.transactions) * about.marker_pairs,
        cpus=about.machine.online_cpus if about.machine else 0,
    )
    return (
        found if about.peak is None else replace(found, loss=_loss(about, about.peak, tables, found.markers))
    )


def _loss(about: About, peak: float, tables: Tables, predicted_markers: float) -> Loss:
    activity, between = (
        {window: Activity(**one.model_dump()) for window, one in given.items()}
        for given in (about.activity, about.between)
    )
    markers = markers_loss(ends(tables.transactions), tables.windows, activity)
    return loss(
        tables.windows,
        throughput(turns(tables.transactions, tables.windows)),
        markers,
        whole=whole_loss(tables.windows, activity, between, markers.by) if between and markers else None,
        predicted={one.number: about.of_cycle * (one.predicted or 0.0) for one in about.rounds},
        predicted_markers=about.of_cycle * predicted_markers,
        counting_s=about.counting_s,
        own_s=about.own_s,
        allowed_on=peak,
    )


def _kept(run: Run) -> watched.Watched | None:
    try:
        return watched.read(run.folder)
    except TareError:  # a profile of another hand's making
        return None
