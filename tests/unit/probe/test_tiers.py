"""Tiers of the probe: each was tried, and all that work report the same."""

from __future__ import annotations

import json
import os

import pytest

from tare._probe import Probe, ProbeError, Process, delay_accounting, read_process
from tests.unit.probe.children import PAUSE, running, schedstat, threaded, threads_of

NOBODY = 65534
EXACT = (
    "ppid",
    "comm",
    "cmdline",
    "uid",
    "start_ns",
    "kernel",
    "threads",
    "run_ns",
    "run_queue_ns",
    "slices",
)
COUNTED = ("min_faults", "maj_faults", "voluntary_switches", "involuntary_switches")
IO = ("read_calls", "write_calls", "read_chars", "write_chars", "read_bytes", "write_bytes")


def one(probe: Probe, pid: int) -> Process:
    (found,) = [process for process in probe.processes().processes() if process.pid == pid]
    return found


def test_every_tier_was_tried_and_one_that_fails_says_why_and_what_to_do() -> None:
    probe = Probe()
    assert [attempt.name for attempt in probe.attempts] == ["bpf", "taskstats", "procfs"]
    assert all(attempt.reason for attempt in probe.attempts)
    assert all(attempt.works or attempt.next_step for attempt in probe.attempts)
    assert probe.tier == next(attempt.name for attempt in probe.attempts if attempt.works)


def test_a_tier_that_does_not_exist_is_refused_with_the_names_of_those_that_do() -> None:
    with pytest.raises(ProbeError, match="bpf, taskstats, procfs"):
        Probe("ebpf")


@pytest.mark.parametrize("what", ["alone", "threaded"])
def test_a_process_at_rest_has_the_same_counters_in_every_tier(probe: Probe, what: str) -> None:
    arguments = threaded() if what == "threaded" else ["/bin/sh", "-c", PAUSE]
    with running(arguments, ready=True) as pid:
        probe.processes()  # so that the kept files are read a second time below
        plainly, found = read_process(pid), one(probe, pid)
        if what == "alone":
            assert [getattr(found, name) for name in EXACT] == [getattr(plainly, name) for name in EXACT]
            assert (found.run_ns, found.run_queue_ns, found.slices) == schedstat(str(pid))
            assert [getattr(found, name) for name in COUNTED] == [getattr(plainly, name) for name in COUNTED]
        assert [getattr(found, name) for name in IO] == [getattr(plainly, name) for name in IO]
        assert found.user_ns + found.system_ns == found.run_ns


def test_the_run_time_of_a_process_is_that_of_all_its_threads_and_of_the_dead_ones(probe: Probe) -> None:
    with running(threaded(), ready=True) as pid:
        living = sum(schedstat(f"{pid}/task/{tid}")[0] for tid in threads_of(pid))
        found = one(probe, pid)
        assert found.threads == 2
        assert found.run_ns is not None
        dead = found.run_ns - living
        # The thread that ended had burned 150 ms; /proc alone knows its time to two ticks.
        assert 0.125e9 < dead < 0.3e9
        if probe.tier != "procfs":
            assert found.slices is not None
            assert found.slices > sum(schedstat(f"{pid}/task/{tid}")[2] for tid in threads_of(pid))


def test_threads_are_rows_of_their_own(probe: Probe) -> None:
    with running(threaded(), ready=True) as pid:
        threads = probe.processes([pid]).threads(pid)
        assert {thread.pid for thread in threads} == set(threads_of(pid))
        assert all(thread.tgid == pid and thread.threads == 2 for thread in threads)
        for thread in threads:
            assert (thread.run_ns, thread.run_queue_ns, thread.slices) == schedstat(
                f"{pid}/task/{thread.pid}"
            )
            assert read_process(pid, thread.pid).voluntary_switches == thread.voluntary_switches


def test_block_io_is_none_where_delay_accounting_is_off(probe: Probe) -> None:
    found = one(probe, os.getpid())
    if delay_accounting():
        assert found.block_io_ns is None or found.block_io_ns >= 0
    else:
        assert found.block_io_ns is None


def test_a_closed_probe_says_so_and_closing_twice_is_allowed() -> None:
    probe = Probe("procfs")
    probe.close()
    probe.close()
    with pytest.raises(ProbeError, match="closed"):
        probe.processes()


def seen_by_an_ordinary_user() -> dict[str, object]:
    """Findings of a probe that is opened without root's rights."""
    probe = Probe()
    rows = probe.processes().processes()
    try:
        probe.listen()
        refusal = ""
    except ProbeError as error:
        refusal = str(error)
    return {
        "tier": probe.tier,
        "attempts": [[tried.name, tried.works, tried.next_step] for tried in probe.attempts],
        "init": next(row.as_dict() for row in rows if row.pid == 1),
        "processes": len(rows),
        "cpus": len(probe.machine().cpus),
        "refusal": refusal,
    }


@pytest.mark.root
def test_an_ordinary_user_gets_the_procfs_tier_and_others_io_is_none() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    inlet, outlet = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            os.write(outlet, json.dumps(seen_by_an_ordinary_user()).encode())
            os._exit(0)
        finally:
            os._exit(1)
    os.close(outlet)
    with os.fdopen(inlet) as answer:
        text = answer.read()
    assert os.waitpid(child, 0)[1] == 0
    seen = json.loads(text)
    assert seen["tier"] == "procfs"
    assert [works for _, works, _ in seen["attempts"]] == [False, False, True]
    assert all(works or next_step for _, works, next_step in seen["attempts"])
    assert seen["cpus"] > 0
    assert "procfs tier" in seen["refusal"]
    assert seen["processes"] >= len(Probe("procfs").processes()) - 5
    init = seen["init"]
    assert init["run_ns"] > 0
    assert init["voluntary_switches"] > 0
    assert [init[name] for name in IO] == [None] * 6
