"""`tare profile attach` on programs whose culprit no call graph leads to, or whose file is no longer at its path."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.profile.own_programs import attach, attaching, built, names_of, path_to, running
from tests.profile.servers import after_a_round

pytestmark = pytest.mark.usefixtures("attach_works")


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        ("table.c", ("level2", "variant_a", "culprit")),
        ("virtual.cpp", ("Join::next", "Filter::next", "Scan::next", "Source::read")),
        ("sort.c", ("order", "compare", "slow")),
    ],
)
def test_a_culprit_beneath_calls_by_pointer_is_found(
    source: str, calls: Sequence[str], tmp_path: Path
) -> None:
    with running(built(source, tmp_path)) as program:
        said = attach(program.pid, tmp_path / "p", "--budget", "99%", "--rounds", "6")
    assert said.code == 0, said.err
    path = path_to(said.result, calls[-1])
    assert tuple(name for name in path if name in calls) == calls, "qsort's own functions may lie between"
    shares = {one["path"]: one["covariance"] for one in said.result["nodes"]}
    names = {one["path"]: names_of(said.result, one["path"]) for one in said.result["nodes"]}
    culprit = max(share for at, share in shares.items() if names[at] == path)
    beside = [at for at in shares if calls[-1] not in names[at] and names[at] != path[: len(names[at])]]
    assert all(shares[at] < culprit for at in beside), {names[at][-1]: shares[at] for at in beside}


def test_a_callee_by_pointer_that_is_too_hot_is_named(tmp_path: Path) -> None:
    with running(built("hot_compare.c", tmp_path)) as program:
        said = attach(program.pid, tmp_path / "p", "--budget", "20%")
    assert said.code == 0, said.err
    assert "compare" in said.result["ended"]
    about = json.loads(next((tmp_path / "p").glob("*/about.json")).read_text())
    names = {one["id"]: one["name"] for one in about["functions"]}
    assert "compare" in {names[one] for callees in about["undivided"].values() for one in callees}


def test_a_program_that_was_replaced_on_disk_is_profiled_as_it_runs(tmp_path: Path) -> None:
    program = built("table.c", tmp_path)
    with running(program) as watched:
        other = built("sort.c", tmp_path)
        other.replace(program)
        said = attach(watched.pid, tmp_path / "p", "--budget", "60%", "--rounds", "3", duration="9s")
    assert said.code == 0, said.err
    assert path_to(said.result, "level2")[-2:] == ["level1", "level2"]


def test_a_program_that_is_replaced_while_it_is_watched_is_profiled_to_the_end(tmp_path: Path) -> None:
    program = built("table.c", tmp_path)
    with running(program) as watched:
        other = built("sort.c", tmp_path)
        more = ("--budget", "60%", "--rounds", "3", "--name", "replaced", "--duration", "14s")
        watching = attaching(watched.pid, tmp_path / "p", *more)
        after_a_round(tmp_path / "p" / "replaced")
        other.replace(program)
        out, err = watching.communicate(timeout=60)
    assert watching.returncode == 0, err
    report = json.loads(out)
    assert len(report["rounds"]) > 1
    assert path_to(report, "level2")[-2:] == ["level1", "level2"]


def test_a_program_that_is_in_memory_alone_is_profiled(tmp_path: Path) -> None:
    file = os.memfd_create("in-memory", 0)
    try:
        os.write(file, built("table.c", tmp_path).read_bytes())
        with running(f"/proc/self/fd/{file}", pass_fds=[file]) as watched:
            said = attach(watched.pid, tmp_path / "p", "--budget", "60%", "--rounds", "3", duration="9s")
    finally:
        os.close(file)
    assert said.code == 0, said.err
    assert path_to(said.result, "level2")[-2:] == ["level1", "level2"]
