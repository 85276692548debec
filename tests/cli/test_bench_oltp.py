"""`tare bench oltp` as a user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Said, tare


def oltp(*words: str, **more: str) -> Said:
    return tare("bench", "oltp", *words, **more)


# Requests at fault -----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tpcd", "--db", "sqlite"], ["no workload tpcd", "did you mean tpcc?"]),
        (["tpcc", "--db", "postgresl"], ["postgresl: neither a URL", "did you mean postgresql?"]),
        (["tpcc", "--db", "duckdb:///x.db"], ["do not run on duckdb:///x.db", "sqlite://"]),
        (["tpcc", "--db", "sqlite", "--rate", "fast"], ["--rate fast: no rate", "200:30s,400:30s"]),
        (["tpcc", "--db", "sqlite", "--rate", "0"], ["--rate 0: no rate"]),
        (["tpcc", "--db", "sqlite", "--rate", "nan"], ["--rate nan: no rate"]),
        (["tpcc", "--db", "sqlite", "--rate", "5:60"], ["60: no duration", "60s"]),
        (["tpcc", "--db", "sqlite", "--duration", "0s"], ["--duration 0s", "above 0"]),
        (["tpcc", "--db", "sqlite", "--warmup", "ten"], ["--warmup ten: no duration"]),
        (["tpcc", "--db", "sqlite", "--arrivals", "poisson"], ["poisson needs a rate", "--rate 500"]),
        (["tpcc", "--db", "sqlite", "--arrivals", "poison", "--rate", "5"], ["did you mean poisson?"]),
        (["tpcc", "--db", "sqlite", "--arrivals", "trace:nowhere"], ["trace:nowhere: no such file"]),
        (["tpcc", "--db", "sqlite", "--arrivals", "trace:x", "--rate", "5"], ["takes no --rate"]),
        (["tpcc", "--db", "sqlite", "--mix", "new_order"], ["no NAME=VALUE", "new_order=45"]),
        (["tpcc", "--db", "sqlite", "--mix", "new_order=-1"], ["not a weight"]),
        (["tpcc", "--db", "sqlite", "--mix", "new_order=0"], ["all weights are 0"]),
        (["tpcc", "--db", "sqlite", "--mix", "payment=1,payment=2"], ["payment is given twice"]),
        (
            ["tpcc", "--db", "sqlite", "--fixed-lines", "15", "--option", "fixed_lines=5"],
            ["fixed_lines is given twice"],
        ),
        (["tpcc", "--db", "sqlite", "--samples", "/nowhere/s.parquet"], ["/nowhere is not there"]),
        (
            ["tpcc", "--db", "sqlite"],
            ["nothing was loaded into a sqlite", "tare bench oltp load tpcc --db sqlite"],
        ),
        (["tpcc", "--db", "sqlite:///nowhere.db"], ["no database nowhere.db", "tare bench oltp load tpcc"]),
    ],
)
def test_a_request_at_fault_is_refused_with_what_to_write_instead(
    words: list[str], said: list[str], tmp_path: Path
) -> None:
    found = oltp("run", *words, "--lab", str(tmp_path / "lab.db"))
    assert found.code == 2, found.err
    for text in said:
        assert text in found.err
    assert "next:" in found.err


def test_a_password_is_in_no_message(tmp_path: Path) -> None:
    url = "postgresql://me:s3cret@127.0.0.1:1/db"
    found = oltp("run", "tpcc", "--db", url, "--lab", str(tmp_path / "lab.db"), "--connect-timeout", "1")
    assert found.code == 1
    assert "s3cret" not in found.out + found.err
