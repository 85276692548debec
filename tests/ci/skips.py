"""Tests that may be skipped in CI, and why. Any other skip there is a failure: a tool is absent. A pytest plugin."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

from tests.ci.classes import lies_in, path_of
from tests.ci.journal import skip_reason

EXPECTED = {
    "tests/cli/test_experiment_audit.py": "one test is for a user without privileges",
    "tests/cli/test_interrupts.py": "a signal may come before Python has begun",
    "tests/crash/test_isolate.py": "not every machine has a CPU that its devices spare",
    "tests/crash/test_oltp_full_disk.py": "full disks are tried with PostgreSQL",
    "tests/dbms/wisconsin/test_access.py": "not every DBMS has hash indexes",
    "tests/dbms/wisconsin/test_answers.py": "not every DBMS has hash indexes",
    "tests/unit/lab/test_frames.py": "root may write everywhere",
    "tests/unit/machine/test_doctor.py": "not every machine is a guest, or has more than one CPU for a run",
    "tests/unit/probe/test_exits.py": "before Linux 6.16 a task's memory is gone when its end is reported",
    "tests/unit/probe/test_instructions.py": "some machines count instructions, some do not",
    "tests/unit/probe/test_page_cache.py": "a file system in memory drops no pages",
}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    path = path_of(item)
    if (
        "CI" in os.environ
        and report.skipped
        and not hasattr(report, "wasxfail")
        and not lies_in(path, [*EXPECTED])
    ):
        report.longrepr = f"E  skipped, where CI must have what the test needs: {skip_reason(report)}"
        report.outcome = "failed"
    return report
