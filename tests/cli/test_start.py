"""The command starts without the libraries that only some of its commands need."""

from __future__ import annotations

import subprocess
import sys

import pytest

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


@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], ["lab", "--help"], ["protocol", "--help"], ["report", "-h"]]
)
def test_help_loads_no_engine(words: list[str]) -> None:
    """Each of these takes longer to load than the whole of the help takes to be shown."""
    program = (
        "import sys\n"
        "from tare.cli import main\n"
        "code = 0\n"
        "try:\n"
        "    code = main()\n"
        "except SystemExit as done:\n"
        "    code = done.code\n"
        f"print('loaded:', *sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert done.stderr.splitlines()[-1] == "loaded:"
