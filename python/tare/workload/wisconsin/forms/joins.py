"""Joins on a key, with no, one or two selections before (1983, section 4.2 and Appendix I).

The constants are Appendix I's in every variant. Printed there, sjoinCselAselB fills a relation of another name
(ntmpsel3), and is joinCselAselB on unique1 otherwise; joinSelAselB, which section 4.2 describes, is not printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tare.workload.wisconsin.forms.selections import Variants
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.naming import Naming
from tare.workload.wisconsin.query import Variant
from tare.workload.wisconsin.results import JOIN, JOIN_OF_THREE, result


def a_sel_b(naming: Naming, attribute: str) -> Variants:
    return _of_two(naming, attribute, lambda a, b, tenth: [_below(b, attribute, tenth)])


def sel_a_sel_b(naming: Naming, attribute: str) -> Variants:
    return _of_two(
        naming,
        attribute,
        lambda a, b, tenth: [_below(b, attribute, tenth), _below(a, attribute, tenth)],
    )


def a_b_prime(naming: Naming, attribute: str) -> Variants:
    """Bprime is of the second twin in every variant; A is either."""
    prime = naming.prime
    return lambda rows: [
        _into(naming, JOIN, [a, prime], [a, prime], [_equal(a, prime, attribute)], rows // 10)
        for _, a, _ in naming.turns()
    ]


def c_sel_a_sel_b(naming: Naming, attribute: str) -> Variants:
    """The result has A's and B's attributes in 1983, as printed; C's too in 1993, where all are asked for."""
    c = naming.tenth

    def variants(rows: int) -> Iterator[Variant]:
        tenth = rows // 10
        for _, a, b in naming.turns():
            conditions = [
                _equal(a, b, attribute),
                _below(b, attribute, tenth),
                _below(a, attribute, tenth),
                _equal(a, c, attribute),
            ]
            if naming.generation is Generation.Y1983:
                yield _into(naming, JOIN, [a, b], [c, a, b], conditions, tenth)
            else:
                yield _into(naming, JOIN_OF_THREE, [c, a, b], [c, a, b], conditions, tenth)

    return lambda rows: tuple(variants(rows))


def _of_two(naming: Naming, attribute: str, selected: Callable[[str, str, int], Sequence[str]]) -> Variants:
    """`selected`: of A, B and the number that is a tenth of their tuples."""
    return lambda rows: [
        _into(
            naming,
            JOIN,
            [a, b],
            [a, b],
            [_equal(a, b, attribute), *selected(a, b, rows // 10)],
            rows // 10,
        )
        for _, a, b in naming.turns()
    ]


def _equal(one: str, other: str, attribute: str) -> str:
    return f"{one}.{attribute} = {other}.{attribute}"


def _below(relation: str, attribute: str, key: int) -> str:
    return f"{relation}.{attribute} < {key}"


def _into(
    naming: Naming,
    form: str,
    shown: Sequence[str],
    among: Sequence[str],
    conditions: Sequence[str],
    rows: int,
) -> Variant:
    into = result(form, naming.generation)
    attributes = ", ".join(f"{relation}.*" for relation in shown)
    return Variant(
        f"INSERT INTO {into} SELECT {attributes} FROM {', '.join(among)} WHERE {' AND '.join(conditions)}",
        rows,
        into=into,
    )
