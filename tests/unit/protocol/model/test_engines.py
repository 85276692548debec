"""The same expressions on another engine: Spark over Parquet gives what DuckDB gives."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tare.protocol.model.holding import over
from tests.unit.protocol.model.rows import COLUMNS


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs a Java, and there is none")
    session = (
        sql.SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("spark")))
        .getOrCreate()
    )
    yield ibis.pyspark.connect(session)
    session.stop()


def test_spark_finds_what_duckdb_finds(spark: Any, tmp_path: Path) -> None:
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

    duckdb = over(ibis.duckdb.connect().read_parquet(file), "ttp2").observed
    others = over(spark.read_parquet(str(file)), "ttp2").observed
    for one, other in zip(duckdb, others, strict=True):
        assert (one.relationship, one.dbms, one.n) == (other.relationship, other.dbms, other.n)
        assert other.r == pytest.approx(one.r, abs=1e-12)
        assert other.verdict is one.verdict
    assert {one.n for one in duckdb if one.dbms is None} == {n, n - int(unknown.sum())}
