"""The questions that the paper asks, answered for each system from its own measurements."""

from __future__ import annotations

from collections.abc import Iterator

from tare.report.wisconsin.document import Question
from tare.report.wisconsin.measured import Measurements
from tare.report.wisconsin.questions import aggregates, duplicates, joins, nonclustered, updates

ASKED = (
    nonclustered.ASKED,
    aggregates.LEAST_KEY,
    aggregates.PARTITIONS,
    joins.ASKED,
    duplicates.ASKED,
    updates.ASKED,
)


def questions(measured: Measurements) -> Iterator[Question]:
    for one in ASKED:
        yield Question(
            key=one.key,
            question=one.question,
            source=one.source,
            answers=[one.answer(measured, system) for system in measured.systems],
        )
