"""Sentences about a query and a run that stand with its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tare.protocol import measures
from tare.report.numbers import bytes_text, ms_text, percent
from tare.report.result import (
    AnswerResult,
    CacheResult,
    CheckResult,
    Environment,
    MeasureResult,
    PlanResult,
    PreemptionResult,
    QueryResult,
)
from tare.report.words import dbms_name


def runs(query: QueryResult) -> str:
    timed = sum(qe.sample is not None for qe in query.qes)
    text = f"{timed} run{'' if timed == 1 else 's'}"
    return f"{text} after {query.warmup.runs} warm-up" if query.warmup.runs else text


def statement(sql: str) -> str:
    """On one line, without the comment lines that head a file."""
    return " ".join(" ".join(line for line in sql.splitlines() if not line.lstrip().startswith("--")).split())


def name_without_sql(query: QueryResult, number: int) -> str:
    """Return the query's name, or its number where the name is the statement or begins with "query N: " and its
    beginning: the statement stands elsewhere."""
    flat = " ".join(query.sql.split())
    *label, start = query.name.split(": ", 1)
    is_sql = query.name == flat or (label == [f"query {number}"] and flat.startswith(start.rstrip("…")))
    return f"query {number}" if is_sql else query.name


def row_count(answer: AnswerResult) -> str:
    """The rows of an answer, with their bytes where a client received them as a copy."""
    rows = f"{answer.rows} row{'' if answer.rows == 1 else 's'}"
    return rows if answer.size_bytes is None else f"{rows} in {answer.size_bytes:,} bytes"


def answer(query: QueryResult) -> str:
    """Rows and hash, and what the comparison with the other runs gave."""
    found = query.answer
    if found.rows is None:
        return "unknown"
    if found.not_compared is not None:
        return f"{_row_counts(query)}, not compared: {found.not_compared}"
    rows = row_count(found)
    known = f"{rows}, hash {found.hash}" if found.hash else rows
    if not found.consistent:
        return f"{known} in the first timed run; others differ{largest_difference(found)}"
    return f"{known}, the same in every run{largest_difference(found)}{confirmed(found)}"


def confirmed(found: AnswerResult) -> str:
    """Name the reference that gives the same answer; nothing where there is none."""
    is_confirmed = found.reference is not None and found.reference_difference is None
    return f", and in {found.reference}" if is_confirmed else ""


def defects(query: QueryResult) -> Iterator[tuple[str, str]]:
    """Yield the defects of a query that has times, each with its name: an answer that differs from the reference's,
    and the error that ended its runs early."""
    found = query.answer
    if found.reference_difference is not None:
        yield "wrong answer", f"its answer differs from {found.reference}'s: {found.reference_difference}"
    if query.error is not None and query.outcome != "failed":
        yield "ended early", f"its runs ended early: {query.error}"


def is_answer_good(found: AnswerResult) -> bool:
    """Whether neither the other runs nor a reference gave another answer, as far as they were compared."""
    return (found.consistent or found.not_compared is not None) and found.reference_difference is None


def _row_counts(query: QueryResult) -> str:
    counts = [qe.rows for qe in query.qes if qe.sample is not None and qe.rows is not None]
    least, most = min(counts, default=0), max(counts, default=0)
    return f"{least} to {most} rows" if least < most else f"{most} row{'' if most == 1 else 's'}"


def largest_difference(found: AnswerResult) -> str:
    """The largest one between floating-point values, and how it was found; nothing where each has the same bits."""
    values = "sums of floating-point values" if found.by_sums else "floating-point values"
    if not found.largest_difference:
        return f" (by {values})" if found.by_sums else ""
    return f" ({values} to {found.largest_difference:.1e})"


def plan(found: PlanResult) -> str:
    if found.fingerprint is None:
        return "unknown"
    return f"{found.fingerprint}, {'the same in every run' if found.consistent else 'not the only one'}"


def preemption(found: PreemptionResult) -> str:
    return f"{found.count:g} times a run: CPU time up to {ms_text(found.bound_ms)} ({percent(found.share)}) too low"


def cache(found: CacheResult) -> str:
    verdict = {True: "proved", False: "NOT reached", None: "not proved"}[found.reached]
    return f"{found.asked}, {verdict}: {found.evidence}"


def failed_checks(query: QueryResult) -> Iterator[CheckResult]:
    return (check for check in query.checks if check.violated)


def check(found: CheckResult) -> str:
    where = f"{found.violated} of {found.judged} QEs, e.g. " if found.qes else ""
    return f"{found.name} ({found.source}, {found.number}): {where}{found.evidence[0].text}"


def missing(query: QueryResult) -> Iterator[tuple[str, str]]:
    """Labels of measures without a value, and why; those with one reason together."""
    yield from _gathered(query, lambda m: m.reason if m.median is None else None)


def missing_everywhere(queries: Sequence[QueryResult]) -> list[tuple[str, str]]:
    """Return the measures that no query has, for one and the same reason: said once. None for a single query."""
    if len(queries) < 2:
        return []
    found = [list(missing(query)) for query in queries]
    return [one for one in found[0] if all(one in other for other in found[1:])]


def notes(query: QueryResult) -> Iterator[tuple[str, str]]:
    """Labels of measures that have a value and something to bear in mind."""
    yield from _gathered(query, lambda m: m.note if m.median is not None else None)


def _gathered(query: QueryResult, choose: Callable[[MeasureResult], str | None]) -> Iterator[tuple[str, str]]:
    found: dict[str, list[str]] = {}
    for label, measure in labelled(query):
        why = choose(measure)
        if why is not None:
            on_one_line = "; ".join(line.strip() for line in why.splitlines())
            found.setdefault(on_one_line, []).append(label)
    for why, labels in found.items():
        yield ", ".join(labels), why


def environment(env: Environment) -> Iterator[tuple[str, str]]:
    """Machine, server and Tare itself."""
    machine = env.machine
    cpus = f"{machine.online_cpus} CPU{'' if machine.online_cpus == 1 else 's'}"
    if machine.usable_cpus < machine.online_cpus:
        cpus += f" ({machine.usable_cpus} usable)"
    virtual = f" under {machine.hypervisor}" if machine.hypervisor else ""
    yield (
        "machine",
        f"{machine.cpu_model}{virtual}, {cpus}, {bytes_text(machine.memory_bytes)}; "
        f"{env.operating_system}, Linux {env.kernel}",
    )
    yield "server", f"{dbms_name(env.server.dbms)} {env.server.version}"
    delay = {True: "on", False: "off", None: "not in this kernel"}[env.probe.delay_accounting]
    yield "probe", f"tier {env.probe.tier}, delay accounting {delay}"
    cost = env.tare.cost
    own = ""
    if cost.cpu_ms is not None and cost.snapshots_ms is not None and cost.rss_bytes is not None:
        share = "" if cost.share_of_wall is None else f" ({percent(cost.share_of_wall)} of wall)"
        own = (
            f": {ms_text(cost.cpu_ms)} CPU a QE{share}, snapshots {ms_text(cost.snapshots_ms)} outside the clocks, "
            f"{bytes_text(cost.rss_bytes)} of memory"
        )
    yield "Tare", f"{env.tare.version}{own}"


def labelled(query: QueryResult) -> Iterator[tuple[str, MeasureResult]]:
    """Every measure with its label; "all" marks a sum over processes whose label the leader has too. A result of an
    older Tare lacks some."""
    for label, measure in _labelled(query):
        if measure is not None:
            yield label, measure


def _labelled(query: QueryResult) -> Iterator[tuple[str, MeasureResult | None]]:
    for one in (*measures.ELAPSED, measures.INSTRUCTIONS):
        yield one.label, getattr(query.measures, one.name)
    if query.phases is not None:
        for one in measures.PHASES:
            yield one.label, getattr(query.phases, one.name)
    yield "TTPv2", query.measures.ttp2_ms
    own = {one.label for one in measures.ELAPSED}
    for one in measures.RESOURCES:
        if one in (measures.CPU_OF_LEADER, measures.CPU_OF_WORKERS):
            continue  # named only where there are workers
        yield (f"all {one.label}" if one.label in own else one.label), getattr(query.resources, one.name)
