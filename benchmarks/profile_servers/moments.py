"""Attaching at bad moments: while a server starts, twice at once, with an end of Tare or of the server in mid-run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.profile_servers import harm
from benchmarks.profile_servers.subjects import Served, Subject
from tare.dbms import local
from tare.dbms.servers import restart

SECONDS = 20
MID_RUN_S = 9.0
ENDS_WITHIN_S = 60.0
STOPPED_S = 4.0
SERVER_ENDED = 3  # Tare's exit code
PROGRAMS = ("postgres", "mariadbd")


@dataclass(frozen=True)
class Moment:
    server: str
    name: str
    is_right: bool
    says: str


@dataclass(frozen=True)
class Attached:
    exit_code: int | None
    headline: str


class Tare:
    """`tare profile attach`, started."""

    def __init__(self, words: Sequence[str], folder: Path, name: str) -> None:
        self._document = folder / f"{name}.json"
        kept = ("--profiles", str(folder / "profiles"), "--name", name, "--json", str(self._document))
        command = [
            sys.executable,
            "-m",
            "tare",
            "profile",
            "attach",
            *words,
            "--duration",
            f"{SECONDS}s",
            *kept,
        ]
        with (folder / f"{name}.err").open("wb") as errors:
            self.process = subprocess.Popen(command, stdout=errors, stderr=errors)

    def wait(self) -> Attached:
        code = None
        with suppress(subprocess.TimeoutExpired):
            code = self.process.wait(SECONDS + ENDS_WITHIN_S)
        headline = ""
        if self._document.exists():
            headline = str(json.loads(self._document.read_text()).get("headline", ""))
        return Attached(code, headline)


def moments(subject: Subject) -> Iterator[Moment]:
    """Moments of a server that can be restarted."""
    assert isinstance(subject, Served)
    subject.start()
    try:
        with loaded(subject):
            yield twice(subject)
            yield killed(subject)
        with loaded(subject):
            yield ended(subject)
        yield starting(subject)
    finally:
        subject.stop()


@contextmanager
def loaded(subject: Served) -> Iterator[None]:
    subject.begin()
    try:
        yield
    finally:
        subject.end()


def twice(subject: Served) -> Moment:
    first = Tare(subject.words, subject.folder, "first")
    time.sleep(MID_RUN_S / 2)
    second = Tare(subject.words, subject.folder, "second")
    codes = [one.wait().exit_code for one in (second, first)][::-1]
    left = probes(subject)
    says = f"exit codes {codes[0]} and {codes[1]}; {alive(subject)}; {left} probes left"
    return Moment(subject.name, "two at once", subject.is_alive and codes[0] == 0 and not left, says)


def killed(subject: Served) -> Moment:
    tare = Tare(subject.words, subject.folder, "killed")
    time.sleep(MID_RUN_S)
    on = probes(subject)
    tare.process.kill()
    tare.process.wait()
    time.sleep(1.0)
    left = probes(subject)
    says = f"{on} probes on, {left} a second after the kill; {alive(subject)}"
    return Moment(subject.name, "Tare killed in mid-run", subject.is_alive and on > 0 and not left, says)


def ended(subject: Served) -> Moment:
    tare = Tare(subject.words, subject.folder, "ended")
    time.sleep(MID_RUN_S)
    os.kill(subject.pid, signal.SIGINT if subject.name.startswith("PostgreSQL") else signal.SIGTERM)
    attached = tare.wait()
    right = attached.exit_code == SERVER_ENDED and "ended" in attached.headline
    says = f"exit code {attached.exit_code}: {attached.headline}"
    return Moment(subject.name, "server stopped in mid-run", right, says)


def starting(subject: Served) -> Moment:
    """It is stopped as soon as its program runs, and goes on when Tare has attached."""
    before = set(of_server(subject))
    thread = threading.Thread(target=restart, args=(subject.server.record,))
    thread.start()
    while not (new := [pid for pid in of_server(subject) if pid not in before]):
        time.sleep(0.002)
    os.kill(new[0], signal.SIGSTOP)
    tare = Tare(("--pid", str(new[0])), subject.folder, "starting")
    time.sleep(STOPPED_S)
    os.kill(new[0], signal.SIGCONT)
    thread.join()
    with loaded(subject):
        attached = tare.wait()
        lives = subject.is_alive
        left = probes(subject) if lives else 0
    state = "the server lives" if lives else "**the server has ended**"
    says = f"exit code {attached.exit_code}: {attached.headline}; {state}; {left} probes left"
    return Moment(
        subject.name, "while the server starts", lives and attached.exit_code is not None and not left, says
    )


def of_server(subject: Served) -> list[int]:
    """Processes of its program and directory."""
    directory = str(subject.server.directory)
    numbers = [int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit()]
    return [
        pid
        for pid in numbers
        if local.command_name(pid) in PROGRAMS and any(directory in word for word in local.command_line(pid))
    ]


def probes(subject: Served) -> int:
    return harm.probes_in(subject.pid)


def alive(subject: Served) -> str:
    return "the server lives" if subject.is_alive else "**the server has ended**"
