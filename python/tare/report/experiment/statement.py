"""The nine pieces of information of TTPv2 §9, from the data, and the two paragraphs made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tare.protocol.outcome import CheckCount, Level, Outcome
from tare.report.conditions.document import Run
from tare.report.experiment.document import Item, Statement
from tare.report.words import counted, gigabytes, joined, number, protocol_name, sentence, two_digits

NAMES = (
    "Protocol", "Hardware", "Operating system", "QEs per Q@C", "Resulting measures", "Deviations",
    "Experiment-wide sanity checks", "QEs and Q@Cs dropped", "Post-sanity checks",
)  # fmt: skip

_CACHES = {
    "warm": "warm (nothing emptied before an execution)",
    "lukewarm-os": "lukewarm (the operating system's page cache emptied before each execution)",
    "lukewarm-dbms": "lukewarm (the DBMS's own buffers emptied before each execution)",
    "cold": "cold (the DBMS's buffers and the operating system's page cache emptied before each execution)",
}

_MEASURES = {
    "ttp2": "calculated query evaluation time, the sum of computation (user and system time) and I/O time "
    "(block-I/O delay less half the overall I/O wait)",
    "ttp1": "calculated query evaluation time, the sum of computation (user and system time) and I/O time "
    "(I/O wait as a regression gives it from user time)",
}

_PARTS = {"cpu": "CPU run time", "block_io": "block-I/O delay", "run_queue": "run-queue wait"}


def statement(
    outcome: Outcome, runs: Sequence[Run], machines: Sequence[Mapping[str, Any]], parts: Sequence[str]
) -> Statement:
    """`parts`: what the calculated time is the sum of, by name."""
    texts = (
        _protocol(outcome, runs),
        _hardware(machines),
        _operating_system(machines),
        _repeats(runs),
        _measures(outcome, parts),
        _deviations(outcome, runs),
        _experiment_wide(outcome, runs),
        _dropped(outcome),
        _post(outcome),
    )
    items = [
        Item(number=place, name=name, text=text, complete=complete)
        for place, (name, (text, complete)) in enumerate(zip(NAMES, texts, strict=True), 1)
    ]
    return Statement(items=items, paragraphs=[_together(items[:6]), _together(items[6:])])


def _together(items: Sequence[Item]) -> str:
    return " ".join(item.text for item in items)


def _protocol(outcome: Outcome, runs: Sequence[Run]) -> tuple[str, bool]:
    servers = joined(sorted({f"{one.dbms} {one.version}" for one in runs}))
    short = protocol_name(outcome.protocol)
    told = [] if short.lower() in outcome.title.lower() else [short]
    told += [outcome.citation] if outcome.citation else []
    cited = f" ({'; '.join(told)})" if told else ""
    return f"Query times were measured with the {outcome.title}{cited} on {servers}.", True


def _hardware(machines: Sequence[Mapping[str, Any]]) -> tuple[str, bool]:
    told = joined(list(dict.fromkeys(map(_machine, machines))))
    disk = [str(one["storage"]) for one in machines if one.get("storage")]
    stored = (
        f" with {joined(list(dict.fromkeys(disk)))}"
        if disk
        else " (disk, board and network are not recorded)"
    )
    return f"The hardware was {told}{stored}.", bool(disk)


def _machine(facts: Mapping[str, Any]) -> str:
    cpus = facts.get("usable_cpus") or facts.get("online_cpus") or 0
    memory = gigabytes(facts["memory_bytes"]) if facts.get("memory_bytes") else "an unknown amount"
    where = f"a virtual machine under {facts['hypervisor']}" if facts.get("hypervisor") else "a machine"
    processor = facts.get("cpu_model") or "an unknown processor"
    return f"{where} with {processor}, {counted(cpus, 'CPU')} and {memory} of memory"


def _operating_system(machines: Sequence[Mapping[str, Any]]) -> tuple[str, bool]:
    told = [f"{one.get('operating_system')} with kernel {one.get('kernel')}" for one in machines]
    return f"It ran {joined(list(dict.fromkeys(told)))}.", all(
        one.get("operating_system") and one.get("kernel") for one in machines
    )


def _repeats(runs: Sequence[Run]) -> tuple[str, bool]:
    by_count = sorted({one.qes_per_qatc for one in runs})
    caches = list(dict.fromkeys(_CACHES.get(one.cache, one.cache) for one in runs))
    times = joined([number(count) for count in by_count])
    return (
        f"Each query was executed {times} time{'' if by_count == [1] else 's'} at each cardinality, "
        f"caches {joined(caches)}.",
        True,
    )


def _measures(outcome: Outcome, parts: Sequence[str]) -> tuple[str, bool]:
    named = joined([_PARTS.get(part, part.replace("_", " ")) for part in parts])
    what = (
        _MEASURES.get(outcome.protocol)
        or f"query evaluation time, the sum of {named} of the query's processes"
    )
    tick = "" if outcome.protocol == "exact" else f", in steps of half a tick of {outcome.tick_ns / 1e6:g} ms"
    return (
        f"The protocol provides the {what}, in ms{tick}: the median over the executions that it retained.",
        True,
    )


def _deviations(outcome: Outcome, runs: Sequence[Run]) -> tuple[str, bool]:
    of_runs = [deviation for one in runs for deviation in one.deviations]
    accepted = [
        f"violations of the check “{name}” were accepted"
        for name in outcome.accepted
        if not any(name in one for one in outcome.deviations)
    ]
    told = list(dict.fromkeys([*outcome.deviations, *of_runs, *accepted]))
    if not told:
        return "The protocol was followed with no deviation that was recorded.", True
    if len(told) == 1:
        return f"The protocol was followed with one deviation: {_unstopped(told[0])}.", True
    listed = "; ".join(f"({place}) {_unstopped(one)}" for place, one in enumerate(told, 1))
    return f"The protocol was followed with {number(len(told))} deviations: {listed}.", True


def _unstopped(text: str) -> str:
    return " ".join(text.split()).rstrip(".;")


def _experiment_wide(outcome: Outcome, runs: Sequence[Run]) -> tuple[str, bool]:
    checks = [one for one in outcome.checks if one.level == Level.EXPERIMENT]
    if not checks:
        return f"The {outcome.title} has no experiment-wide sanity checks.", True
    violated = [one for one in checks if one.violations]
    unjudged = [one for one in checks if one.unjudged and not one.judged]
    partly = [one for one in checks if one.unjudged and one.judged]
    of = f"the {number(len(checks))} experiment-wide sanity checks"
    if not violated:
        judged = "any of" if not unjudged else "those that could be judged of"
        text = f"No run ({len(runs)} in all) violated {judged} {of}."
    else:
        listed = joined([f"{_named(one)} ({_cases(one)})" for one in violated])
        text = f"Of {of}, {counted(len(violated), 'was', 'were')} violated over {counted(len(runs), 'run')}: {listed}."
    if outcome.stopped:
        text += f" This stopped the analysis ({_unstopped(outcome.stopped)}), so no time is reported."
    text += _unjudged(unjudged, "check", "could not be judged")
    text += _unjudged(partly, "check", "could be judged only in part")
    return text, not unjudged


def _unjudged(checks: Sequence[CheckCount], what: str, how: str) -> str:
    """Return a sentence about them, if there are any."""
    if not checks:
        return ""
    listed = joined([f"{_named(one)} ({one.unjudged})" for one in checks])
    return " " + sentence(f"{counted(len(checks), what)} {how}: {listed}")


def _named(check: CheckCount) -> str:
    return f"“{check.name}”"


def _cases(check: CheckCount) -> str:
    return f"{check.violations:,} of {check.judged:,}" if check.judged else f"{check.violations:,}"


def _dropped(outcome: Outcome) -> tuple[str, bool]:
    if outcome.stopped or not outcome.remaining:
        return "No QE and no Q@C was dropped, the analysis having stopped before.", False
    start, end = outcome.remaining[0], outcome.remaining[-1]
    if not start.qes or not start.qatcs:
        return "There were no QEs to drop.", False
    after_2 = [one for one in outcome.remaining if "step 2" in one.step.lower()]
    qes = 1 - (after_2[-1] if after_2 else end).qes / start.qes
    qatcs = 1 - end.qatcs / start.qatcs
    text = (
        f"{_about(qes)} of the {start.qes:,} QEs and {_about(qatcs).lower()} of the {start.qatcs:,} Q@Cs were dropped "
        "by QE and Q@C sanity checks."
    )
    unjudged = [
        one for one in outcome.checks if one.level != Level.EXPERIMENT and one.unjudged and not one.judged
    ]
    text += _unjudged(unjudged, "such check", "could not be judged")
    return text, not unjudged


def _about(share: float) -> str:
    return "None" if share == 0 else two_digits(share)


def _post(outcome: Outcome) -> tuple[str, bool]:
    if outcome.stopped:
        return "Post-sanity checks were not reached.", False
    first = {one.number: one for one in outcome.post}
    told = []
    complete = True
    for which, words in (
        (1, "excessive variation of the calculated time remained in {} of the retained Q@Cs"),
        (2, "{} of adjacent Q@C pairs violated strict monotonicity"),
        (3, "{} violated relaxed monotonicity"),
    ):
        one = first.get(which)
        if one is None or one.value is None:
            complete = False
            why = one.reason if one and one.reason else "not computed"
            told.append(f"{one.name if one else words.format('an unknown share')} is not known ({why})")
        elif one.unit == "share":
            told.append(words.format(two_digits(one.value)))
        else:
            told.append(words.format(f"{one.value:,.0f}"))
    return sentence(f"After this, {joined(told)}"), complete
