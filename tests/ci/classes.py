"""Classes of tests, by path. Loaded by pytest as a plugin.

A test belongs to one class, which says when it runs and what its failure means:

    exact     no server, no probe, no bound on time: a failure is a defect at once
    server    real servers, processes and signals, beside other tests: a failure is tried again, alone
    paired    programs and load runs that leave most of the machine idle: a few at a time, a failure is a defect
    alone     probes on busy servers, settings of the machine: one test at a time, a failure is a defect

Two more markers narrow this down:

    clock     the outcome still depends on scheduling (`UNSTEADY` gives the reason): a failure is tried again
    loss      data, harm, secrets, settings put back: a failure is never tried again
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

EXACT = (
    "tests/golden",
    "tests/unit/benchmarks",
    "tests/unit/ci",
    "tests/unit/dbms",
    "tests/unit/house",
    "tests/unit/protocol",
    "tests/unit/report",
    "tests/unit/workload/tpch",
)

PAIRED = (
    "tests/cli/test_bench_oltp.py",
    "tests/cli/test_bench_oltp_curve.py",
    "tests/cli/test_bench_oltp_report.py",
    "tests/cli/test_tune.py",
    "tests/crash/test_oltp_full_disk.py",
    "tests/crash/test_oltp_interrupts.py",
    "tests/crash/test_oltp_refusals.py",
    "tests/crash/test_oltp_servers.py",
    "tests/profile/test_programs.py",
    "tests/profile/test_run.py",
    "tests/profile/test_survivors.py",
    "tests/profile/test_unseen.py",
    "tests/tune",
)

ALONE = (
    "tests/cli/test_bench_oltp_neighbours.py",
    "tests/crash/test_isolate.py",
    "tests/crash/test_machine_settings.py",
    "tests/profile/test_attach.py",
    "tests/profile/test_duckdb.py",
    "tests/unit/machine/test_doctor.py",
    "tests/unit/probe",
    "tests/unit/profile/test_health.py",
    "tests/unit/workload/oltp/test_watch.py",
)

LOSS = (
    "tests/cluster/test_kills.py",
    "tests/crash/test_experiment_crashes.py",
    "tests/crash/test_isolate.py",
    "tests/crash/test_machine_settings.py",
    "tests/crash/test_oltp_full_disk.py",
    "tests/crash/test_wisconsin_load.py",
    "tests/dbms/test_server_lost.py",
    "tests/tune/test_journal.py",
    "tests/unit/lab",
    "tests/unit/machine/test_journal.py",
)

UNSTEADY = {
    "tests/cli/test_compare.py": "ratios of CPU time, measured on a shared machine",
    "tests/profile/test_attach.py": "rates and shares of a program that runs beside its own profiler",
    "tests/profile/test_duckdb.py": "a rate that includes the profiler's own analysis",
    "tests/profile/test_run.py": "waits that a server shows within a few seconds",
    "tests/profile/test_survivors.py": "shares of a variance of less than a millisecond",
    "tests/profile/test_unseen.py": "a search that reaches less on a machine that has less CPU time",
    "tests/unit/probe/test_exits.py": "a bound of milliseconds on what a task runs after its record",
    "tests/unit/probe/test_trace.py": "a bound on the share of time in which a busy CPU is not seen to run",
    "tests/unit/profile/test_health.py": "a program that starts and works for less than 0.75 s",
    "tests/unit/workload/oltp/test_watch.py": "readings that are due each second",
}
"""Tests whose outcome still depends on scheduling, and by what. This list may only shrink."""

MARKERS = (
    "exact: no server, no probe, no bound on time; a failure is a defect",
    "server: real servers and processes, beside other tests; a failure is tried again, alone",
    "paired: leaves most of the machine idle; runs beside two others; a failure is a defect",
    "alone: disturbs or is disturbed by other tests; runs by itself",
    "clock(reason): the outcome still depends on scheduling; a failure is tried again",
    "loss: data, harm, secrets, settings put back; a failure is never tried again",
)


LISTED = {"exact": EXACT, "paired": PAIRED, "alone": ALONE}
CLASSES = (*LISTED, "server")


def class_of(path: PurePosixPath) -> str:
    """Return the class of the tests in a file, given its path from the project's root."""
    return next((name for name, places in LISTED.items() if lies_in(path, places)), "server")


def path_of(item: pytest.Item) -> PurePosixPath:
    """Return the path of a test's file from the project's root."""
    return PurePosixPath(item.path.relative_to(item.config.rootpath).as_posix())


def lies_in(path: PurePosixPath, places: Sequence[str]) -> bool:
    return any(path == PurePosixPath(place) or PurePosixPath(place) in path.parents for place in places)


def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Load no file of another class where `-m` names one: each worker of a stage would load hundreds of them."""
    selected = config.option.markexpr
    if selected not in CLASSES or not collection_path.match("test_*.py"):
        return None
    path = PurePosixPath(collection_path.relative_to(config.rootpath).as_posix())
    return True if class_of(path) != selected else None


@pytest.hookimpl(tryfirst=True)  # before `-m` selects by them
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for marker in _markers(path_of(item)):
            item.add_marker(marker)


@cache  # each worker collects thousands of tests, of some hundred files
def _markers(path: PurePosixPath) -> tuple[pytest.MarkDecorator, ...]:
    marks = [getattr(pytest.mark, class_of(path))]
    if lies_in(path, LOSS):
        marks.append(pytest.mark.loss)
    marks += [pytest.mark.clock(reason) for place, reason in UNSTEADY.items() if lies_in(path, (place,))]
    return tuple(marks)
