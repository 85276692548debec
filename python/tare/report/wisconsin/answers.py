"""Whether the systems gave the same answers: query by query, size by size and variant by variant."""

from __future__ import annotations

from tare.report.wisconsin.document import Answers, Differing
from tare.report.wisconsin.measured import Measurements
from tare.workload.wisconsin.kinds import Generation

VARIANTS = 10
"""QE 11 runs the variant of QE 1 again."""


def answers(measured: Measurements) -> Answers:
    """An answer is its number of rows and the hash of them, whatever their order."""
    told: dict[tuple[Generation, str, int, int], dict[str, set[str]]] = {}
    statements: dict[tuple[Generation, str, int], set[str]] = {}
    for one in measured.seen:
        statements.setdefault((one.query.generation, one.query.name, one.size), set()).add(one.stored.sql)
        for qe in one.stored.qes:
            if qe.ok:
                variant = (qe.number - 1) % VARIANTS + 1
                of = told.setdefault((one.query.generation, one.query.name, one.size, variant), {})
                of.setdefault(one.system.label, set()).add(f"{qe.rows} rows, {qe.answer}")
    shared = {key: of for key, of in told.items() if len(of) > 1}
    differing = [
        Differing(
            query=query,
            size=size,
            variant=variant,
            answers={system: "; ".join(sorted(given)) for system, given in of.items()},
            same_statements=len(statements[generation, query, size]) == 1,
        )
        for (generation, query, size, variant), of in shared.items()
        if len(set.union(*of.values())) > 1
    ]
    return Answers(
        compared=len(shared),
        equal=len(shared) - len(differing),
        alone=len(told) - len(shared),
        queries=len({key[:3] for key in shared}),
        differing=differing,
    )
