"""From `--txn` to the rule that tells transactions apart, and the probes that it needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tare.errors import UsageError
from tare.profile.functions import Functions, Known, NoSuchFunction
from tare.profile.presets import Marker, Preset, Rules, of_dbms, preset
from tare.profile.presets.base import SITE

MARK = "tare_mark"
"""Function that the annotations of `include/tare_profile.h` and of the Rust crate call."""

Probe = tuple[int, str, bool, bool]
"""Probe as a recorder takes it: function, what its entry reads, whether with CPU time, whether entry only."""


@dataclass(frozen=True, slots=True)
class Transactions:
    """Definition of a transaction in this program."""

    txn: str  # as it was asked for
    says: str
    rules: Rules
    markers: tuple[Probe, ...]  # on in every window
    tops: tuple[int, ...]  # functions whose static children are phases of it
    seeds: tuple[int, ...]  # to begin with, most telling first
    waits: tuple[int, ...] = ()  # before these

    @property
    def marking(self) -> frozenset[int]:
        return frozenset(probe[0] for probe in self.markers)

    @property
    def triggers(self) -> tuple[int, ...]:
        """Functions that each process which runs transactions comes to again and again."""
        return tuple(number for number, detail, _, _ in self.markers if detail != "mark")


def transactions(txn: str, dbms: str | None, major: int, functions: Functions) -> Transactions:
    """Raises UsageError where it is not a way to tell transactions, NoSuchFunction where the binary cannot do it."""
    kind, colon, rest = txn.partition(":")
    if kind == "annotation" and not colon:
        return _known_to(_of_annotations(txn, functions.all_named(MARK)), dbms, functions)
    if kind == "function" and rest:
        return _of_function(txn, functions.named(rest))
    if kind == "usdt" and rest:
        return _known_to(_of_notes(txn, rest, functions), dbms, functions)
    if colon:
        raise UsageError(
            f"--txn {txn}: no way to tell transactions",
            "take a preset such as commit, function:NAME, usdt:PROVIDER:BEGIN,END or annotation",
        )
    return _of_preset(preset(dbms, txn), major, functions)


def _known_to(found: Transactions, dbms: str | None, functions: Functions) -> Transactions:
    """With the functions that are worth a look in this DBMS, whatever marks its transactions."""
    known = of_dbms(dbms)[:1]
    return replace(
        found,
        tops=tuple(one.id for preset in known for one in functions.present(preset.tops)),
        seeds=tuple(one.id for preset in known for one in functions.present(preset.seeds)),
        waits=tuple(one for preset in known for one in _waits(preset, functions)),
    )


def _of_annotations(txn: str, marks: Sequence[Known]) -> Transactions:
    """A program without the function may still be annotated, where the agent's library brings it."""
    return Transactions(
        txn=txn,
        says="from begin to end of an id, as the program's own annotations tell",
        rules={"rule": "annotation"},
        markers=tuple((one.id, "mark", True, True) for one in marks),
        tops=(),
        seeds=(),
    )


def _of_function(txn: str, root: Known) -> Transactions:
    if not root.returns:
        raise UsageError(
            f"--txn {txn}: {root.name} never returns", "name the function that one transaction is"
        )
    return Transactions(
        txn=txn,
        says=f"each outermost call of {root.name}",
        rules={"rule": "function", "root": root.id},
        markers=((root.id, SITE, True, False),),
        tops=(root.id,),
        seeds=(),
    )


def _of_notes(txn: str, rest: str, functions: Functions) -> Transactions:
    provider, colon, names = rest.partition(":")
    begin, *ends = [name.strip() for name in names.split(",")]
    if not (colon and provider and begin and ends and all(ends)):
        raise UsageError(
            f"--txn {txn}: names no begin and end",
            "write usdt:PROVIDER:BEGIN,END, as in "
            "usdt:postgresql:transaction-start,transaction-commit,transaction-abort",
        )
    first, *last = [functions.at_note(provider, name) for name in (begin, *ends)]
    return Transactions(
        txn=txn,
        says=f"from the USDT probe {begin} to {' or '.join(ends)}",
        rules={"rule": "marks", "begin": first.id, "end": [one.id for one in last]},
        markers=tuple((one.id, SITE, True, True) for one in (first, *last)),
        tops=(),
        seeds=(),
    )


def _of_preset(chosen: Preset, major: int, functions: Functions) -> Transactions:
    roles: dict[str, int] = {}
    probes: list[Probe] = []
    for role, marker in chosen.markers.items():
        try:
            found = _first(marker, functions, chosen)
        except NoSuchFunction:
            if chosen.otherwise is None:
                raise
            return _of_preset(chosen.otherwise, major, functions)
        if found is not None:
            roles[role] = found.id
            detail = marker.detail if isinstance(marker.detail, str) else marker.detail(major)
            probes.append((found.id, detail, marker.cpu, marker.entry_only))
    tops = functions.present(chosen.tops)
    return Transactions(
        txn=chosen.txn,
        says=chosen.says,
        rules=chosen.rules(roles, major),
        markers=tuple(probes),
        tops=tuple(one.id for one in tops),
        seeds=tuple(one.id for one in functions.present(chosen.seeds)),
        waits=tuple(_waits(chosen, functions)),
    )


def _waits(chosen: Preset, functions: Functions) -> Iterator[int]:
    """Known waits of a preset that the binary has."""
    found: dict[int, None] = {}
    for wait in chosen.waits:
        names = (wait,) if isinstance(wait, str) else wait
        present = next(filter(None, (functions.present([name]) for name in names)), [])
        found |= dict.fromkeys(one.id for one in present)
    yield from found


def _first(marker: Marker, functions: Functions, chosen: Preset) -> Known | None:
    for name in marker.names:
        found = functions.all_named(name)
        if len(found) == 1:
            return found[0]
        if found and (symbols := [one for one in found if not one.inferred]):
            return _widest(symbols)
    if marker.optional:
        return None
    wanted = " or ".join(marker.names)
    raise NoSuchFunction(
        f"--txn {chosen.txn}: {functions.program.path} names no {wanted}, by which transactions of {chosen.dbms} "
        "are told",
        "install the server's debug symbols, or name another root: --txn function:NAME",
    )


def _widest(found: Sequence[Known]) -> Known:
    """Return the overload with the most code: the others mostly call it."""
    return max(found, key=lambda one: one.size)
