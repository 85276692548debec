"""Raw readings come back as they were, and give the differences that were recorded."""

from __future__ import annotations

import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.dbms.base import Role
from tare.dbms.registry import find
from tare.errors import LabError, LabTooNew
from tare.lab.readings import decode, encode
from tare.lab.recorder import Recorder
from tare.lab.rows import _process
from tare.lab.store import Lab
from tare.lab.verify import verify
from tare.measure.choices import CacheState
from tare.measure.differences import COUNTERS, Life, machine_use, use_of
from tare.measure.qe import time_single_qe
from tare.measure.query import Query
from tare.measure.rig import Rig
from tests.unit.lab.filling import begin, begun
from tests.unit.lab.raw import raw, readings
from tests.unit.measure.readings import ended, process

COUNTER = st.none() | st.integers(0, 2**63)
SURE = dict.fromkeys(("user_ns", "system_ns"), st.integers(0, 2**63))
PROCESS = st.builds(
    process,
    **dict.fromkeys(COUNTERS, COUNTER) | SURE,
    pid=st.integers(1, 2**22),
    comm=st.text(max_size=15),
    cmdline=st.text(),
    kernel=st.booleans(),
)
EXIT = st.builds(ended, run_ns=COUNTER, last_of_group=st.booleans())
LIVES = st.builds(Life, PROCESS, st.none() | PROCESS, st.lists(EXIT, max_size=2).map(tuple))


@given(st.lists(LIVES, max_size=4).map(tuple))
def test_what_is_decoded_is_what_was_encoded(lives: tuple[Life, ...]) -> None:
    found = decode(encode(readings(lives)))
    assert found.lives == lives
    assert encode(found) == encode(readings(lives))
    assert [use_of(one, Role.QUERY) for one in found.lives] == [use_of(one, Role.QUERY) for one in lives]


def test_command_lines_are_kept_without_their_passwords() -> None:
    line = "pgbench postgresql://u:Xq7Za@h/d"
    lives = (Life(process(cmdline=line), process(cmdline=line), (ended(cmdline="mysql -pXq7Za"),)),)
    assert b"Xq7Za" not in zlib.decompress(encode(readings(lives)))
    assert _process(use_of(lives[0], Role.QUERY), "")["cmdline"] == "pgbench postgresql://u@h/d"


def test_the_machines_readings_give_the_same_use() -> None:
    given_, _ = raw()
    found = decode(encode(given_))
    assert machine_use(found.machine_1, found.machine_2) == machine_use(given_.machine_1, given_.machine_2)


def test_a_real_qe_can_be_computed_anew_from_its_readings(lab: Lab, postgresql_url: str) -> None:
    query = Query("q", "SELECT sum(val) FROM numbers")
    recorder, _, qatc_id = begun(lab)
    with Rig(lambda: find(postgresql_url).connect(postgresql_url)) as rig:
        for order in range(3):
            measured = time_single_qe(
                rig, query, index=order, query_index=0, warmup=False, cache=CacheState.WARM, timeout_s=None
            )
            recorder.record(qatc_id, 1, order + 1, measured)
            assert measured.raw is not None
            active = [use for use in measured.processes if use.run_ns]
            assert len(active) <= len(measured.raw.lives) < len(measured.processes)
            assert measured.raw.rested + len(measured.raw.lives) == len(measured.processes)
            assert rig.leader.pid in {life.latest.tgid for life in measured.raw.lives}
    done = verify(lab, [1])
    assert (done.qes, done.without_readings, done.first) == (3, 0, [])
    assert done.values > 3 * 30


@pytest.mark.parametrize(
    "data",
    [b"", b"no zlib", zlib.compress(b"no json"), zlib.compress(b"{}"), encode(raw()[0])[:-10],
     zlib.compress(b"[1]"), zlib.compress(b'{"version": 1, "clock": 5}')],
)  # fmt: skip
def test_damaged_readings_are_said_to_be_damaged(data: bytes) -> None:
    with pytest.raises(LabError, match="damaged"):
        decode(data)


def test_readings_of_a_later_version_are_not_guessed_at() -> None:
    document = json.loads(zlib.decompress(encode(raw()[0])))
    with pytest.raises(LabTooNew, match="version 2"):
        decode(zlib.compress(json.dumps(document | {"version": 2}).encode()))


def test_readings_that_claim_a_monstrous_size_are_refused() -> None:
    with pytest.raises(LabError, match="more than one QE"):
        decode(zlib.compress(b" " * (300 << 20), 1))


def test_runs_without_readings_can_be_recorded(lab: Lab) -> None:
    from tests.unit.protocol.qe_records import qe

    recorder = Recorder(lab)
    begin(recorder)
    _, run_id, qatc_id = begun(lab)
    recorder.record(qatc_id, 1, 1, qe())
    done = verify(lab, [run_id])
    assert (done.qes, done.without_readings, done.values) == (1, 1, 0)
