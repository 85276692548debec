"""The report as Markdown: findings, questions and tables, for a repository or a paper's notes."""

from __future__ import annotations

from collections.abc import Iterator

from tare.report.kit.markdown import plain, table
from tare.report.page.markdown import conditions, missing, reproduce
from tare.report.wisconsin import view
from tare.report.wisconsin.document import WisconsinReport
from tare.report.words import NOTHING
from tare.workload.wisconsin.published import CITATION, GIVEN_UP


def render(report: WisconsinReport) -> str:
    sheet = view.Sheet(report)
    blocks = [
        f"# {plain(report.title)}",
        f"Written {report.written_at[:10]} by Tare {report.written_by} from {plain(report.lab)}.",
        "## Findings",
        *map(plain, report.headline),
        *(f"Not finished: {plain(one)}." for one in report.unfinished),
        "Times are medians of elapsed time, with the distribution-free 95% interval of the median; n counts QEs. "
        "“Exact” is CPU and disk time by Tare's exact protocol.",
        *_questions(report),
    ]
    tables = view.tables_of_1983(report)
    if tables:
        blocks += [
            "## The eleven tables of 1983, and today's systems beside them",
            f"{plain(CITATION)}. Of 1983: seconds, means of ten queries. Of today: milliseconds.",
        ]
    for one in tables:
        blocks += _paper_table(view.paper_table(sheet, one))
    for each in view.every_query(sheet):
        blocks += _every(each)
    blocks += _indexes(report)
    blocks += _sizes(report)
    blocks += _answers(report)
    blocks += missing(report)
    blocks += conditions(report, report.exact.deviations)
    blocks += reproduce(report.commands, report.reproduction)
    return "\n\n".join(blocks) + "\n"


def _questions(report: WisconsinReport) -> Iterator[str]:
    yield "## The paper's questions, put to each system"
    head = ("question", *(one.label for one in report.systems))
    yield table(
        head,
        (
            [f"{one.question} ({one.source})", *(f"{of.verdict}: {of.short}" for of in one.answers)]
            for one in report.questions
        ),
    )


def _paper_table(found: dict[str, object]) -> Iterator[str]:
    today = found["today"]
    assert isinstance(today, list)
    columns, groups = found["columns"], found["groups"]
    assert isinstance(columns, list)
    assert isinstance(groups, list)
    names = [name for name, width in groups for _ in range(width)] or [""] * len(columns)
    heads = [f"{name}: {column}" if name else column for name, column in zip(names, columns, strict=True)]
    yield f"### Table {found['number']}. {plain(found['title'])}; {plain(found['note'])}"
    published = found["published"]
    assert isinstance(published, list)
    rows = [
        [f"{row['system']}, 1983", *(cell if cell == GIVEN_UP else f"{cell} s" for cell in row["cells"])]
        for row in published
    ]
    for row in today:
        rows.append([f"{row['system']}, elapsed", *(_ms(elapsed) for elapsed, _ in row["cells"])])
        rows.append([f"{row['system']}, exact", *(_ms(exact) for _, exact in row["cells"])])
        rows.append([f"{row['system']}, path", *(access or NOTHING for access in row["access"])])
    yield table(("system", *heads), rows)


def _ms(cell: view.Cell) -> str:
    return cell.text if cell.value == NOTHING else cell.text.replace(cell.value, f"{cell.value} ms", 1)


def _every(found: dict[str, object]) -> Iterator[str]:
    systems, rows = found["systems"], found["rows"]
    assert isinstance(systems, list)
    assert isinstance(rows, list)
    yield f"## Queries of {found['generation']} at {found['size']} tuples"
    head = ["query", "organisation"]
    for system in systems:
        head += [f"{system}, elapsed, ms", "exact, ms", "path"]
    yield table(
        head,
        (
            [
                f"{row['name']}: {row['title']}",
                row["organisation"],
                *(
                    part
                    for (elapsed, exact), access in zip(row["cells"], row["access"], strict=True)
                    for part in (elapsed.text, exact.text, access)
                ),
            ]
            for row in rows
        ),
    )


def _indexes(report: WisconsinReport) -> Iterator[str]:
    parts = view.speed_ups(report)
    if not parts:
        return
    yield "## What an index gives"
    yield "The heap's elapsed time over that with the index, with its 95% interval; n: QEs of each."
    head = ("operation", "by", *(one.label for one in report.systems))
    for part in parts:
        yield f"{part['generation']} at {part['size']} tuples:"
        yield table(
            head,
            (
                [
                    row["operation"],
                    row["organisation"],
                    *(_with_n(cell, cell["interval"]) for cell in row["cells"]),
                ]
                for row in part["rows"]
            ),
        )


def _sizes(report: WisconsinReport) -> Iterator[str]:
    rows = view.slopes(report)
    if not rows:
        return
    yield "## Cost over size"
    yield "Elapsed time grows as size to this power, with its 95% interval; n: QEs."
    head = ("query", "organisation", *view.slope_systems(report))
    yield table(
        head,
        (
            [
                f"{row['query']}: {row['title']}",
                row["organisation"],
                *(_with_n(cell, f"{cell['interval']} {cell['name']}") for cell in row["cells"]),
            ]
            for row in rows
        ),
    )


def _with_n(cell: dict[str, str], more: str) -> str:
    return f"{cell['value']} {more}{' n ' + cell['n'] if cell['n'] else ''}"


def _answers(report: WisconsinReport) -> Iterator[str]:
    of = report.answers
    yield "## Answers"
    yield (
        f"{of.equal} of {of.compared} variants that two systems or more ran gave the same rows; "
        f"{of.alone} ran on one alone."
    )
    if of.differing:
        yield table(
            ("query", "tuples", "variant", "rows and hash"),
            (
                [
                    one.query,
                    str(one.size),
                    str(one.variant),
                    "; ".join(f"{s}: {a}" for s, a in one.answers.items()),
                ]
                for one in of.differing
            ),
        )
