"""`tare compare --fail-if`: a comparison as a gate, with its exit codes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import typer

from tare.cli.option_groups import Outputs
from tare.cli.output import deliver
from tare.cli.until_decided import NOT_MEASURED, UNDECIDED, weigh_until_decided
from tare.cli.weighing import Target
from tare.errors import TareError, UsageError
from tare.measure.query import Query
from tare.measure.weigh import Conditions
from tare.protocol.comparison.looks import Claim, Question
from tare.report.asked import Asked
from tare.report.comparison_models import ComparisonResult
from tare.report.gate_conditions import GateRequest, judge, violated

BAD_REQUEST, FAILED = 2, 3
CODES = {"not slower": 0, "slower": FAILED, "undecided": UNDECIDED}

_GRAVITY = (0, UNDECIDED, FAILED)
"""Codes of the queries of a set: the last one that occurs is the set's."""

GIT_BAD, GIT_SKIP, GIT_ABORT = 1, 125, 128
GIT = {NOT_MEASURED: GIT_SKIP, BAD_REQUEST: GIT_ABORT, FAILED: GIT_BAD, UNDECIDED: GIT_SKIP}
"""Exit codes for `git bisect run`, by those of a gate. An interrupt (130) aborts as it is."""


def run_gate(
    targets: Sequence[Target],
    queries: Sequence[Query],
    conditions: Conditions,
    asked: Asked,
    request: GateRequest,
    most_s: float,
    outputs: Outputs,
) -> None:
    """Weigh A, B and A again until decided, deliver the result, and raise typer.Exit with the gate's code.

    `queries`: A and B of each query. Raises UsageError."""
    pairs = list(zip(queries[::2], queries[1::2], strict=True))
    if any(one.name == "plan" for one in request.conditions) and any(a.sql != b.sql for a, b in pairs):
        raise UsageError(
            "--fail-if plan: two statements have plans of their own",
            "compare one statement on two servers (--a-db, --b-db) or under two settings (--a-set, --b-set)",
        )
    claim = Claim(Question.SLOWER, request.margin)
    weighed = weigh_until_decided(targets, queries, conditions, asked, claim, most_s, quiet=outputs.quiet)
    weighed = replace(weighed, result=judge(weighed.result, request.conditions))
    deliver(weighed, outputs)
    found = weighed.result.pairs
    if len(found) < len(pairs) or any(one.gate is None for one in found):
        raise typer.Exit(NOT_MEASURED)
    raise typer.Exit(max(map(_code, found), key=_GRAVITY.index))


def _code(found: ComparisonResult) -> int:
    assert found.gate is not None
    return FAILED if violated(found) else CODES[found.gate.verdict]


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
