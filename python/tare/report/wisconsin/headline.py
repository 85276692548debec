"""The findings in a few sentences, from the report's own numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tare.report.numbers import fixed
from tare.report.wisconsin.document import Answers, SpeedUp, System
from tare.report.wisconsin.measured import Measurements
from tare.report.wisconsin.words import factor, inverse, label, of_ms
from tare.report.words import counted, joined
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.published import SYSTEMS, table
from tare.workload.wisconsin.query import Class


def headline(measured: Measurements, answers: Answers, speed_ups: Sequence[SpeedUp]) -> Iterator[str]:
    yield _what_ran(measured)
    yield _of_answers(answers, measured.systems)
    yield from beside_1983(measured)
    yield from _largest(measured, speed_ups)


def _what_ran(measured: Measurements) -> str:
    parts = []
    for generation in Generation:
        queries = {one.query.name for one in measured.seen if one.query.generation is generation}
        if queries:
            sizes = joined([fixed(size, 0) for size in measured.sizes(generation)])
            parts.append(f"{counted(len(queries), 'query', 'queries')} of {generation} at {sizes} tuples")
    qes = sum(len(one.samples) for one in measured.seen)
    return (
        f"{joined([one.label for one in measured.systems])} ran {joined(parts) or 'nothing'}: "
        f"{fixed(len(measured.seen), 0)} Q@Cs, {fixed(qes, 0)} QEs."
    )


def _of_answers(answers: Answers, systems: Sequence[System]) -> str:
    if not answers.compared:
        only = "there is one system" if len(systems) == 1 else "no two systems ran the same query"
        return f"Answers could not be compared, for {only}; each was held against its definition when it ran."
    what = f"{fixed(answers.compared, 0)} variants that two systems or more ran"
    if answers.equal == answers.compared:
        return f"All answers agree: {what} gave the same rows everywhere."
    other = sum(not one.same_statements for one in answers.differing)
    why = f" (in {fixed(other, 0)} of them the runs' statements differ too)" if other else ""
    return (
        f"Answers differ in {fixed(len(answers.differing), 0)} of {what}{why}; section “Answers” names them."
    )


def beside_1983(measured: Measurements) -> Iterator[str]:
    """The published queries: by how much the paper's fastest took longer than today's slowest."""
    pairs = []
    for query in dict.fromkeys(one.query for one in measured.seen if one.query.published):
        assert query.published is not None
        number, column = query.published
        best = min(table(number).of(system, column).seconds for system in SYSTEMS) * 1e3
        today = [one.timed.elapsed.ms for one in measured.seen if one.query == query]
        known = [ms for ms in today if ms is not None]
        if known:
            pairs.append((max(known), best))
    if pairs:
        slower = [1 for today, best in pairs if today >= best]
        least, most = min(today for today, _ in pairs), max(today for today, _ in pairs)
        first, last = min(best for _, best in pairs), max(best for _, best in pairs)
        yield (
            f"Of the {len(pairs)} queries that the paper prints, today's slowest system takes {of_ms(least)} to "
            f"{of_ms(most)}; the fastest of 1983 took {of_ms(first)} to {of_ms(last)}"
            + (f" and was the faster in {counted(len(slower), 'case')}." if slower else ".")
        )


def _largest(measured: Measurements, speed_ups: Sequence[SpeedUp]) -> Iterator[str]:
    queries = {(one.generation.value, one.name): label(one) for one in measured.queries}

    def named(one: SpeedUp) -> str:
        return f"{queries[one.generation, one.query]} ({one.generation}, {fixed(one.size, 0)} tuples)"

    for system in measured.systems:
        own = [one for one in speed_ups if one.system == system.label and one.ratio.established]
        best = max(own, key=lambda one: one.ratio.estimate, default=None)
        if best is None or best.ratio.estimate <= 1:
            continue
        paying = [one for one in own if one.kind == Class.UPDATE or measured.may_use_index(one)]
        worst = min(paying or own, key=lambda one: one.ratio.estimate)
        text = f"{system.label}: an index helps most in {named(best)}, {factor(best.ratio)} times as fast as the heap"
        if worst.ratio.estimate < 1:
            text += f"; it harms most in {named(worst)}, {factor(inverse(worst.ratio))} times as long"
        yield text + "."
