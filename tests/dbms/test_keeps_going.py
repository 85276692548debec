"""A query that fails ends its own runs, and the run where it is not to continue."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tare.dbms.registry import find
from tare.errors import BadStatement
from tare.measure.arms import Arm
from tare.measure.phases import Phases
from tare.measure.query import Query
from tare.measure.records import QE
from tare.measure.rig import Rig
from tare.measure.weigh import Conditions, Weigher

FAILS_WHILE_IT_RUNS = {
    "postgresql": "SELECT 1 / (grp - grp) FROM numbers",
    "sqlite": "SELECT abs(-9223372036854775807 - id) FROM numbers WHERE id = 1",
}


class Silent:
    def phase(self, query: Query, what: str) -> None: ...
    def done(self, query: Query, qe: QE) -> None: ...


def weigh(url: str, queries: Sequence[Query], *, keeps_going: bool) -> Weigher:
    conditions = Conditions(runs=2, warmup=0, keeps_going=keeps_going)
    with Rig(lambda: find(url).connect(url)) as rig:
        weigher = Weigher([Arm("A", rig, Phases())], queries, conditions, lambda qes: False, Silent())
        weigher.check()
        weigher.one_after_another()
        return weigher


@pytest.fixture(params=list(FAILS_WHILE_IT_RUNS))
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"{request.param}_url"))


def test_the_queries_after_one_that_fails_are_measured(url: str) -> None:
    queries = [
        Query("refused", "SELECT nothing FROM numbers"),
        Query("first", "SELECT count(*) FROM numbers"),
        Query("fails", FAILS_WHILE_IT_RUNS[url.partition(":")[0]]),
        Query("last", "SELECT max(id) FROM numbers"),
    ]
    weigher = weigh(url, queries, keeps_going=True)
    assert [len(weigher.retained(place)) for place in range(4)] == [0, 2, 0, 2]
    assert sorted(weigher.failures) == [0, 2]
    assert weigher.failures[0].what.startswith("refused")
    assert weigher.failures[2].what.startswith("fails")


def test_a_refused_statement_ends_a_run_that_is_not_to_continue_before_any_is_timed(url: str) -> None:
    queries = [Query("first", "SELECT 1"), Query("refused", "SELECT nothing FROM numbers")]
    with pytest.raises(BadStatement):
        weigh(url, queries, keeps_going=False)
