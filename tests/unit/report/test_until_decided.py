"""The report of a comparison until decided: its verdict is that of the last look, with the interval of that look."""

from __future__ import annotations

import dataclasses
import json

import jsonschema
import pytest

from tare.measure.choices import Blocks
from tare.measure.query import Query
from tare.measure.records import QE
from tare.protocol.comparison.looks import Claim, Question, Verdict
from tare.protocol.comparison.session_looks import ROUNDS, SessionLooks
from tare.protocol.measures import CPU
from tare.report.asked import Asked
from tare.report.document import as_json
from tare.report.kit import terminal
from tare.report.result import RunResult
from tare.report.schema import schema_text
from tare.report.time import short
from tare.report.time.story import story
from tests.unit.report import sample

QUERIES = [
    sample.QUERY,
    Query("sum", "SELECT sum(1) FROM lineitem"),
    Query("count (again)", sample.QUERY.sql),
]


def until_decided(factor: float, margin: float | None, blocks: int = 14, rsd: float = 0.01) -> RunResult:
    """Result of a run that is cut short after this many blocks, if it is not decided before."""
    looks = SessionLooks(CPU, Claim(Question.DIFFERENT, margin or 0.0), most_s=1e9)
    factors = (1.0, factor, 1.0)
    arms = [sample.noisy(blocks * ROUNDS, 55 * by, rsd, seed) for seed, by in enumerate(factors)]
    qes: list[QE] = []
    own: list[list[QE]] = [[] for _ in arms]
    starts: list[int] = []
    for number, together in enumerate(zip(*arms, strict=True)):
        if number % ROUNDS == 0:
            starts.append(len(qes))
        for query, one in enumerate(together):
            qes.append(dataclasses.replace(one, index=len(qes), query=query))
            own[query].append(qes[-1])
        if looks.enough(starts, own):
            break
    looks.conclude(starts, own)
    asked = Asked(ROUNDS, compare="cpu_ms", margin=margin, blocks=Blocks.SESSION)
    return sample.result(qes, QUERIES, asked, looks=looks)


def shown(result: RunResult) -> str:
    return " ".join(terminal.render(story(result), 80).split())


CASES = {
    "different": (1.2, 0.05, "B costs more CPU time than A by more than 5%: B takes 1.2"),
    "faster": (0.8, 0.05, "A costs more CPU time than B by more than 5%: B takes 0.8"),
    "equivalent": (1.0, 0.05, "A and B are equivalent in CPU time within 5%: B takes 1.0"),
    "undecided": (
        1.047,
        0.05,
        "It is undecided whether A and B differ in CPU time by more than 5%: B takes 1.0",
    ),
    "equal": (1.0, None, "No difference in CPU time between A and B is established: B takes "),
}


@pytest.mark.parametrize(("factor", "margin", "sentence"), CASES.values(), ids=CASES.keys())
def test_the_first_sentence_has_the_verdict_and_the_interval_that_holds(
    factor: float, margin: float | None, sentence: str
) -> None:
    result = until_decided(factor, margin)
    jsonschema.validate(json.loads(as_json(result)), json.loads(schema_text("result-v1")))
    found = result.comparison
    assert found is not None
    assert found.sequential is not None
    assert found.sequential.change is not None
    assert sentence in shown(result)
    assert f"{found.sequential.change.confidence * 100:.4g}% interval" in shown(result)
    assert "The verdict is drawn from the interval over blocks" in shown(result)
    lines = terminal.render(short.story(result), 80).splitlines()
    assert len(lines) <= 12
    assert "Noise floor: A again takes" in " ".join(" ".join(lines).split())


def test_an_undecided_run_names_the_blocks_that_would_decide_and_their_time() -> None:
    result = until_decided(1.045, 0.05, blocks=6, rsd=0.03)
    found = result.comparison
    assert found is not None
    assert found.verdict == Verdict.UNDECIDED
    assert found.blocks_needed is not None
    assert found.minutes_needed is not None
    assert f"some {found.blocks_needed} blocks (about " in shown(result)
    assert "would decide, and 6 were measured" in shown(result)


def test_a_run_without_a_whole_block_is_undecided() -> None:
    found = until_decided(1.5, 0.05, blocks=0).comparison
    assert found is None, "nothing was measured"
    result = until_decided(1.5, 0.05, blocks=1)
    assert result.comparison is not None
    assert (result.comparison.verdict, result.comparison.greater) == ("undecided", None)
    assert "too few blocks were measured" in shown(result)
