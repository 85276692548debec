"""An export as Frames on Spark: the same expressions, on another engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tare.lab.frames import Frames


def spark_frames(export: Path, master: str, **settings: str) -> Frames:
    """On a session that is started for it: `local[2]`, or `local-cluster[2,1,1024]` for processes of their own."""
    import ibis

    from tare.lab.columns import TABLES
    from tare.lab.frames import frames_of
    from tare.lab.parquet import file_of

    backend = ibis.pyspark.connect(session(master, **settings))
    return frames_of(
        backend, {name: backend.read_parquet(str(file_of(export, name)), table_name=name) for name in TABLES}
    )


def session(master: str, **more: str) -> SparkSession:
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "2g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",  # a table here is small: more are only more tasks
        "spark.sql.codegen.maxFields": "400",
    }
    builder = SparkSession.builder.master(master).appName("tare")
    for name, value in (settings | more).items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made
