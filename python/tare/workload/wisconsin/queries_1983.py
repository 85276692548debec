"""The queries of 1983, class by class (section 4), and where Tables 1 to 11 have them.

What the paper leaves open is filled in from its own examples, or from the 1993 form of the same query:
the projection of 1% is of `hundred` (section 3.1), that of 100% of all attributes but the keys (1993's
query 19), the aggregate functions are of `fivethous` by `hundred` (section 3.1), and updates take the keys of
1993's. A tuple to delete is found by unique2, the key.
"""

from __future__ import annotations

from collections.abc import Iterator

from tare.workload.wisconsin.definitions import PARTITIONS, least_1983, sums_1983
from tare.workload.wisconsin.forms import aggregates, joins, projections, selections, updates
from tare.workload.wisconsin.forms.selections import Variants
from tare.workload.wisconsin.forms.updates import appended
from tare.workload.wisconsin.kinds import Generation, Organisation
from tare.workload.wisconsin.naming import NAMING
from tare.workload.wisconsin.query import Class, WisconsinQuery
from tare.workload.wisconsin.relations import KEY, OTHER_KEY, third

_NAMING = NAMING[Generation.Y1983]
_HEAP, _CLUSTERED = Organisation.HEAP, Organisation.CLUSTERED
_NONCLUSTERED, _HASH = Organisation.NONCLUSTERED, Organisation.HASH
_PERCENTS = (1, 10, 20, 50, 100)
_FIRST = 100  # where ranges begin: off the edge, so that they can lie elsewhere in each variant
_ATTRIBUTE = {_HEAP: KEY, _CLUSTERED: KEY, _NONCLUSTERED: OTHER_KEY, _HASH: KEY}
"""When there are no indexes the two variations of a query are one (section 3.2): of unique2."""

Published = tuple[int, str]


def _query(
    operation: str,
    klass: Class,
    organisation: Organisation,
    title: str,
    variants: Variants,
    published: Published | None = None,
    attribute: str | None = None,
    name: str | None = None,
) -> WisconsinQuery:
    return WisconsinQuery(
        name=name or f"{operation}_{organisation}",
        generation=Generation.Y1983,
        klass=klass,
        organisation=organisation,
        operation=operation,
        title=title,
        attribute=attribute,
        published=published,
        variants=variants,
    )


def _selections() -> Iterator[WisconsinQuery]:
    tables: dict[tuple[int, Organisation], Published] = {
        (1, _HEAP): (1, "100"),
        (10, _HEAP): (1, "1000"),
        (1, _CLUSTERED): (2, "clustered 100"),
        (10, _CLUSTERED): (2, "clustered 1000"),
        (1, _NONCLUSTERED): (2, "nonclustered 100"),
        (10, _NONCLUSTERED): (2, "nonclustered 1000"),
    }
    for percent in _PERCENTS:
        for organisation in (_HEAP, _CLUSTERED, _NONCLUSTERED):
            attribute = _ATTRIBUTE[organisation]
            yield _query(
                f"select_{percent}pct",
                Class.SELECTION,
                organisation,
                f"{percent}% of the tuples, range on {attribute}, into a relation",
                selections.of_percent(_NAMING, attribute, percent, first=_FIRST),
                tables.get((percent, organisation)),
                attribute,
            )
    for organisation in (_HEAP, _CLUSTERED, _NONCLUSTERED, _HASH):
        attribute = _ATTRIBUTE[organisation]
        yield _query(
            "select_1tuple_screen",
            Class.SELECTION,
            organisation,
            f"one tuple by {attribute}, to the screen",
            selections.of_one(_NAMING, attribute, first=2001),
            (3, "1") if organisation is _CLUSTERED else None,
            attribute,
        )
    yield _query(
        "select_1pct_screen",
        Class.SELECTION,
        _CLUSTERED,
        f"1% of the tuples, range on {KEY}, to the screen",
        selections.of_percent(_NAMING, KEY, 1, first=_FIRST, screen=True),
        (3, "100"),
        KEY,
    )


