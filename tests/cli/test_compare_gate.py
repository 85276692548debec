"""`tare compare --fail-if` is a gate: its exit code is its verdict, and its noise floor stands beside it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.cli.running import Said, tare
from tests.cli.test_compare import FAST, SLOW, WARM, sessions
from tests.cli.test_time import SCHEMA


def gate(url: str, a: str, b: str, *more: str) -> Said:
    return tare("compare", a, b, "--db", url, "--json", "-", *more, timeout=240)


@pytest.fixture(scope="module")
def slower(postgresql_url: str) -> tuple[Said, int]:
    """A gate that a query with twice the work does not pass, and how many sessions it had."""
    before = sessions(postgresql_url)
    said = gate(postgresql_url, FAST, SLOW, "--fail-if", "slower=20%")
    return said, sessions(postgresql_url) - before


def test_a_query_with_twice_the_work_fails_the_gate(slower: tuple[Said, int]) -> None:
    said, _ = slower
    assert said.code == 3, said.err
    jsonschema.validate(said.result, SCHEMA)
    found = said.result["comparison"]["gate"]
    assert found["verdict"] == "slower"
    assert found["change"]["low"] > 1.2
    assert found["floor"]["low"] < 1.2
    assert found["blocks"] >= 6
    assert [len(query["qes"]) > 0 for query in said.result["results"]] == [True] * 3


def test_each_block_is_a_session_of_its_own(slower: tuple[Said, int]) -> None:
    said, opened = slower
    assert opened >= said.result["comparison"]["gate"]["blocks"] >= 6


def test_a_gate_has_blocks(postgresql_url: str) -> None:
    said = gate(postgresql_url, FAST, SLOW, "--fail-if", "slower=20%", "--blocks", "run")
    assert said.code == 2
    assert "a gate and --until decided need sessions" in said.err


def test_a_faster_query_passes_the_gate(postgresql_url: str) -> None:
    said = gate(postgresql_url, SLOW, FAST, "--fail-if", "slower=20%", "--max", "2m", *WARM)
    assert said.code == 0, said.err
    assert said.result["comparison"]["gate"]["verdict"] == "not slower"


def test_a_margin_below_the_noise_floor_stays_undecided_and_says_what_would_decide(
    postgresql_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "result.json"
    said = tare(
        *("compare", FAST, FAST + " ", "--db", postgresql_url, "--fail-if", "slower=0.001%", "--max", "3s"),
        *("--json", str(file), *WARM),
    )
    assert said.code == 4, said.err
    found = json.loads(file.read_text())["comparison"]["gate"]
    few = found["blocks"] < 2  # no floor has an interval then: the machine made so few in the time
    assert found["floor"] is None if few else found["floor"]["high"] > 1.00001
    assert found["blocks_needed"] is None or found["blocks_needed"] > found["blocks"]
    assert "It is undecided whether B is slower than A by more than 0.001%" in " ".join(said.out.split())


def test_git_bisect_gets_codes_that_it_understands(postgresql_url: str) -> None:
    assert gate(postgresql_url, FAST, SLOW, "--fail-if", "slower=20%", "--bisect", *WARM).code == 1
    refused = gate(postgresql_url, FAST, "SELECT nothing FROM nowhere", "--fail-if", "slower=20%", "--bisect")
    assert refused.code == 128
    assert "nowhere" in refused.err
    assert tare("compare", FAST, SLOW, "--db", postgresql_url, "--bisect").code == 128


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--fail-if", "5%"), "write slower=5%, bytes=10%"),
        (("--fail-if", "slower=0%"), "write slower=5%, bytes=10%"),
        (("--fail-if", "slower=5%", "--runs", "20"), "--runs does not apply to a gate"),
        (("--fail-if", "slower=5%", "--until", "ci=2%"), "--until does not apply to a gate"),
        (("--fail-if", "slower=5%", "--margin", "2%"), "--margin does not apply to a gate"),
        (("--fail-if", "slower=5%", "--max", "0s"), "nothing happens in no time"),
        (("--max", "2m"), "--max applies to a gate and to --until decided only"),
    ],
)
def test_a_request_that_is_no_gate_is_refused(words: tuple[str, ...], why: str, sqlite_url: str) -> None:
    said = tare("compare", "SELECT 1", "SELECT 2", "--db", sqlite_url, *words)
    assert said.code == 2
    assert why in said.err


JOIN = "SELECT count(*) FROM generate_series(1, 1000) AS a JOIN generate_series(1, 1000) AS b ON a = b"
JOINS = ("--a-set", "enable_mergejoin=off", "--b-set", "enable_hashjoin=off")


def test_another_plan_fails_the_gate_if_that_is_requested(postgresql_url: str, tmp_path: Path) -> None:
    wide = ("--fail-if", "slower=1000%", "--max", "1m", *WARM)
    words = ("compare", JOIN, "--db", postgresql_url, *JOINS, *wide)
    kept = tare(*words, "--json", "-")
    assert kept.code == 0, kept.err
    file = tmp_path / "result.json"
    more = ("--fail-if", "plan", "--fail-if", "answer", "--fail-if", "bytes=10%", "--json", str(file))
    failed = tare(*words, *more)
    assert failed.code == 3, failed.err
    result = json.loads(file.read_text())
    jsonschema.validate(result, SCHEMA)
    gate = result["comparison"]["gate"]
    assert gate["verdict"] == "not slower"
    assert {one["condition"]: one["is_violated"] for one in gate["conditions"]} == {
        "plan": True, "answer": False, "bytes": False,
    }  # fmt: skip
    shown = " ".join(failed.out.split())
    assert "B fails the gate: it has another plan (" in shown
    assert "B is not slower than A" in shown


def test_another_answer_fails_the_gate_if_that_is_requested(postgresql_url: str) -> None:
    words = ("compare", FAST, FAST.replace("30000", "30001"), "--db", postgresql_url, "--max", "20s")
    said = tare(*words, *WARM, "--fail-if", "slower=500%", "--fail-if", "answer")
    assert said.code == 3, said.err
    assert "B fails the gate: it gives another answer" in " ".join(said.out.split())


@pytest.mark.parametrize(
    ("conditions", "why"),
    [
        (("plan",), "a gate needs a margin of its time"),
        (("slower=5%", "plan"), "two statements have plans of their own"),
        (("slower=5%", "slower=6%"), "given twice"),
        (("slower=5%", "bytes"), "not a condition that fails a gate"),
        (("faster=5%",), "slower=5%, bytes=10%, plan, answer"),
    ],
)
def test_a_condition_that_is_none_is_refused(
    postgresql_url: str, conditions: tuple[str, ...], why: str
) -> None:
    words = [word for condition in conditions for word in ("--fail-if", condition)]
    said = tare("compare", FAST, SLOW, "--db", postgresql_url, *words)
    assert said.code == 2
    assert why in said.err
