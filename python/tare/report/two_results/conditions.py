"""Conditions of two results: what differs is listed, and what makes them measures of different things is refused."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from tare.errors import UsageError
from tare.report.numbers import bytes_text
from tare.report.result import Environment, QueryResult, RunResult
from tare.report.two_results.document import Difference

Pair = tuple[QueryResult, QueryResult]

_PHASES = ("--setup", "--prepare", "--conclude", "--cleanup")
_CLOCKED = {"total": "planning and execution are clocked", "execution": "only execution is clocked"}


def pairs(old: RunResult, new: RunResult) -> list[Pair]:
    """Return the queries of both results that have the same name, in the order of the old one. A query that stands
    alone in each is a pair, whatever its name.

    Raises UsageError if there is none."""
    if len(old.results) == len(new.results) == 1:
        return [(old.results[0], new.results[0])]
    later = keyed(new.results)
    found = [(one, later[key]) for key, one in keyed(old.results).items() if key in later]
    if not found:
        names = [", ".join(query.name for query in result.results[:3]) or "no query" for result in (old, new)]
        raise UsageError(
            f"the two results have no query of the same name: {names[0]}; {names[1]}",
            "weigh the same files with -f, or the same statements",
        )
    return found


def keyed(queries: Sequence[QueryResult]) -> dict[tuple[str, int], QueryResult]:
    """Return the queries by name and, where several have one name, by place among these."""
    found: dict[tuple[str, int], QueryResult] = {}
    for query in queries:
        place = sum(name == query.name for name, _ in found)
        found[query.name, place] = query
    return found


def refuse_unlike(old: RunResult, new: RunResult, paired: Sequence[Pair], files: tuple[str, str]) -> None:
    """Raises UsageError where the two measured different things."""
    if old.clocked != new.clocked:
        raise UsageError(
            f"in {files[0]} {_CLOCKED[old.clocked]}, in {files[1]} {_CLOCKED[new.clocked]}",
            "weigh both with --execution-only, or both without it",
        )
    for one, other in paired:
        if one.cache.asked != other.cache.asked:
            raise UsageError(
                f"{one.name}: the cache is {one.cache.asked} in {files[0]} and {other.cache.asked} in {files[1]}",
                "weigh both with the same --cache",
            )
        if one.name == other.name and _flat(one.sql) != _flat(other.sql):
            raise UsageError(
                f"{one.name}: the statement in {files[0]} is not the one in {files[1]}",
                "to compare two statements, weigh both in one run: tare compare -f a.sql -f b.sql --db URL",
            )


def differences(old: RunResult, new: RunResult, paired: Sequence[Pair]) -> list[Difference]:
    """Return every recorded condition that differs: of the queries first, then of server and machine."""
    found = [
        Difference(what=what, query=one.name, old=before, new=after)
        for one, other in paired
        for what, before, after in _of_query(one, other)
    ]
    earlier, later = _of_run(old), _of_run(new)
    found += [
        Difference(what=what, query=None, old=earlier.get(what), new=later.get(what))
        for what in dict.fromkeys([*earlier, *later])
    ]
    return [one for one in found if one.old != one.new]


def _of_query(old: QueryResult, new: QueryResult) -> Iterator[tuple[str, str | None, str | None]]:
    yield "answer", _answer(old), _answer(new)
    yield "name", old.name, new.name
    yield "statement", _flat(old.sql), _flat(new.sql)
    yield "plan", old.plan.fingerprint, new.plan.fingerprint
    yield "cache", _cache(old), _cache(new)
    yield "comparison of answers", old.answer.compared, new.answer.compared


def _answer(query: QueryResult) -> str | None:
    answer = query.answer
    if answer.rows is None or answer.not_compared is not None:
        return None
    if not answer.consistent:
        return "not the same in every run"
    by_bits = "" if answer.largest_difference is None else " of every bit of its floating-point values"
    return f"{answer.rows} rows, hash{by_bits} {answer.hash}"


def _cache(query: QueryResult) -> str:
    state = {True: "proved", False: "NOT reached", None: "not proved"}[query.cache.reached]
    return f"{query.cache.asked}, {state}"


def _of_run(result: RunResult) -> dict[str, str]:
    env = result.environment
    return {
        **_given_phases(result.command),
        "DBMS": env.server.dbms,
        "server version": env.server.version,
        **{f"setting {name}": value for name, value in env.server.settings.items()},
        "server URL": env.server.url,
        **_of_machine(env),
        "Tare": env.tare.version,
        "Python": env.tare.python,
    }


def _of_machine(env: Environment) -> dict[str, str]:
    machine = env.machine
    return {
        "CPU": machine.cpu_model,
        "CPUs online": str(machine.online_cpus),
        "CPUs usable": str(machine.usable_cpus),
        "memory": bytes_text(machine.memory_bytes),
        "hypervisor": machine.hypervisor or "none",
        "kernel": env.kernel,
        "operating system": env.operating_system,
        "probe": f"tier {env.probe.tier}",
        "delay accounting": {True: "on", False: "off", None: "unknown"}[env.probe.delay_accounting],
    }


def _given_phases(command: str) -> dict[str, str]:
    """Values of the options that run statements or commands around the queries."""
    try:
        words = shlex.split(command)
    except ValueError:
        return {}
    found: dict[str, list[str]] = {}
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name, sign, value = word.partition("=")
        if name in _PHASES:
            found.setdefault(name, []).append(value if sign else following)
    return {name: "; ".join(values) for name, values in found.items()}


def _flat(sql: str) -> str:
    return " ".join(sql.split())
