"""What to do after this profile: which function to divide, or that there is none left."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence

from tare.report.profile import words
from tare.report.profile.document import Factor, Next, Node
from tare.report.words import counted, joined

_HIDDEN = 0.5  # of Var(T): a transaction's own share from which most of what varies was not looked at
_LARGER = 4  # times the budget
_NAMED = 3
_CALL = 3  # words of a command before its options: tare profile attach
_LEAST = 0.05  # of Var(T): an own share below it is not worth a round


def next_step(
    run: str,
    command: str,
    refine: Sequence[str] | None,
    factors: Sequence[Factor],
    nodes: Sequence[Node],
    enough: int | None,
    valid: bool,
    left_out: Sequence[str] = (),
    budget: float | None = None,
    attached: bool = False,
    outside: Collection[int] = (),
) -> Next:
    """`command`: that made the profile. `refine`: as for `build`. `left_out`: functions too hot for the budget;
    `outside`: those of libraries, inside which nothing is looked for."""
    if not nodes or not valid:
        return Next(
            says="Profile again, with fewer functions or a lower rate of transactions.",
            command=_again(command),
        )
    if enough is not None:
        return Next(says="Profile for longer, until there are enough transactions.", command=_again(command))
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
    chosen = [one.names[0] for one in _divisible(factors, nodes, outside)[:1]] if refine is None else refine
    if chosen:
        named = ",".join(shlex.quote(one) for one in chosen)
        return Next(
            says=f"Divide {joined([words.middle(one, 60) for one in chosen])}: what varies is in "
            f"{'its body' if len(chosen) == 1 else 'their bodies'}, which may still call others.",
            command=f"tare profile refine {shlex.quote(run)} {named}",
        )
    source = max((one for one in factors if one.own_covariance), key=_own, default=None)
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
