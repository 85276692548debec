"""`tare compare --until decided` runs until its verdict, and its exit code reports whether it has one."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import jsonschema
import pytest

from tests.cli.running import start, tare, wait_until_it_ran
from tests.cli.test_compare import FAST, SLOW, WARM
from tests.cli.test_time import SCHEMA


def test_until_decided_ends_with_a_verdict_and_its_interval(postgresql_url: str) -> None:
    words = ("--db", postgresql_url, "--until", "decided", "--json", "-", *WARM)
    said = tare("compare", FAST, SLOW, *words, timeout=240)
    assert said.code == 0, said.err
    jsonschema.validate(said.result, SCHEMA)
    found = said.result["comparison"]
    assert (found["verdict"], found["greater"], found["gate"]) == ("different", "B", None)
    assert found["sequential"]["change"]["low"] > 1
    assert found["sequential"]["blocks"] >= 6


def test_until_decided_finds_equal_work_equivalent_within_a_margin(postgresql_url: str) -> None:
    words = ("--db", postgresql_url, "--until", "decided", "--margin", "50%", "--max", "2m", *WARM)
    said = tare("compare", FAST, FAST + " ", *words, timeout=240)
    assert said.code == 0, said.err
    assert "A and B are equivalent in CPU time of all processes within 50%" in " ".join(said.out.split())
    assert "Noise floor: A again takes" in " ".join(said.out.split())


def test_until_decided_is_undecided_when_its_time_is_over(postgresql_url: str) -> None:
    words = ("--db", postgresql_url, "--until", "decided", "--margin", "0.001%", "--max", "3s", "--json", "-")
    said = tare("compare", FAST, FAST + " ", *words, *WARM, timeout=240)
    assert said.code == 4, said.err
    assert said.result["comparison"]["verdict"] == "undecided"


def test_an_interrupt_keeps_what_was_compared_until_then(postgresql_url: str, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    words = ("--db", postgresql_url, "--until", "decided", "--margin", "0.001%", "--json", str(file))
    run = start("compare", FAST, FAST + " ", *words, *WARM)
    wait_until_it_ran(postgresql_url, FAST, 30)  # more than twice a block's ten
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    found = json.loads(file.read_text())["comparison"]
    assert found["verdict"] == "undecided"
    assert found["sequential"]["blocks"] >= 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--until", "decided", "--runs", "20"), "--runs does not apply to --until decided"),
        (("--until", "decided", "--blocks", "run"), "a gate and --until decided need sessions"),
        (("--until", "decided", "--margin", "0%"), "--margin 0%: not a percentage from above 0"),
        (("--until", "decided", "--max", "0s"), "nothing happens in no time"),
        (("--until", "decision"), "write --until ci=2%"),
    ],
)
def test_a_request_that_is_never_decided_is_refused(
    words: tuple[str, ...], why: str, sqlite_url: str
) -> None:
    said = tare("compare", "SELECT 1", "SELECT 2", "--db", sqlite_url, *words)
    assert said.code == 2
    assert why in said.err
