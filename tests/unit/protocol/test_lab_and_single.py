"""A Q@C judged in plain numbers, and the same among others in a lab: the same verdicts, word by word."""

from __future__ import annotations

from itertools import chain
from random import Random
from typing import Any

import pytest

from tare.protocol import run_protocol
from tare.protocol.experiment_checks import EXPERIMENT_CHECKS
from tare.protocol.ttp2 import time_of
from tests.unit.protocol.lab_records import lab_of
from tests.unit.protocol.qe_records import TICK_NS
from tests.unit.protocol.random_labs import random_run

RUNS = [random_run(Random(seed)) for seed in range(4)]
ALL = [check.name for check in EXPERIMENT_CHECKS]


def rows(table: Any) -> list[dict[str, Any]]:
    return table.to_pyarrow().to_pylist()


@pytest.mark.parametrize("way", ["told", "paper"])
def test_a_lab_and_a_single_qatc_agree(way: str) -> None:
    outcome = run_protocol(lab_of(*RUNS), "ttp2", accept=ALL, by_paper=way == "paper")
    excluded = {
        (row["qatc_id"], row["qe_id"], row["rule"]): row["evidence"]
        for row in rows(outcome.exclusions)
        if row["rule"] != "underlying measure"  # in plain numbers a QE without a time has no evidence
    }
    times = {row["qatc_id"]: row for row in rows(outcome.times)}
    qes = {row["qe_id"]: row for row in rows(outcome.qes)}
    qe_id = 0
    for qatc_id, qatc in enumerate(chain.from_iterable(run.qatcs for run in RUNS), start=1):
        single = time_of(qatc.qes, TICK_NS, way="paper" if way == "paper" else None)
        ids = {qe.index: qe_id + 1 + place for place, qe in enumerate(qatc.qes)}
        qe_id += len(qatc.qes)
        said = {
            (qatc_id, None if violation.qe is None else ids[violation.qe], finding.name): violation.evidence
            for finding in single.findings
            for violation in finding.violations
        }
        here = {key: text for key, text in excluded.items() if key[0] == qatc_id and key[2] in _names(single)}
        assert here == said
        found = [qes[one] for one in ids.values()]
        assert [one["time_ms"] for one in found] == list(single.samples_ms)
        assert [not one["retained"] for one in found] == list(single.dropped)
        assert times[qatc_id]["time_ms"] == single.time_ms
        if single.time_ms is not None:
            assert times[qatc_id]["sd_ms"] == pytest.approx(single.sd_ms)


def _names(single: Any) -> set[str]:
    return {finding.name for finding in single.findings}
