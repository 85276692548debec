"""The source distribution has what a build needs: all that is under version control there, and nothing else."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def backend() -> ModuleType:
    spec = importlib.util.spec_from_file_location("backend", ROOT / "scripts" / "build" / "backend.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_its_files_are_those_under_version_control(backend: ModuleType) -> None:
    packed = {str(file.relative_to(ROOT)) for file in backend.sources()}
    done = subprocess.run(
        [
            "git",
            "ls-files",
            "-co",
            "--exclude-standard",
            "--",
            *backend.SOURCE_FILES,
            *backend.SOURCE_FOLDERS,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip("this is no clone of the repository")
    known = {name for name in done.stdout.splitlines() if (ROOT / name).exists()}
    assert packed == known


def test_it_is_packed_with_its_metadata_and_its_build_backend(
    backend: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("maturin")
    programs = Path(sys.executable).parent  # the backend calls maturin by name
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    name = backend.build_sdist(str(tmp_path))
    with tarfile.open(tmp_path / name) as archive:
        names = set(archive.getnames())
        metadata = archive.extractfile(f"{name.removesuffix('.tar.gz')}/PKG-INFO")
        assert metadata is not None
        assert b"Name: tare-db" in metadata.read()
    folder = name.removesuffix(".tar.gz")
    for file in ("pyproject.toml", "scripts/build/backend.py", "crates/tare-agent/Cargo.toml", "NOTICE"):
        assert f"{folder}/{file}" in names
