"""The same expressions on Spark, over the Parquet export, say what DuckDB says: every check, every step, every
Q@C's time, every exclusion and every correlation."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.synthetic import chunks, write_parquet

from tare.lab.frames import Frames, open_frames
from tare.protocol import run_protocol
from tare.protocol.model.holding import hold, over
from tare.protocol.outcome import Outcome
from tests.unit.protocol.model.rows import COLUMNS

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")

QATCS = 400  # of which each kind of trouble is in some
WITHIN = 1e-9  # relative
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
"""Settings with which Spark compiles nothing: over so few rows that takes longer than the rest."""
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # for a run too short for Java's second compiler


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("synthetic") / "export"
    write_parquet(folder, chunks(QATCS))
    return folder


@pytest.fixture(scope="module")
def duckdb(export: Path) -> Frames:
    return open_frames(export)


@pytest.fixture(scope="module")
def spark(export: Path) -> Iterator[Frames]:
    pytest.importorskip("pyspark", reason="pyspark is not installed (it is in requirements/dev.in)")
    if shutil.which("java") is None:
        pytest.skip("Spark needs a Java, and there is none (apt install default-jre-headless)")
    from benchmarks.spark_frames import session, spark_frames

    os.environ.setdefault("JAVA_TOOL_OPTIONS", JAVA)
    frames = spark_frames(export, "local[2]", **INTERPRETED)
    yield frames
    session("local[2]").stop()


@pytest.mark.parametrize("protocol", ["ttp2", "ttp1", "exact"])
def test_a_protocol_says_the_same(protocol: str, duckdb: Frames, spark: Frames) -> None:
    one, other = run_protocol(duckdb, protocol), run_protocol(spark, protocol)
    assert one.stopped is other.stopped is None
    assert other.checks == one.checks
    assert other.remaining == one.remaining
    assert other.deviations == one.deviations
    same_numbers(vars_of(one.precision), vars_of(other.precision))
    for mine, theirs in zip(one.post, other.post, strict=True):
        same_numbers(vars_of(mine), vars_of(theirs))
    assert one.coefficients.keys() == other.coefficients.keys()
    for dbms, of in one.coefficients.items():
        same_numbers(of, other.coefficients[dbms])
    same_rows(tables(one), tables(other))


@pytest.mark.parametrize("model", ["ttp2", "ttp1"])
def test_a_causal_model_says_the_same(model: str, duckdb: Frames, spark: Frames) -> None:
    one, other = hold(duckdb, model), hold(spark, model)
    assert (other.qes, other.dbmses) == (one.qes, one.dbmses)
    for mine, theirs in zip(one.observed, other.observed, strict=True):
        assert (theirs.relationship, theirs.dbms, theirs.n) == (mine.relationship, mine.dbms, mine.n)
        same_numbers({"r": mine.r, "p": mine.p}, {"r": theirs.r, "p": theirs.p})
        assert theirs.verdict is mine.verdict


def test_a_causal_model_says_the_same_where_counters_are_unknown(spark: Frames, tmp_path: Path) -> None:
    draw = np.random.default_rng(11)
    n = 400
    work, unknown = draw.gamma(2, 100, n), draw.random(n) < 0.1
    columns: dict[str, Any] = {}
    for name in COLUMNS:
        values = (draw.uniform() * work + draw.gamma(1, 80, n)).astype(np.int64)
        columns[name] = pa.array(values, mask=unknown if "block_io" in name else None)
    columns["dbms"] = np.array(["mariadb", "postgresql", "sqlite"])[draw.integers(0, 3, n)]
    file = tmp_path / "qes.parquet"
    pq.write_table(pa.table(columns), file)

    one = over(ibis.duckdb.connect().read_parquet(file), "ttp2").observed
    other = over(spark.qe.get_backend().read_parquet(str(file)), "ttp2").observed
    for mine, theirs in zip(one, other, strict=True):
        assert (theirs.relationship, theirs.dbms, theirs.n) == (mine.relationship, mine.dbms, mine.n)
        assert theirs.r == pytest.approx(mine.r, abs=1e-12)
        assert theirs.verdict is mine.verdict
    assert {found.n for found in one if found.dbms is None} == {n, n - int(unknown.sum())}


def tables(outcome: Outcome) -> dict[str, ir.Table]:
    assert outcome.times is not None
    assert outcome.qes is not None
    assert outcome.exclusions is not None
    return {"times": outcome.times, "qes": outcome.qes, "exclusions": outcome.exclusions}


def same_rows(one: Mapping[str, ir.Table], other: Mapping[str, ir.Table]) -> None:
    keys = {
        "times": ("qatc_id",),
        "qes": ("qe_id",),
        "exclusions": ("level", "qatc_id", "qe_id", "step", "rule"),
    }
    for name, key in keys.items():
        mine, theirs = by_key(one[name], key), by_key(other[name], key)
        assert mine.keys() == theirs.keys(), name
        assert mine
        for at, row in mine.items():
            same_numbers(row, theirs[at])


def by_key(table: ir.Table, key: tuple[str, ...]) -> dict[tuple[Any, ...], dict[str, Any]]:
    rows = table.to_pyarrow().to_pylist()
    found = {tuple(row[name] for name in key): row for row in rows}
    assert len(found) == len(rows), "a row is there twice"
    return found


def same_numbers(one: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    """Fractions to a relative 1e-9, everything else exactly."""
    assert one.keys() == other.keys()
    for name, value in one.items():
        if isinstance(value, float) and isinstance(other[name], float):
            assert math.isclose(value, other[name], rel_tol=WITHIN, abs_tol=1e-12), (name, one, other)
        else:
            assert other[name] == value, (name, one, other)


def vars_of(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__slots__}
