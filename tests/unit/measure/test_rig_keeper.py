"""A server that is away is waited for ten times, each pause twice the one before; then it is given up."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import time
from pathlib import Path

import pytest

from tare.errors import ConnectionFailed, ServerLost, StatementFailed
from tare.experiment.ledger import rows
from tare.experiment.specification import DbmsSpec
from tare.experiment.target import Target
from tare.interruption import Interrupted, Interrupts
from tare.measure.backoff import MAX_TRIES, Patience, pause_s
from tare.measure.rig import Rig
from tare.measure.rig_keeper import RigKeeper


def nobody() -> Target:
    """A URL at which no server listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return Target(DbmsSpec(name="gone", url=f"postgresql://u@127.0.0.1:{port}/d"), Path("unused"))


def test_each_pause_is_twice_the_one_before() -> None:
    pauses = [pause_s(failures, 0.1) for failures in range(1, MAX_TRIES)]
    assert all(later == 2 * earlier for earlier, later in itertools.pairwise(pauses))
    assert sum(pauses) == pytest.approx(51.1)


def test_a_server_that_does_not_come_back_is_given_up_after_ten_tries() -> None:
    said: list[str] = []
    keeper = RigKeeper(nobody().connect, Patience(Interrupts(), said.append, 0.001))
    with pytest.raises(ServerLost, match="did not come back in 10 tries"):
        keeper.with_rig(lambda rig: rig.leader)
    assert len(said) == MAX_TRIES - 1
    assert "try 10 in 0.26 s" in said[-1]


def test_waiting_for_a_server_ends_when_the_user_wants_to_pause() -> None:
    with Interrupts() as interrupts:
        patience = Patience(interrupts, lambda said: os.kill(os.getpid(), signal.SIGINT), 30)
        keeper = RigKeeper(nobody().connect, patience)
        began = time.monotonic()
        with pytest.raises(Interrupted):
            keeper.with_rig(lambda rig: rig.leader)
    assert time.monotonic() - began < 10


def test_what_is_wrong_with_a_statement_is_not_waited_for(tmp_path: Path) -> None:
    said: list[str] = []
    with Target(DbmsSpec(name="lite", start="sqlite"), tmp_path / "lite") as target:
        keeper = RigKeeper(target.connect, Patience(Interrupts(), said.append))

        def mistaken(rig: Rig) -> None:
            rig.plan("SELECT nothing FROM nowhere")

        try:
            with pytest.raises(StatementFailed):
                keeper.with_rig(mistaken)
            assert (said, keeper.opened) == ([], 1)
        finally:
            keeper.close()


def test_a_lost_engine_is_opened_anew(tmp_path: Path) -> None:
    with Target(DbmsSpec(name="lite", start="sqlite"), tmp_path / "lite") as target:
        keeper = RigKeeper(target.connect, Patience(Interrupts(), lambda said: None, 0.001))
        try:
            os.kill(keeper.with_rig(lambda rig: rig.leader.pid), signal.SIGKILL)
            assert keeper.with_rig(lambda rig: rig.plan("SELECT 1")).fingerprint
            assert keeper.opened == 2
        finally:
            keeper.close()


def test_a_further_session_is_made_like_the_first_before_it_is_used(tmp_path: Path) -> None:
    with Target(DbmsSpec(name="lite", start="sqlite"), tmp_path / "lite") as target:
        keeper = RigKeeper(target.connect, Patience(Interrupts(), lambda said: None, 0.001))
        keeper.renewed = lambda session: session.run("PRAGMA cache_size = -777")
        try:
            os.kill(keeper.open().leader.pid, signal.SIGKILL)
            size = "SELECT cache_size FROM pragma_cache_size"
            assert keeper.with_rig(lambda rig: rows(rig.session, size)) == [(-777,)]
        finally:
            keeper.close()


def test_the_first_opening_is_not_tried_again() -> None:
    said: list[str] = []
    with pytest.raises(ConnectionFailed):
        RigKeeper(nobody().connect, Patience(Interrupts(), said.append)).open()
    assert said == []
