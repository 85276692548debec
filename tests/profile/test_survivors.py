"""`tare profile attach` harms none of the programs of `benchmarks/survivors`, and has their figures right."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from benchmarks.survivors.programs import (
    Case,
    NotBuilt,
    Survivor,
    build,
    running,
    shares,
)

from tare.lab.profiles import open_run
from tests.cli.running import tare

RETURNS = (
    *("parse", "execute", "maintain", "repair", "amend", "replace", "resolve", "find_next", "retry"),
    *("fail_row", "trace", "look_back", "keep_context", "take_context", "read_caller", "return_address"),
    *("forwarded_address", "consume", "take_row", "produce", "yield_row", "run_thread", "enter_thread"),
    *("serve_order", "read_table", "sum_table", "multiply", "triple"),
)
"""Functions of returns.c that are watched."""

CASES = (
    Case("exception.cpp", "fetch", "inside", ("parse", "execute", "bind", "fetch")),
    Case("exception.cpp", "fetch", "above", ("parse", "execute", "bind", "fetch")),
    Case("panic.rs", "fetch", "inside", ("parse", "execute", "bind", "fetch")),
    Case("panic.rs", "fetch", "above", ("parse", "execute", "bind", "fetch")),
    Case(
        "goroutines.go", "main.fetch", functions=("main.parse", "main.attempt", "main.execute", "main.fetch")
    ),
    Case("coroutines.c", "fetch", functions=("parse", "execute", "fetch")),
    Case("signals.c", "execute", functions=("parse", "execute", "account")),
    Case("altstack.c", "checksum", "above", ("parse", "execute", "checksum")),
    Case("altstack.c", "checksum", "below", ("parse", "execute", "checksum")),
    Case("threads_end.cpp", "commit", "exit", ("parse", "execute", "commit", "append")),
    Case("threads_end.cpp", "commit", "cancel", ("parse", "execute", "commit", "append")),
    Case("longjmp.c", "fetch", functions=("parse", "execute", "fetch")),
    Case("seccomp.c", "fetch", functions=("parse", "execute", "fetch")),
    Case(
        "recursion.c",
        "read_leaf",
        functions=("descend", "visit_even", "visit_odd", "read_leaf", "write_leaf"),
    ),
    Case("tailcalls.c", "write_row", functions=("decode", "scan", "route", "read_row", "write_row")),
    Case("prefork.c", "fetch", functions=("parse", "execute", "fetch")),
    Case("ifunc.c", "memcpy", "sizes", ("parse", "copy_row", "memcpy@libc.so.6")),
    Case("pointers.c", "culprit", duration_s=16, rounds=6),
    Case("plugin.c", "plugin_step", "before", duration_s=9, rounds=3),
    Case("plugin.c", "plugin_step", "during", duration_s=12, rounds=4),
    Case("returns.c", "repair", functions=RETURNS),
    Case("returns.c", "repair", "unnamed", duration_s=9, rounds=3),
    Case(
        "throws.cpp",
        "fetch",
        "leaf",
        ("parse", "execute", "visit", "fetch", "load", "divide", "throw_fault"),
    ),
    Case("throws.cpp", "fetch", "plugin", ("parse", "execute", "on_batch", "on_row", "fetch")),
    Case("dispatch.c", "fetch", functions=("parse", "execute", "fetch")),
)

LOOK_S = 1.5
FEWEST = 500
"""Transactions of a program by itself, from which its own shares are judged."""
PLANNED_SHARE = 0.7
"""Least share of the culprit before the profile: a program by itself varies by what is planted."""
FEW_MORE = 20
"""Transactions after the profile, which show that the program goes on."""

STANDSTILL_S = 1.0
SLOWER = 0.05
SHARE_OFF = 0.05
MOST_HELD_UP = 0.25

TIMED = os.environ.get("TARE_TIMED") == "1"
"""Throughput is judged too, and shares where the culprit is searched for. Not by default: others' load on a shared
machine, as CI's is, slows a program, and a search then reaches less in its time."""


