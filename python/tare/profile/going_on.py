"""A profile that goes on from another one, while the same server runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import ServerLost, UsageError
from tare.lab.profile_about import About, Named
from tare.lab.profiles import Run
from tare.profile import watched
from tare.profile.conduct import Opened, Subject, transactions_of
from tare.profile.functions import Functions
from tare.profile.images import functions_of
from tare.profile.launch import PRELOADED
from tare.profile.request import Asked
from tare.profile.running import attach

if TYPE_CHECKING:
    from tare._probe import ProfileRecorder
    from tare.profile.server import Server


def subject(run: Run, asked: Asked) -> tuple[Subject, Sequence[int]]:
    """And the functions of its first round: those of the run's last one, and callees of those named in `asked`.

    Raises ServerLost where the server has ended, UsageError, NoSuchFunction."""
    before = watched.read(run.folder)
    server = before.server()
    functions = functions_of(server)
    about = run.about
    found = Subject(
        server=server,
        functions=functions,
        transactions=transactions_of(replace(asked, txn=about.preset), server, functions),
        backend=about.backend,
        opened=_opened(about, server, before.folder),
        shown=about.server,
        folder=Path(before.folder) if before.folder else None,
    )
    divided = [functions.named(name).id for name in asked.functions]
    beneath = [callee.id for one in divided for callee in functions.children(one)]
    if asked.functions and not beneath and not any(functions.calls_by_pointer(one) for one in divided):
        raise UsageError(
            f"{', '.join(asked.functions)}: calls no function that has a name",
            "its body is all there is; name another, or install debug symbols",
        )
    return found, list(dict.fromkeys((*divided, *_last(about, functions), *beneath)))


def as_before(asked: Asked, about: About) -> Asked:
    """Return the request with the earlier kind of time. Named functions were to be divided, not to be watched alone."""
    return replace(asked, functions=(), server_time=asked.server_time or about.server_time)


def _last(about: About, functions: Functions) -> list[int]:
    """Functions of the last round, as they are numbered now: the server is the same, and so its binary."""
    known: dict[int, Named] = {one.id: one for one in about.functions}
    wanted = [known[one] for one in (about.rounds[-1].functions if about.rounds else ()) if one in known]
    found = []
    for one in wanted:
        library = "" if one.object == functions.program.path else f"@{Path(one.object).name}"
        found += [other.id for other in functions.all_named(f"{one.address:#x}{library}")]
    return found


def _opened(about: About, server: Server, folder: str) -> Opened:
    from tare._probe import ProfileRecorder

    if about.backend not in PRELOADED:
        return lambda path: attach(path, server)
    if not Path(folder).is_dir():
        raise ServerLost(
            f"the agent's memory {folder} is gone: the server runs without a way to it",
            "start it again: tare profile run --keep -- COMMAND",
        )

    def opened(path: str) -> ProfileRecorder:
        by: dict[str, Opened] = {
            "agent": lambda to: ProfileRecorder.agent(to, folder),
            "xray": lambda to: ProfileRecorder.xray(to, folder),
            "annotation": lambda to: ProfileRecorder.annotation(to, folder),
        }
        return by[about.backend](path)

    return opened