def _joins() -> Iterator[WisconsinQuery]:
    asked = (
        ("joinAselB", "A with a tenth of B", joins.a_sel_b, True),
        ("joinABprime", "A with Bprime, a tenth of B made before", joins.a_b_prime, True),
        ("joinCselAselB", "a tenth of A with a tenth of B, and with the small C", joins.c_sel_a_sel_b, True),
        ("joinSelAselB", "a tenth of A with a tenth of B", joins.sel_a_sel_b, False),
    )
    for organisation, table in ((_HEAP, 4), (_CLUSTERED, 5), (_NONCLUSTERED, 6)):
        attribute = _ATTRIBUTE[organisation]
        for operation, what, form, printed in asked:
            called = f"s{operation}" if organisation is _NONCLUSTERED else operation
            yield _query(
                operation,
                Class.JOIN,
                organisation,
                f"{called}: {what}, on {attribute}",
                form(_NAMING, attribute),
                (table, called) if printed else None,
                attribute,
                name=f"{called}_{organisation}",
            )


def _projections() -> Iterator[WisconsinQuery]:
    hundred = third(Generation.Y1983)
    yield _query(
        "project_1pct",
        Class.PROJECTION,
        _HEAP,
        f"the {PARTITIONS} values of `{hundred}` in 10,000 tuples, into a relation",
        projections.few(_NAMING, lambda rows: PARTITIONS),
        (7, "100/10,000"),
    )
    yield _query(
        "project_100pct",
        Class.PROJECTION,
        _HEAP,
        "1,000 tuples of 1,000 without their keys, into a relation",
        projections.every_of_tenth(_NAMING),
        (7, "1000/1000"),
    )


def _aggregates() -> Iterator[WisconsinQuery]:
    measured, partition = _NAMING.measured, third(Generation.Y1983)
    for table, on_key, on_partition in ((8, _HEAP, _HEAP), (9, _CLUSTERED, _NONCLUSTERED)):
        yield _query(
            "min_scalar",
            Class.AGGREGATE,
            on_key,
            f"the minimum of {KEY}",
            aggregates.least_key(_NAMING),
            (table, "min scalar"),
            KEY,
        )
        for function, defined in (("min", least_1983), ("sum", sums_1983)):
            yield _query(
                f"{function}_100_partitions",
                Class.AGGREGATE,
                on_partition,
                f"the {'minimum' if function == 'min' else 'sum'} of {measured} by {partition}",
                aggregates.by_partition(_NAMING, function.upper(), defined),
                (table, f"{function} 100 partitions"),
                partition,
            )


def _updates() -> Iterator[WisconsinQuery]:
    def append(relation: str, key: int) -> str:
        return appended(Generation.Y1983, relation, key)

    for organisation, table in ((_HEAP, 10), (_CLUSTERED, 11)):
        for operation, title, variants, column in (
            ("append", "append one tuple", updates.append(_NAMING, append), "append"),
            ("delete", f"delete one tuple by {KEY}", updates.delete(_NAMING, KEY, append), "delete"),
            ("modify_key", f"change the {KEY} of one tuple", updates.modify(_NAMING, KEY), "modify key"),
        ):
            yield _query(
                operation,
                Class.UPDATE,
                organisation,
                title,
                variants,
                (table, column),
                None if operation == "append" else KEY,
            )
    for organisation in (_HEAP, _NONCLUSTERED):
        yield _query(
            "modify_nonkey",
            Class.UPDATE,
            organisation,
            f"change the {OTHER_KEY} of one tuple",
            updates.modify(_NAMING, OTHER_KEY),
            (11, "modify non-key") if organisation is _NONCLUSTERED else None,
            OTHER_KEY,
        )


QUERIES: tuple[WisconsinQuery, ...] = (
    *_selections(),
    *_joins(),
    *_projections(),
    *_aggregates(),
    *_updates(),
)
