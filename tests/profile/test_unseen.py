"""`tare profile attach` on programs whose culprit no call graph of the binary leads to."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tare._probe import Image, ProfileRecorder
from tests.cli.running import Said, start, tare
from tests.profile.servers import after_a_round

pytestmark = pytest.mark.usefixtures("attach_works")

SOURCES = Path(__file__).parent / "unseen"
COMPILERS = {".c": "gcc", ".cpp": "g++"}


def built(name: str, folder: Path) -> Path:
    source = SOURCES / name
    compiler = COMPILERS[source.suffix]
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    program = folder / source.stem
    subprocess.run([compiler, "-O2", "-g", "-o", program, source], check=True, timeout=60)
    return program


@contextmanager
def running(*command: str | Path, **more: Any) -> Iterator[int]:
    with subprocess.Popen([str(word) for word in command], **more) as process:
        try:
            time.sleep(0.3)
            yield process.pid
        finally:
            process.kill()


def words(pid: int, out: Path, *more: str, duration: str = "14s", root: str = "txn") -> tuple[str, ...]:
    asked = ("--pid", str(pid), "--txn", f"function:{root}", "--duration", duration, "--out", str(out))
    return ("profile", "attach", *asked, "--json", "-", *more)


def attach(pid: int, out: Path, *more: str, duration: str = "14s", root: str = "txn") -> Said:
    return tare(*words(pid, out, *more, duration=duration, root=root))


def path_to(report: Any, function: str) -> list[str]:
    """Names from the transaction down to the path of this function with the largest share."""
    nodes = {node["path"]: node for node in report["nodes"]}
    at = max((one for one in nodes.values() if one["name"] == function), key=lambda one: one["covariance"])
    names = [at["name"]]
    while at["parent"] is not None:
        at = nodes[at["parent"]]
        names.append(at["name"])
    return names[::-1]


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
    with running(built(source, tmp_path)) as pid:
        said = attach(pid, tmp_path / "p", "--budget", "60%", "--rounds", "6")
    assert said.code == 0, said.err
    assert tuple(path_to(said.result, calls[-1])[-len(calls) :]) == calls
    nodes = [one for one in said.result["nodes"] if one["name"] == calls[-1]]
    assert max(one["covariance"] for one in nodes) > 0.9, "its own time, and what it calls, such as the clock"


def test_a_callee_by_pointer_that_is_too_hot_is_named(tmp_path: Path) -> None:
    with running(built("sort.c", tmp_path)) as pid:
        said = attach(pid, tmp_path / "p", "--budget", "3%")
    assert said.code == 0, said.err
    assert "too hot for the budget" in said.result["ended"]
    assert "compare" in said.result["ended"]
    about = json.loads(next((tmp_path / "p").glob("*/about.json")).read_text())
    names = {one["id"]: one["name"] for one in about["functions"]}
    assert "compare" in {names[one] for callees in about["undivided"].values() for one in callees}


def test_a_program_that_was_replaced_on_disk_is_profiled_as_it_runs(tmp_path: Path) -> None:
    program = built("table.c", tmp_path)
    with running(program) as pid:
        other = built("sort.c", tmp_path)
        other.replace(program)
        said = attach(pid, tmp_path / "p", "--budget", "60%", "--rounds", "3", duration="9s")
    assert said.code == 0, said.err
    assert path_to(said.result, "level2")[-2:] == ["level1", "level2"]


def test_a_program_that_is_replaced_while_it_is_watched_is_profiled_to_the_end(tmp_path: Path) -> None:
    program = built("table.c", tmp_path)
    with running(program) as pid:
        other = built("sort.c", tmp_path)
        watching = start(
            *words(pid, tmp_path / "p", "--budget", "60%", "--rounds", "3", "--name", "replaced")
        )
        after_a_round(tmp_path / "p" / "replaced")
        other.replace(program)
        out, err = watching.communicate(timeout=60)
    assert watching.returncode == 0, err
    report = json.loads(out)
    assert len(report["rounds"]) > 1
    assert path_to(report, "level2")[-2:] == ["level1", "level2"]


def test_a_library_is_profiled_though_its_program_is_stripped(tmp_path: Path) -> None:
    library, program = tmp_path / "libengine.so", tmp_path / "front"
    source = SOURCES / "engine.c"
    subprocess.run(["gcc", "-O2", "-g", "-fPIC", "-shared", "-o", library, source], check=True, timeout=60)
    link = (f"-L{tmp_path}", "-lengine", f"-Wl,-rpath,{tmp_path}")
    front = ("gcc", "-O2", "-s", "-DFRONT", "-o", program, source, *link)
    subprocess.run(front, check=True, timeout=60)
    with running(program) as pid:
        unnamed = attach(pid, tmp_path / "p", duration="9s")
        named = attach(pid, tmp_path / "p", "--budget", "60%", "--rounds", "3", root="txn@libengine.so")
    assert unnamed.code == 2
    assert "did you mean txn@libengine.so?" in unnamed.err
    assert named.code == 0, named.err
    assert path_to(named.result, "culprit")[-2:] == ["step", "culprit"]


def test_a_program_that_is_in_memory_alone_is_profiled(tmp_path: Path) -> None:
    file = os.memfd_create("in-memory", 0)
    try:
        os.write(file, built("table.c", tmp_path).read_bytes())
        with running(f"/proc/self/fd/{file}", pass_fds=[file]) as pid:
            said = attach(pid, tmp_path / "p", "--budget", "60%", "--rounds", "3", duration="9s")
    finally:
        os.close(file)
    assert said.code == 0, said.err
    assert path_to(said.result, "level2")[-2:] == ["level1", "level2"]


def test_another_tracer_is_noted(tmp_path: Path) -> None:
    program = built("table.c", tmp_path)
    [culprit] = Image(program).find("culprit")
    target = (7, "culprit", str(program), culprit.address, culprit.size, culprit.parts)
    with running(program) as pid:
        other = ProfileRecorder.attach(tmp_path / "other", [pid], False)
        try:
            other.set([target], [(7, "site", False, False)], "timing", "probed", 1)
            said = attach(pid, tmp_path / "p", "--budget", "60%", "--rounds", "1", duration="4s")
        finally:
            other.stop()
    assert said.code == 0, said.err
    [note] = [one for one in said.result["notes"] if "another tracer" in one]
    assert f"in process {pid}" in note


def test_workers_that_were_forked_are_watched_unless_they_are_not_wanted(tmp_path: Path) -> None:
    with running(built("workers.c", tmp_path)) as pid:
        watched = attach(pid, tmp_path / "p", duration="4s")
        alone = attach(pid, tmp_path / "p", "--no-children", duration="3s")
    assert watched.code == 0, watched.err
    assert watched.result["transactions"] > 100
    assert alone.code == 1
    assert "3 children" in alone.err
    assert "--children" in alone.err
