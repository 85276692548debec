"""The paper's eleven tables, each column with the query that asks the same today."""

from __future__ import annotations

from collections.abc import Iterator

from tare.report.wisconsin.document import Column, PaperTable
from tare.workload.wisconsin.catalogue import catalogue
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.published import TABLES


def paper_tables() -> Iterator[PaperTable]:
    of = {one.published: one.name for one in catalogue(Generation.Y1983) if one.published is not None}
    for table in TABLES:
        yield PaperTable(
            number=table.number,
            title=table.title,
            note=table.note,
            columns=[
                Column(
                    key=column.key,
                    heading=column.heading,
                    group=column.group,
                    query=of.get((table.number, column.key)),
                )
                for column in table.columns
            ],
            published_s={
                system: [one.printed for one in elapsed] for system, elapsed in table.elapsed.items()
            },
        )
