"""Every transaction as Parquet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from tare.errors import ExportFailed
from tare.workload.oltp.samples import ENDS, RECORD, beside, write_parquet

START = 5_000_000_000
TYPES = ("new_order", "payment")
SENT = (1, 0, 2, 17, 9, START + 100, START + 200, START + 300)
SHED = (0, ENDS.index("shed"), 0, 2**32 - 1, 10, START + 400, 0, 0)


def write(target: Path, content: bytes) -> int:
    with beside(target) as raw:
        raw.write_bytes(content)
        return write_parquet(raw, TYPES, START, target)


def test_a_record_comes_back_in_words_and_on_the_runs_clock(tmp_path: Path) -> None:
    target = tmp_path / "s.parquet"
    assert write(target, np.array([SENT, SHED], RECORD).tobytes()) == 2
    sent, shed = pq.read_table(target).to_pylist()
    assert sent == {
        "type": "payment",
        "end": "committed",
        "tries": 2,
        "connection": 17,
        "arrival": 9,
        "intended_ns": 100,
        "started_ns": 200,
        "ended_ns": 300,
    }
    assert (shed["type"], shed["end"], shed["intended_ns"]) == ("new_order", "shed", 400)
    assert (shed["connection"], shed["started_ns"], shed["ended_ns"]) == (None, None, None)
    assert pq.read_schema(target).field("ended_ns").metadata[b"unit"].startswith(b"ns since the start")


def test_more_records_than_a_block_come_in_several_row_groups(tmp_path: Path) -> None:
    target = tmp_path / "s.parquet"
    assert write(target, np.array([SENT], RECORD).tobytes() * 150_000) == 150_000
    file = pq.ParquetFile(target)
    assert (file.metadata.num_rows, file.metadata.num_row_groups) == (150_000, 3)


def test_a_torn_file_leaves_nothing_and_what_was_there_stays(tmp_path: Path) -> None:
    target = tmp_path / "s.parquet"
    target.write_bytes(b"earlier")
    with pytest.raises(ExportFailed, match=r"s\.parquet"):
        write(target, np.array([SENT], RECORD).tobytes()[:-1])
    assert target.read_bytes() == b"earlier"
    assert list(tmp_path.iterdir()) == [target]


def test_a_run_without_transactions_gives_a_file_without_rows(tmp_path: Path) -> None:
    target = tmp_path / "s.parquet"
    assert write(target, b"") == 0
    assert pq.read_table(target).num_rows == 0
