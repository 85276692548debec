"""Next step after a profile: which function to divide, or that there is none left."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from tare.protocol.profile.found import Invalidity
from tare.report.profile import words
from tare.report.profile.document import Factor, Next, Node
from tare.report.words import counted, joined

_HIDDEN = 0.5  # of Var(T): a transaction's own share from which most of what varies was not looked at
_LARGER = 4  # times the budget
_NAMED = 3
_CALL = 3  # words of a command before its options: tare profile attach
_LEAST = 0.05  # of Var(T): an own share below it is not worth a round


_FOR_THE_SERVER = (Invalidity.SERVER_ENDED, Invalidity.SERVER_HANGS)
_AGENT_HELPS = (*_FOR_THE_SERVER, Invalidity.OVER_BUDGET)
_AGENT = "The agent (tare profile run) sets no probe of the kernel's, and each of its own costs a small part."
_AFTER = {
    Invalidity.SERVER_ENDED: "Read the server's log and see why it ended before it is profiled again.",
    Invalidity.SERVER_HANGS: "Look at the server: Tare has left it, and its threads wait. Save their stacks (gdb -p, "
    "thread apply all bt) before it is started again.",
    Invalidity.NO_TRANSACTIONS: "Profile again, with fewer functions or a lower rate of transactions.",
    Invalidity.LEFT_OUT: "Profile again, with fewer functions or a lower rate of transactions.",
    Invalidity.OVER_BUDGET: "Profile again, with fewer functions.",
    Invalidity.NOT_MEASURABLE: "Profile for longer, or under a steadier load, until the overhead can be measured.",
    Invalidity.NOT_STEADY: "Profile again, under a load that the server sustains.",
}


@dataclass(frozen=True, slots=True)
class Unwatched:
    """Callees that could not be watched, of a function that has no other left to watch."""

    hot: tuple[str, ...] = ()  # called too often for the budget
    refused: Mapping[str, str] = field(default_factory=dict)  # by name, why no probe can be put on them


def next_step(
    run: str,
    command: str,
    refine: Sequence[str] | None,
    factors: Sequence[Factor],
    nodes: Sequence[Node],
    enough: int | None,
    because: Collection[Invalidity],
    left_out: Sequence[str] = (),
    budget: float | None = None,
    attached: bool = False,
    outside: Collection[int] = (),
    unwatched: Mapping[int | None, Unwatched] = {},
) -> Next:
    """`command`: that made the profile. `refine`: as for `build`. `left_out`: functions too hot for the budget;
    `because`: why the profile is not valid; `outside`: those of libraries, inside which nothing is looked for;
    `unwatched`: callees of functions that have no other left to watch, by function; None: of the transaction."""
    if spoilt := next((one for one in Invalidity if one in because), None):
        says = f"{_AFTER[spoilt]} {_AGENT}" if attached and spoilt in _AGENT_HELPS else _AFTER[spoilt]
        return Next(says=says, command="" if spoilt in _FOR_THE_SERVER else _again(command))
    if not nodes:
        return Next(says=_AFTER[Invalidity.NO_TRANSACTIONS], command=_again(command))
    source = max((one for one in factors if one.own_covariance), key=_own, default=None)
    hidden = _hidden(source, nodes, unwatched)
    if enough is not None:
        longer = "Profile for longer, until there are enough transactions."
        if hidden is None:
            return Next(says=longer, command=_again(command))
        found = _beyond(*hidden, command, budget, attached)
        return Next(says=f"{longer} {found.says}", command=found.command or _again(command))
    own = max((_own(one) for one in nodes if one.parent is None), default=0.0)
    if not refine and own >= _HIDDEN and left_out and budget is not None and budget < 1:
        hot = [words.middle(one, 60) for one in left_out[:_NAMED]]
        others = [counted(len(left_out) - _NAMED, "other")] if len(left_out) > _NAMED else []
        agent = " The agent (tare profile run) takes a small part of what attaching does." if attached else ""
        return Next(
            says=f"Give it a larger budget: {own:.0%} of the variance is the transaction's own, and "
            f"{joined([*hot, *others])} found no room in {words.percent(budget)} of its time.{agent}",
            command=_again(command, "--budget", f"{100 * min(1.0, _LARGER * budget):.0f}%"),
        )
    if hidden is not None and not refine:
        return _beyond(*hidden, command, budget, attached)
    chosen = [one.names[0] for one in _divisible(factors, nodes, outside)[:1]] if refine is None else refine
    if chosen:
        named = ",".join(shlex.quote(one) for one in chosen)
        return Next(
            says=f"Divide {joined([words.middle(one, 60) for one in chosen])}: what varies is in "
            f"{'its body' if len(chosen) == 1 else 'their bodies'}, which may still call others.",
            command=f"tare profile refine {shlex.quote(run)} {named}",
        )
    if source is None:
        return Next(
            says="Name functions to watch.", command=f"tare profile refine {shlex.quote(run)} FUNCTION"
        )
    if source.kind == "waiting":
        return Next(
            says="Look at the client: what varies most is the wait for it. What the server itself varies by is told "
            "by its own time.",
            command=f"tare profile show {shlex.quote(run)} --server-time",
        )
    return Next(
        says=f"Read the source of {words.middle(source.names[0], 60)}: nothing below it is left to divide.",
        command="",
    )


def _hidden(
    source: Factor | None, nodes: Sequence[Node], unwatched: Mapping[int | None, Unwatched]
) -> tuple[str, Unwatched] | None:
    """Return the name of what varies most by its own time, and what may hide in that; None: nothing is known."""
    if any(one.parent is None and _own(one) >= _HIDDEN for one in nodes):
        return ("The transaction itself", unwatched[None]) if None in unwatched else None
    function = source.functions[0] if source is not None and source.functions else None
    if source is None or function is None or function not in unwatched or _own(source) < _LEAST:
        return None
    return words.middle(source.names[0], 60), unwatched[function]


def _beyond(name: str, of: Unwatched, command: str, budget: float | None, attached: bool) -> Next:
    """How to look at callees that could not be watched."""
    if of.hot:
        larger = budget is not None and budget < 1
        ways = (
            ["profile it by the agent (tare profile run), whose probes cost a small part"] if attached else []
        )
        ways += ["allow a larger --budget"] if larger else []
        ways += ["watch these alone with --functions"]
        share = "the budget" if budget is None else f"a budget of {words.percent(budget)}"
        verb = "is" if len(of.hot) == 1 else "are"
        advice = f"{', '.join(ways[:-1])}, or {ways[-1]}" if len(ways) > 1 else ways[0]
        return Next(
            says=f"{name} calls {_some(of.hot)}, which {verb} called too often for {share}: what varies may be in "
            f"there. {advice[0].upper()}{advice[1:]}.",
            command=_again(command, "--budget", f"{100 * min(1.0, _LARGER * budget):.0f}%")
            if larger and budget is not None
            else "",
        )
    reasons = dict.fromkeys(of.refused.values())
    other = "The agent (tare profile run)" if attached else "Attaching (tare profile attach)"
    return Next(
        says=f"{name} calls {_some(tuple(of.refused))}, on which no probe can be put ({'; '.join(reasons)}): what "
        f"varies may be in there. {other} may be able to watch it.",
        command="",
    )


def _some(names: Sequence[str]) -> str:
    shown = [words.middle(one, 60) for one in names[:_NAMED]]
    return joined([*shown, *([counted(len(names) - _NAMED, "other")] if len(names) > _NAMED else [])])


def _again(command: str, *instead: str) -> str:
    """Under a name that is not taken; `instead`: an option and its value, in the place of what was given."""
    given = shlex.split(command)
    ours = given.index("--") if "--" in given else 0 if given[2:3] == ["run"] else len(given)
    options, others = given[:ours], given[ours:]  # what the program that is run was given is left alone
    for option in ("--name", *instead[:1]):
        options = [one for one in options if not one.startswith(f"{option}=")]
        if option in options[:-1]:
            del options[(place := options.index(option)) : place + 2]
    words = [*options, *others]
    return shlex.join([*words[:_CALL], *instead, *words[_CALL:]])


def _divisible(factors: Sequence[Factor], nodes: Sequence[Node], outside: Collection[int]) -> list[Factor]:
    """Functions that may call others, none of which was watched; by own share times specificity."""
    divided = {one.function for one in nodes if one.children}
    leaves = {one.function for one in nodes if one.height == 0} | set(outside)
    own: dict[int | None, float] = {}  # over all paths
    for one in nodes:
        own[one.function] = own.get(one.function, 0.0) + _own(one)

    def worth(of: Factor) -> float:
        return own.get(of.functions[0], 0.0)

    found = [
        one
        for one in factors
        if one.kind == "function" and worth(one) >= _LEAST and not set(one.functions) & (divided | leaves)
    ]
    return sorted(found, key=lambda one: -one.specificity * worth(one))


def _own(of: Factor | Node) -> float:
    return of.own_covariance.value if of.own_covariance else 0.0
