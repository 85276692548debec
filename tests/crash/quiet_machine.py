"""Scenes of `tare isolate`, each played in PID and mount namespaces of its own.

There the neighbours are those that the scene starts: nobody else's processes are moved.
Run under ``unshare --pid --fork --mount-proc --mount`` with the scene's name; prints what
was seen as JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ISOLATE = """
import sys
import typer
from tare.cli.isolate import isolate
from tare.errors import TareError
app = typer.Typer(pretty_exceptions_enable=False)
app.command(context_settings={"allow_interspersed_args": False})(isolate)
try:
    app()
except TareError as error:
    print(error, file=sys.stderr)
    sys.exit(error.exit_code)
"""
WHERE = (
    "import os, sys; print(sorted(os.sched_getaffinity(0)), flush=True); sys.stdin.readline(); os._exit(7)"
)
LAST = max(os.sched_getaffinity(0))


def isolate(
    *arguments: str,
    command: tuple[str, ...] = (sys.executable, "-c", WHERE),
    which: tuple[str, ...] = ("--cpu-list", str(LAST)),
) -> subprocess.Popen[str]:
    # The kernel has one delay accounting for all namespaces, and our journals are private.
    return subprocess.Popen(
        [sys.executable, "-c", ISOLATE, "--no-machine-settings", *which, *arguments, "--", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(process.communicate()[1])
    return line.strip()


def cpus(pid: int) -> list[int]:
    return sorted(os.sched_getaffinity(pid))


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def guardian() -> int:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (entry / "comm").read_text().strip() == "tare-guardian":
            return int(entry.name)
    raise RuntimeError("no guardian runs")


def until_undone() -> None:
    """This process is the namespace's init: with it the guardian would be killed half-way."""
    deadline = time.monotonic() + 5
    while list(Path("/run/tare").glob("run-*")):
        if time.monotonic() > deadline:
            raise RuntimeError("the guardian did not finish")
        time.sleep(0.005)


@dataclass
class Neighbours:
    """Two processes that mind their own business: one anywhere, one pinned to the last CPU."""

    free: subprocess.Popen[bytes] = field(default_factory=lambda: subprocess.Popen(["sleep", "60"]))
    pinned: subprocess.Popen[bytes] = field(
        default_factory=lambda: subprocess.Popen(["taskset", "-c", str(LAST), "sleep", "60"])
    )

    def __post_init__(self) -> None:
        deadline = time.monotonic() + 5
        while cpus(self.pinned.pid) != [LAST] and time.monotonic() < deadline:
            time.sleep(0.005)

    def seen(self) -> dict[str, list[int]]:
        return {"free": cpus(self.free.pid), "pinned": cpus(self.pinned.pid)}

    def seconds_until(self, wanted: dict[str, list[int]]) -> float:
        began = time.monotonic()
        while self.seen() != wanted and time.monotonic() - began < 5:
            time.sleep(0.005)
        return time.monotonic() - began


def a_run_to_its_end(*arguments: str) -> dict[str, object]:
    neighbours = Neighbours()
    before = neighbours.seen()
    run = isolate(*arguments)
    command = json.loads(first_line(run))
    during = neighbours.seen()
    journal = len(list(Path("/run/tare").glob("run-*")))
    told = run.communicate("\n", timeout=10)[1]
    return {
        "before": before, "during": during, "after": neighbours.seen(), "command": command,
        "exit": run.returncode, "told": told,
        "journals": [journal, len(list(Path("/run/tare").glob("run-*")))],
    }  # fmt: skip


def chosen(hide_interrupts: bool = False) -> dict[str, object]:
    """Isolate chooses the CPU by itself."""
    if hide_interrupts:  # as container runtimes do it
        subprocess.run(["mount", "--bind", "/dev/null", "/proc/interrupts"], check=True)
    run = isolate(which=())
    command = json.loads(first_line(run))
    told = run.communicate("\n", timeout=10)[1]
    return {"command": command, "told": told}


def refused(*which: str) -> dict[str, object]:
    run = isolate(which=which)
    told = run.communicate("\n", timeout=10)[1]
    return {"exit": run.returncode, "told": told}


