"""Small answers as plain values, and what they need not load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import ibis
import pytest
from benchmarks.synthetic import chunks, write_lab

from tare.lab.answers import row, rows, value

VALUES = {"name": ["a", None], "n": [2**62, 2**62], "share": [0.5, None], "yes": [True, None]}


@pytest.fixture(params=["a table of the engine", "rows out of Python's memory"])
def table(request: pytest.FixtureRequest) -> ibis.Table:
    made = ibis.memtable(VALUES)
    return made if request.param.startswith("rows") else ibis.duckdb.connect().create_table("some", made)


def test_rows_come_in_their_order_with_none_for_null(table: ibis.Table) -> None:
    assert rows(table.order_by(table.name.desc())) == [
        {"name": "a", "n": 2**62, "share": 0.5, "yes": True},
        {"name": None, "n": 2**62, "share": None, "yes": None},
    ]


def test_an_aggregate_is_one_row_or_one_value(table: ibis.Table) -> None:
    assert row(table.aggregate(known=table.share.count(), mean=table.share.mean())) == {
        "known": 1,
        "mean": 0.5,
    }
    assert value(table.n.max()) == 2**62
    assert value(table.filter(table.n < 0).n.sum()) is None


def test_a_table_of_several_rows_is_not_taken_for_one(table: ibis.Table) -> None:
    with pytest.raises(ValueError, match="too many"):
        row(table)


def test_a_protocol_over_a_lab_does_not_load_pandas(tmp_path: Path) -> None:
    write_lab(tmp_path / "lab.db", chunks(90))
    program = (
        "import sys\n"
        "from tare.lab.frames import open_frames\n"
        "from tare.protocol import run_protocol\n"
        f"run_protocol(open_frames({str(tmp_path / 'lab.db')!r}), 'ttp2')\n"
        "sys.exit('pandas' in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=60)
