"""The journal of a real run of pytest: what each ending leaves behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ci.journal import VARIABLE, may_be_noise
from tests.ci.stages import ROOT
from tests.ci.verdict import Results, read

PLANTED = """
import os, time
import pytest

def test_right(): pass
def test_wrong(): assert 1 == 2, "planted"
def test_defect(): raise KeyError("planted")
def test_hang(): time.sleep(60)
def test_absent(): pytest.skip("no such server")
@pytest.mark.xfail(reason="known gap", strict=True)
def test_gap(): assert False
@pytest.fixture
def unclosed():
    yield
    assert False, "left open"
def test_unclosed(unclosed): pass
"""


def run(tmp_path: Path, text: str, workers: str = "0", **more: str) -> Results:
    """Run a file of tests and return what its journal reports."""
    (tmp_path / "test_planted.py").write_text(text)
    journal = tmp_path / "journal.jsonl"
    journal.unlink(missing_ok=True)
    plugins = ("-p", "tests.ci.classes", "-p", "tests.ci.journal", "-p", "tests.ci.skips")
    options = ("-n", workers, "-o", "timeout=3", "-o", "addopts=", "--rootdir", str(tmp_path))
    apart = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "CI"))}
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins, *options, str(tmp_path)],
        cwd=ROOT,
        env={**apart, **more, VARIABLE: str(journal)},
        capture_output=True,
        timeout=100,
        check=False,
    )
    return read(map(json.loads, journal.read_text().splitlines()))


@pytest.mark.parametrize("workers", ["0", "2"])
def test_every_ending_is_written_with_or_without_workers(tmp_path: Path, workers: str) -> None:
    tests = run(tmp_path, PLANTED, workers)
    assert tests.counts == {"passed": 1, "failed": 4, "skipped": 1, "xfailed": 1}
    errors = {one.test.rsplit("::")[-1]: (one.error, one.may_try_again) for one in tests.failures}
    assert errors["test_wrong"] == ("AssertionError: planted", True)
    assert errors["test_defect"] == ("KeyError: 'planted'", False)
    assert errors["test_hang"] == ("Failed: Timeout (>3.0s) from pytest-timeout.", True)
    assert errors["test_unclosed"] == ("AssertionError: left open", True)
    assert [reason for _, reason in tests.skips] == ["no such server"]
    assert tests.unfinished == ()


def test_what_is_absent_in_ci_is_a_failure(tmp_path: Path) -> None:
    absent = "import pytest\ndef test_absent(): pytest.skip('no such server')\n"
    (failure,) = run(tmp_path, absent, CI="true").failures
    assert failure.error == "skipped, where CI must have what the test needs: no such server"
    assert not failure.may_try_again
    (failure,) = run(
        tmp_path, "import pytest\npytest.importorskip('nothing_of_this_name')\n", CI="true"
    ).failures
    assert failure.error.startswith(
        "the whole file is skipped, where CI must have what it needs: could not import"
    )


def test_an_assertion_that_quotes_a_traceback_or_a_panic_is_no_noise() -> None:
    unequal = AssertionError("assert 1 == 0")
    assert may_be_noise(unequal, "assert 1 == 0")
    assert not may_be_noise(unequal, "assert 1 == 0\nTraceback (most recent call last):\n  File …")
    assert not may_be_noise(unequal, "thread 'main' panicked at crates/tare-load/src/lib.rs:1:1")
    assert not may_be_noise(unequal, "tare._probe.ProbeError: the kernel refused 1 probes")
    assert not may_be_noise(OSError("no such file"), "OSError: no such file")
    assert may_be_noise(subprocess.TimeoutExpired("x", 3), "timed out after 3 seconds")