def without_cpusets() -> dict[str, object]:
    """The same where the cpuset controller is out of reach: by affinity alone."""
    subprocess.run(["umount", "/sys/fs/cgroup/cpuset"], check=False, stderr=subprocess.DEVNULL)
    return a_run_to_its_end()


def born_meanwhile_by_affinity() -> dict[str, object]:
    """A shell that was narrowed starts a child, which must not stay narrow."""
    subprocess.run(["umount", "/sys/fs/cgroup/cpuset"], check=False, stderr=subprocess.DEVNULL)
    shell = subprocess.Popen(["sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    assert shell.stdin is not None
    assert shell.stdout is not None
    run = isolate()
    first_line(run)
    shell.stdin.write("sleep 60 & echo $!\n")
    child = int(shell.stdout.readline())
    during = cpus(child)
    run.communicate("\n", timeout=10)
    return {"during": during, "after": cpus(child)}


def killed(both: bool = False) -> dict[str, object]:
    neighbours = Neighbours()
    before = neighbours.seen()
    run = isolate()
    first_line(run)
    during = neighbours.seen()
    if both:
        os.kill(guardian(), signal.SIGKILL)
    run.kill()
    run.wait()
    if not both:
        seconds = neighbours.seconds_until(before)
        until_undone()
        return {"before": before, "during": during, "after": neighbours.seen(), "seconds": seconds}
    from tare.measure.machine.leftovers import leftovers, restore

    time.sleep(0.3)
    stays = neighbours.seen()
    found = [list(left.to_put_back) for left in leftovers()]
    mended = [undone.how for undone in restore()]
    return {
        "before": before, "during": during, "stays": stays, "found": found, "mended": mended,
        "after": neighbours.seen(), "left": len(leftovers()),
    }  # fmt: skip


def a_server_taken_in() -> dict[str, object]:
    server = subprocess.Popen(["sh", "-c", "sleep 60 & echo $!; wait"], stdout=subprocess.PIPE, text=True)
    child = int(first_line(server))
    run = isolate("--with-pid", str(server.pid))
    first_line(run)
    during = [cpus(server.pid), cpus(child)]
    run.communicate("\n", timeout=10)
    return {"during": during, "after": [cpus(server.pid), cpus(child)]}


def the_server_of_its_command(how: str) -> dict[str, object]:
    """The command connects to a server: by its --db, or by TARE_DB."""
    from tare.dbms.servers import start_postgresql

    with start_postgresql() as server:
        command = [sys.executable, "-c", WHERE]
        if how == "--db":
            command += ["--db", server.url]
        else:
            os.environ["TARE_DB"] = server.url
        run = isolate(command=tuple(command))
        first_line(run)
        time.sleep(0.5)  # backends of finished connections are gone
        children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
        during = [cpus(pid) for pid in (server.pid, *map(int, children))]
        told = run.communicate("\n", timeout=10)[1]
        return {
            "during": sorted({tuple(found) for found in during}), "processes": len(during),
            "after": cpus(server.pid), "told": told,
        }  # fmt: skip


def a_server_that_is_not_there() -> dict[str, object]:
    command = (sys.executable, "-c", WHERE, "--db=postgresql://u:secret@127.0.0.1:1/db")
    run = isolate(command=command)
    first_line(run)
    told = run.communicate("\n", timeout=10)[1]
    return {"exit": run.returncode, "told": told}


def daemons_held() -> dict[str, object]:
    directory = Path(tempfile.mkdtemp())
    daemons = {}
    for name in ("cron", "sshd"):
        shutil.copy("/bin/sleep", directory / name)
        daemons[name] = subprocess.Popen([str(directory / name), "60"])
    run = isolate("--stop-daemons")
    first_line(run)
    during = {name: state(daemon.pid) for name, daemon in daemons.items()}
    run.communicate("\n", timeout=10)
    after = {name: state(daemon.pid) for name, daemon in daemons.items()}
    shutil.rmtree(directory)
    return {"during": during, "after": after}


def a_signal_passed_on() -> dict[str, object]:
    text = (
        "import signal, sys; signal.signal(15, lambda *_: sys.exit(42)); print('on', flush=True); "
        "signal.pause()"
    )
    run = isolate(command=(sys.executable, "-c", text))
    first_line(run)
    run.terminate()
    return {"exit": run.wait(10)}


def a_command_that_dies_by_a_signal() -> dict[str, object]:
    run = isolate(command=("sh", "-c", "kill -9 $$"))
    run.communicate(timeout=10)
    return {"exit": run.returncode}


def two_at_once() -> dict[str, object]:
    first = isolate()
    first_line(first)
    second = isolate()
    told = second.communicate("\n", timeout=10)[1]
    first.communicate("\n", timeout=10)
    return {"exit": second.returncode, "told": told, "first": first.returncode}


ORDINARY = """
import json, os, subprocess
from tare.measure.machine.isolation.run import Wishes, isolate
own = subprocess.Popen(["sleep", "60"])
seen = {"own before": sorted(os.sched_getaffinity(own.pid))}
told = []
script = "import os, sys; sys.exit(10 * len(os.sched_getaffinity(%d)) + len(os.sched_getaffinity(%d)))"
seen["exit"] = isolate([sys.executable, "-c", script % (own.pid, NEIGHBOUR)], Wishes(), told.append)
seen["own after"] = sorted(os.sched_getaffinity(own.pid))
seen["told"] = "; ".join(told)
own.kill()
print(json.dumps(seen))
"""


def as_an_ordinary_user() -> dict[str, object]:
    """The system's interpreter and a copy of the package: ours may lie where only root may look."""
    import tare

    neighbours = Neighbours()
    script = f"import sys\nNEIGHBOUR = {neighbours.free.pid}\n{ORDINARY}"
    home = Path(tempfile.mkdtemp())
    shutil.copytree(
        Path(tare.__file__).parent, home / "tare", ignore=shutil.ignore_patterns("*.so", "__pycache__")
    )
    subprocess.run(["chown", "-R", "65534:65534", str(home)], check=True)
    done = subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", script],
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": str(home),
            "XDG_RUNTIME_DIR": str(home),
            "HOME": str(home),
        },
        capture_output=True,
        text=True,
        cwd="/",
    )
    shutil.rmtree(home)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    seen: dict[str, object] = json.loads(done.stdout)
    return seen


