"""Journal of a test run, a JSON line for each part of a test: outcome, time, CPU, error, pressure. A pytest plugin.

The lines go to the file that `TARE_TEST_JOURNAL` names; without it nothing is written.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
from collections.abc import Generator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.ci.classes import CLASSES
from tests.ci.machine import Reading

VARIABLE = "TARE_TEST_JOURNAL"

_DEFECT = re.compile(
    r"Traceback \(most recent call last\)|\bProbeError\b|panicked at|Fatal Python error|Segmentation fault"
)
"""Traces of a fault of Tare in the output that a test quotes: never noise."""

_BEGAN = pytest.StashKey[Reading]()
_CPU_BEGAN = pytest.StashKey[float]()


def pytest_runtest_logstart(nodeid: str) -> None:
    write({"id": nodeid, "when": "start"})


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    item.stash[_BEGAN] = Reading.now()
    item.stash[_CPU_BEGAN] = _cpu_s()
    return (yield)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    # Simple values, which travel from a worker of pytest-xdist to its controller.
    facts: dict[str, Any] = {
        "class": next((name for name in CLASSES if item.get_closest_marker(name)), "server"),
        "loss": item.get_closest_marker("loss") is not None,
        "clock": item.get_closest_marker("clock") is not None,
    }
    if report.when == "call":
        facts["cpu_s"] = round(_cpu_s() - item.stash[_CPU_BEGAN], 2)
    if report.failed:
        facts |= asdict(Reading.now().pressure_since(item.stash[_BEGAN]))
        facts["noise"] = call.excinfo is not None and may_be_noise(call.excinfo.value, report.longreprtext)
    report.facts = facts  # type: ignore[attr-defined]
    return report


def _cpu_s() -> float:
    """CPU time of this process and of the programs that it ran to their end. Servers outlive the program that starts
    them, and are not in it."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when != "call" and report.passed:
        seconds_only = {"id": report.nodeid, "when": report.when, "outcome": "passed"}
        write({**seconds_only, "seconds": round(report.duration, 3)})
        return
    line: dict[str, Any] = {
        "id": report.nodeid,
        "when": report.when,
        "outcome": _outcome(report),
        "seconds": round(report.duration, 3),
        # A worker that died reports in the place of its test, without facts.
        **getattr(report, "facts", {"noise": False}),
    }
    if report.failed:
        line["error"] = first_line(report.longreprtext)
    elif report.skipped:
        line["reason"] = report.wasxfail if hasattr(report, "wasxfail") else skip_reason(report)
    write(line)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        error = first_line(str(report.longrepr))
    elif report.skipped and "CI" in os.environ:
        error = f"the whole file is skipped, where CI must have what it needs: {skip_reason(report)}"
    else:
        return
    write({"id": report.nodeid, "when": "collect", "outcome": "failed", "error": error})


def may_be_noise(error: BaseException, text: str) -> bool:
    """Whether a failure may come from a busy machine: a comparison that did not hold, or a time limit.

    Any other exception is a fault of Tare or of the test, and so is one that quotes a traceback or a panic of Tare.
    """
    kind = type(error)
    expected = kind is AssertionError or isinstance(error, subprocess.TimeoutExpired | pytest.fail.Exception)
    return expected and _DEFECT.search(text) is None


def first_line(text: str) -> str:
    """Return the first line of the error itself in the text of a failure, 200 characters at most."""
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line[1:].strip() for line in lines if line.startswith("E ")]
    return (errors or [line.strip() for line in lines[-1:]] or ["no message"])[0][:200]


def _outcome(report: pytest.TestReport) -> str:
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    return report.outcome


def skip_reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return the reason that a skipped test or file gives."""
    longrepr = report.longrepr
    return str(longrepr[2]).removeprefix("Skipped: ") if isinstance(longrepr, tuple) else str(longrepr)


def write(line: Mapping[str, Any]) -> None:
    """Append a line to the journal, if one is kept."""
    name = os.environ.get(VARIABLE)
    # Workers of pytest-xdist hand their reports to the controller, which writes them.
    if name and "PYTEST_XDIST_WORKER" not in os.environ:
        with Path(name).open("a") as journal:
            journal.write(json.dumps(line) + "\n")
