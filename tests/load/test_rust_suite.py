"""The load's own tests, in Rust, on real servers: `cargo test` alone runs them on SQLite."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.servers import own_server

ROOT = Path(__file__).parents[2]
SUITES = ("connections", "database", "workloads")


@pytest.mark.parametrize("dbms", ["postgresql", "mariadb"])
def test_connections_actions_and_workloads_hold_on_a_real_server(dbms: str) -> None:
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("cargo is not on the PATH: the Rust suite is not run on servers")
    # With the features that the tests were built with already: others would build everything anew.
    features = subprocess.check_output([ROOT / "scripts" / "cargo-features"], text=True, timeout=60).split()
    command = [cargo, "test", "--release", "--quiet", "--workspace", *features, "--no-fail-fast"]
    with own_server(dbms) as server:
        done = subprocess.run(
            [*command, *(word for suite in SUITES for word in ("--test", suite))],
            cwd=ROOT,
            env=os.environ | {"TARE_LOAD_URLS": server.url},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=170,
        )
    assert done.returncode == 0, done.stdout[-10_000:]