def delay_accounting_shared_with_all() -> dict[str, object]:
    """In the machine's own /run: other runs may hold the setting, too."""
    subprocess.run(["umount", "/run"], check=True)
    run = subprocess.Popen(
        [sys.executable, "-c", ISOLATE, "--", "cat", "/proc/sys/kernel/task_delayacct"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    out, told = run.communicate(timeout=10)
    return {"during": out.strip(), "told": told}


SCENES: dict[str, Callable[[], dict[str, object]]] = {
    "a_run_to_its_end": a_run_to_its_end,
    "chosen": chosen,
    "chosen_without_seeing_interrupts": lambda: chosen(hide_interrupts=True),
    "an_absent_cpu": lambda: refused("--cpu-list", "99999"),
    "cpu_and_cpus": lambda: refused("--cpu-list", "0", "--cpus", "1"),
    "without_cpusets": without_cpusets,
    "born_meanwhile_by_affinity": born_meanwhile_by_affinity,
    "killed": killed,
    "killed_with_its_guardian": lambda: killed(both=True),
    "a_server_taken_in": a_server_taken_in,
    "the_server_of_its_db": lambda: the_server_of_its_command("--db"),
    "the_server_of_tare_db": lambda: the_server_of_its_command("TARE_DB"),
    "a_server_that_is_not_there": a_server_that_is_not_there,
    "daemons_held": daemons_held,
    "a_signal_passed_on": a_signal_passed_on,
    "a_command_that_dies_by_a_signal": a_command_that_dies_by_a_signal,
    "two_at_once": two_at_once,
    "delay_accounting_shared_with_all": delay_accounting_shared_with_all,
    "as_an_ordinary_user": as_an_ordinary_user,
}


if __name__ == "__main__":
    subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)  # journals of this scene alone
    print(json.dumps(SCENES[sys.argv[1]]()))
