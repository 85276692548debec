"""A comparison as a gate: its margin, its run, and its exit codes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import typer

from tare.cli.output import Outputs, deliver
from tare.cli.weighing import Target, weigh
from tare.errors import TareError, UsageError
from tare.measure.query import Query
from tare.measure.weigh import Conditions
from tare.protocol.comparison.gate import Verdict
from tare.protocol.comparison.session_blocks import MOST_BLOCKS, ROUNDS, SessionGate
from tare.report.asked import Asked
from tare.report.comparison import COMPARED
from tare.report.gate_conditions import Request, judge, violated

NOT_MEASURED, BAD_REQUEST, FAILED, UNDECIDED = 1, 2, 3, 4
CODES = {Verdict.NOT_SLOWER: 0, Verdict.SLOWER: FAILED, Verdict.UNDECIDED: UNDECIDED}

GIT_BAD, GIT_SKIP, GIT_ABORT = 1, 125, 128
GIT = {NOT_MEASURED: GIT_SKIP, BAD_REQUEST: GIT_ABORT, FAILED: GIT_BAD, UNDECIDED: GIT_SKIP}
"""Exit codes for `git bisect run`, by those of a gate. An interrupt (130) aborts as it is."""


def run_gate(
    targets: Sequence[Target],
    queries: Sequence[Query],
    conditions: Conditions,
    asked: Asked,
    request: Request,
    most_s: float,
    outputs: Outputs,
    *,
    verbose: bool,
) -> None:
    """Weigh A, B and A again until decided, deliver the result, and raise typer.Exit with the gate's code.

    `queries`: A and B of each query. Raises UsageError."""
    if any(one.name == "plan" for one in request.conditions) and any(
        a.sql != b.sql for a, b in zip(queries[::2], queries[1::2], strict=True)
    ):
        raise UsageError(
            "--fail-if plan: two statements have plans of their own",
            "compare one statement on two servers (--a-db, --b-db) or under two settings (--a-set, --b-set)",
        )
    with_again: list[Query] = []
    for baseline, candidate in zip(queries[::2], queries[1::2], strict=True):
        with_again += [baseline, candidate, replace(baseline, name=f"{baseline.name} (again)")]
    assert asked.compare is not None
    gate = SessionGate(COMPARED[asked.compare], request.margin, most_s)
    weighed = weigh(
        targets,
        with_again,
        conditions,
        asked,
        lambda weigher: weigher.interleaved(
            partial(gate.enough, weigher.block_starts), ROUNDS * MOST_BLOCKS, asked.blocks, ROUNDS
        ),
        quiet=outputs.quiet,
        expected=None,
        gate=gate,
    )
    weighed = replace(weighed, result=judge(weighed.result, request.conditions))
    deliver(weighed, outputs, verbose=verbose)
    if any(map(violated, weighed.result.pairs)):
        raise typer.Exit(FAILED)
    raise typer.Exit(NOT_MEASURED if gate.verdict is None else CODES[gate.verdict])


@contextmanager
def git_codes(is_bisect: bool) -> Iterator[None]:
    """Block whose exit codes become those of `git bisect run`."""
    if not is_bisect:
        yield
        return
    try:
        yield
    except typer.Exit as end:
        raise typer.Exit(GIT.get(end.exit_code, end.exit_code)) from end
    except TareError as error:
        print(f"tare: {error}", file=sys.stderr)
        raise typer.Exit(GIT.get(error.exit_code, GIT_SKIP)) from error
