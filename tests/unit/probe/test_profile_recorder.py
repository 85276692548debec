"""Recording a program that marks its transactions itself, over two threads, by each way to watch it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

import tare
from tare._probe import Assembled, ProbeError, ProfileRecorder, assemble, prepare_agent

HERE = Path(__file__).parent
AGENT = Path(tare.__file__).with_name("libtare_agent.so")
CALLS = [(1, "site", False, False), (2, "site", False, False)]
MARK = (3, "mark", False, True)

Targets = list[tuple[int, str, str, int, int, tuple[tuple[int, int], ...]]]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or pytest.skip("needs a C compiler")
    built = tmp_path_factory.mktemp("marked") / "marked"
    options = ["-O1", "-g", "-Wall", "-pthread", f"-I{HERE.parents[2] / 'include'}"]
    subprocess.run([compiler, *options, str(HERE / "marked.c"), "-o", str(built)], check=True, timeout=60)
    return built


@pytest.fixture(scope="module")
def targets(program: Path) -> Targets:
    if shutil.which("nm") is None:
        pytest.skip("needs nm")
    said = subprocess.run(
        ["nm", "-S", str(program)], check=True, capture_output=True, text=True, timeout=60
    ).stdout
    places = {line.split()[3]: line.split()[:2] for line in said.splitlines() if len(line.split()) == 4}
    numbered = enumerate(["outer", "inner", "tare_mark"], 1)
    return [
        (id_, name, str(program), *(int(word, 16) for word in places[name]), ()) for id_, name in numbered
    ]


@contextmanager
def _runs(program: Path, environment: dict[str, str]) -> Iterator[int]:
    with subprocess.Popen([program], env=os.environ | environment, stdout=subprocess.PIPE) as running:
        try:
            assert running.stdout is not None
            assert running.stdout.readline() == b"runs\n"
            yield running.pid
        finally:
            running.kill()


@contextmanager
def _preloaded(program: Path, backend: str, targets: Targets) -> Iterator[str]:
    if not AGENT.is_file():
        pytest.skip(f"{AGENT} was not built")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        prepare_agent(folder, backend, program, targets, [], None)
        with _runs(program, {"LD_PRELOAD": str(AGENT), "TARE_AGENT": folder}):
            yield folder


def _recorded(recorder: ProfileRecorder, targets: Targets, probes: list[tuple[int, str, bool, bool]]) -> None:
    assert recorder.set(targets, probes, "timing", "probed", 1) == []
    time.sleep(1)
    assert recorder.alive()
    recorder.stop()
    recorder.stop()
    assert not recorder.alive()


def _looks_right(found: Assembled, *, calls: bool) -> None:
    transactions = [one for one in pa.table(found.transactions).to_pylist() if one["why"] == "valid"]
    assert len(transactions) > 50
    assert {one["intervals"] for one in transactions} == {2}
    assert {found.texts[one["label"]] for one in transactions} == {"odd", "even"}
    assert all(one["service_ns"] > 300_000 and one["overlap_ns"] == 0 for one in transactions)
    assert found.cut_off is None
    own = pa.table(found.cells)["own_ns"].to_pylist()
    assert sum(own) == sum(pa.table(found.transactions)["duration_ns"].to_pylist())
    functions = {one["function"] for one in pa.table(found.paths).to_pylist()}
    assert functions == ({None, 1, 2} if calls else {None})


@pytest.mark.bpf
@pytest.mark.root
def test_marks_reach_an_attached_recorder(program: Path, targets: Targets, tmp_path: Path) -> None:
    with _runs(program, {}) as pid:
        recorder = ProfileRecorder.attach(tmp_path / "r.tare", [pid], False)
        assert recorder.name == "attach"
        _recorded(recorder, targets, [*CALLS, MARK])
    _looks_right(assemble(tmp_path / "r.tare", json.dumps({"rule": "annotation"})), calls=True)


def test_marks_reach_the_agent(program: Path, targets: Targets, tmp_path: Path) -> None:
    with _preloaded(program, "agent", targets) as folder:
        _recorded(ProfileRecorder.agent(tmp_path / "r.tare", folder), targets, CALLS)
    _looks_right(assemble(tmp_path / "r.tare", json.dumps({"rule": "annotation"})), calls=True)


def test_marks_alone_need_no_function(program: Path, targets: Targets, tmp_path: Path) -> None:
    with _preloaded(program, "annotation", targets) as folder:
        recorder = ProfileRecorder.annotation(tmp_path / "r.tare", folder)
        assert [function for function, _ in recorder.set(targets, CALLS, "timing", "", 0)] == [1, 2]
        _recorded(recorder, targets, [])
    _looks_right(assemble(tmp_path / "r.tare", json.dumps({"rule": "annotation"})), calls=False)


def test_what_cannot_be_asked_for_is_refused(program: Path, targets: Targets, tmp_path: Path) -> None:
    with _preloaded(program, "agent", targets) as folder:
        recorder = ProfileRecorder.agent(tmp_path / "r.tare", folder)
        with pytest.raises(ValueError, match="no mode"):
            recorder.set(targets, CALLS, "guessing", "", 0)
        with pytest.raises(ProbeError, match="cannot tell"):
            recorder.set(targets, [(1, "sight", False, False)], "timing", "", 0)
        recorder.stop()
        with pytest.raises(ProbeError, match="stopped"):
            recorder.calls()
        with pytest.raises(ProbeError, match="another name"):
            ProfileRecorder.agent(tmp_path / "r.tare", folder)
    with pytest.raises(ValueError, match="no library is preloaded"):
        prepare_agent(tmp_path, "attach", program, targets, [], None)
