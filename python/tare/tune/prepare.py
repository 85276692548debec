"""A server made ready for its arms: refusals, the arms that it takes, and how they take turns on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial

from tare.dbms.base import Server
from tare.dbms.servers.record import ServerRecord
from tare.errors import UsageError
from tare.tune.arms import Arm, is_baseline, needs
from tare.tune.durability import losses
from tare.tune.journal import Changes
from tare.tune.record import DroppedArm
from tare.tune.restarts import Restarts
from tare.tune.safety import check_server, check_settings
from tare.tune.separate import SeparateConductor, changing, restarted_window_costs_s, window_costs_s
from tare.tune.settings.connecting import connect
from tare.tune.settings.setting import Reach, Setting, SettingServer
from tare.tune.specification import TuneSpecification
from tare.tune.stage import Dropped, Plan, Stage, StageConductor, try_arms
from tare.tune.steady import Watch
from tare.workload.oltp.request import Request
from tare.workload.oltp.told import Told

Hear = Callable[[Told | None], None]
Conduct = Callable[[Request, Sequence[Arm], Plan, Hear], Stage]


@dataclass(frozen=True, slots=True)
class Ready:
    """A server before the load, and the arms that it takes. `conduct` measures a stage of them."""

    server: Server
    baseline: Mapping[str, str]  # values before the run, in the server's own units
    arms: tuple[Arm, ...]
    dropped: tuple[DroppedArm, ...]
    conduct: Conduct
    window_costs_s: Callable[[], float]  # with all that is around a window
    is_separate: bool = False  # each window needs connections of its own
    is_restarted: bool = False  # each window needs a server of its own


@dataclass(frozen=True, slots=True)
class Permissions:
    """Permissions beyond the changes of a throw-away server that nobody else uses."""

    changes: bool = False
    clients: bool = False


def ready(stack: ExitStack, url: str, specification: TuneSpecification, permissions: Permissions) -> Ready:
    """Select and try the arms of a specification. All is put back at the end of the stack. Raises UsageError."""
    arms = [Arm(arm.name, dict(arm.set)) for arm in specification.arm]
    server, record = _open(stack, url, arms, permissions)
    facts = server.settings(names(arms))
    arms, dropped = _selected(facts, arms, record, keep_durability=specification.goal.keep_durability)
    if not arms:
        raise UsageError("no arm is left to measure: " + _reasons(dropped), "give other values")
    return _tried(stack, url, server, record, arms, dropped, specification)


def ready_again(
    stack: ExitStack,
    url: str,
    specification: TuneSpecification,
    permissions: Permissions,
    arms: Sequence[Arm],
    dropped: Sequence[DroppedArm],
) -> Ready:
    """Make arms ready that were measured before. Raises UsageError, also if the server no longer takes one."""
    server, record = _open(stack, url, arms, permissions)
    again = _tried(
        stack, url, server, record, [arm for arm in arms if not arm.is_copy], dropped, specification
    )
    if len(again.dropped) > len(dropped):
        raise UsageError(
            "the server no longer takes each arm: " + _reasons(again.dropped[len(dropped) :]),
            "begin a new run",
        )
    return again


def names(arms: Sequence[Arm]) -> tuple[str, ...]:
    """Settings of arms, each once."""
    return tuple(dict.fromkeys(name for arm in arms for name in arm.settings))


# Inside ------------------------------------------------------------------------------------
def _open(
    stack: ExitStack, url: str, arms: Sequence[Arm], permissions: Permissions
) -> tuple[SettingServer, ServerRecord | None]:
    """Connect and refuse. Raises UsageError before any change."""
    server = stack.enter_context(closing(connect(url)))
    record = check_server(server, allow_changes=permissions.changes, allow_clients=permissions.clients)
    values: dict[str, list[str]] = {}
    for arm in arms:
        for name, value in arm.settings.items():
            values.setdefault(name, []).append(value)
    check_settings(server.settings(tuple(values)), values)
    return server, record


def _selected(
    facts: Mapping[str, Setting], arms: Sequence[Arm], record: ServerRecord | None, *, keep_durability: bool
) -> tuple[list[Arm], list[DroppedArm]]:
    """Arms to measure, and those that are left out with the reason."""
    kept, dropped = [], []
    for arm in arms:
        given_up = losses(arm.settings)
        reach = needs(arm, facts)
        reason = None
        if is_baseline(arm, facts):
            reason = "its values are the baseline's"
        elif keep_durability and given_up:
            reason = f"it gives durability up ({given_up[0].what})"
        elif reach is Reach.FIXED:
            reason = "needs another build of the server"
        elif reach is Reach.RESTART and record is None:
            reason = "needs a restart, which only a server that Tare started gets"
        if reason is None:
            kept.append(arm)
        else:
            dropped.append(DroppedArm(name=arm.name, reason=reason))
    return kept, dropped


def _tried(
    stack: ExitStack,
    url: str,
    server: SettingServer,
    record: ServerRecord | None,
    arms: Sequence[Arm],
    dropped: Sequence[DroppedArm],
    specification: TuneSpecification,
) -> Ready:
    """Find the way in which these arms take turns, and the arms that the server takes. Raises UsageError."""
    facts = server.settings(names(arms))
    reaches = {needs(arm, facts) for arm in arms}
    if Reach.RESTART in reaches:
        assert record is not None  # `_selected`, and a run that is resumed on the same server
        return _cloned(stack, url, server, record, arms, dropped, specification)
    changes = stack.enter_context(Changes(server, names(arms)))
    taken, refused = try_arms(changes, arms)
    is_separate = any(needs(arm, facts) is Reach.NEW_SESSIONS for arm in taken)
    shape, load = specification.blocks, specification.load

    def conduct(request: Request, whole: Sequence[Arm], plan: Plan, hear: Hear) -> Stage:
        if is_separate:
            return SeparateConductor(request, changing(changes, url), whole, plan, hear).run()
        return StageConductor(request, changes, whole, plan, hear).run()

    return Ready(
        server=server.server,
        baseline=changes.baseline,
        arms=_some(taken, dropped, refused),
        dropped=(*dropped, *map(_as_dropped, refused)),
        conduct=conduct,
        window_costs_s=partial(window_costs_s, shape.window_s, load.warmup_s)
        if is_separate
        else lambda: shape.window_s,
        is_separate=is_separate,
    )


def _cloned(
    stack: ExitStack,
    url: str,
    server: SettingServer,
    record: ServerRecord,
    arms: Sequence[Arm],
    dropped: Sequence[DroppedArm],
    specification: TuneSpecification,
) -> Ready:
    """Arms on clones of the server. Raises UsageError, before the server is stopped for the copy."""
    others = server.foreign_sessions()
    if others:
        raise UsageError(
            f"a setting needs a restart, and {len(others)} other sessions would be cut off: {', '.join(others[:3])}",
            "end them, then run again",
        )
    baseline = {name: fact.value for name, fact in server.settings(names(arms)).items()}
    server.close()  # the server is stopped for the copy
    restarts = stack.enter_context(Restarts(record, url))
    taken, refused = restarts.try_arms(arms)
    watch = Watch(specification.load.warmup_s)
    window_s = specification.blocks.window_s

    def conduct(request: Request, whole: Sequence[Arm], plan: Plan, hear: Hear) -> Stage:
        return SeparateConductor(request, restarts.under, whole, plan, hear, watch=watch).run()

    return Ready(
        server=server.server,
        baseline=baseline,
        arms=_some(taken, dropped, refused),
        dropped=(*dropped, *map(_as_dropped, refused)),
        conduct=conduct,
        window_costs_s=lambda: restarted_window_costs_s(window_s, watch, restarts.start_s),
        is_separate=True,
        is_restarted=True,
    )


def _some(taken: Sequence[Arm], dropped: Sequence[DroppedArm], refused: Sequence[Dropped]) -> tuple[Arm, ...]:
    """Raises UsageError if no arm is left."""
    if not taken:
        raise UsageError(
            "the server takes none of the arms: " + _reasons([*dropped, *map(_as_dropped, refused)]),
            "give other values",
        )
    return tuple(taken)


def _as_dropped(refused: Dropped) -> DroppedArm:
    return DroppedArm(name=refused.arm.name, reason=refused.reason)


def _reasons(dropped: Sequence[DroppedArm]) -> str:
    return "; ".join(f"{arm.name}: {arm.reason}" for arm in dropped)
