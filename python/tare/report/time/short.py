"""The short form of a run's report: the answer first, in at most twelve lines of a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from tare.report.kit.blocks import Block, Cell, Facts, Item, Items, Tone, Verdict
from tare.report.kit.terminal import lines as printed
from tare.report.numbers import percent
from tare.report.result import MeasureResult, QueryResult, RunResult
from tare.report.safe import short as cut
from tare.report.time import comparison, lines, sets, story
from tare.report.time.comparison import LABELS, gate_facts, order
from tare.report.warnings import SPARE_THE_TIMES, AnswersDiffer, AnswersUnchecked, type_name
from tare.report.words import joined

MOST_LINES = 12
"""Most lines of a query or a comparison. Several queries take a line each besides."""

NAMED = 0.05  # of the wall time: what took less has no words in the first sentence
BLAMED = 0.5  # of the wait for a CPU: processes that used less of the query's CPUs are not named for it
_MORE = "-v prints all of it, --html FILE writes the report"
_ROOM = (
    (2, True),
    (2, False),
    (1, True),
    (1, False),
    (0, False),
)  # warnings shown, and whether with next steps

_FIRST = (type_name(AnswersDiffer), type_name(AnswersUnchecked))

_WAITS = {name: words for name, words in lines.PART_WORDS.items() if name != "cpu"}


def short(result: RunResult, width: int) -> list[Block]:
    """Blocks that a terminal of this width shows: warnings give way first, then facts."""
    head, facts = list(_head(result)), list(_facts(result))
    most = MOST_LINES + (len(result.results) if result.comparison is None and len(result.results) > 1 else 0)
    most += 2 * len(result.arms)
    most += sum(len(list(printed([items], width))) for items in story.error_items(result))
    tries = [(len(facts), *room) for room in _ROOM if room[0]]
    tries += [(kept, *room) for kept in range(len(facts), -1, -1) for room in _ROOM[-2:]]
    for kept, shown, steps in tries:
        blocks: list[Block] = [*head, Facts("", facts[:kept]), Items(list(_items(result, shown, steps)))]
        if sum(1 for _ in printed(blocks, width)) <= most:
            return blocks
    return head


def sentence(query: QueryResult) -> str:
    """Sentence on the query's cost, and on what its wall time went into."""
    cpu, wall = query.resources.cpu_ms, query.measures.wall_ms
    if cpu.median is None:
        cpu = query.measures.cpu_ms
    if cpu.median is None:
        return f"Wall {value(wall)}; its CPU time is not known here."
    processes = query.resources.processes.median or 1
    where = f" in {processes:g} processes" if processes > 1 else ""
    return f"{value(cpu)} of CPU{where}{_within(cpu)}. Wall {value(wall)}: {joined(list(_went_into(query)))}."


def value(measure: MeasureResult) -> str:
    """The median without its interval, in the digits that this allows."""
    shown = story.figure(measure).cell()
    return f"{shown.value} {shown.unit}".strip()


def _within(measure: MeasureResult) -> str:
    if measure.ci95 is None or not measure.median:
        return ""
    half = max(measure.ci95[1] - measure.median, measure.median - measure.ci95[0]) / measure.median
    return f", ±{percent(half)}" if 0 < half <= 1 else ", ± more than itself" if half else ""


def _went_into(query: QueryResult) -> Iterator[str]:
    means = lines.mean_parts(query)
    if means is None or not means.wall:
        cpu, wall = query.measures.cpu_ms.median, query.measures.wall_ms.median
        known = f"{percent(cpu / wall)} on a CPU; " if cpu is not None and wall else ""
        yield f"{known}what it waited for is not known here"
        return
    shares = {name: part / means.wall for name, part in means.parts.items()}
    waits = sorted(
        (name for name in _WAITS if shares.get(name, 0.0) >= NAMED), key=lambda name: -shares[name]
    )[:2]
    if not waits or shares["cpu"] >= shares[waits[0]]:
        yield f"{percent(shares['cpu'])} on a CPU"
    for name in waits:
        who = _who_ran(query, means.parts[name]) if name == "run_queue" else ""
        yield f"{percent(shares[name])} {_WAITS[name]}{who}"


