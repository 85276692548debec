"""`tare bench oltp curve` as a user meets it."""

from __future__ import annotations

import csv
import json
import signal
import time
from pathlib import Path

import pytest

from tests.cli.running import Said, start, tare

STEPS = ("--duration", "2s", "--warmup", "200ms", "--drain", "1s", "--connections", "4", "--no-check")


def oltp(*words: str) -> Said:
    return tare("bench", "oltp", *words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], ["neither --rates nor --find-limit", "100..2000:100"]),
        (["--rates", "0"], ["0 is not a rate", "100,200,400"]),
        (["--rates", "0..100:10"], ["0 is not a rate"]),
        (["--rates", "200..100:10"], ["from high to low", "100..200:10"]),
        (["--rates", "100..200"], ["the step is missing"]),
        (["--rates", "100..200:0"], ["0 is not a rate"]),
        (["--rates", "100..200:-5"], ["-5 is not a rate"]),
        (["--rates", "100..inf:5"], ["inf is not a rate"]),
        (["--rates", "100,fast"], ["fast is not a rate"]),
        (["--rates", "100,,200"], ["nothing is not a rate"]),
        (["--rates", "100,100"], ["given twice", "--repeats"]),
        (["--rates", "1..100000:1"], ["100000 rates", "at most 500"]),
        (["--rates", "100..1000000:100000"], ["more than the driver sends", "at most 100000"]),
        (["--find-limit", "p99"], ["not FIGURE=DURATION", "p99=50ms"]),
        (["--find-limit", "p99=50"], ["has no unit", "p99=50ms"]),
        (["--find-limit", "p98=50ms"], ["no figure p98"]),
        (["--find-limit", "p99=0ms"], ["nothing happens in no time"]),
        (["--find-limit", "p99=long"], ["no duration"]),
        (["--find-limit", "p99=50ms", "--rates", "100"], ["two rates or more"]),
        (["--find-limit", "p99=50ms", "--repeats", "3"], ["--repeats does not apply"]),
        (["--find-limit", "p99=50ms", "--precision", "5"], ["not a percentage"]),
        (["--find-limit", "p99=50ms", "--duration", "5s"], ["too short for a search", "at least 10s"]),
        (["--rates", "100", "--arrivals", "closed"], ["--arrivals closed"]),
        (["--rates", "100", "--max", "soon"], ["no duration"]),
        (["--rates", "100", "--db", "sqlite"], ["name the same database"]),
        (["--rates", "100", "--resume", "7"], ["no transactional run"]),
    ],
)
def test_a_request_at_fault_is_refused_with_what_to_write_instead(
    words: list[str], said: list[str], tmp_path: Path
) -> None:
    found = oltp("curve", "ycsb", "--db", "sqlite", *words, "--lab", str(tmp_path / "lab.db"))
    assert found.code == 2, found.err
    for text in said:
        assert text in found.err
    assert "next:" in found.err


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a lab and a SQLite database that holds YCSB."""
    folder = tmp_path_factory.mktemp("curve")
    done = oltp("load", "ycsb", "--db", "sqlite", "--lab", str(folder / "lab.db"))
    assert done.code == 0, done.err
    return folder


def at(folder: Path) -> tuple[str, ...]:
    return ("--db", "sqlite", "--lab", str(folder / "lab.db"))


def test_a_curve_keeps_every_step_in_the_lab_and_writes_every_form(place: Path) -> None:
    files = {form: place / f"curve.{form}" for form in ("html", "markdown", "json", "csv")}
    given = [word for form, file in files.items() for word in (f"--{form}", str(file))]
    done = oltp("curve", "ycsb", *at(place), "--rates", "20..60:20", *STEPS, *given)
    assert done.code == 0, done.err
    report = json.loads(files["json"].read_text())
    assert report["schema"] == "tare-oltp-curve/1"
    requested = [step["requested"] for step in report["steps"]]
    assert sorted(requested) == [20, 20, 40, 40, 60, 60]
    assert requested == requested[::-1]  # the second half mirrors the first
    rows = list(csv.DictReader(files["csv"].open()))
    assert [row["run"] for row in rows] == [str(step["run"]) for step in report["steps"]]
    alone = oltp("report", rows[0]["run"], "--lab", str(place / "lab.db"))
    assert alone.code == 0, alone.err
    again = oltp("report", rows[2]["run"], "--curve", "--lab", str(place / "lab.db"), "--json", "-")
    assert again.code == 0, again.err
    assert again.result["steps"] == report["steps"]


def test_an_interrupted_curve_keeps_finished_steps_and_is_continued(place: Path, tmp_path: Path) -> None:
    words = ("bench", "oltp", "curve", "ycsb", *at(place), "--rates", "10,30,50", "--repeats", "1", *STEPS)
    running = start(*words)
    assert running.stderr is not None
    first = running.stderr.readline()
    assert first.startswith("run "), first
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    run = first.split()[1]
    assert f"--resume {run}" in err
    assert "Steps" in out
    continued = tare(*words, "--resume", run, "--json", str(tmp_path / "c.json"))
    assert continued.code == 0, continued.err
    steps = json.loads((tmp_path / "c.json").read_text())["steps"]
    assert f"o{steps[0]['run']}" == run
    assert sorted(step["requested"] for step in steps) == [10, 30, 50]
    assert [step["number"] for step in steps] == [1, 2, 3]
    changed = tare(*words[:-2], "5", "--no-check", "--resume", run)
    assert changed.code == 2
    assert "--connections 4, and now 5 is requested" in changed.err


def test_a_run_by_itself_is_no_curve(place: Path) -> None:
    done = oltp("run", "ycsb", *at(place), "--rate", "20", "--duration", "1s", "--warmup", "0s", "--json")
    assert done.code == 0, done.err
    found = oltp("report", str(done.result["run"]), "--curve", "--lab", str(place / "lab.db"))
    assert found.code == 2
    assert "is not a step of a curve" in found.err


def test_a_search_stops_at_its_time_and_can_be_continued(place: Path) -> None:
    words = (
        "--find-limit",
        "p99=10s",
        "--rates",
        "20,40",
        "--duration",
        "10s",
        "--warmup",
        "0s",
        "--no-check",
    )
    done = oltp("curve", "ycsb", *at(place), *words, "--max", "15s", "--json", "-")
    assert done.code == 1, done.err
    assert len(done.result["steps"]) == 1
    assert done.result["knees"][0]["ended"] == "unfinished"
    assert "--resume" in done.err
    assert "The search ended before" in done.result["headline"][0]
    resume = ("--resume", str(done.result["steps"][0]["run"]))
    continued = oltp("curve", "ycsb", *at(place), *words, *resume, "--json", "-")
    assert continued.result["steps"][0] == done.result["steps"][0]
    assert {step["requested"] for step in continued.result["steps"]} == {20, 40}
    assert continued.result["knees"][0]["ended"] in ("not reached", "undecided")  # neighbours may slow it
    elsewhere = ("--find-limit", "p99=10s", "--rates", "30,40", *words[4:])
    other = oltp("curve", "ycsb", *at(place), *elsewhere, *resume)
    assert other.code == 2
    assert "taken at 20/s, which is not among the rates" in other.err


def test_postgresql_over_capacity_ends_the_step_and_not_the_curve(tmp_path: Path) -> None:
    where = ("--db", "postgresql", "--lab", str(tmp_path / "lab.db"))
    loaded = oltp("load", "tpcc", *where, "--scale", "1")
    assert loaded.code == 0, loaded.err
    rates = ("--rates", "20,30000", "--repeats", "1", "--duration", "8s", "--warmup", "0s", "--drain", "1s")
    done = oltp("curve", "tpcc", *where, *rates, "--connections", "2", "--json", "-")
    assert done.code == 0, done.err
    steps = {step["requested"]: step for step in done.result["steps"]}
    assert steps[30000]["capacity"] == "over capacity"
    assert steps[30000]["sustained"] < 15000
    assert steps[20]["capacity"] in ("sustained", "changed regime")  # neighbours may slow it
    assert steps[20]["server_cpu"] is not None
    assert done.result["conditions_failing"] == []
