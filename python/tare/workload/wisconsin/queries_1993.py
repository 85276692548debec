"""The 32 queries of 1993, as D. J. DeWitt's chapter of The Benchmark Handbook (J. Gray, ed., 1993) lists them.

Constants are those of 10,000 tuples and move in proportion at other sizes; the first variant of each
query is the list's own. Published ports of the list differ from what is here in queries 11, 14 and 17 (which
leave TENKTUP2 out of FROM, or out of the selections), 15 (which selects by unique2, not by the attribute of the join)
and in 21, 22, 24 and 25 (some take unique2 for unique3).

Of a query with indexes the organisation is that of the index which could serve it.
"""

from __future__ import annotations

from tare.workload.wisconsin.definitions import few_1993, least_1993, sums_1993
from tare.workload.wisconsin.forms import aggregates, joins, projections, selections, updates
from tare.workload.wisconsin.forms.selections import Variants
from tare.workload.wisconsin.forms.updates import appended
from tare.workload.wisconsin.kinds import Generation, Organisation
from tare.workload.wisconsin.naming import NAMING
from tare.workload.wisconsin.query import Class, WisconsinQuery
from tare.workload.wisconsin.relations import KEY, OTHER_KEY, third

_NAMING = NAMING[Generation.Y1993]
_HEAP, _CLUSTERED, _NONCLUSTERED = Organisation.HEAP, Organisation.CLUSTERED, Organisation.NONCLUSTERED
_PARTITION = third(Generation.Y1993)
_FIRST = {1: 0, 10: 792}  # where ranges begin, by percent
_ONE = 2001


def _query(
    number: int,
    operation: str,
    klass: Class,
    organisation: Organisation,
    attribute: str | None,
    title: str,
    variants: Variants,
) -> WisconsinQuery:
    return WisconsinQuery(
        name=f"q{number}",
        generation=Generation.Y1993,
        klass=klass,
        organisation=organisation,
        operation=operation,
        title=title,
        attribute=attribute,
        number=number,
        variants=variants,
    )


def _selection(number: int, organisation: Organisation, attribute: str, percent: int) -> WisconsinQuery:
    return _query(
        number,
        f"select_{percent}pct",
        Class.SELECTION,
        organisation,
        attribute,
        f"{percent}% of the tuples, range on {attribute}, into a relation",
        selections.of_percent(_NAMING, attribute, percent, first=_FIRST[percent]),
    )


_JOINS = {
    "joinAselB": ("A with a tenth of B", joins.a_sel_b),
    "joinABprime": ("A with Bprime, a tenth of B made before", joins.a_b_prime),
    "joinCselAselB": ("a tenth of A with a tenth of B, and with the small C", joins.c_sel_a_sel_b),
}


def _join(number: int, operation: str, organisation: Organisation, attribute: str) -> WisconsinQuery:
    what, form = _JOINS[operation]
    return _query(
        number,
        operation,
        Class.JOIN,
        organisation,
        attribute,
        f"{operation}: {what}, on {attribute}",
        form(_NAMING, attribute),
    )


def _least(number: int, organisation: Organisation) -> WisconsinQuery:
    return _query(
        number,
        "min_scalar",
        Class.AGGREGATE,
        organisation,
        KEY,
        f"the minimum of {KEY}",
        aggregates.least_key(_NAMING),
    )


def _by_partition(number: int, function: str, organisation: Organisation) -> WisconsinQuery:
    called, defined = {"min": ("minimum", least_1993), "sum": ("sum", sums_1993)}[function]
    return _query(
        number,
        f"{function}_100_partitions",
        Class.AGGREGATE,
        organisation,
        _PARTITION,
        f"the {called} of {_NAMING.measured} by {_PARTITION}",
        aggregates.by_partition(_NAMING, function.upper(), defined),
    )


def _append(relation: str, key: int) -> str:
    return appended(Generation.Y1993, relation, key)


def _appending(number: int, organisation: Organisation) -> WisconsinQuery:
    return _query(
        number,
        "append",
        Class.UPDATE,
        organisation,
        None,
        "append one tuple",
        updates.append(_NAMING, _append),
    )


def _deleting(number: int, organisation: Organisation) -> WisconsinQuery:
    return _query(
        number,
        "delete",
        Class.UPDATE,
        organisation,
        OTHER_KEY,
        f"delete one tuple by {OTHER_KEY}",
        updates.delete(_NAMING, OTHER_KEY, _append),
    )


def _modifying(number: int, operation: str, organisation: Organisation, attribute: str) -> WisconsinQuery:
    return _query(
        number,
        operation,
        Class.UPDATE,
        organisation,
        attribute,
        f"change the {attribute} of one tuple",
        updates.modify(_NAMING, attribute),
    )


QUERIES: tuple[WisconsinQuery, ...] = (
    _selection(1, _HEAP, KEY, 1),
    _selection(2, _HEAP, KEY, 10),
    _selection(3, _CLUSTERED, KEY, 1),
    _selection(4, _CLUSTERED, KEY, 10),
    _selection(5, _NONCLUSTERED, OTHER_KEY, 1),
    _selection(6, _NONCLUSTERED, OTHER_KEY, 10),
    _query(
        7,
        "select_1tuple_screen",
        Class.SELECTION,
        _CLUSTERED,
        KEY,
        f"one tuple by {KEY}, to the screen",
        selections.of_one(_NAMING, KEY, first=_ONE),
    ),
    _query(
        8,
        "select_1pct_screen",
        Class.SELECTION,
        _CLUSTERED,
        KEY,
        f"1% of the tuples, range on {KEY}, to the screen",
        selections.of_percent(_NAMING, KEY, 1, first=_FIRST[1], screen=True),
    ),
    _join(9, "joinAselB", _HEAP, KEY),
    _join(10, "joinABprime", _HEAP, KEY),
    _join(11, "joinCselAselB", _HEAP, KEY),
    _join(12, "joinAselB", _CLUSTERED, KEY),
    _join(13, "joinABprime", _CLUSTERED, KEY),
    _join(14, "joinCselAselB", _CLUSTERED, KEY),
    _join(15, "joinAselB", _NONCLUSTERED, OTHER_KEY),
    _join(16, "joinABprime", _NONCLUSTERED, OTHER_KEY),
    _join(17, "joinCselAselB", _NONCLUSTERED, OTHER_KEY),
    _query(
        18,
        "project_1pct",
        Class.PROJECTION,
        _HEAP,
        None,
        "few distinct values of six attributes, into a relation",
        projections.few(_NAMING, few_1993),
    ),
    _query(
        19,
        "project_100pct",
        Class.PROJECTION,
        _HEAP,
        None,
        "all tuples without their keys, into a relation",
        projections.every(_NAMING),
    ),
    _least(20, _HEAP),
    _by_partition(21, "min", _HEAP),
    _by_partition(22, "sum", _HEAP),
    _least(23, _CLUSTERED),
    _by_partition(24, "min", _NONCLUSTERED),
    _by_partition(25, "sum", _NONCLUSTERED),
    _appending(26, _HEAP),
    _deleting(27, _HEAP),
    _modifying(28, "modify_key", _HEAP, KEY),
    _appending(29, _CLUSTERED),
    _deleting(30, _NONCLUSTERED),
    _modifying(31, "modify_key", _CLUSTERED, KEY),
    _modifying(32, "modify_nonkey", _NONCLUSTERED, OTHER_KEY),
)
