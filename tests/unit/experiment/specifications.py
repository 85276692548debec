"""Specifications that tests start from."""

from __future__ import annotations

from tare.experiment.specification import DbmsSpec, GenerateSpec, Specification, TableSpec

GOOD = """\
name = "good"
[[dbms]]
name = "lite"
start = "sqlite"
[[tables]]
name = "ft_HT1"
cardinality = 1000
step = 100
primary_key = "id1"
[[tables]]
name = "ft_HT2"
cardinality = 500
[generate]
count = 3
"""


def four_tables(cardinality: int) -> tuple[TableSpec, ...]:
    """Tables like the paper's: four integers, with and without a primary key, one of them variable."""
    return (
        TableSpec(name="ft_HT1", cardinality=cardinality, step=cardinality // 5, primary_key="id1", seed=1),
        TableSpec(name="ft_HT2", cardinality=cardinality, seed=2),
        TableSpec(name="ft_HT3", cardinality=cardinality, primary_key="id1", seed=3),
        TableSpec(name="ft_HT4", cardinality=cardinality // 2, seed=4),
    )


def experiment(*tables: TableSpec, generate: int = 0) -> Specification:
    return Specification(
        name="test",
        dbms=(DbmsSpec(name="any", start="sqlite"),),
        tables=tables,
        generate=GenerateSpec(count=generate) if generate else None,
    )
