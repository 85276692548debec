"""Two servers, what is watched on them, and a window of the load."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.profile_overhead.loads import Load, Sender, TpcB, TpcC
from benchmarks.profile_overhead.pgbench import Pgbench
from benchmarks.profile_overhead.upkeep import by_hand
from benchmarks.profile_ways import Target, Way, owner_of, recording, settle
from tare._probe import ProfileRecorder
from tare.dbms.servers import RunningServer, record, restart, start_postgresql
from tare.profile.functions import Functions
from tare.profile.images import functions_of
from tare.profile.server import of_process
from tare.profile.starting import targets_of
from tare.profile.transactions import Transactions, transactions

VERSION = "18"
BARE = "as it comes"
BARE_COPY, AGENT_COPY = "bare", "agent"
"""Folders of copied programs: each server's own."""
COUNTS = (1, 10, 50, 100)
"""How many functions are watched; the bar is about the most."""


@dataclass(frozen=True)
class Case:
    way: str  # BARE, or the backend's name
    watch: tuple[int, ...] = ()
    on: bool = (
        True  # the markers of transactions at least; else the agent is in the server, and no probe is on
    )
    near: bool = False  # the functions are the preset's and what these call

    @property
    def at_bar(self) -> bool:
        return self.way == "agent" and len(self.watch) == max(COUNTS) and not self.near

    def __str__(self) -> str:
        if self.way == BARE:
            return self.way
        number = len(self.watch)
        what = (
            f"{number} function{'s' * (number > 1)}"
            if number
            else "markers alone"
            if self.on
            else "nothing on"
        )
        return f"{self.way}, {what}{' near the preset' * self.near}"


UNTOUCHED = Case(BARE, on=False)


class Bed:
    """Both servers, loaded alike. They run copies of one binary, so that a function has one number in both."""

    def __init__(
        self,
        sender: Sender,
        pair: Sequence[RunningServer],
        agent: Way,
        folder: Path,
        functions: Functions,
        of: Transactions,
    ) -> None:
        self.sender = sender
        self.functions = functions
        self.of = of
        self._pair = tuple(pair)
        self._agent = agent
        self._folder = folder
        self._stack = ExitStack()
        self._exchanges = 0
        self._as_root = os.geteuid() == 0
        self.recorders: dict[str, ProfileRecorder] = {}  # by way
        self._open()

    def close(self) -> None:
        self._stack.close()

    @property
    def urls(self) -> Mapping[str, str]:
        """By way."""
        bare, other = (server.url for server in self._pair)
        return {BARE: bare, "attach": bare, "agent": other}

    def exchange(self) -> None:
        """The data of the one server become the other's. Where files lie and how a process's memory is laid out makes a
        server faster or slower than its like by some percent, for as long as it runs."""
        self.close()
        self._pair = self._pair[::-1]
        self._exchanges += 1
        self._open()

    def _open(self) -> None:
        bare, other = self._pair
        for server, name in ((bare, BARE_COPY), (other, AGENT_COPY)):
            record.write(replace(server.record, binaries=self._folder / name / "bin"))
        restart(bare.record)
        with self._agent.in_children():
            restart(other.record)
        self._record(self._agent, other)
        if self._as_root:
            self._record(self._stack.enter_context(Way("attach", self._folder)), bare)

    def _record(self, way: Way, server: RunningServer) -> None:
        file = self._folder / f"{way.name}-{self._exchanges}.tare"
        self._stack.callback(file.unlink, missing_ok=True)
        self.recorders[way.name] = self._stack.enter_context(recording(way, server.pid, file))

    def load(self, way: str, seconds: int, rate: float | None = None) -> Load:
        return self.sender.window(self.urls[way], seconds, rate)

    def window(self, case: Case, seconds: int, rate: float | None) -> Load:
        if case.on:
            self._on(self.recorders[case.way], case.watch)
        try:
            return self.load(case.way, seconds, rate)
        finally:
            if case.on:
                self.recorders[case.way].set([], [], "timing", "resting", 1)
                settle()

    def target(self, way: str, number: int) -> Target:
        number, name, _, address, size, parts = self.functions[number].target()
        copy = program(self._folder, AGENT_COPY if way == "agent" else BARE_COPY)
        return (number, name, str(copy), address, size, parts)

    def _on(self, recorder: ProfileRecorder, watch: Sequence[int]) -> None:
        targets = [self.target(recorder.name, number) for number in (*sorted(self.of.marking), *watch)]
        probes = [*self.of.markers, *((number, "site", False, False) for number in watch)]
        refused = recorder.set(targets, probes, "timing", "probed", 1)
        if refused:
            raise SystemExit(f"{recorder.name} refused {refused}")
        settle()


@contextmanager
def bed(load: str, scale: int, warmup_s: float, folder: Path, data: Path) -> Iterator[Bed]:
    with ExitStack() as stack:
        pair = [
            stack.enter_context(start_postgresql(data / name, version=VERSION)) for name in ("one", "other")
        ]
        sender = TpcC(scale, warmup_s) if load == "tpcc" else TpcB(Pgbench(pair[0].record.binaries), scale)
        for server, name in zip(pair, (BARE_COPY, AGENT_COPY), strict=True):
            sender.prepare(server)
            by_hand(server.url)
            # A uprobe is put on every process of a file, and what it puts back in the end is the file's first byte: not
            # what the agent has made of it.
            shutil.copytree(server.record.binaries.parent, folder / name, symlinks=True)
        functions = functions_of(of_process(pair[0].pid))
        of = transactions("commit", "postgresql", int(VERSION), functions)
        agent = stack.enter_context(Way("agent", folder))
        started = program(folder, AGENT_COPY)
        # those of `tare profile run`, not only the ones that will be watched
        targets = [
            (number, name, str(started), address, size, parts)
            for number, name, _, address, size, parts in targets_of(functions, "agent")
        ]
        agent.prepare(started, targets, of.triggers, owner_of(pair[1].directory))
        if os.geteuid() != 0:
            print("NOT MEASURED: attach: it needs root", flush=True)
        made = Bed(sender, pair, agent, folder, functions, of)
        stack.callback(made.close)
        yield made


def program(folder: Path, copy: str) -> Path:
    return folder / copy / "bin/postgres"
