"""Functions of the next round: `tare.protocol.profile.refinement` chooses, over the calls that are known here.

Known are the direct calls in the binary, and calls by pointer as far as they were seen: where a function was called
from a place that lies in another than the watched one above it, that other function is beneath the watched one too.
Where no known callee of a function is left that varies and calls by pointer, they are searched for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from tare.profile.ending import Ending
from tare.profile.functions import Functions
from tare.profile.naive import naive_rounds
from tare.profile.pointers import PointerSearch, Search
from tare.profile.transactions import Transactions
from tare.protocol.profile.found import Findings
from tare.protocol.profile.refinement import CallGraph, Costs, Plan, candidates, plan
from tare.protocol.profile.shares import (
    TRANSACTION,
    WAITING,
    WORTH_DIVIDING,
    at_or_beneath,
    kept_above,
    own_shares,
)

MOST_COUNTED = 192
"""Candidates of a round that are counted, the most worth first."""

MOST_NAMED = 4
"""Functions too hot for the budget, in a reason."""

Count = Callable[[Sequence[int]], Costs]
"""Has calls of these functions counted, if they were not yet, and says what all known ones cost."""


@dataclass(frozen=True, slots=True)
class Step:
    """Functions that the next round watches, and why."""

    watch: tuple[int, ...]
    reason: str
    ending: Ending | None = None  # nothing new comes to it; `reason` says why
    settled: bool = False  # and that because nothing is left to divide
    divided: tuple[int, ...] = ()  # functions whose callees come to it
    too_hot: tuple[int, ...] = ()  # that found no room in the budget
    predicted: float = 0.0  # share of the time that a transaction has (`Pace.own_ns`)


class Refinement:
    """Refinement of a profile: remembers what was looked at.

    `begin_with`: functions of the first round, instead of those known to be worth a look; `most`: budget of that round,
    since the user asked for them; None: the usual one. `pointers`: searches for
    callees by pointer; without it they are learnt where they happen to be seen."""

    def __init__(
        self,
        functions: Functions,
        transactions: Transactions,
        budget: float,
        *,
        begin_with: Sequence[int] = (),
        most: float | None = None,
        pointers: PointerSearch | None = None,
    ) -> None:
        self._functions = functions
        self._of = transactions
        self._budget = budget
        self._begin_with = tuple(begin_with)
        self._most = budget if most is None else most
        self._pointers = pointers
        self._sought: Search | None = None  # the last search, where it left a source undivided
        self._plugins: frozenset[str] = frozenset()  # that were loaded when the last step was chosen
        self._looked_at: set[int] = set(transactions.marking)  # what was too hot is not: room may come
        self._seen: dict[int, dict[int, None]] = {}  # callees met at run time, by watched caller
        self.met: set[int] = set()  # functions in which call sites were seen

    def first(self, count: Count) -> Step:
        """Known waits before all else, then known phases, then what the transaction's root calls, as far as the budget
        goes: where it is for one call, that is to be the log's flush."""
        if self._begin_with:
            asked_for = [one for one in self._begin_with if self._functions[one].returns]
            return self._among([asked_for], count, "functions that were asked for", self._most)
        return self._among(
            [self._of.waits, self._of.seeds, self._top()],
            count,
            "known waits and phases, and what the transaction's root calls",
            self._budget,
        )

    def next(self, findings: Findings, watched: Sequence[int], count: Count) -> Step:
        self._looked_at |= set(watched)
        self._plugins = self._functions.plugins()
        own = own_shares(findings)
        waiting = at_or_beneath(findings, self._of.waits)
        found = self._plan(findings, own, waiting, watched, count)
        for learn in (self._search, self._import):
            if learn(found, own, watched, count):
                found = self._plan(findings, own, waiting, watched, count)
        return self._step(found, self._why(found, own))

    def _plan(
        self,
        findings: Findings,
        own: Mapping[int, float],
        waiting: Collection[int],
        watched: Sequence[int],
        count: Count,
    ) -> Plan:
        callees: dict[int, Collection[int]] = {
            one: self._beneath(one, waiting)
            for one, share in own.items()
            if share >= WORTH_DIVIDING and one != WAITING
        }
        graph = self._graph(callees)
        worth = candidates(own, graph, self._looked_at)[:MOST_COUNTED]
        costs = count([one.function for one in worth])
        kept = kept_above(findings, own)
        return plan(kept, graph, watched, self._looked_at, costs, self._budget, first=self._of.waits)

    def _import(self, found: Plan, own: Mapping[int, float], watched: Sequence[int], count: Count) -> bool:
        """Adds functions of other files, such as the C library's, that are called by functions which vary and have no
        callee left in their own file. A known wait is not divided so: how the C library waits explains nothing.
        Returns whether there are such."""
        if found.ends not in ("dominated", "nothing left"):
            return False
        able = [one for one in watched if own.get(one, 0.0) >= WORTH_DIVIDING and one not in self._of.waits]
        roots = [*self._of.tops, *self._of.marking] if own.get(TRANSACTION, 0.0) >= WORTH_DIVIDING else []
        roots += [one for one in self._of.marking if own.get(one, 0.0) >= WORTH_DIVIDING]
        callers = [one for one in dict.fromkeys((*able, *roots)) if self._functions.is_divisible(one)]
        learnt = [
            self._functions.learn(one, other.id) for one in callers for other in self._functions.imported(one)
        ]
        return any(learnt)

    def _search(self, found: Plan, own: Mapping[int, float], watched: Sequence[int], count: Count) -> bool:
        """Searches for callees by pointer of functions that vary and that this plan does not divide. Returns whether
        calls were learnt."""
        able = (TRANSACTION, *self._of.marking, *watched)
        above = [one for one in self._by_pointer(own) if one in able and one not in found.divided]
        if self._pointers is None or not above:
            return False
        candidates = self._pointers.candidates(self._looked_at)
        if not candidates:
            return False
        self._sought = self._pointers.search(candidates, [one for one in above if one in watched], count(()))
        learnt = [self._learn_call(*call) for call in self._sought.calls]
        return any(learnt)

    def _by_pointer(self, own: Mapping[int, float]) -> list[int]:
        """Functions that vary in their own time and call by pointer, the largest share first."""
        large = [one for one, share in own.items() if one != WAITING and share >= WORTH_DIVIDING]
        return sorted((one for one in large if self._calls_by_pointer(one)), key=lambda one: (-own[one], one))

    def _calls_by_pointer(self, function: int) -> bool:
        if function == TRANSACTION:
            return any(self._functions.calls_by_pointer(one) for one in (*self._of.tops, *self._of.marking))
        return self._functions.calls_by_pointer(function) and self._functions.is_divisible(function)

    def learn(self, findings: Findings) -> None:
        """From each call site the function that stands there: it calls what was seen, and something above calls it."""
        for node in findings.nodes:
            if node.function is None or node.parent is None:
                continue
            for site in node.sites:
                self._learn_call(findings.nodes[node.parent].function, node.function, site.address)

    def _learn_call(self, above: int | None, function: int, site: int) -> bool:
        """`above`: the watched function that it was seen beneath; None: the transaction. Returns whether it tells of a
        call that was not known."""
        caller = self._functions.caller(site, above, function) if site else None
        if caller is None:
            # A jump by pointer at a function's end leaves no return address of its own, and a call by the C library
            # one that is not in the program.
            if above is None or above == function or not self._calls_by_pointer(above):
                return False
            return self._functions.learn(above, function)
        self.met.add(caller.id)
        new = self._functions.learn(caller.id, function)
        key = TRANSACTION if above is None else above
        beneath = self._seen.setdefault(key, {})
        if (
            caller.returns
            and caller.id not in (key, function, *self._of.marking)
            and caller.id not in beneath
        ):
            beneath[caller.id] = None
            return True
        return new

    def forget(self) -> None:
        """Forget what was looked at, since the load is another: calls by pointer that were seen stay known."""
        self._looked_at = set(self._of.marking)
        if self._pointers is not None:
            self._pointers.forget()

    def has_news(self) -> bool:
        """Whether libraries were loaded since the last step was chosen: they are not searched through yet."""
        return self._pointers is not None and not self._functions.plugins() <= self._plugins

    def callees(self, function: int) -> list[int]:
        """Return the callees of a function, or of TRANSACTION, that can be timed, without markers."""
        if function == TRANSACTION:
            known = self._top()
        elif not self._functions.is_divisible(function):
            return []  # what the C library does inside says nothing of the server
        else:
            known = [one.id for one in self._functions.children(function)]
        return [one for one in dict.fromkeys((*self._seen.get(function, ()), *known)) if one != function]

    def perhaps_called(self, function: int) -> tuple[int, ...]:
        """Functions called too often to be timed, any of which it may call by pointer."""
        sought = self._sought
        return sought.too_hot if sought is not None and self._calls_by_pointer(function) else ()

    def naive_rounds(self, sources: Collection[int], costs: Costs) -> int | None:
        """Return the rounds that dividing everything, level after level, would have taken to the same functions."""
        return naive_rounds(self._naive_callees, sources, costs, self._budget)

    # Inside ----------------------------------------------------------------------
    def _naive_callees(self, function: int) -> list[int]:
        """It knows of no function that is worth a first look: it begins at the top."""
        if function != TRANSACTION:
            return self.callees(function)
        return [one for one in self._of.tops if one not in self._of.marking] or [
            callee.id for one in self._of.tops for callee in self._functions.children(one)
        ]

    def _among(self, groups: Sequence[Sequence[int]], count: Count, reason: str, budget: float) -> Step:
        """Each group has what the ones before it leave of the budget."""
        costs = count([one for group in groups for one in group if one not in self._looked_at])
        watch: tuple[int, ...] = ()
        too_hot: dict[int, None] = {}
        for group in groups:
            graph = self._graph({TRANSACTION: [one for one in group if one not in too_hot]})
            left = budget - costs.predicted(watch)
            found = plan({TRANSACTION: 1.0}, graph, (), self._looked_at, costs, left, first=self._of.waits)
            self._looked_at |= set(found.added)
            watch += found.added
            too_hot |= dict.fromkeys(found.too_hot)
        return Step(watch, reason, too_hot=tuple(too_hot), predicted=costs.predicted(watch))

    def _beneath(self, function: int, waiting: Collection[int]) -> list[int]:
        """Its callees, and known waits that had no room yet: calls by pointer on the way to them are in no call graph.
        In what waits itself (`waiting`) they would be sought in vain."""
        waits = () if function in waiting else self._of.waits
        return list(dict.fromkeys((*self.callees(function), *waits)))

    def _top(self) -> list[int]:
        """Seeds, the functions that do a transaction's work, and what these call."""
        tops = [one for one in self._of.tops if self._functions[one].returns]
        phases = [callee.id for one in self._of.tops for callee in self._functions.children(one)]
        marking = self._of.marking
        return [
            one
            for one in dict.fromkeys((*self._of.waits, *self._of.seeds, *tops, *phases))
            if one not in marking
        ]

    def _graph(self, callees: Mapping[int, Collection[int]]) -> CallGraph:
        named = {one for below in callees.values() for one in below} | {one for one in callees if one >= 0}
        self.height()  # from the top, which finds most others on its way
        heights = {one: self._functions.height(one) or 0 for one in named}
        return CallGraph(callees, heights, self.height(heights.values()))

    def height(self, others: Collection[int] = ()) -> int:
        """Return the height of the call graph: above all that is known to be in it."""
        return max(self._functions.call_graph_height(self._of.tops), 1 + max(others, default=0))

    def _step(self, found: Plan, reason: str) -> Step:
        self._looked_at |= set(found.added)
        return Step(
            watch=found.watch,
            reason=reason,
            ending=None if found.ends is None else Ending.REFINED,
            settled=found.ends in ("dominated", "nothing left") and not self._is_cut_short(),
            divided=tuple(one for one in found.divided if one >= 0),
            too_hot=(*found.too_hot, *(self._sought.too_hot if self._sought and found.ends else ())),
            predicted=found.predicted,
        )

    def _why(self, found: Plan, own: Mapping[int, float]) -> str:
        match found.ends:
            case "dominated" if found.source is not None:
                source = f"the body of {self._said(found.source, own)} dominates what could be divided yet"
                return source + self._about_pointers(found.source)
            case "budget":
                hot = [self._functions[one].name for one in found.too_hot]
                others = f" and {len(hot) - MOST_NAMED} more" if len(hot) > MOST_NAMED else ""
                return (
                    f"what is left to divide is too hot for the budget: {', '.join(hot[:MOST_NAMED])}{others}"
                )
            case "nothing left" | "dominated":
                return "nothing that is called is left to divide"
        return "divides " + ", ".join(self._said(one, own) for one in found.divided)

    def _is_cut_short(self) -> bool:
        return self._sought is not None and not (self._sought.is_complete and not self._sought.too_hot)

    def _about_pointers(self, source: int) -> str:
        """Result of the search beneath it, in words."""
        if self._sought is None or not self._calls_by_pointer(source):
            return ""
        sought = self._sought
        if not sought.is_complete:
            left = sought.candidates - sought.counted + sought.untimed
            return f"; it calls by pointer, and {left} functions that may be called so could not be looked at in time"
        if sought.too_hot:
            hot = ", ".join(self._functions[one].name for one in sought.too_hot[:MOST_NAMED])
            return f"; it calls by pointer, perhaps functions that are called too often to be timed: {hot}"
        return (
            f"; of {sought.candidates} functions that may be called by pointer {len(sought.called)} are called, and "
            "none that it calls has more of the variance"
        )

    def _said(self, function: int, own: Mapping[int, float]) -> str:
        name = "the transaction itself" if function == TRANSACTION else self._functions[function].name
        return f"{name} ({own[function]:.0%} of the variance is its own)"
