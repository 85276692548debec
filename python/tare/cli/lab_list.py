"""`tare lab list`: runs of all kinds in one list: experiments, transactional runs, profiles, tuning runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from tare.cli.run_json import run_json
from tare.errors import ProfileDamaged
from tare.experiment.status import shown_state
from tare.lab.hold import is_held
from tare.lab.measurements import count
from tare.lab.oltp import Listed, listed
from tare.lab.profiles import Run as Profile
from tare.lab.profiles import runs_in
from tare.lab.progress import RunSummary, runs
from tare.lab.run_ids import Kind, RunId
from tare.lab.store import Lab, open_lab
from tare.report.kit.blocks import Block, Column, Paragraph, Table, Tone
from tare.report.kit.blocks import Kind as Columns
from tare.report.kit.terminal import print_blocks
from tare.report.oltp import words
from tare.report.safe import printable
from tare.report.words import NOTHING, counted
from tare.tune.record import Tuning
from tare.tune.store import TuningDamaged, records


@dataclass(frozen=True, slots=True)
class Row:
    """A run of any kind, as a line of the list and as JSON."""

    id: str
    subject: str  # experiment, workload or profile
    dbms: str
    started_at: str
    state: str
    size: str
    document: dict[str, Any]

    @property
    def started(self) -> datetime:
        started = datetime.fromisoformat(self.started_at)
        return started if started.tzinfo else started.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs of a lab and of the folders of profiles and tuning runs, oldest first."""

    lab: str
    rows: Sequence[Row]
    damaged: Sequence[str]  # messages about those that cannot be read
    measurements: int = 0  # of single queries, which `tare trend` reports

    def document(self) -> dict[str, Any]:
        more: dict[str, Any] = {"damaged": list(self.damaged)} if self.damaged else {}
        if self.measurements:
            more["measurements"] = self.measurements
        return {"lab": self.lab, "runs": [row.document for row in self.rows], **more}


def find(where: str, profiles: Path, tunings: Path) -> Runs:
    """All runs. A lab that does not exist is empty where there are others. Raises LabError."""
    found = runs_in(profiles)
    tuned = records(tunings)
    rows = [_profile(profile) for profile in found if isinstance(profile, Profile)]
    rows += [_tuning(tuning) for tuning in tuned if isinstance(tuning, Tuning)]
    shown, measurements = where, 0
    if not rows or "://" in where or Path(where).exists():
        with open_lab(where) as lab:
            shown = lab.where
            rows += [_experiment(lab, summary) for summary in runs(lab)]
            rows += [_oltp(run) for run in listed(lab)]
            measurements = count(lab)
    damaged = [error.what for error in (*found, *tuned) if isinstance(error, ProfileDamaged | TuningDamaged)]
    return Runs(shown, sorted(rows, key=lambda row: row.started), damaged, measurements)


def show(found: Runs) -> None:
    """Print the list, as wide as the terminal is."""
    blocks: list[Block] = []
    if found.rows:
        columns = [Column(heading, Columns.NAME) for heading in _HEADINGS]
        blocks.append(Table("", columns, [_cells(row) for row in found.rows]))
    else:
        blocks.append(Paragraph(f"The lab {found.lab} has no runs."))
    if found.measurements:
        blocks.append(
            Paragraph(
                f"{counted(found.measurements, 'measurement')} of queries: `tare trend --lab {found.lab}`"
            )
        )
    blocks += [Paragraph(message, Tone.BAD) for message in found.damaged]
    print_blocks(blocks, Console(highlight=False))


_HEADINGS = ("id", "run", "DBMS", "started (UTC)", "state", "size")


def _cells(row: Row) -> tuple[str, ...]:
    started = row.started.astimezone(UTC).isoformat(" ")[:16]
    return tuple(map(printable, (row.id, row.subject, row.dbms, started, row.state, row.size)))


# The kinds ---------------------------------------------------------------------
def _experiment(lab: Lab, summary: RunSummary) -> Row:
    run = summary.run
    state = shown_state(run.state, is_held(lab, run.id))
    failed = f" ({summary.failed_qatcs} failed)" if summary.failed_qatcs else ""
    missing = f", {summary.failed_queries} queries missing" if summary.failed_queries else ""
    return Row(
        str(RunId(Kind.EXPERIMENT, run.id)),
        run.experiment,
        f"{run.dbms} {run.dbms_version}",
        run.started_at,
        state,
        f"{summary.timed_qatcs:,} Q@Cs{failed}, {summary.qes:,} QEs{missing}",
        {
            **run_json(run, kind="experiment", state=state, said=run.said),
            "executor": run.executor,
            "queries": summary.queries,
            "failed_queries": summary.failed_queries,
            "qatcs": summary.qatcs,
            "timed_qatcs": summary.timed_qatcs,
            "failed_qatcs": summary.failed_qatcs,
            "qes": summary.qes,
        },
    )


def _oltp(run: Listed) -> Row:
    run_id = str(RunId(Kind.OLTP, run.id))
    p99 = NOTHING if run.p99_ns is None else words.duration(run.p99_ns / 1e6)
    rate, due = words.rate(run.rate), run.intended_rate
    if due is not None and abs(run.rate - due) > 0.01 * due:
        rate = f"{rate} of {words.rate(due)}"
    document = asdict(run)
    del document["id"]
    return Row(
        run_id,
        f"{run.workload} {run.scale:g}",
        f"{run.dbms} {run.version.partition('-')[0]}",
        run.started_at,
        "valid" if run.valid else "INVALID",
        f"{run.arrivals} {rate}, p99 {p99}",
        {"run": run_id, "kind": "oltp", **document},
    )


def _profile(profile: Profile) -> Row:
    about = profile.about
    rounds = len(about.rounds)
    return Row(
        str(profile.id or NOTHING),
        profile.name,
        f"{about.dbms} {about.dbms_version.partition('-')[0]}".strip() or about.server,
        about.when,
        about.state,
        ", ".join(filter(None, (about.preset, f"{rounds} round{'' if rounds == 1 else 's'}", about.backend))),
        {
            "run": str(profile.id) if profile.id else None,
            "kind": "profile",
            "name": profile.name,
            "folder": str(profile.folder),
            **about.model_dump(include={"state", "dbms", "dbms_version", "backend", "preset"}),
            "started_at": about.when,
            "rounds": rounds,
        },
    )


def _tuning(tuning: Tuning) -> Row:
    run_id = str(RunId(Kind.TUNING, tuning.number))
    load = tuning.specification.load
    blocks = len(tuning.blocks)
    state = "over capacity" if tuning.is_over else "measured"
    return Row(
        run_id,
        f"{load.workload} {tuning.scale:g}",
        f"{tuning.dbms} {tuning.version.partition('-')[0]}",
        tuning.started_at,
        state,
        f"{len(tuning.arms) - 2} arms, {blocks} blocks, {words.rate(load.rate)}",
        {
            "run": run_id,
            "kind": "tuning",
            "workload": load.workload,
            "dbms": tuning.dbms,
            "dbms_version": tuning.version,
            "started_at": tuning.started_at,
            "state": state,
            "arms": list(tuning.arms),
            "blocks": blocks,
        },
    )