def _who_ran(query: QueryResult, waited_ms: float) -> str:
    """Processes that used the query's CPUs while it waited for one, where they explain the wait."""
    near = sorted(query.disturbers, key=lambda one: -one.on_query_cpus_ms)
    if sum(one.on_query_cpus_ms for one in near) < BLAMED * waited_ms:
        return " that its own processes shared" if (query.resources.processes.median or 1) > 1 else ""
    names = dict.fromkeys(
        "Tare" if one.role == "executor" else one.comm
        for one in near
        if one.on_query_cpus_ms >= near[0].on_query_cpus_ms / 5
    )
    return f" that {joined(list(names)[:2])} used"


def _head(result: RunResult) -> Iterator[Block]:
    if result.comparison is not None:
        whole = story.compared(result)
        yield Verdict("", whole.text, whole.tone, story.cut_short(result))
    elif result.comparisons:
        whole = story.compared_set(result)
        yield Verdict("", whole.text, whole.tone, story.cut_short(result))
        yield from sets.blocks(result)
    elif len(result.results) == 1:
        yield _answer(result.results[0], result)
    else:
        if why := story.cut_short(result):
            yield Verdict("", f"{why[0][:1].upper()}{why[0][1:]}.", Tone.CAUTION)
        yield story.side_by_side(result)
    yield from story.error_items(result)


def _answer(query: QueryResult, result: RunResult) -> Verdict:
    if query.outcome == "failed":
        return story.failed(query, result)
    changed = not lines.answer_as_asked(query.answer)
    tone = Tone.BAD if changed else story.tone(story.touching(query, result), result)
    return Verdict("", sentence(query), tone, story.cut_short(result))


def _facts(result: RunResult) -> Iterator[tuple[str, Cell | str]]:
    if (found := result.comparison) is not None:
        chosen = found.measures[found.primary]
        yield from comparison.arm_facts(result.arms)
        for letter, query in zip("AB", result.results, strict=False):
            measure = query.resources if found.primary.startswith("resources.") else query.measures
            cost = story.figure(getattr(measure, found.primary.rpartition(".")[2])).text
            yield letter, f"{cost} of {LABELS[found.primary]}: {cut(lines.statement(query.sql), 50)}"
        yield "runs", f"{chosen.runs[0]} + {chosen.runs[1]}, {order(found)}"
        yield from gate_facts(found)
        return
    if len(result.results) != 1 or result.results[0].outcome == "failed":
        return
    query = result.results[0]
    yield "query", cut(lines.statement(query.sql), 66)
    fine = lines.answer_as_asked(query.answer)
    answer = lines.answer(query.answer, with_hash=False)
    made = f"{lines.runs(query)}, {lines.cache_state(query.cache)}; {answer}"
    yield "runs", Cell(made, tone=Tone.PLAIN if fine else Tone.BAD)
    bound = lines.preempted(query)
    cpu = story.figure(query.resources.cpu_ms).text
    yield "CPU", f"{cpu}; {bound}" if bound else cpu
    yield "wall", _wall(query)


def _wall(query: QueryResult) -> str:
    means = lines.mean_parts(query)
    shown = story.figure(query.measures.wall_ms).text
    return f"{shown}; mean {means.text}" if means else shown


def _items(result: RunResult, shown: int, steps: bool) -> Iterator[Item]:
    several = len(result.results) > 1
    ranked = sorted(result.warnings, key=lambda one: (one.type not in _FIRST, one.type in SPARE_THE_TIMES))
    for one in ranked[:shown]:
        about = f" ({one.query})" if one.query and several else ""
        step = f"; next: {one.next_step}" if steps else ""
        yield Item(f"{one.cause}{about}{step}", "!", Tone.CAUTION)
    left = len(result.warnings) - min(shown, len(result.warnings))
    more = f"{left} {'more ' if shown else ''}warning{'' if left == 1 else 's'}; " if left else ""
    yield Item(f"{more}{_MORE}", "·", Tone.QUIET)
