"""Instructions are counted, or the refusal says why."""

from __future__ import annotations

import os
import subprocess

import pytest

from tare._probe import Instructions, ProbeError, count_instructions


@pytest.fixture
def counter() -> Instructions:
    try:
        return count_instructions([], with_children=[os.getpid()])
    except ProbeError as error:
        pytest.skip(str(error))


@pytest.fixture
def counter_refused() -> ProbeError:
    try:
        count_instructions([os.getpid()]).close()
    except ProbeError as error:
        return error
    pytest.skip("this machine counts instructions")


def test_instructions_grow_with_work_and_children_count(counter: Instructions) -> None:
    first = counter.read()
    sum(range(100_000))
    second = counter.read()
    subprocess.run(
        ["/bin/sh", "-c", "i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done"], check=True, timeout=60
    )
    assert first < second
    assert counter.read() - second > 1_000_000
    counter.close()
    counter.close()


def test_a_refusal_says_why_and_what_to_do(counter_refused: ProbeError) -> None:
    assert "next:" in str(counter_refused)
    assert "cannot count instructions" in str(counter_refused)


def test_a_process_that_is_gone_is_named() -> None:
    child = subprocess.Popen(["/bin/true"])
    child.wait()
    with pytest.raises(ProbeError, match=str(child.pid)):
        count_instructions([child.pid])
