"""Functions that come to a round: beneath what varies, called at all, and within the budget."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from tare.profile.ending import Ending
from tare.profile.pointers import Search
from tare.profile.refine import Refinement, Step
from tare.protocol.profile.refinement import Costs
from tests.unit.profile.graph import Program

MEAN_NS = 1e6
PAIR_NS = 1_000.0
BUDGET = 0.05  # 50 calls a transaction

SERVER = Program(
    {
        "main": ["parse", "execute", "commit", "complain"],
        "execute": ["update", "lock"],
        "update": ["read", "log"],
        "commit": ["flush"],
        "flush": ["write", "sleep"],
        "by_pointer": ["update"],
    },
    never_return=["complain"],
)


class Counter:
    """Counts as it is told to; remembers of what it was asked."""

    def __init__(self, calls: Mapping[str, float] | None = None) -> None:
        self._calls = {SERVER.numbers[name]: calls for name, calls in (calls or {}).items()}
        self.asked: list[str] = []

    def __call__(self, functions: Sequence[int]) -> Costs:
        self.asked += [SERVER.names[one] for one in functions]
        calls = {number: self._calls.get(number, 1.0) for number in SERVER.names}
        return Costs(calls, PAIR_NS, MEAN_NS)


def refinement(
    seeds: Sequence[str] = ("sleep",), begin_with: Sequence[str] = (), waits: Sequence[str] = ()
) -> Refinement:
    return Refinement(
        SERVER,  # type: ignore[arg-type]
        SERVER.transactions(["main"], seeds, marker="main", waits=waits),
        BUDGET,
        begin_with=[SERVER.numbers[one] for one in begin_with],
    )


def names(of: Sequence[int]) -> set[str]:
    return {SERVER.names[one] for one in of}


def numbers(*names: str) -> tuple[int, ...]:
    return tuple(SERVER.numbers[one] for one in names)


def test_the_first_round_watches_known_waits_and_what_the_root_calls() -> None:
    step = refinement().first(Counter())
    assert names(step.watch) == {"sleep", "parse", "execute", "commit"}


def test_where_the_budget_is_for_one_call_the_known_wait_has_it() -> None:
    calls = {"parse": 30.0, "execute": 30.0, "sleep": 40.0}
    step = refinement(seeds=["parse", "execute"], waits=["sleep"]).first(Counter(calls))
    assert names(step.watch) == {"sleep", "commit"}
    assert {"parse", "execute"} <= names(step.too_hot)


def test_markers_and_what_never_returns_are_not_watched() -> None:
    step = refinement().first(Counter())
    assert not names(step.watch) & {"main", "complain"}


def test_what_is_never_called_is_not_watched() -> None:
    step = refinement().first(Counter({"sleep": 0.0}))
    assert names(step.watch) == {"parse", "execute", "commit"}


def test_functions_that_were_asked_for_come_alone() -> None:
    counter = Counter()
    step = refinement(begin_with=["update", "flush"]).first(counter)
    assert names(step.watch) == {"update", "flush"} == set(counter.asked)
    assert step.reason == "functions that were asked for"


def test_what_is_too_hot_is_left_out_and_cheaper_ones_are_watched() -> None:
    step = refinement().first(Counter({"execute": 51.0}))
    assert names(step.watch) == {"sleep", "parse", "commit"}
    assert names(step.too_hot) == {"execute"}
    assert step.predicted <= BUDGET


def next_step(*paths: tuple[str, float, str], counter: Counter | None = None) -> Step:
    of = refinement()
    first = of.first(Counter())
    found = SERVER.found(*paths)
    of.learn(found)
    return of.next(found, first.watch, counter or Counter())


def test_the_next_round_divides_what_has_most_of_the_variance_in_its_body() -> None:
    step = next_step(("execute", 0.7, "main"), ("commit", 0.3, "main"))
    assert {"update", "lock", "flush"} <= names(step.watch)
    assert names(step.divided) == {"execute", "commit"}
    assert "divides execute (70% of the variance is its own)" in step.reason


def test_a_body_with_little_of_the_variance_is_not_divided() -> None:
    counter = Counter()
    step = next_step(("execute", 0.96, "main"), ("commit", 0.04, "main"), counter=counter)
    assert names(step.divided) == {"execute"}
    assert "flush" not in counter.asked


def test_what_gives_way_to_new_functions_is_not_what_the_variance_lies_beneath() -> None:
    """The budget holds four functions: phases without variance go, the caller of what varies stays."""
    of = refinement(seeds=["sleep"])
    of.first(counter := Counter(dict.fromkeys(SERVER.numbers, 12.5)))
    found = SERVER.found(("parse", 0.0, "main"), ("commit", 0.0, "main"), ("commit/flush", 1.0, "commit"))
    of.learn(found)
    step = of.next(found, numbers("parse", "execute", "commit", "flush"), counter)
    assert {"commit", "flush", "write"} <= names(step.watch)
    assert not {"parse"} & names(step.watch)


def test_what_calls_a_small_part_of_the_variance_does_not_give_way_to_a_search_elsewhere() -> None:
    """The budget holds four functions. The flush is 3% of the variance: without it, its wait would say little."""
    of = refinement(seeds=["sleep"])
    of.first(counter := Counter(dict.fromkeys(SERVER.numbers, 12.5)))
    found = SERVER.found(
        ("parse", 0.0, "main"),
        ("execute", 0.97, "main"),
        ("flush", 0.0, "commit"),
        ("flush/sleep", 0.03, "flush"),
    )
    of.learn(found)
    step = of.next(found, numbers("parse", "execute", "flush", "sleep"), counter)
    assert {"flush", "sleep"} <= names(step.watch)
    assert "parse" not in names(step.watch)
    assert names(step.watch) & {"update", "lock"}


def test_only_callees_of_what_varies_are_counted() -> None:
    counter = Counter()
    next_step(("execute", 1.0, "main"), counter=counter)
    assert set(counter.asked) == {"update", "lock"}


def test_it_ends_where_a_body_that_calls_nothing_dominates() -> None:
    step = next_step(("commit", 0.2, "main"), ("commit/sleep", 0.8, "flush"))
    assert step.ending is not None
    assert "the body of sleep (80% of the variance is its own) dominates" in step.reason


def test_it_ends_where_nothing_beneath_is_called() -> None:
    step = next_step(("execute", 1.0, "main"), counter=Counter({"update": 0.0, "lock": 0.0}))
    assert step.ending is not None


def test_it_ends_where_all_that_is_left_is_too_hot() -> None:
    hot = Counter({"update": 1e6, "lock": 1e6})
    step = next_step(("execute", 1.0, "main"), counter=hot)
    assert step.ending is not None
    assert "too hot for the budget" in step.reason
    assert names(step.too_hot) == {"update", "lock"}


def test_a_function_between_is_learnt_from_the_call_site() -> None:
    counter = Counter()
    step = next_step(("commit", 0.8, "main"), ("commit/sleep", 0.2, "flush"), counter=counter)
    assert ("flush", "sleep") in SERVER.learnt
    assert "flush" in names(step.watch)


def test_a_call_by_pointer_is_learnt_when_it_is_seen() -> None:
    of = refinement(seeds=["update"])
    first = of.first(Counter())
    found = SERVER.found(("execute", 0.9, "main"), ("execute/update", 0.1, "by_pointer"))
    of.learn(found)
    assert SERVER.numbers["by_pointer"] in of.callees(SERVER.numbers["execute"])
    assert "by_pointer" in names(of.next(found, first.watch, Counter()).watch)


def test_a_naive_strategy_takes_more_rounds_to_the_same_function() -> None:
    of = refinement(seeds=["sleep"])
    costs = Costs(dict.fromkeys(SERVER.names, 25.0), PAIR_NS, MEAN_NS)  # two functions a round
    assert of.naive_rounds(numbers("sleep"), costs) == 5
    assert of.naive_rounds(numbers("by_pointer"), costs) is None


# What had no room at first ------------------------------------------------------------------
HOT = {"sleep": 40.0, "parse": 5.0, "execute": 5.0, "commit": 5.0, "update": 5.0, "lock": 5.0}
"""Calls: 50 are the budget."""


def test_a_wait_that_had_no_room_comes_when_others_give_way() -> None:
    """Also where nothing that varies calls it in the call graph: `update` might by pointer."""
    of = refinement(seeds=[], waits=["lock", "sleep"])
    counter = Counter({**HOT, "lock": 20.0})
    first = of.first(counter)
    assert "sleep" in names(first.too_hot)
    found = SERVER.found(("execute", 0.01, "main"), ("execute/update", 0.99, "execute"))
    of.learn(found)
    step = of.next(found, numbers("parse", "commit", "update"), counter)
    assert "sleep" in names(step.watch)
    assert step.predicted <= BUDGET


def test_of_two_waits_with_room_for_one_it_is_the_cheaper_and_then_the_one_that_stands_first() -> None:
    of = refinement(seeds=[], waits=["lock", "sleep"])
    assert "lock" in names(of.first(Counter({"lock": 40.0, "sleep": 40.0})).watch)
    of = refinement(seeds=[], waits=["lock", "sleep"])
    assert "sleep" in names(of.first(Counter({"lock": 40.0, "sleep": 39.0})).watch)


def test_a_callee_that_had_no_room_comes_when_others_give_way() -> None:
    of = refinement(seeds=[], waits=[])
    counter = Counter({"parse": 10.0, "execute": 45.0, "commit": 10.0})
    first = of.first(counter)
    assert names(first.too_hot) == {"execute"}
    found = SERVER.found(("parse", 0.0, "main"), ("commit", 0.0, "main"))
    step = of.next(found, first.watch, counter)
    assert names(step.watch) == {"execute"}


def test_in_what_waits_no_other_wait_is_sought() -> None:
    of = refinement(seeds=[], waits=["flush", "lock"])
    counter = Counter({"lock": 51.0})
    of.first(counter)
    found = SERVER.found(("commit", 0.02, "main"), ("commit/flush", 0.98, "commit"))
    step = of.next(found, numbers("commit", "flush"), counter)
    assert "lock" not in names(step.too_hot)


def test_what_is_never_affordable_ends_it_by_name() -> None:
    of = refinement(seeds=[], waits=["sleep"])
    counter = Counter({"sleep": 51.0, "update": 0.0, "lock": 0.0})
    of.first(counter)
    found = SERVER.found(("execute", 1.0, "main"))
    step = of.next(found, numbers("parse", "execute", "commit"), counter)
    assert step.ending is not None
    assert not step.settled
    assert step.reason == "what is left to divide is too hot for the budget: sleep"


# Calls by pointer ---------------------------------------------------------------------------
class Pointers:
    """A search after which `execute` is known to call `by_pointer`, if it sees that."""

    def __init__(self, server: Program, *, complete: bool = True, sees: bool = True) -> None:
        self._server = server
        self._complete = complete
        self._sees = sees
        self.searches: list[tuple[set[str], set[str]]] = []

    def candidates(self, known: Collection[int]) -> list[int]:
        return [] if self.searches else list(numbers("by_pointer"))

    def search(self, candidates: Sequence[int], above: Sequence[int], costs: Costs) -> Search:
        self.searches.append((names(candidates), names(above)))
        execute, callee = numbers("execute", "by_pointer")
        found = Search(len(candidates), len(candidates) if self._complete else 0, {callee: 1.0})
        if self._sees:
            found.calls = [(execute, callee, 0x1000 * execute + 5)]
            self._server.calls = {**self._server.calls, "execute": ["by_pointer"]}
        return found

    def forget(self) -> None: ...


def after_a_search(*, complete: bool = True, sees: bool = True) -> tuple[Step, Pointers]:
    """`execute` varies, calls by pointer, and none of its known callees is called."""
    server = replace(SERVER, pointer_calls=["execute"], learnt=[])
    pointers = Pointers(server, complete=complete, sees=sees)
    of = Refinement(server, server.transactions(["main"], marker="main"), BUDGET, pointers=pointers)  # type: ignore[arg-type]
    counter = Counter({"update": 0.0, "lock": 0.0})
    first = of.first(counter)
    found = server.found(("execute", 1.0, "main"))
    of.learn(found)
    return of.next(found, first.watch, counter), pointers


def test_callees_by_pointer_are_searched_for_where_no_known_one_is_left() -> None:
    step, pointers = after_a_search()
    assert pointers.searches == [({"by_pointer"}, {"execute"})]
    assert "by_pointer" in names(step.watch)


def test_a_search_that_found_nothing_says_what_it_looked_at() -> None:
    step, _ = after_a_search(sees=False)
    assert step.ending is Ending.REFINED
    assert step.settled
    assert "of 1 functions that may be called by pointer 1 are called" in step.reason


def test_a_search_that_was_cut_short_settles_nothing() -> None:
    step, _ = after_a_search(sees=False, complete=False)
    assert step.ending is Ending.REFINED
    assert not step.settled
    assert "could not be looked at in time" in step.reason


def test_a_library_that_is_loaded_after_the_last_step_is_news_until_the_next() -> None:
    server = replace(SERVER, libraries=frozenset({"libearly.so"}))
    of = Refinement(
        server,  # type: ignore[arg-type]
        server.transactions(["main"], marker="main"),
        BUDGET,
        pointers=Pointers(server),
    )
    found, counter = server.found(("execute", 1.0, "main")), Counter({})
    of.next(found, (), counter)
    assert not of.has_news()
    server.libraries = frozenset({"libearly.so", "libplugin.so"})
    assert of.has_news()
    of.next(found, (), counter)
    assert not of.has_news()
