"""The command starts without the libraries that only some of its commands need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import tare

HEAVY = (
    "ibis",
    "pyarrow",
    "sqlalchemy",
    "pandas",
    "scipy",
    "numpy",
    "duckdb",
    "alembic",
    "pyspark",
)


PROGRAM = """
import sys
from tare.cli import main
code = 0
try:
    code = main()
except SystemExit as done:
    code = done.code
print("loaded:", *sorted(set({heavy!r}) & set(sys.modules)), file=sys.stderr)
sys.exit(code)
"""


def loaded(words: list[str], heavy: tuple[str, ...]) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(heavy=heavy), *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], ["lab", "--help"], ["protocol", "--help"], ["report", "-h"]]
)
def test_help_loads_no_engine(words: list[str]) -> None:
    """Each of these takes longer to load than the whole of the help takes to be shown."""
    assert loaded(words, HEAVY) == "loaded:"


def test_how_a_run_stands_is_told_without_what_makes_it_or_judges_it(tmp_path: Path) -> None:
    lab = str(tmp_path / "lab.db")
    asked = tmp_path / "e.toml"
    asked.write_text(
        'name = "small"\nscenario = "exhaustive"\nqes = 2\n[[dbms]]\nname = "lite"\nstart = "sqlite"\n'
        '[[tables]]\nname = "ft_big"\ncardinality = 20\nstep = 20\n'
        '[[queries]]\nname = "scan"\nsql = "SELECT sum(id2) FROM ft_big"\n'
    )
    assert tare("experiment", "run", str(asked), "--lab", lab).code == 0
    unneeded = (*(name for name in HEAVY if name != "sqlalchemy"), "psycopg", "tare.measure.rig")
    assert loaded(["experiment", "status", "1", "--lab", lab], unneeded) == "loaded:"


def test_a_measurement_loads_the_driver_of_its_own_dbms_alone() -> None:
    words = ["time", "SELECT 1", "--db", "sqlite:///:memory:", "--runs", "2", "--no-machine-settings"]
    others = ("psycopg", "mariadb", "duckdb", "tare.dbms.postgresql.session", "tare.dbms.mariadb.session")
    assert loaded(words, others) == "loaded:"
