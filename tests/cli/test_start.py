"""The command starts without the libraries that only some of its commands need."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer

from tare.cli.app import COMMANDS, app
from tare.version import VERSION
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
    "psycopg",
)
RUNS = ("adbc_driver_manager", "mariadb", "jinja2", "rich", "tare._probe")
"""Modules that only a run or a report needs, besides those."""

OPTIONS = ("typer", "pydantic", "inspect", "importlib.metadata", "subprocess", "tare.errors", "tare.cli.app")
"""Modules that read options and what they load; the version is printed without them."""


PROGRAM = """
import sys
from tare import journals
from tare.cli import main
# A run that lives elsewhere on this machine: what looks after it is loaded, too.
journals.with_journals = journals.has_tuning_journals = list
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
    assert loaded(words, (*HEAVY, *RUNS)) == "loaded:"


def test_the_list_of_commands_loads_nothing_that_reads_their_options() -> None:
    """Typer validates options with pydantic."""
    assert loaded(["--help"], ("pydantic", "tare.dbms", "tare.os.tracing")) == "loaded:"


def test_the_version_is_printed_before_options_are_read() -> None:
    assert loaded(["--version"], (*HEAVY, *RUNS, *OPTIONS)) == "loaded:"


def test_a_command_loads_no_other_command() -> None:
    others = tuple(source.module for name, source in COMMANDS.items() if name != "doctor")
    assert loaded(["doctor", "--help"], others) == "loaded:"


def test_the_list_of_commands_has_the_first_sentence_of_each_help() -> None:
    """It is made without a look at the commands' options."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert commands.texts() == {name: command.help for name, command in commands.items()}


def test_the_version_is_the_package_s() -> None:
    """It is written down in three places, none of which is quick to read from another."""
    root = Path(__file__).parents[2]
    assert tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"] == VERSION
    assert tomllib.loads((root / "Cargo.toml").read_text())["workspace"]["package"]["version"] == VERSION


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
    assert loaded(["experiment", "status", "e1", "--lab", lab], unneeded) == "loaded:"
