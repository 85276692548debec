"""The story of a trace: what limits each query, the paper's tables, and the checks of the trace on itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tare.os.checks import Agreement
from tare.os.findings import Kind
from tare.os.levels import Level
from tare.report.kit.blocks import (
    Block,
    Charts,
    Code,
    Facts,
    Item,
    Items,
    Paragraph,
    Section,
    Story,
    Tone,
    WarningBlock,
)
from tare.report.kit.blocks import Verdict as Answer
from tare.report.numbers import bytes_text, ms_text, percent
from tare.report.os import tables
from tare.report.os.document import FindingReport, OsReport, StageReport, cpu_in_calls, time_of
from tare.report.words import counted, joined, sentence

if TYPE_CHECKING:
    from tare.report.charts.chart import Chart, NoChart

_LIMITS = (Kind.CPU, Kind.DISK, Kind.RUN_QUEUE)


def story(report: OsReport) -> Story:
    return Story(
        title=report.title,
        under=f"written {report.written_at[:10]} by Tare {report.written_by}",
        written_by=report.written_by,
        blocks=list(_blocks(report)),
    )


def _blocks(report: OsReport) -> Iterator[Block]:
    first, *rest = _headline(report)
    yield Answer("", first, _tone(report))
    for text in rest:
        yield Paragraph(text)
    yield from _warnings(report)
    found = [(stage, finding) for stage in report.stages for finding in stage.findings]
    if found:
        items = [Item(_finding(stage, finding, report), "•") for stage, finding in found]
        yield Section("findings", "Findings", [Items(items)])
    yield Section("profile", "System profile", [*tables.profile(report)])
    yield Section("roles", "Where the time of threads went", [tables.roles(report), *tables.resting(report)])
    if report.level.has_calls:
        yield Section("calls", "System calls", [tables.calls(report)])
    if any(role.counts.get("pages_requested") for _, _, role in tables.all_roles(report)):
        yield Section("cache", "Page cache", [tables.cache(report), Paragraph(tables.CACHE, Tone.QUIET)])
    messages = [(stage, stage.multicast) for stage in report.stages if stage.multicast]
    if messages:
        yield Section("messages", "Messages between nodes", [*tables.messages(messages)])
    yield Section("charts", "Charts", [Charts(partial(_charts, report))], printed=False)
    if report.level is not Level.PROC:
        yield Section("checks", "Checks of the trace", [*tables.checks(report), *tables.price(report)])
    yield Section("conditions", "Conditions", [Facts("", list(_facts(report)))], printed=False)
    yield Section("reproduce", "The same trace", [Code(report.command, copied=True)], printed=False)


# The answer ----------------------------------------------------------------------------------
def _headline(report: OsReport) -> list[str]:
    measured = [stage for stage in report.stages if stage.executions]
    failed = [stage for stage in report.stages if stage.error]
    if not measured:
        return [
            f"Nothing was traced: {failed[0].name} failed: {failed[0].error}"
            if failed
            else "Nothing was traced."
        ]
    texts = [_sentence(measured[0], report)] if len(measured) == 1 else [_many(measured)]
    if report.interrupted:
        texts.append("The trace was ended early; what was traced until then is reported.")
    if failed:
        texts.append(f"Failed: {joined([f'{stage.name} ({stage.error})' for stage in failed])}.")
    return texts


def _sentence(stage: StageReport, report: OsReport) -> str:
    elapsed = stage.elapsed
    whole = time_of(stage.roles)
    in_calls = cpu_in_calls(stage.roles)
    used = f"{whole.on_cpu / elapsed:.2f} CPUs"
    split = f" ({percent(in_calls / whole.on_cpu)} of it in system calls)" if in_calls else ""
    where = (
        f"{stage.name} ({ms_text((stage.wall or 0) / 1e6)})"
        if stage.sql
        else f"In {ms_text(elapsed / 1e6)} the load"
    )
    read = sum(role.counts.get("block_read_bytes", 0) for role in stage.roles) / max(1, stage.executions)
    known = any("block_read_bytes" in role.counts for role in stage.roles)
    disk = f", read {bytes_text(read)} from disk" if read else ", read nothing from disk" if known else ""
    each = " each time" if stage.executions > 1 else ""
    return f"{where} used {used}{split}{disk}{each}{_limit(stage)}."


def _limit(stage: StageReport) -> str:
    limits = [finding for finding in stage.findings if finding.kind in _LIMITS]
    if not limits:
        return "; nothing that the system shows limits it" if stage.sql else ""
    strongest = max(limits, key=lambda finding: finding.share)
    return f"; {_LIMIT_WORDS[strongest.kind]} limits it ({strongest.role}, {percent(strongest.share)} of the time)"


_LIMIT_WORDS = {
    Kind.CPU: "computing in one process at a time",
    Kind.DISK: "waiting for the disk",
    Kind.RUN_QUEUE: "waiting for a CPU",
}


def _many(stages: Sequence[StageReport]) -> str:
    named: dict[str, list[str]] = {}
    for stage in stages:
        limits = [finding for finding in stage.findings if finding.kind in _LIMITS]
        word = _LIMIT_WORDS[max(limits, key=lambda one: one.share).kind] if limits else "nothing visible"
        named.setdefault(word, []).append(stage.name)
    parts = [f"{word} limits {joined(names)}" for word, names in named.items()]
    return sentence(f"{counted(len(stages), 'query', 'queries')} traced: {'; '.join(parts)}.")


def _tone(report: OsReport) -> Tone:
    measured = [stage for stage in report.stages if stage.executions]
    if not measured or not all(stage.is_whole for stage in measured):
        return Tone.BAD
    doubtful = report.interrupted or any(check.agreement is Agreement.DIFFERS for check in report.checks)
    return Tone.CAUTION if doubtful else Tone.GOOD


def _warnings(report: OsReport) -> Iterator[Block]:
    if report.refused:
        yield WarningBlock(
            "only /proc could be read",
            f"{report.refused}; so calls, waits for the disk, page cache, block requests and messages are missing",
            "run as root, or with CAP_BPF and CAP_PERFMON",
        )
    for stage in report.stages:
        lost = {name: n for name, n in stage.lost.items() if n}
        if lost:
            yield WarningBlock(
                "the trace is not whole",
                f"{stage.name} lost {joined([f'{n} {name}' for name, n in lost.items()])}: counts are too low",
                "trace fewer nodes, a shorter time, or --level light",
            )
    differing = [check for check in report.checks if check.agreement is Agreement.DIFFERS]
    if differing:
        named = joined([f"{check.quantity.value} ({percent(check.difference)})" for check in differing])
        yield WarningBlock(
            "the trace and the kernel disagree",
            f"by more than 1%: {named}",
            "do not rely on these figures; the table of checks has both",
        )
    encrypted = [s.name for s in report.stages if s.multicast and s.multicast.tls_share > 0.5]
    if encrypted:
        yield WarningBlock(
            "messages are encrypted",
            f"most messages of {joined(encrypted)} are TLS records, so equal contents do not look equal",
            "switch TLS between nodes off, or do not read the figures of multicast",
        )


def _finding(stage: StageReport, finding: FindingReport, report: OsReport) -> str:
    place = finding.node if len(report.nodes) > 1 else ""
    who = joined([part for part in (place, finding.role) if part]).replace(" and ", ", ")
    share = percent(finding.share)
    of_time = f"{share} of the elapsed time"
    texts = {
        Kind.CPU: f"{who} computes for {of_time}",
        Kind.DISK: f"{who} waits for the disk for {of_time}",
        Kind.RUN_QUEUE: f"{who} waits for a CPU for {of_time}: CPUs are contended, or a quota is used up",
        Kind.READING: f"{place or 'the system'} spends {of_time} computing in read calls, without waits for the disk",
        Kind.SKEW: f"{who} uses {finding.share:.1f} times the CPU time of the mean node: the work is shared unequally",
        Kind.READ_AHEAD: f"{share} of {who}'s buffered reads find their pages not ready: read-ahead does not keep up",
        Kind.REPEATED: f"{share} of the messages repeat a content that their sender also sent elsewhere: a multicast "
        "could have carried them",
    }
    prefix = f"{stage.name}: " if len(report.stages) > 1 else ""
    text = texts[finding.kind]
    return prefix + text if prefix else text[0].upper() + text[1:]


def _facts(report: OsReport) -> Iterator[tuple[str, str]]:
    yield "traced", report.target
    yield "nodes", ", ".join(report.nodes)
    yield "level", report.level.value
    yield "kernel", f"Linux {report.kernel}, {counted(report.online_cpus, 'CPU')}"


def _charts(report: OsReport) -> Sequence[Chart | NoChart]:
    from tare.report.os.charts import charts

    return charts(report)
