"""Chosen QEs of an experiment are audited by a kernel trace, which lies beside the counters."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from tare.measure.choices import Tier
from tare.measure.rig import open_probe
from tests.cli.running import tare

TEXT = """
name = "audited"
scenario = "exhaustive"
qes = 3
audit = [{audit}]
[[dbms]]
name = "lite"
start = "sqlite"
[[tables]]
name = "ft_big"
cardinality = 3000
minimum = 1000
step = 2000
[[queries]]
name = "sum"
sql = "SELECT sum(a.id2) FROM ft_big a"
"""


def run(folder: Path, audit: str) -> tuple[int, str, str]:
    specification, lab = folder / "e.toml", folder / "lab.db"
    specification.write_text(TEXT.format(audit=audit))
    said = tare("experiment", "run", str(specification), "--lab", str(lab))
    return said.code, said.err, str(lab)


def test_only_the_qes_that_were_chosen_have_an_audit(tmp_path: Path) -> None:
    try:
        open_probe(Tier.BPF).close()
    except Exception as error:
        pytest.skip(f"no BPF here: {error}")
    code, err, lab = run(tmp_path, "2, 3")
    assert code == 0, err
    with sqlite3.connect(lab) as connection:
        found = connection.execute(
            "SELECT e.number, a.accepted, a.why, a.cpu_ns FROM qe e JOIN audit a ON a.qe_id = e.id"
        ).fetchall()
    assert sorted(number for number, *_ in found) == [2, 2, 3, 3]
    assert all(cpu > 0 if accepted else why for _, accepted, why, cpu in found)


def test_an_audit_that_cannot_be_had_is_recorded_with_its_reason(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root can trace; this is for an ordinary user")
    code, err, lab = run(tmp_path, "1")
    assert code == 0, err
    with sqlite3.connect(lab) as connection:
        assert all(
            not accepted and "no trace was taken" in why
            for accepted, why in connection.execute("SELECT accepted, why FROM audit")
        )


def test_auditing_a_qe_that_no_qatc_has_is_a_mistake(tmp_path: Path) -> None:
    code, err, _ = run(tmp_path, "4")
    assert code == 2
    assert "no number 4" in err
