"""Machine settings that are put back whatever happens to the run that changed them.

A guardian process is started before the first change, and each change is in a journal
before it is made. The guardian undoes them when the run ends in any way: normally, by an
exception, Ctrl-C, SIGTERM or SIGKILL. If the guardian is killed too, the journal stays and
the next command of Tare undoes it (`put_back_first`). Runs that hold the same setting at the same time share
it: the first saved value wins, and the last one out puts it back.
"""

from __future__ import annotations

import errno
import json
import os
import select
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType

from tare.errors import PrivilegeMissing, TareError, UsageError
from tare.interruption import check, deferred
from tare.journals import places
from tare.measure.machine.exclusive import exclusive, holder_of
from tare.measure.machine.putback import tasks
from tare.measure.machine.putback.journal import Journal, Run, runs, undo_all
from tare.measure.machine.putback.lock import lock_of, own_command
from tare.measure.machine.putback.steps import (
    FAILED,
    LEFT,
    Affinity,
    Cgroup,
    Claim,
    Moved,
    Step,
    Stopped,
    Sysctl,
    Undone,
    sysctl_path,
)

DELAY_ACCOUNTING = "kernel.task_delayacct"
_ANSWER_S = 10.0  # far above any undoing seen; then the run undoes by itself
_LOCK_S = 3.0  # for the guardian to get the lock, which others have for milliseconds
_SLICE_S = 0.05
_NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS)
_SPAWN = "import sys; sys.path.append(sys.argv.pop()); from putback.guardian import main; main()"

_open: weakref.WeakSet[MachineSettings] = weakref.WeakSet()


def journal_directory() -> Path:
    """Return the directory in which this user's runs keep their journals and see each other; made if it is missing.

    Raises TareError."""
    refusals = []
    for directory in places():
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if directory.lstat().st_uid == os.geteuid() and os.access(directory, os.W_OK | os.X_OK):
                return directory
            refusals.append(f"{directory}: not ours to write")
        except OSError as refused:
            refusals.append(str(refused))
    raise TareError(
        f"no place for the journal that machine settings are put back from ({'; '.join(refusals)})",
        "set XDG_STATE_HOME to a directory that you may write to",
    )


