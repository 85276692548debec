"""Outcomes made by hand over the sample lab: the shapes that protocols leave, with figures a test can follow.

Two rules only: a QE with more forks than are accounted for goes, and one that timed out; a Q@C of less than
two ticks goes. The exact one's parts are the leader's.
"""

from __future__ import annotations

from collections import defaultdict
from statistics import mean, median, stdev
from typing import Any

import ibis

from tare.lab.frames import Frames
from tare.protocol.model.result import Level as Strength
from tare.protocol.model.result import ModelResult, Observed, Relationship, Verdict
from tare.protocol.outcome import CheckCount, Level, Outcome, PostCheck, Precision, Remaining

TITLES = {"ttp1": "TTPv1", "ttp2": "TTPv2", "exact": "exact protocol"}


def outcome(
    frames: Frames, name: str = "ttp2", *, stopped: str | None = None, deviations: tuple[str, ...] = ()
) -> Outcome:
    checks = _checks(stopped)
    common: dict[str, Any] = {
        "protocol": name, "title": TITLES[name], "citation": f"paper of {name}", "tick_ns": 10_000_000, "min_qes": 6,
        "checks": checks, "accepted": (), "stopped": stopped, "deviations": deviations,
        "coefficients": {"postgresql": {"a": 0.5, "b": 0.26}} if name == "ttp1" else {},
    }  # fmt: skip
    if stopped:
        return Outcome(
            **common, remaining=(), post=(), precision=Precision(None, None, None, None), times=None, qes=None,
            exclusions=None,
        )  # fmt: skip
    qes, exclusions = _qes(frames, name)
    times, more = _times(frames, qes)
    exclusions += more
    gone = {row["qatc_id"] for row in more}
    kept = [row for row in times if row["retained"]]
    after_2 = sum(1 for row in qes if row["time_ms"] is not None)
    at_start = (len(qes), len(times))
    end = (sum(row["retained"] and row["qatc_id"] not in gone for row in qes), len(kept))
    return Outcome(
        **common,
        remaining=(
            Remaining("at start", "TTPv2 Table XIII", *at_start, 0, 0),
            Remaining("after step 2", "TTPv2 Table XIII", after_2, at_start[1], at_start[0] - after_2, 0),
            Remaining("after step 3-(iii)", "TTPv2 Table XIII", *end, after_2 - end[0], at_start[1] - end[1]),
        ),
        post=(
            PostCheck(1, "excessive variation", "TTPv2 Table XIV", 0.0, "share", None),
            PostCheck(2, "strict monotonicity", "TTPv2 Table XIV", 0.0526, "share", None),
            PostCheck(3, "relaxed monotonicity", "TTPv2 Table XIV", 0.0263, "share", None),
            PostCheck(4, "difference, retained", "TTPv2 Table XIV", 0.021, "share", None),
            PostCheck(5, "difference, dropped", "TTPv2 Table XIV", None, "share", "no dropped Q@C has a time"),
            PostCheck(6, "non-varying measures", "TTPv2 Table XIV", 1, "count", None, ("query guest time",)),
        ),
        precision=Precision(len(kept) / len(times), end[0] / max(1, len(kept)), 0.034, 0.0123),
        times=ibis.memtable(times, schema=_TIMES),
        qes=ibis.memtable(qes, schema=_schema(qes)),
        exclusions=ibis.memtable(exclusions, schema=_EXCLUSIONS),
    )  # fmt: skip


def model(dbmses: tuple[str, ...] = ("mariadb", "postgresql")) -> ModelResult:
    verdicts = list(Verdict)
    observed = []
    for dbms in (None, *dbmses):
        for place in range(12):
            group = "I" if place < 7 else "II"
            of = Relationship(
                group, "abcdefg"[place % 7], "query_user_ticks", "query_system_ticks", Strength.HIGH,
                "TTPv2 Table IV", "query UTicks", "query STicks", 0.372,
            )  # fmt: skip
            verdict = verdicts[place % len(verdicts)]
            r = 0.9 - 0.1 * place if verdict in (Verdict.EXACT, Verdict.CLOSE, Verdict.OFF) else None
            observed.append(
                Observed(of, dbms, 400, r, None if r is None else 0.001, verdict, None if r else "a reason")
            )
    return ModelResult("ttp2", "TTPv2's causal model", "paper of ttp2", 400, dbmses, tuple(observed))


def _checks(stopped: str | None) -> tuple[CheckCount, ...]:
    return (
        CheckCount(1, "missing queries", "TTPv2 Table X", Level.EXPERIMENT, 440, 10 if stopped else 0, None),
        CheckCount(5, "steal time", "TTPv2 Table X", Level.EXPERIMENT, 440, 0, None),
        CheckCount(6, "guest time", "TTPv2 Table X", Level.EXPERIMENT, 0, 0, "guest time is not known"),
        CheckCount(1, "ephemeral process", "TTPv2 Table XI", Level.QE, 440, 4, None),
        CheckCount(13, "timed out", "TTPv2 Table XI", Level.QE, 440, 3, None),
        CheckCount(1, "excessive variation", "TTPv2 Table XII", Level.QATC, 44, 1, None),
        CheckCount(2, "possible result cache", "TTPv2 Table XII", Level.QATC, 44, 0, None),
    )


