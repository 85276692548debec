"""A disk that fills in mid-run: what was measured is told, and nothing half-written is left."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.crash.oltp_runs import Database, flat, last_run, oltp, watched, words_of

Disk = Callable[[str], Path]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """Makes one of a size."""
    if os.geteuid() != 0:
        pytest.skip("only root mounts a small disk")
    mounted: list[Path] = []

    def mount(size: str) -> Path:
        place = tmp_path / f"disk{len(mounted)}"
        place.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", str(place)],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        if done.returncode:
            pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")
        mounted.append(place)
        return place

    yield mount
    for place in mounted:
        subprocess.run(["umount", "--lazy", str(place)], check=True, timeout=60)


@pytest.fixture(autouse=True)
def once(request: pytest.FixtureRequest) -> None:
    """The tests run with PostgreSQL alone: Tare writes the same whichever DBMS it measures."""
    if "mariadb" in request.node.callspec.id:
        pytest.skip("tried with PostgreSQL")


def fill(place: Path) -> Path:
    """To the last byte."""
    junk = place / "junk"
    with junk.open("wb", buffering=0) as out, suppress(OSError):
        while True:
            out.write(b"x" * 4096)
    return junk


def test_samples_that_find_no_room_cut_the_run_short(tatp: Database, lab: Path, disk: Disk) -> None:
    place = disk("16k")
    words = words_of(tatp, lab, "--duration", "20s", "--no-check", rate=400)
    done = oltp(*words, "--samples", str(place / "samples.parquet"))
    assert done.code == 1, done.out
    assert done.out.startswith("✗ This run is not valid: it was cut short after ")
    assert "No space left on device" in flat(done.out)
    assert "tare: the samples could not be written" in done.err
    assert "make room" in done.err
    assert not any(place.iterdir())
    kept = last_run(lab)
    assert kept.outcome.all.counts.finished > 100


def test_a_full_lab_loses_no_more_than_the_record(tatp: Database, disk: Disk) -> None:
    place = disk("2m")
    lab = place / "lab.db"
    with watched(words_of(tatp, lab, "--duration", "2s", "--no-check")) as run:
        run.wait_for("measured part")
        junk = fill(place)
        done = run.ended()
    assert done.code == 1, done.out
    assert done.out.startswith("! This run is too short to be judged: "), (
        "what was measured is told all the same"
    )
    assert "of the lab" not in done.out
    assert "tare: " in done.err
    assert "next:" in done.err
    assert "full" in done.err or "no room" in done.err, done.err
    junk.unlink()
    listed = oltp("runs", "--lab", str(lab), "--json")
    assert listed.code == 0, listed.err
    assert listed.result["runs"] == []