class MachineSettings:
    """Changes settings of the machine and puts them back, last first.

    Use as a context manager. Every change raises PrivilegeMissing where this user may not
    make it, and then leaves nothing behind. Nothing runs until the first change."""

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory
        self._journal: Journal | None = None
        self._guardian: subprocess.Popen[bytes] | None = None
        _open.add(self)

    def __enter__(self) -> MachineSettings:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        undone = self.close()
        for one in (one for one in undone if one.how == LEFT):
            print(f"tare: {one.how}: {one.what}", file=sys.stderr)
        failed = [f"{one.what}: {one.detail}" for one in undone if one.how == FAILED]
        if not failed:
            return
        error = TareError(f"not put back: {'; '.join(failed)}", "tare doctor --restore")
        if raised is None:
            raise error
        raised.add_note(str(error))

    # Changes --------------------------------------------------------------
    def set_sysctl(self, name: str, value: str) -> bool:
        """Returns whether the value was another before. Where another run had set it, it is
        held by both until the last of them closes.

        Raises PrivilegeMissing; UsageError if the kernel has no such setting; TareError if
        another run holds it at another value."""
        path = sysctl_path(name)
        with exclusive(self._place()):
            try:
                now = path.read_text().strip()
            except FileNotFoundError:
                raise UsageError(
                    f"this kernel has no setting {name}", "see `sysctl -a` for those it has"
                ) from None
            other = self._holder(f"sysctl:{name}")
            if other is None and now == value:
                return False
            if other is not None and other[0].alive and other[1].new != value:
                raise TareError(
                    f"{name} may not be set to {value}: run {_pid(other[0])} holds it at {other[1].new}",
                    "wait until it has ended",
                )
            refused = f"{name} may not be set to {value} by this user"
            step = f"run as root, or have root set it: sysctl -w {name}={value}"
            if now != value and not os.access(path, os.W_OK):  # no guardian is needed to know that
                raise PrivilegeMissing(refused, step)
            self._make(
                Sysctl(name, other[1].old if other else now, value),
                lambda: path.write_text(value) if now != value else None,
                refused,
                step,
            )
            return now != value

    def set_affinity(self, tid: int, cpus: Iterable[int]) -> bool:
        """Confines one thread to these CPUs. Returns whether that changed anything; False if it is gone."""
        wanted = set(cpus)
        try:
            old = os.sched_getaffinity(tid)
        except ProcessLookupError:
            return False
        if old == wanted:
            return False
        return self._on_task(
            tid,
            lambda start: Affinity(tid, start, tuple(sorted(old)), tuple(sorted(wanted))),
            lambda: os.sched_setaffinity(tid, wanted),
            f"the CPUs of process {tid} ({tasks.name(tid)}) may not be changed by this user",
        )

    def keep_affinity(self, tid: int, reset: Iterable[int]) -> bool:
        """Puts the thread's present CPUs back if a move between cgroups has ``reset`` them."""
        try:
            old = tuple(sorted(os.sched_getaffinity(tid)))
        except ProcessLookupError:
            return False
        new = tuple(sorted(reset))
        return self._on_task(tid, lambda start: Affinity(tid, start, old, new), lambda: None, "")

    def stop_process(self, pid: int) -> bool:
        """Holds a process by SIGSTOP. Returns False if it is gone or was stopped already."""
        if tasks.stopped(pid):
            return False
        name = tasks.name(pid)
        return self._on_task(
            pid,
            lambda start: Stopped(pid, start, name),
            lambda: os.kill(pid, signal.SIGSTOP),
            f"process {pid} ({name}) may not be stopped by this user",
        )

    def make_cgroup(self, path: Path) -> None:
        """Makes a cgroup; at the end its processes go back to its parent and it is removed."""
        with exclusive(self._place()):
            self._make(
                Cgroup(str(path)), path.mkdir, f"cgroup {path} may not be made by this user", "run as root"
            )

    def move_to_cgroup(self, pid: int, origin: Path, target: Path) -> bool:
        """Moves a process with all its threads. Returns False if it is gone."""
        return self._on_task(
            pid,
            lambda start: Moved(pid, start, str(origin)),
            lambda: (target / "cgroup.procs").write_text(str(pid)),
            f"process {pid} ({tasks.name(pid)}) may not be moved to cgroup {target} by this user",
        )

    def claim(self, name: str) -> None:
        """Makes sure that no other run does ``name`` at the same time. Raises TareError if one does."""
        with exclusive(self._place()):
            other = next((run for run in self._others() if run.alive and Claim(name) in run.steps), None)
            if other is not None:
                raise TareError(
                    f"{name} is held by another run (pid {_pid(other)})", "wait until it has ended"
                )
            self._make(Claim(name), lambda: None, "", "")

    def record(self, step: Step) -> None:
        """Adds an undo step for a change that is made later, or that others make as its consequence."""
        with exclusive(self._place()):
            self._make(step, lambda: None, "", "")

    # The end --------------------------------------------------------------
    def close(self) -> list[Undone]:
        """Puts everything back now, and says how that went for each step, last change first.

        A signal waits until it is done; the guardian does it if this process is ended meanwhile."""
        with deferred():
            if self._directory is not None:
                lock_of(self._directory).drop()  # the guardian needs it
            if self._journal is None:
                return []
            journal, self._journal = self._journal, None
            undone = self._dismiss()
            if undone is None:
                with exclusive(journal.path.parent):
                    undone = undo_all(journal.path, journal.read()[1])
            journal.close()
            return undone

    def _dismiss(self) -> list[Undone] | None:
        """Has the guardian undo. None if it could not: then the run does it by itself."""
        guardian, self._guardian = self._guardian, None
        if guardian is None or guardian.stdin is None or guardian.stdout is None:
            return None
        answer = b""
        until = time.monotonic() + _LOCK_S
        try:
            guardian.stdin.write(b"undo\n")
            guardian.stdin.close()
            while select.select([guardian.stdout], [], [], max(0.0, until - time.monotonic()))[0]:
                part = os.read(guardian.stdout.fileno(), 1 << 16)
                if not part:
                    break
                until = time.monotonic() + _ANSWER_S
                answer += part
            else:
                if not answer:
                    return self._left_to(guardian)
                guardian.kill()
        except BrokenPipeError:
            pass
        finally:
            guardian.stdout.close()
        guardian.wait()
        _, _, results = answer.partition(b"\n")
        return [Undone(**undone) for undone in json.loads(results)] if results.endswith(b"\n") else None

    def _left_to(self, guardian: subprocess.Popen[bytes]) -> list[Undone]:
        """Another run keeps the lock: the guardian goes on waiting for it, and this run does not."""
        assert self._directory is not None
        who = holder_of(lock_of(self._directory))
        return [Undone(f"settings (by process {guardian.pid}, once {who} gives back the lock)", LEFT)]

    # The journal ------------------------------------------------------------
    def _place(self) -> Path:
        if self._directory is None:
            self._directory = journal_directory()
        return self._directory

    def _others(self) -> list[Run]:
        own = self._journal.path if self._journal else None
        return [run for run in runs(self._place()) if run.path != own]

    def _holder(self, key: str) -> tuple[Run, Sysctl] | None:
        """Who holds a sysctl: living runs before the left-over of a crashed one."""
        for run in sorted(self._others(), key=lambda run: not run.alive):
            for step in run.steps:
                if isinstance(step, Sysctl) and step.key == key:
                    return run, step
        return None

    def _on_task(
        self, task: int, step: Callable[[int], Step], change: Callable[[], object], refused: str
    ) -> bool:
        with exclusive(self._place()):
            start = tasks.start(task)
            if start is None:
                return False
            try:
                self._make(step(start), change, refused, "run as root, or as the user whose process it is")
            except ProcessLookupError:
                return False
            return True

    def _make(self, step: Step, change: Callable[[], object], refused: str, next_step: str) -> None:
        """Journal first, then the change. Call under the lock."""
        journal = self._journal_with_guardian()
        length = journal.append(step)
        try:
            change()
        except OSError as error:
            journal.withdraw(length)
            if error.errno in _NOT_ALLOWED:
                raise PrivilegeMissing(f"{refused} ({error.strerror})", next_step) from error
            raise

    def _journal_with_guardian(self) -> Journal:
        if self._journal is None:
            self._journal = Journal.create(self._place(), own_command())
        if self._guardian is None or self._guardian.poll() is not None:
            self._guardian = _start_guardian(self._journal)
        return self._journal

    def _forget(self) -> None:
        """In a forked child: the promise stays with the parent, and so must the pipe."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None
        if self._guardian is not None:
            for end in (self._guardian.stdin, self._guardian.stdout):
                if end is not None:
                    end.close()
            self._guardian = None


def _start_guardian(journal: Journal) -> subprocess.Popen[bytes]:
    """Raises TareError if it does not come up: nothing may be changed without it."""
    arguments = (str(os.getpid()), str(journal.path), str(journal.fd), str(Path(__file__).parent))
    failure = TareError(
        "the guardian that puts machine settings back did not start, so none may be changed",
        f"check that this user can run {sys.executable} -I -S",
    )
    try:
        guardian = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _SPAWN, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(journal.fd,),
            start_new_session=True,
            bufsize=0,
        )
    except OSError as refused:
        raise failure from refused
    if not _is_ready(guardian):
        guardian.kill()
        guardian.wait()
        raise failure
    return guardian


def _is_ready(guardian: subprocess.Popen[bytes]) -> bool:
    assert guardian.stdout is not None
    until = time.monotonic() + _ANSWER_S
    try:
        while time.monotonic() < until:
            if select.select([guardian.stdout], [], [], _SLICE_S)[0]:
                return os.read(guardian.stdout.fileno(), 6) == b"ready\n"
            check()
    except BaseException:
        guardian.kill()
        guardian.wait()
        raise
    return False


def _pid(run: Run) -> str:
    return str(run.header.pid) if run.header else "unknown"


def _after_fork_in_child() -> None:
    for settings in list(_open):
        settings._forget()


os.register_at_fork(after_in_child=_after_fork_in_child)


def delay_accounting_on(settings: MachineSettings) -> bool:
    """Turns block-I/O delays on for tasks born from now on: connect afterwards.

    Returns whether it was off. Raises PrivilegeMissing, and UsageError where the kernel
    was built without delay accounting."""
    return settings.set_sysctl(DELAY_ACCOUNTING, "1")