def built(source: str) -> Path:
    try:
        return build(source)
    except NotBuilt as missing:
        pytest.skip(str(missing))


@contextmanager
def started(case: Case, lines: Path) -> Iterator[Survivor]:
    """Run the program of this case; skip the test where it cannot run here."""
    try:
        with running(built(case.source), case.culprit, lines, case.variant) as program:
            yield program
    except NotBuilt as missing:
        pytest.skip(str(missing))


@pytest.mark.usefixtures("attach_works")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_program_lives_goes_on_as_fast_and_its_culprit_has_its_own_share(
    case: Case, tmp_path: Path
) -> None:
    with started(case, tmp_path / "lines") as program:
        begin = program.after(FEWEST)
        program.await_share(case.culprit, PLANNED_SHARE)
        assert begin.mean_ns < 5e6
        before = program.throughput(LOOK_S) if TIMED else 0.0
        words = ("--budget", "60%", "--json", "-", "--profiles", str(tmp_path / "profiles"))
        said = tare("profile", "attach", *case.words(program.pid), *words)
        assert program.is_alive, f"exit code {program.process.poll()} while it was watched; tare: {said.err}"
        standstill = program.standstill_s(begin)
        assert standstill < STANDSTILL_S, f"no transaction ended for {standstill:.1f} s while it was watched"
        program.after(program.now().transactions + FEW_MORE)
        if TIMED:
            after = program.throughput(LOOK_S)
            if after < (1 - SLOWER) * before:  # others run on this machine too
                after = program.throughput(LOOK_S)
            assert after >= (1 - SLOWER) * before, f"{before:.0f} transactions/s before, {after:.0f} after"
        program.stop()
    assert said.code == 0, said.err
    report = said.result
    assert report["transactions"] > 100
    measured = open_run(report["run"], tmp_path / "profiles").measured()
    assert report["transactions"] == measured.transactions
    if not (case.functions or TIMED):
        return
    share = shares(program, measured, case.culprit)
    assert share is not None, report["ended"]
    assert share.held_up < MOST_HELD_UP
    assert share.measured == pytest.approx(share.true, abs=SHARE_OFF)


def instructions(program: Path, function: str) -> list[str]:
    """Lines of the disassembled function, without addresses and bytes."""
    if shutil.which("objdump") is None:
        pytest.skip("objdump is not installed")
    command = ["objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}", str(program)]
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    return [line.rpartition(":\t")[2].strip() for line in text.splitlines() if line.strip()]


def jumps_of(program: Path, function: str) -> set[str]:
    """Targets of its jumps, conditional ones included."""
    code = instructions(program, function)
    return {line.split()[-1] for line in code if re.match(r"(notrack )?j", line)}


def test_the_tail_calls_and_the_jump_table_are_in_the_code() -> None:
    program = built("tailcalls.c")
    assert {"<read_row>", "<write_row>"} <= jumps_of(program, "route")
    assert any("*" in target for target in jumps_of(program, "decode"))


def test_cold_parts_and_a_table_are_in_the_code() -> None:
    program = built("returns.c")
    assert "<maintain.cold>" in jumps_of(program, "maintain")
    assert any("<repair>" in line for line in instructions(program, "maintain.cold"))
    assert any(target.startswith("<maintain+0x") for target in jumps_of(program, "maintain.cold"))
    assert "<amend.cold>" in jumps_of(program, "amend")
    assert not any("%rsp" in line or "push" in line for line in instructions(program, "amend")), (
        "it has no frame"
    )
    assert "ret" in instructions(program, "amend.cold")
    table = bytes.fromhex("c3 c2 08 00 e9 10 00 00 00 cb 5d c3 f3 c3 eb fe 48 b8")
    assert program.read_bytes().count(table) == 1


def test_functions_that_leave_by_a_jump_to_what_reads_its_return_address_are_in_the_code() -> None:
    program = built("returns.c")
    assert any("dlsym" in target for target in jumps_of(program, "find_next"))
    assert any("getcontext" in target for target in jumps_of(program, "take_context"))
    assert "<return_address>" in jumps_of(program, "forwarded_address")
