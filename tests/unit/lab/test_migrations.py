"""The schema that migrations make is the one that the code is written against."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from tare.errors import LabError
from tare.lab import migrations
from tare.lab.schema import metadata
from tare.lab.store import Lab, open_lab
from tests.unit.lab.filling import whole_run

_ADD_A_COLUMN = """
from alembic import op
import sqlalchemy as sa
revision, down_revision = "9999", "{before}"
def upgrade():
    op.add_column("run", sa.Column("weather", sa.Text()))
    {then}
"""


def test_the_migrations_make_exactly_the_schema(lab: Lab) -> None:
    with lab.reading() as connection:
        context = MigrationContext.configure(
            connection, opts={"version_table": migrations.VERSION_TABLE, "compare_type": True}
        )
        assert compare_metadata(context, metadata) == []


def test_constraints_are_made_too(lab: Lab) -> None:
    with lab.reading() as connection:
        found = inspect(connection)
        for name, table in metadata.tables.items():
            wanted = {(column.name, column.nullable) for column in table.columns}
            assert {(column["name"], column["nullable"]) for column in found.get_columns(name)} == wanted
            assert found.get_pk_constraint(name)["constrained_columns"] == [
                column.name for column in table.primary_key.columns
            ]
            assert len(found.get_foreign_keys(name)) == len(table.foreign_keys)
        uniques = {tuple(one["column_names"]) for one in found.get_unique_constraints("qe")}
        assert uniques == {("run_id", "run_order"), ("qatc_id", "attempt", "number")}


def test_the_version_is_the_last_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    assert ScriptDirectory.from_config(config).get_heads() == [migrations.VERSION]


def test_two_processes_may_make_one_lab_at_once(where: str) -> None:
    program = (
        "import sys; from tare.lab.store import open_lab; sys.stdin.readline(); "
        "open_lab(sys.argv[1], create=True).close()"
    )
    makers = [
        subprocess.Popen(
            [sys.executable, "-c", program, where], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for maker in makers:
        assert maker.stdin is not None
        maker.stdin.write("go\n")
        maker.stdin.flush()
    said = [maker.communicate(timeout=60)[1] for maker in makers]
    assert [maker.returncode for maker in makers] == [0] * 4, said
    open_lab(where).close()


def later(monkeypatch: pytest.MonkeyPatch, folder: Path, then: str = "") -> None:
    """A Tare that knows one migration more."""
    own = Path(migrations.__file__).parent
    made = folder / "migrations"
    (made / "versions").mkdir(parents=True)
    (made / "env.py").write_text((own / "env.py").read_text())
    for script in (own / "versions").glob("*.py"):
        (made / "versions" / script.name).write_text(script.read_text())
    (made / "versions" / "9999_weather.py").write_text(
        _ADD_A_COLUMN.format(before=migrations.VERSION, then=then)
    )
    monkeypatch.setattr(migrations, "FOLDER", made)
    monkeypatch.setattr(migrations, "VERSION", "9999")
    monkeypatch.setattr("tare.lab.store.VERSION", "9999")


def test_an_older_lab_is_migrated_and_keeps_its_runs(
    where: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with open_lab(where, create=True) as old:
        whole_run(old)
    later(monkeypatch, tmp_path)
    with open_lab(where) as new, new.reading() as connection:
        assert connection.execute(text("SELECT id, state, weather FROM run")).all() == [(1, "done", None)]


def test_a_migration_that_fails_leaves_the_lab_as_it_was(
    where: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    open_lab(where, create=True).close()
    with monkeypatch.context() as patch:
        later(patch, tmp_path, then='op.execute("SELECT nothing FROM nowhere")')
        with pytest.raises(LabError):
            open_lab(where)
    with open_lab(where) as lab, lab.reading() as connection:
        assert "weather" not in {column["name"] for column in inspect(connection).get_columns("run")}
