"""Small runs of the benchmarks: each is run once, or named with the reason why not."""

from __future__ import annotations

import pytest
from benchmarks.run_all import NAMES

from tests.ci import small


def test_each_benchmark_is_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small, "_error_of", lambda name: None)
    lines = list(small.run())
    assert sorted(str(line["id"]) for line in lines) == sorted(
        f"benchmarks.{name}" for name in NAMES if name not in small.ELSEWHERE
    )
    assert {line["outcome"] for line in lines} == {"passed"}


@pytest.mark.parametrize("broken", ["oltp_load", "truth"], ids=["beside another", "by itself"])
def test_a_benchmark_that_fails_is_named(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small, "_error_of", lambda name: "exit code 1" if name == broken else None)
    failed = [line for line in small.run() if line["outcome"] == "failed"]
    assert [(line["id"], line["error"]) for line in failed] == [(f"benchmarks.{broken}", "exit code 1")]
