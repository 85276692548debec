"""The synthetic lab is the same each time, whole, and as troubled as TTPv2's own."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pytest
from benchmarks.synthetic import chunks, write_lab, write_parquet
from benchmarks.synthetic.shape import QES

from tare.lab.foreign import Export
from tare.lab.frames import open_frames
from tare.lab.importing import import_
from tare.lab.schema import metadata
from tare.lab.store import open_lab
from tare.protocol import run_protocol


def tables(qatcs: int, seed: int = 1) -> dict[str, pa.Table]:
    found = defaultdict(list)
    for name, table in chunks(qatcs, seed):
        found[name].append(table)
    return {name: pa.concat_tables(some) for name, some in found.items()}


def test_the_same_arguments_make_the_same_lab() -> None:
    one, again, other = tables(60), tables(60), tables(60, seed=2)
    assert one.keys() == again.keys()
    assert all(one[name].equals(again[name]) for name in one)
    assert not one["process"].equals(other["process"])


@pytest.mark.parametrize("qatcs", [1, 7, 600])
def test_it_has_as_many_qatcs_as_were_asked_for(qatcs: int) -> None:
    found = tables(qatcs)
    states = found["qatc"]["state"].to_pylist()
    assert states.count("timed") == qatcs
    assert found["qe"].num_rows == qatcs * QES
    assert 8 < found["process"].num_rows / found["qe"].num_rows < 12


def test_every_row_refers_to_one_that_is_there() -> None:
    found = tables(300)
    for name, table in found.items():
        for column in metadata.tables[name].columns:
            for key in column.foreign_keys:
                target = set(found[key.column.table.name]["id"].to_pylist())
                assert set(table[column.name].to_pylist()) <= target, (name, column.name)


def test_its_export_can_be_imported(tmp_path: Path) -> None:
    write_parquet(tmp_path / "export", chunks(40))
    with Export(tmp_path / "export") as export, open_lab(str(tmp_path / "lab.db"), create=True) as lab:
        assert len(import_(lab, export).runs) == 3


def test_its_drop_table_looks_like_the_papers(tmp_path: Path) -> None:
    """TTPv2 Tables XI, XIII and XVII; a small lab comes out within a factor of two or so."""
    write_lab(tmp_path / "lab.db", chunks(3_000))
    outcome = run_protocol(open_frames(tmp_path / "lab.db"), "ttp2")
    assert outcome.stopped is None
    start, after_2, *_, end = outcome.remaining
    assert 0.05 < after_2.dropped_qes / start.qes < 0.10  # 7.2% there
    assert 0.93 < end.qatcs / start.qatcs < 0.98  # 96%
    assert 9.0 < end.qes / end.qatcs < 9.9  # 9.4
    shares = {one.number: one.share or 0.0 for one in outcome.checks if one.level == "qe"}
    for number, there in {3: 0.26, 4: 0.70, 5: 1.59, 6: 2.65, 9: 1.84}.items():
        assert there / 2.5 < 100 * shares[number] < there * 2.5, number
    assert shares[10] == 0