_TIMES = {
    "qatc_id": "int64", "run_id": "int64", "query_id": "int64", "query": "string", "query_number": "int64",
    "dbms": "string", "cardinality": "int64", "plan_fingerprint": "string", "qes": "int64", "retained": "boolean",
    "step": "string", "rule": "string", "time_ms": "float64", "low_ms": "float64", "high_ms": "float64",
    "sd_ms": "float64", "measured_ms": "float64", "measured_sd_ms": "float64", "strict": "boolean",
    "relaxed": "boolean",
}  # fmt: skip
_EXCLUSIONS = {
    "level": "string", "qe_id": "int64", "qatc_id": "int64", "step": "string", "number": "int64", "rule": "string",
    "source": "string", "evidence": "string",
}  # fmt: skip


def _schema(rows: list[dict[str, Any]]) -> dict[str, str]:
    whole = dict.fromkeys(("qe_id", "qatc_id", "run_order", "number"), "int64")
    return {name: whole.get(name, "boolean" if name == "retained" else "float64") for name in rows[0]}


def _qes(frames: Frames, protocol: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    rows, gone = [], []
    for qe in frames.qe.order_by("run_order").to_pyarrow().to_pylist():
        parts = {
            name: qe[f"leader_{name}_ns"] / 1e6
            for name in ("cpu", "block_io", "run_queue", "sleep", "residue")
        }
        if protocol != "exact":
            parts = {
                "user": parts["cpu"] * 0.85,
                "system": parts["cpu"] * 0.15,
                "io": parts["block_io"] * 0.6,
            }
        broken = []
        if qe["unaccounted_births"]:
            broken.append((1, "ephemeral process", f"{qe['unaccounted_births']} births unaccounted"))
        if qe["outcome"] == "timeout":
            broken.append((13, "timed out", "ran into its time-out of 5 s"))
        for number, rule, evidence in broken:
            gone.append(
                {"level": "qe", "qe_id": qe["id"], "qatc_id": qe["qatc_id"], "step": "2", "number": number,
                 "rule": rule, "source": "TTPv2 Table XI", "evidence": evidence}
            )  # fmt: skip
        rows.append(
            {"qe_id": qe["id"], "qatc_id": qe["qatc_id"], "run_order": qe["run_order"], "number": qe["number"],
             "retained": not broken, "time_ms": None if broken else sum(parts.values()),
             "measured_ms": qe["wall_ns"] / 1e6, **{f"part_{name}_ms": value for name, value in parts.items()}}
        )  # fmt: skip
    return rows, gone


def _times(frames: Frames, qes: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    kept = defaultdict(list)
    for row in qes:
        if row["retained"]:
            kept[row["qatc_id"]].append(row)
    rows, gone, above = [], [], {}
    timed = frames.qatc.filter(frames.qatc.state == "timed").order_by(["query_id", "visit"])
    for qatc in timed.to_pyarrow().to_pylist():
        of = kept[qatc["id"]]
        short = mean(row["measured_ms"] for row in of) <= 20
        values = sorted(row["time_ms"] for row in of)
        if short:
            gone.append(
                {"level": "qatc", "qe_id": None, "qatc_id": qatc["id"], "step": "3-(iii)", "number": 3,
                 "rule": "two ticks or less", "source": "TTPv2 §8.4", "evidence": "9 ms measured, 20 ms needed"}
            )  # fmt: skip
        time = None if short else median(values)
        faster = above.get(qatc["query_id"])
        slower = bool(time and faster and time > faster)
        above[qatc["query_id"]] = time
        rows.append(
            {"qatc_id": qatc["id"], "run_id": qatc["run_id"], "query_id": qatc["query_id"], "query": qatc["query"],
             "query_number": qatc["query_number"], "dbms": qatc["dbms"], "cardinality": qatc["cardinality"],
             "plan_fingerprint": qatc["plan_fingerprint"], "qes": len(of), "retained": not short,
             "step": "3-(iii)" if short else None, "rule": "two ticks or less" if short else None, "time_ms": time,
             "low_ms": None if short else values[1], "high_ms": None if short else values[-2],
             "sd_ms": None if short else stdev(values), "measured_ms": mean(row["measured_ms"] for row in of),
             "measured_sd_ms": stdev(row["measured_ms"] for row in of), "strict": slower, "relaxed": slower}
        )  # fmt: skip
    return rows, gone
