"""A server that is away is waited for ten times, each pause twice the one before; then it is given up."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import time
from pathlib import Path

import pytest

from tare.errors import ServerLost, StatementFailed
from tare.experiment.interrupts import Interrupts
from tare.experiment.keepers import RigKeeper
from tare.experiment.specification import DbmsSpec
from tare.experiment.target import Target
from tare.interruption import Interrupted
from tare.measure.backoff import MAX_TRIES, pause_s
from tare.measure.rig import Rig


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
    keeper = RigKeeper(nobody(), None, Interrupts(), said.append, first_pause_s=0.001)
    with pytest.raises(ServerLost, match="did not come back in 10 tries"):
        keeper.with_rig(lambda rig: rig.leader)
    assert len(said) == MAX_TRIES - 1
    assert "try 10 in 0.26 s" in said[-1]


def test_waiting_for_a_server_ends_when_the_user_wants_to_pause() -> None:
    with Interrupts() as interrupts:
        keeper = RigKeeper(nobody(), None, interrupts, lambda said: os.kill(os.getpid(), signal.SIGINT), 30)
        began = time.monotonic()
        with pytest.raises(Interrupted):
            keeper.with_rig(lambda rig: rig.leader)
    assert time.monotonic() - began < 10


def test_what_is_wrong_with_a_statement_is_not_waited_for(tmp_path: Path) -> None:
    said: list[str] = []
    with Target(DbmsSpec(name="lite", start="sqlite"), tmp_path / "lite") as target:
        keeper = RigKeeper(target, None, Interrupts(), said.append)

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
        keeper = RigKeeper(target, None, Interrupts(), lambda said: None, first_pause_s=0.001)
        try:
            os.kill(keeper.with_rig(lambda rig: rig.leader.pid), signal.SIGKILL)
            assert keeper.with_rig(lambda rig: rig.plan("SELECT 1")).fingerprint
            assert keeper.opened == 2
        finally:
            keeper.close()
