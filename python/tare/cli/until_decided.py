"""`tare compare --until decided`: blocks until the verdict, whose error rate holds however often it is looked at.

A gate (`--fail-if`) weighs in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import typer

from tare.cli.option_groups import Outputs
from tare.cli.output import deliver
from tare.cli.weighing import Target, Weighed, weigh
from tare.measure.query import Query
from tare.measure.weigh import Conditions
from tare.protocol.comparison.looks import MOST_BLOCKS, Claim, Question
from tare.protocol.comparison.session_looks import ROUNDS, SessionLooks
from tare.report.asked import Asked
from tare.report.comparison import COMPARED

NOT_MEASURED, UNDECIDED = 1, 4
"""Exit codes."""


def weigh_until_decided(
    targets: Sequence[Target],
    queries: Sequence[Query],
    conditions: Conditions,
    asked: Asked,
    claim: Claim,
    most_s: float,
    *,
    quiet: bool,
) -> Weighed:
    """Weigh A, B and A again in blocks until the claim is decided or the time is over, s. `queries`: A and B of each
    query. Raises TareError for what fails before the first reading."""
    pairs = zip(queries[::2], queries[1::2], strict=True)
    with_again = [query for a, b in pairs for query in (a, b, replace(a, name=f"{a.name} (again)"))]
    assert asked.compare is not None
    looks = SessionLooks(COMPARED[asked.compare], claim, most_s)
    return weigh(
        targets,
        with_again,
        conditions,
        asked,
        lambda weigher: weigher.interleaved(
            partial(looks.enough, weigher.block_starts), ROUNDS * MOST_BLOCKS, asked.blocks, ROUNDS
        ),
        quiet=quiet,
        expected=None,
        looks=looks,
    )


def run_until_decided(
    targets: Sequence[Target],
    queries: Sequence[Query],
    conditions: Conditions,
    asked: Asked,
    most_s: float,
    outputs: Outputs,
) -> None:
    """Weigh until decided and deliver the result. Raises typer.Exit where not all queries are decided."""
    claim = Claim(Question.DIFFERENT, asked.margin or 0.0)
    weighed = weigh_until_decided(targets, queries, conditions, asked, claim, most_s, quiet=outputs.quiet)
    deliver(weighed, outputs)
    found = weighed.result.pairs
    if len(found) < len(queries) // 2:
        raise typer.Exit(NOT_MEASURED)
    if any(one.verdict == "undecided" for one in found):
        raise typer.Exit(UNDECIDED)
