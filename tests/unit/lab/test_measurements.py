"""Measurements of queries in a lab: series of what may be compared, in the order of recording."""

from __future__ import annotations

from dataclasses import replace

from tare.dbms.base import Server
from tare.lab.measurements import Measured, hardware, record, series
from tare.lab.store import Lab
from tare.measure.environment import MachineFacts

FACTS = MachineFacts("Xeon", 8, 8, 32 << 30, "KVM", "6.1", "Debian 12", "3.11", "0.1.0")
SERVER = Server("postgresql", "18.4", {"work_mem": "4MB"}, "postgresql:///x", True)


def add(
    lab: Lab,
    name: str = "q1",
    *,
    facts: MachineFacts = FACTS,
    server: Server = SERVER,
    at: str = "2026-11-01",
    code: str | None = "abc",
) -> None:
    measured = [Measured(name, "SELECT 1", {"wall_ms": [1.5, 2.5]})]
    record(lab, measured, server=server, facts=facts, cache="warm", started_at=at, code=code)


def test_what_was_recorded_comes_back_in_the_order_of_recording_whatever_the_clock_said(lab: Lab) -> None:
    for at, code in (("2026-11-03", "a"), ("2026-11-01", "b"), ("2026-11-02", None)):
        add(lab, at=at, code=code)
    (found,) = series(lab)
    assert (found.name, found.dbms, found.cache) == ("q1", "postgresql", "warm")
    assert [(point.started_at, point.code) for point in found.points] == [
        ("2026-11-03", "a"), ("2026-11-01", "b"), ("2026-11-02", None),
    ]  # fmt: skip
    assert found.points[0].machine == FACTS
    assert found.points[0].samples == {"wall_ms": [1.5, 2.5]}


def test_machines_dbmss_and_queries_are_series_of_their_own(lab: Lab) -> None:
    add(lab)
    add(lab, "q2")
    add(lab, facts=replace(FACTS, cpu_model="EPYC"))
    add(lab, facts=replace(FACTS, usable_cpus=4))
    add(lab, server=replace(SERVER, dbms="mariadb"))
    assert [len(one.points) for one in series(lab)] == [1] * 5
    assert {one.name for one in series(lab, ["q2"])} == {"q2"}


def test_newer_software_goes_on_in_the_series(lab: Lab) -> None:
    add(lab)
    add(lab, facts=replace(FACTS, kernel="6.18", tare="0.2.0"), server=replace(SERVER, version="19.0"))
    (found,) = series(lab)
    assert [(point.version, point.machine.kernel) for point in found.points] == [
        ("18.4", "6.1"),
        ("19.0", "6.18"),
    ]
    assert hardware(FACTS) == hardware(replace(FACTS, kernel="6.18", memory_bytes=(32 << 30) - (1 << 20)))
