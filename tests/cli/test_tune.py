"""`tare tune` on a real server: run, report, resume, apply, and what it refuses."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tare.dbms.servers import RunningServer
from tare.report.tune.document import TuningReport
from tare.tune.settings.connecting import connect
from tests.cli.running import Running, Said, start, tare
from tests.servers import own_server

SHORT = ("--rate", "80", "--window", "1s", "--settle", "0.2s", "--warmup", "0s", "--connections", "4")
SET = ("--set", "synchronous_commit=off,on", "--set", "TimeZone=Nowhere")


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with own_server("postgresql") as running:
        assert tare("bench", "oltp", "load", "ycsb", "--db", running.url, "--scale", "0.1").code == 0
        yield running


@pytest.fixture
def place(tmp_path: Path) -> dict[str, str]:
    """Environment whose journals and tuning runs lie in a folder of the test."""
    return {"XDG_STATE_HOME": str(tmp_path / "state"), "TARE_TUNINGS": str(tmp_path / "tunings")}


def values(server: RunningServer) -> object:
    with closing(connect(server.url)) as settings:
        return settings.keep(["synchronous_commit"])


def run(server: RunningServer, place: dict[str, str], *words: str) -> Said:
    return tare("tune", "run", "ycsb", "--db", server.url, *SET, *SHORT, *words, **place)


def started(server: RunningServer, place: dict[str, str]) -> Running:
    """A run that has changed a setting."""
    before = values(server)
    words = ("--db", server.url, *SET[:2], *SHORT, "--allow-clients")  # the test looks on
    tuning = start("tune", "run", "ycsb", *words, **place)
    until = time.monotonic() + 60
    while values(server) == before:
        assert tuning.poll() is None, tuning.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)
    return tuning


def test_a_run_is_reported_extended_and_applied(
    server: RunningServer, place: dict[str, str], tmp_path: Path
) -> None:
    before = values(server)
    page = tmp_path / "t.html"
    said = run(server, place, "--blocks", "2", "--html", str(page), "--json", "-")
    assert said.code == 0, said.err
    report = TuningReport.model_validate(said.result)
    assert report.blocks == 2
    assert report.warming == (0,)
    assert {window.block for window in report.windows} == {0, 1, 2}
    assert [arm.name for arm in report.arms] == ["synchronous_commit=off"]
    assert "three times wal_writer_delay" in report.arms[0].losses[0].what
    assert {one.name for one in report.dropped} == {"synchronous_commit=on", "TimeZone=Nowhere"}
    assert "Response time of each window" in page.read_text()
    assert values(server) == before

    more = tare("tune", "resume", "t1", "--db", server.url, "--blocks", "1", "--json", "-", **place)
    assert more.code == 0, more.err
    assert more.result["blocks"] == 3
    assert more.result["warming"] == [0, 3]
    again = tare("report", "t1", **place)
    assert "Noise floor: the baseline over itself, 3 blocks" in again.out
    applied = tare("tune", "apply", "t1", "synchronous_commit=off", "--as", "sql", **place)
    assert applied.out == "ALTER SYSTEM SET synchronous_commit = 'off';\nSELECT pg_reload_conf();\n"
    assert "gives durability up" in applied.err
    assert values(server) == before


def test_a_search_ends_with_two_arms_that_are_measured_in_fresh_blocks(
    server: RunningServer, place: dict[str, str], tmp_path: Path
) -> None:
    before = values(server)
    words = (
        "--set", "commit_delay=100", "--set", "wal_writer_delay=10", "--set", "backend_flush_after=64",
        "--knobs", "synchronous_commit,wal_compression,full_page_writes", "--keep", "durability", "--budget", "70s",
    )  # fmt: skip
    page = tmp_path / "t.html"
    said = tare(
        "tune",
        "search",
        "ycsb",
        "--db",
        server.url,
        *SHORT,
        *words,
        "--html",
        str(page),
        "--json",
        "-",
        **place,
    )
    assert said.code == 0, said.err
    report = TuningReport.model_validate(said.result)
    assert report.search is not None
    left = {"synchronous_commit=off", "full_page_writes=off"}
    assert left <= {one.name for one in report.dropped}, "they give durability up"
    tried = {candidate.name for candidate in report.search.candidates}
    assert {"commit_delay=100", "wal_writer_delay=10", "backend_flush_after=64"} <= tried
    assert not tried & left
    arms = [arm.name for arm in report.arms]
    finalists = [candidate.name for candidate in report.search.candidates if candidate.why_ended is None]
    assert sorted(arms) == sorted(finalists), (
        "which of them is listed first is decided by the search's own blocks"
    )
    assert len(arms) == 2
    assert report.blocks >= 2
    assert "Candidates by variance" in page.read_text()
    assert values(server) == before
    folder = tmp_path / "tunings" / "t1"
    kept = {f"search-{number}.bin" for number in range(1, report.search.rounds + 1)}
    assert {file.name for file in folder.iterdir()} == {"tuning.json", "samples-1.bin", *kept}

    again = tare("report", "t1", **place)
    assert "measured again" in again.out
    more = tare("tune", "resume", "t1", "--db", server.url, "--blocks", "1", "--json", "-", **place)
    assert more.code == 0, more.err
    assert more.result["blocks"] == report.blocks + 1


def test_a_search_says_before_it_begins_that_it_needs_more(
    server: RunningServer, place: dict[str, str]
) -> None:
    def search(*words: str) -> Said:
        return tare("tune", "search", "ycsb", "--db", server.url, "--rate", "80", *words, **place)

    assert "a search among" in (said := search("--budget", "60s")).err
    assert said.code == 2
    assert "did you mean commit_delay?" in search("--knobs", "commit_dely").err
    assert "compare these with `tare tune run`" in search("--set", "synchronous_commit=off").err
    assert "both say what to try" in search("--knobs", "auto", "--profile", "p1").err
    assert "p1" in (said := search("--profile", "p1")).err
    assert said.code == 2
    assert "--settle is longer than half" in search("--window", "1s", "--settle", "1s").err
    assert not (Path(place["TARE_TUNINGS"]) / "t1").exists()


def test_durability_can_be_kept(server: RunningServer, place: dict[str, str]) -> None:
    said = run(server, place, "--keep", "durability")
    assert said.code == 2
    assert "the server takes none of the arms" in said.err
    assert "gives durability up" in said.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_however_a_run_ends_the_settings_come_back(
    server: RunningServer, place: dict[str, str], number: signal.Signals
) -> None:
    before = values(server)
    tuning = started(server, place)
    tuning.send_signal(number)
    tuning.communicate()
    if number is signal.SIGKILL:
        said = tare("tune", "restore", "--json", **place)
        assert said.code == 0
        assert [one["settings"] for one in json.loads(said.out)["restored"]] == [["synchronous_commit"]]
    assert values(server) == before
    assert tare("tune", "restore", **place).err == "no tuning run left settings behind\n"


def test_any_command_puts_back_what_a_killed_run_left(server: RunningServer, place: dict[str, str]) -> None:
    before = values(server)
    tuning = started(server, place)
    tuning.kill()
    tuning.communicate()
    _, err = start("lab", "list", **place).communicate(timeout=60)
    assert "left by a killed tuning run on" in err
    assert "synchronous_commit: put back" in err
    assert values(server) == before


def test_a_specification_names_each_mistake(
    server: RunningServer, place: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "tune.toml"
    file.write_text('[load]\nworkload = "ycsb"\nrate = -1.0\n[[arm]]\nname = "a"\nset = {}\n')
    said = tare("tune", "run", str(file), "--db", server.url, **place)
    assert said.code == 2
    assert "load.rate" in said.err
    assert "arm.0.set" in said.err


def test_an_unknown_run_is_refused_with_those_there_are(place: dict[str, str]) -> None:
    assert "holds no tuning run t9" in tare("tune", "report", "t9", **place).err
