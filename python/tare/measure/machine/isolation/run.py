"""`tare isolate`: a quiet machine for the length of one command."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tare.errors import PrivilegeMissing, TareError, UsageError
from tare.measure.machine import cpus, interrupts
from tare.measure.machine.daemons import PERIODIC
from tare.measure.machine.isolation.affinity import AffinityConfinement
from tare.measure.machine.isolation.confinement import INIT, Confinement, choose, tree
from tare.measure.machine.isolation.cpuset_v1 import CpusetConfinement
from tare.measure.machine.isolation.cpuset_v2 import PartitionConfinement
from tare.measure.machine.leftovers import restore
from tare.measure.machine.putback import tasks
from tare.measure.machine.putback.steps import CHANGED, FAILED, GONE, HELD, LEFT, Undone
from tare.measure.machine.settings import MachineSettings, delay_accounting_on

MEANS: tuple[type[Confinement], ...] = (PartitionConfinement, CpusetConfinement, AffinityConfinement)
_FORWARDED = {
    signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2
}  # fmt: skip
_SENT_BY_KERNEL = 0x80  # SI_KERNEL: the terminal's Ctrl-C went to the command as well

_LOOK_S = 0.2  # how long device interrupts are watched before a CPU is chosen

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Wishes:
    """Requests besides running the command."""

    cpus: int = 1  # how many, if they are not listed
    cpu_list: str | None = None  # which, in the kernel's notation
    stop_daemons: bool = False
    delay_accounting: bool = True
    with_pids: Sequence[int] = ()


def isolate(command: Sequence[str], wishes: Wishes, say: Say) -> int:
    """Runs the command on reserved CPUs and puts the machine back; returns its exit code,
    or 128 + the number of the signal that ended it. ``say`` gets a line for each change.

    Raises UsageError before anything is changed, else TareError."""
    reserved, rest = _check(command, wishes, say)
    for undone in restore():
        say(f"left by a crashed run: {undone.what}: {undone.how} {undone.detail}".rstrip())
    settings = MachineSettings()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        settings.claim("isolation")
        if wishes.delay_accounting:
            _delay_accounting(settings, say)
        if wishes.stop_daemons:
            _stop_daemons(settings, say)
        confinement = _confine(settings, reserved, rest, wishes.with_pids, say)
        signal.pthread_sigmask(signal.SIG_BLOCK, _FORWARDED | {signal.SIGCHLD})
        return _run(command, confinement, before)
    finally:
        _tell_put_back(settings.close(), say)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _check(command: Sequence[str], wishes: Wishes, say: Say) -> tuple[set[int], set[int]]:
    if not command:
        raise UsageError("no command was given", "tare isolate -- CMD …")
    if shutil.which(command[0]) is None:
        raise UsageError(f"{command[0]}: no such command", "check its name and your PATH")
    for pid in wishes.with_pids:
        if tasks.start(pid) is None or tasks.is_kernel(pid) or pid == INIT:
            raise UsageError(
                f"--with-pid {pid}: no such process, or one that may not be moved",
                "give the pid of a running server",
            )
    every = cpus.online()
    reserved = _reserved(wishes, os.sched_getaffinity(0), every, say)
    return reserved, every - reserved


def _reserved(wishes: Wishes, allowed: set[int], every: set[int], say: Say) -> set[int]:
    if wishes.cpu_list is not None:
        reserved = cpus.named(wishes.cpu_list, allowed, every)
        burden = _burden()
    else:
        cpus.choose(wishes.cpus, allowed, every)  # a count that is impossible is told before we look
        burden = _burden()
        reserved = cpus.choose(
            wishes.cpus, allowed, every, lambda cpu: burden.share([cpu]) if burden else 0.0
        )
    say(f"reserving CPU {cpus.show(reserved)} ({_told(burden, reserved)})")
    return reserved


def _burden() -> interrupts.Burden | None:
    """None where this machine does not show its interrupts, or has had none."""
    try:
        burden = interrupts.watch(_LOOK_S)
    except OSError:
        return None
    return burden if burden.boot.total else None


def _told(burden: interrupts.Burden | None, reserved: set[int]) -> str:
    if burden is None:
        return "device interrupts cannot be seen here"
    since_boot = f"{burden.boot.share(reserved):.1%} of device interrupts"
    if not burden.telling:
        return since_boot
    return f"{since_boot} since boot, {burden.lately.share(reserved):.1%} in the last {burden.seconds:.1f} s"


def _delay_accounting(settings: MachineSettings, say: Say) -> None:
    try:
        if delay_accounting_on(settings):
            say("delay accounting on (was off)")
    except (PrivilegeMissing, UsageError) as refused:
        say(f"delay accounting stays off: {refused.what}; {refused.next_step}")


def _stop_daemons(settings: MachineSettings, say: Say) -> None:
    for pid in tasks.processes():
        name = tasks.name(pid)
        if name in PERIODIC and not tasks.is_kernel(pid):
            try:
                if settings.stop_process(pid):
                    say(f"stopped {name} ({pid}), which {PERIODIC[name]}")
            except PrivilegeMissing as refused:
                say(refused.what)


def _confine(
    settings: MachineSettings, reserved: set[int], rest: set[int], with_pids: Iterable[int], say: Say
) -> Confinement:
    confinement, reasons = choose(MEANS, settings, reserved, rest)
    for reason in reasons:
        say(f"not by {reason}")
    say(f"reserved CPU {cpus.show(reserved)} by {confinement.name}; everybody else has {cpus.show(rest)}")
    shared = set().union(*(cpus.siblings(cpu) for cpu in reserved)) - reserved
    if shared:
        whole = cpus.show(reserved | shared)
        step = f": reserve the whole with --cpu {whole}" if rest - shared else ""
        say(f"CPU {cpus.show(shared)} shares a core with the reserved{step}")
    kept = set(confinement.take_in(sorted(tree(with_pids)))) if with_pids else set()
    if kept:
        names = ", ".join(f"{tasks.name(pid)} ({pid})" for pid in sorted(kept))
        say(f"took in {len(kept)} processes: {names}")
    off = confinement.move_off(kept)
    if off.by_kernel:
        say("the kernel keeps all other processes off")
    else:
        say(f"moved {off.moved} processes off; kernel threads and init stay where they are")
    if off.refused:
        advice = "" if os.geteuid() == 0 else "; run as root to move these too"
        first = ", ".join(off.refused[:3]) + (", …" if len(off.refused) > 3 else "")
        say(f"{len(off.refused)} processes could not be moved: {first}{advice}")
    return confinement


def _run(command: Sequence[str], confinement: Confinement, before: Iterable[int]) -> int:
    enter = confinement.entry()

    def become() -> None:
        enter()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    try:
        child = subprocess.Popen(list(command), preexec_fn=become)
    except (OSError, subprocess.SubprocessError) as refused:
        raise TareError(
            f"{command[0]} could not be started: {refused}", "run it without `tare isolate`"
        ) from refused
    while child.poll() is None:
        came = signal.sigwaitinfo(_FORWARDED | {signal.SIGCHLD})
        if came.si_signo != signal.SIGCHLD and came.si_code != _SENT_BY_KERNEL:
            child.send_signal(came.si_signo)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _tell_put_back(results: Sequence[Undone], say: Say) -> None:
    counts = Counter(result.how for result in results)
    for result in results:
        if result.how in (HELD, CHANGED, FAILED, LEFT):
            say(f"{result.how}: {result.what} {result.detail}".rstrip())
    if results:
        gone = f" ({counts[GONE]} had ended)" if counts[GONE] else ""
        left = sum(counts[how] for how in (HELD, CHANGED, FAILED, LEFT))
        say(f"put back {len(results) - left} of {len(results)} changes{gone}")
    if counts[FAILED]:
        say("next: tare doctor --restore")
