"""Profiles on disk: a run is a folder with its recording, what it is, and tables made from it.

`about.json`, `recording.tare` and, at will, `derived/`. A run is named by its folder's path, or by its name where the
folder of all runs (`profiles/`) has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path

from tare.errors import NoSuchProfile, ProfileDamaged, UsageError
from tare.lab.profile_about import ABOUT, About, read_about, write_about
from tare.lab.profile_tables import Assemble, Tables, tables_of
from tare.protocol.profile.measured import PROBED, Measured, Window, from_tables

PROFILES = Path("profiles")
RECORDING = "recording.tare"


@dataclass(frozen=True, slots=True)
class Run:
    """A profile. Its tables are read at their first use."""

    folder: Path
    about: About

    @property
    def name(self) -> str:
        return self.about.name

    @property
    def recording(self) -> Path:
        return self.folder / RECORDING

    def save(self, about: About) -> Run:
        """The same run, of which this is now known. Raises ExportFailed."""
        write_about(self.folder, about)
        return Run(self.folder, about)

    def tables(self, assemble: Assemble | None = None) -> Tables:
        """Raises ProfileDamaged, ExportFailed, or ProbeError for a recording that is damaged."""
        return tables_of(self.folder, self.recording, self.about.rules, assemble)

    def measured(
        self, *, round_: int | None = None, purpose: str = PROBED, tables: Tables | None = None
    ) -> Measured:
        """Transactions of the windows of this purpose; `round_`: None: of the last round that has such windows, and of
        the rounds that are alike to it.

        Raises NoSuchProfile where there is no such window."""
        found = tables or self.tables()
        chosen = self._windows(found.windows, purpose, round_)
        if not chosen:
            raise self.no_windows(found.windows, purpose, round_)
        return from_tables(
            found.transactions,
            found.paths,
            found.cells,
            windows=chosen,
            functions=(one.function() for one in self.about.functions),
            texts=found.texts,
            records=found.records,
            lost=found.lost,
            unwound=found.unwound,
            unrecorded=found.unrecorded,
            call_graph_height=self.about.call_graph_height,
            waiting_name=self.about.waiting,
        )

    def windows(self, tables: Tables, round_: int | None = None) -> list[Window]:
        """Windows of a round, whatever their purpose; None: of the last probed round and those alike."""
        rounds = {one.round for one in self._windows(tables.windows, PROBED, round_)}
        return [window for window in tables.windows if window.round in rounds]

    def no_windows(self, windows: Sequence[Window], purpose: str, round_: int | None) -> NoSuchProfile:
        """Return the error for a round without windows of this purpose. `windows`: all that the profile has."""
        rounds = sorted({one.round for one in windows if one.purpose == purpose})
        if not rounds:
            return NoSuchProfile(
                f"the profile {self.name} has no round: it ended before a function was timed",
                "record it again with a longer --duration",
            )
        numbers = ", ".join(map(str, rounds))
        return NoSuchProfile(
            f"the profile {self.name} has no round {round_}; its rounds are {numbers}",
            f"give --round {rounds[-1]}, or leave --round out for the last one",
        )

    def _windows(self, windows: Sequence[Window], purpose: str, round_: int | None) -> list[Window]:
        last = windows_of(windows, purpose, round_)
        alike = self.about.alike
        if round_ is not None or not last or last[0].round not in alike:
            return last
        return [one for one in windows if one.purpose == purpose and one.round in alike]


def windows_of(windows: Sequence[Window], purpose: str, round_: int | None = None) -> list[Window]:
    """Return the windows of this purpose and round; None: the last round that has any."""
    found = [one for one in windows if one.purpose == purpose]
    wanted = max((one.round for one in found), default=None) if round_ is None else round_
    return [one for one in found if one.round == wanted]


def create(about: About, parent: Path = PROFILES, *, chosen: bool = False) -> Run:
    """A new folder for `about`, named as that says; `chosen`: the user did, so that no other will do.

    Raises UsageError for a name that is taken or none, ExportFailed or OSError where the folder cannot be made."""
    if not about.name or Path(about.name).name != about.name or about.name.startswith("."):
        raise UsageError(f"{about.name!r} is no name for a profile", "take letters, digits and dashes")
    try:
        parent.mkdir(parents=True, exist_ok=True)
        name, number = about.name, 1
        while True:
            try:
                (parent / name).mkdir()
                break
            except FileExistsError as error:
                if chosen:
                    raise UsageError(
                        f"{parent / name} is already there", "take another name, or remove it"
                    ) from error
                number += 1
                name = f"{about.name}-{number}"
    except OSError as error:
        raise ProfileDamaged(
            f"no folder for the profile can be made in {parent}: {error.strerror or error}",
            "name a folder that you may write: --profiles FOLDER",
        ) from error
    return Run(parent / name, about).save(about.model_copy(update={"name": name}))


def usual_name(what: str, when: datetime) -> str:
    """Return a name like `postgresql-20261122-101500`."""
    return f"{what or 'profile'}-{when:%Y%m%d-%H%M%S}"


def open_run(which: str, parent: Path = PROFILES) -> Run:
    """By path or by name. Raises NoSuchProfile (with near names), ProfileDamaged, ProfileTooNew."""
    for folder in (Path(which), parent / which):
        if (folder / ABOUT).exists():
            return Run(folder, read_about(folder))
    for folder in (Path(which), parent / which):
        if which and folder.is_dir() and (folder / RECORDING).exists():
            raise ProfileDamaged(
                f"{folder} holds a recording and no {ABOUT}: it ended before it said what it is",
                "record the profile again",
            )
    names = names_in(parent)
    near = get_close_matches(which, names, n=3, cutoff=0.5) or [
        one for one in names if which and one.startswith(which)
    ]
    raise NoSuchProfile(
        f"there is no profile {which!r}, neither as a folder nor in {parent}/",
        f"did you mean {', '.join(near[:3])}?"
        if near
        else f"it has {', '.join(names[-3:])}"
        if names
        else "record one: tare profile attach",
    )


def names_in(parent: Path = PROFILES) -> list[str]:
    """Return the names of folders that hold a profile, whether it can be read or not."""
    return sorted(one.parent.name for one in parent.glob(f"*/{ABOUT}"))


def runs_in(parent: Path = PROFILES) -> list[Run | ProfileDamaged]:
    """The newest first; what cannot be read as the error it is."""
    found: list[Run | ProfileDamaged] = []
    for name in names_in(parent):
        try:
            found.append(Run(parent / name, read_about(parent / name)))
        except ProfileDamaged as error:
            found.append(error)
    return sorted(found, key=lambda one: one.about.when if isinstance(one, Run) else "", reverse=True)
