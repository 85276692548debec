"""The examples for continuous integration: their shell steps, run on two databases."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

EXAMPLES = Path(__file__).parents[2] / "examples" / "ci"
ROWS = 60_000


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A baseline, and a candidate with three times the rows."""
    folder = tmp_path_factory.mktemp("databases")
    urls = {}
    for name, rows in (("A_DB", ROWS), ("B_DB", 3 * ROWS)):
        path = folder / f"{name}.db"
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE t (i integer)")
            connection.executemany("INSERT INTO t VALUES (?)", ((number,) for number in range(rows)))
        connection.close()
        urls[name] = f"sqlite:///{path}"
    return urls


def run(script: str, folder: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a step as a runner does, in a folder with a query."""
    (folder / "queries").mkdir()
    (folder / "queries" / "sum.sql").write_text("SELECT sum(i % 7), count(*) FROM t")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, "QUERIES": "queries", "MARGIN": "20%", "MAX": "3m", **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def github(folder: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    document = yaml.safe_load((EXAMPLES / "action.yml").read_text())
    (step,) = [step for step in document["runs"]["steps"] if step.get("id") == "compare"]
    assert set(step["env"]) == {"QUERIES", "A_DB", "B_DB", "MARGIN", "MAX"}
    assert set(document["inputs"]) >= {"queries", "a-db", "b-db", "margin", "max"}
    files = {name: str(folder / name) for name in ("RUNNER_TEMP", "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    Path(files["RUNNER_TEMP"]).mkdir()
    return run(step["run"], folder, {**variables, **files})


def test_githubs_step_fails_for_a_slower_candidate_and_shows_why(
    databases: dict[str, str], tmp_path: Path
) -> None:
    done = github(tmp_path, databases)
    assert done.returncode == 3, done.stderr
    summary = (tmp_path / "GITHUB_STEP_SUMMARY").read_text()
    assert "slower" in summary
    assert (tmp_path / "GITHUB_OUTPUT").read_text() == f"bmf={tmp_path}/RUNNER_TEMP/tare.json\n"
    assert (tmp_path / "RUNNER_TEMP" / "tare.json").exists()


def test_githubs_step_fails_for_a_bad_request(databases: dict[str, str], tmp_path: Path) -> None:
    done = github(tmp_path, {**databases, "MARGIN": "much"})
    assert done.returncode == 2
    assert "--fail-if" in done.stderr


def test_gitlabs_job_fails_for_a_slower_candidate_and_leaves_its_metrics(
    databases: dict[str, str], tmp_path: Path
) -> None:
    job = yaml.safe_load((EXAMPLES / "gitlab.yml").read_text())["compare-queries"]
    assert job["allow_failure"] == {"exit_codes": 4}
    assert set(job["variables"]) >= {"QUERIES", "A_DB", "B_DB", "MARGIN"}
    done = run("\n".join(job["script"]), tmp_path, databases)
    assert done.returncode == 3, done.stderr
    assert (tmp_path / job["artifacts"]["reports"]["metrics"]).read_text().endswith("# EOF\n")
    assert all((tmp_path / name).exists() for name in job["artifacts"]["paths"])
