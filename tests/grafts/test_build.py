"""A graft is built for one server program, and refuses any other."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tare import _probe
from tare.dbms.servers import binaries
from tare.errors import ServerFailed, UsageError
from tare.grafts import build, shared
from tare.grafts.catalogue import GRAFTS, LOCK_ORDER, Graft, find

MYSQLD = "mysqld"
_GRANT = "_Z10lock_grantP9ib_lock_t"


@pytest.fixture(scope="module")
def program(needs_mysql: None) -> Path:
    return binaries.mysql().binaries / MYSQLD


@pytest.fixture
def copy(program: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(program, tmp_path / MYSQLD))


def load(graft: Graft, library: Path, program: Path, folder: Path) -> tuple[int, shared.State]:
    """Exit code of the program, with the library loaded into it, and the memory that both had."""
    memory = folder / "memory"
    shared.create(memory, graft, graft.policies[0].name, 2)
    variables = {"LD_PRELOAD": str(library), "TARE_GRAFT": str(memory)}
    environment = os.environ | binaries.own_libraries(binaries.mysql().binaries) | variables
    done = subprocess.run([program, "--version"], env=environment, capture_output=True, check=False)
    return done.returncode, shared.read(memory)


@pytest.mark.parametrize("graft", GRAFTS.values(), ids=GRAFTS)
def test_a_graft_is_in_place_before_the_server_begins(graft: Graft, program: Path, tmp_path: Path) -> None:
    code, state = load(graft, build.library(graft, program), program, tmp_path)
    assert (code, state.refusal) == (0, "")
    assert state.pid > 0


def test_another_program_is_left_alone(program: Path, tmp_path: Path) -> None:
    code, state = load(LOCK_ORDER, build.library(LOCK_ORDER, program), Path("/bin/true"), tmp_path)
    assert (code, state.pid, state.refusal) == (0, 0, "")


def test_a_program_of_another_size_is_refused_with_both_sizes(
    program: Path, copy: Path, tmp_path: Path
) -> None:
    size = copy.stat().st_size
    with copy.open("ab") as stream:
        stream.write(b"x")
    code, state = load(LOCK_ORDER, build.library(LOCK_ORDER, program), copy, tmp_path)
    assert (code, state.pid) == (1, 0)
    assert f"has {size + 1} bytes; the graft needs the one with {size}" in state.refusal


def test_a_program_of_other_code_is_refused_with_the_function(
    program: Path, copy: Path, tmp_path: Path
) -> None:
    address, first = _probe.symbols(program, [_GRANT])[_GRANT]
    data = copy.read_bytes()
    at = data.index(first, address - 0x400000)
    copy.write_bytes(data[:at] + b"\xc3" + data[at + 1 :])
    code, state = load(LOCK_ORDER, build.library(LOCK_ORDER, program), copy, tmp_path)
    assert (code, state.pid) == (1, 0)
    assert "lock_grant at 0x" in state.refusal


def test_another_build_is_refused_before_anything_is_compiled(copy: Path) -> None:
    with copy.open("ab") as stream:
        stream.write(b"x")
    with pytest.raises(ServerFailed, match=r"another build .* known: MySQL 5\.6\.24"):
        build.library(LOCK_ORDER, copy)


def test_a_missing_compiler_is_named_with_what_to_install(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(ServerFailed) as failed:
        build.library(LOCK_ORDER, program)
    assert "C compiler" in failed.value.what
    assert "install gcc or clang" in failed.value.next_step


def test_a_graft_is_compiled_once(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = build.library(LOCK_ORDER, program)
    monkeypatch.setenv("PATH", "")
    assert build.library(LOCK_ORDER, program) == made


@pytest.mark.parametrize("graft", GRAFTS.values(), ids=GRAFTS)
def test_a_graft_compiles_without_a_warning(
    graft: Graft, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(build, "_FLAGS", (*build._FLAGS, "-Werror"))
    assert build.library(graft, program).exists()


def test_a_graft_or_policy_that_there_is_not_is_answered_with_those_there_are() -> None:
    with pytest.raises(UsageError) as failed:
        find("lock")
    assert "lock-order, lazy-lru" in failed.value.next_step
    with pytest.raises(UsageError) as failed:
        LOCK_ORDER.policy("vats")
    assert "first-come, eldest," in failed.value.next_step
