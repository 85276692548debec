"""Invocations of every command: cheap ones that do their work, and requests at fault."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command

from tare.cli.app import application

HERE = "{here}"
"""Stands in a step's words for a folder of its trial's own, which is removed after it."""

SQL = "SELECT g, avg(v) FROM numbers GROUP BY g"


@dataclass(frozen=True, slots=True)
class Place:
    """Databases, labs and profiles that the invocations read."""

    postgresql: str
    embedded: tuple[str, ...]  # URLs of SQLite and DuckDB, with the same table
    lab: str  # run 1 is of an experiment, transactional runs 1 and 2 are of TATP
    profiles: str
    tunings: str
    specification: str
    profile: str | None  # None: no profile could be made here
    has_rows: bool  # whether the program that makes TPC-H's rows is here, and PostgreSQL has them


@dataclass(frozen=True, slots=True)
class Step:
    """A command, and the exit codes that it may end with."""

    words: tuple[str, ...]
    codes: tuple[int, ...]


Trial = tuple[Step, ...]
"""Steps in order. Each exit counts for the command of its step."""


def commands() -> list[str]:
    """Return the names of all commands: "time", "bench oltp run"."""
    return list(_leaves(get_command(application()), ()))


def command_of(words: tuple[str, ...], known: list[str]) -> str:
    """Return the command that `words` begin with."""
    return next(name for size in (3, 2, 1) if (name := " ".join(words[:size])) in known)


def trials(place: Place) -> dict[str, tuple[Trial, ...]]:
    """Return the trials of each command by its name."""
    return {
        **_measuring(place),
        **_benchmarks(place),
        **_transactions(place),
        **_profiles(place),
        **_observations(place),
        **_servers(),
        **_clusters(),
        **_tuning(place),
        **_experiments(place),
        **_labs(place),
        **_data(place),
    }


def _leaves(command: Any, path: tuple[str, ...]) -> Iterator[str]:
    if not isinstance(command, TyperGroup):
        yield " ".join(path)
        return
    for name, below in command.commands.items():
        yield from _leaves(below, (*path, name))


def _step(*words: str, codes: tuple[int, ...] = (0,)) -> Step:
    return Step(words, codes)


def _good(*words: str, codes: tuple[int, ...] = (0,)) -> Trial:
    return (_step(*words, codes=codes),)


def _bad(*words: str, codes: tuple[int, ...] = (2,)) -> Trial:
    return (_step(*words, codes=codes),)


def _measuring(place: Place) -> dict[str, tuple[Trial, ...]]:
    few = ("--runs", "2", "--warmup", "0")
    urls = (place.postgresql, *place.embedded)
    return {
        "time": (
            *(_good("time", SQL, "--db", url, *few) for url in urls),
            _bad("time", "SELECT a FROM nowhere", "--db", place.postgresql),
        ),
        "compare": (
            *(_good("compare", SQL, f"{SQL} ORDER BY g", "--db", url, *few) for url in urls),
            _bad("compare", SQL, "--db", place.postgresql),
        ),
        "doctor": (
            _good("doctor", "--sample", "100ms", codes=(0, 1)),
            _bad("doctor", "--sample", "0"),
        ),
        # It would move every process of the machine.
        "isolate": (_good("isolate", "--help"), _bad("isolate", "--cpu", "0", "--cpus", "1", "--", "true")),
    }


def _benchmarks(place: Place) -> dict[str, tuple[Trial, ...]]:
    lab = ("--lab", place.lab)
    one = ("--scale", "0.01", "--queries", "6", "--runs", "1", "--warmup", "0")
    tpch = _good("bench", "tpch", "--help")
    if place.has_rows:
        tpch = _good("bench", "tpch", "--db", place.postgresql, *one)
    return {
        "bench wisconsin": (
            _good("bench", "wisconsin", "--help"),
            _bad("bench", "wisconsin", "--db", "sqlite", "--query", "nothing", "--lab", f"{HERE}/lab.db"),
        ),
        "bench tpch": (tpch, _bad("bench", "tpch", "--db", place.postgresql, "--queries", "23")),
        "bench report": (_good("bench", "report", "--help"), _bad("bench", "report", "99", *lab)),
    }


def _transactions(place: Place) -> dict[str, tuple[Trial, ...]]:
    lab = ("--lab", place.lab)
    own = ("ycsb", "--db", f"sqlite:///{HERE}/ycsb.db", "--lab", f"{HERE}/lab.db")
    short = ("--rate", "20", "--duration", "500ms", "--warmup", "0s", "--connections", "2")
    nothing = ("ycsc", "--db", place.postgresql, *lab)
    oltp = ("bench", "oltp")
    return {
        "bench oltp load": (
            (
                _step(*oltp, "load", *own, "--scale", "0.1"),
                _step(*oltp, "run", *own, *short),
                _step(*oltp, "check", *own),
                _step(*oltp, "drop", *own),
            ),
            _bad(*oltp, "load", *nothing),
        ),
        "bench oltp run": (_bad(*oltp, "run", *nothing),),
        "bench oltp check": (_bad(*oltp, "check", *nothing),),
        "bench oltp drop": (_bad(*oltp, "drop", *nothing),),
        "bench oltp list": (_good(*oltp, "list"),),
        "bench oltp report": (_good(*oltp, "report", "o1", *lab), _bad(*oltp, "report", "99", *lab)),
        "bench oltp compare": (
            _good(*oltp, "compare", "1", "2", *lab, codes=(0, 1)),  # 1: too few transactions for it
            _bad(*oltp, "compare", "1", "99", *lab),
        ),
        "bench oltp runs": (_good(*oltp, "runs", *lab),),
        "bench oltp curve": (
            _good(*oltp, "curve", "--help"),
            _bad(*oltp, "curve", "ycsb", "--db", "sqlite", "--rates", "0", *lab),
        ),
    }


def _profiles(place: Place) -> dict[str, tuple[Trial, ...]]:
    kept = ("--profiles", place.profiles)
    found: dict[str, tuple[Trial, ...]] = {
        "profile attach": (
            _good("profile", "attach", "--help"),
            _bad("profile", "attach", "--pid", "4194305", *kept),
        ),
        "profile run": (
            _good("profile", "run", "--help"),
            _bad("profile", "run", *kept, "--", "no-such-server"),
        ),
        "profile refine": (
            _good("profile", "refine", "--help"),
            _bad("profile", "refine", "nowhere", *kept),
        ),
        "profile backends": (_good("profile", "backends", codes=(0, 1)),),
        "profile show": (_bad("profile", "show", "nowhere", *kept),),
        "profile diff": (_bad("profile", "diff", "nowhere", "nowhere", *kept),),
        "profile list": (_good("profile", "list", *kept),),
        "profile export": (_bad("profile", "export", "nowhere", "--folded", "-", *kept),),
    }
    if (name := place.profile) is not None:
        found["profile show"] += (_good("profile", "show", name, *kept),)
        found["profile diff"] += (_good("profile", "diff", name, name, *kept),)
        found["profile export"] += (_good("profile", "export", name, "--folded", "-", *kept),)
    return found


def _observations(place: Place) -> dict[str, tuple[Trial, ...]]:
    urls = (place.postgresql, *place.embedded)
    return {
        "os run": (
            *(_good("os", "run", SQL, "--db", url, "--runs", "1") for url in urls),
            _bad("os", "run", "SELECT a FROM nowhere", "--db", place.postgresql),
        ),
        "os watch": (
            _good("os", "watch", "--pid", "1", "--level", "proc", "--duration", "100ms"),
            _bad("os", "watch", "--pid", "4194305"),
        ),
    }


def _clusters() -> dict[str, tuple[Trial, ...]]:
    # `benchmarks.cluster_kills` starts them: two at a time would have one name.
    return {
        "cluster start": (
            _good("cluster", "start", "--help"),
            _bad("cluster", "start", "oracle", "--shards", "1"),
        ),
        "cluster load": (_bad("cluster", "load", "tpch", "--scale", "0.01", "--name", "nowhere"),),
        "cluster status": (_good("cluster", "status", codes=(0, 3)),),
        "cluster stop": (_good("cluster", "stop", "--name", "nowhere"),),
        "cluster speedup": (
            _good("cluster", "speedup", "--help"),
            _bad("cluster", "speedup", "--shards", "2"),
        ),
    }


def _servers() -> dict[str, tuple[Trial, ...]]:
    directory = ("--dir", f"{HERE}/server")
    return {
        "server start": (
            (
                _step("server", "start", "postgresql", *directory),
                _step("server", "status", *directory),
                _step("server", "stop", *directory),
            ),
            _bad("server", "start", "oracle"),
        ),
        "server stop": (_bad("server", "stop", *directory, codes=(1,)),),
        "server status": (_bad("server", "status", *directory, codes=(1,)),),
        "server list": (_good("server", "list"),),
    }


def _tuning(place: Place) -> dict[str, tuple[Trial, ...]]:
    tunings = ("--tunings", place.tunings)
    on = ("--db", place.postgresql, *tunings)
    return {
        "tune run": (_good("tune", "run", "--help"), _bad("tune", "run", "ycsb", *on)),
        "tune search": (
            _good("tune", "search", "--help"),
            _bad("tune", "search", "ycsb", *on, "--knobs", "auto", "--profile", "p1"),
        ),
        "tune resume": (_good("tune", "resume", "--help"), _bad("tune", "resume", "t9", *on)),
        "tune report": (_good("tune", "report", "--help"), _bad("tune", "report", "t9", *tunings)),
        "tune apply": (_good("tune", "apply", "--help"), _bad("tune", "apply", "t9", "none", *tunings)),
        "tune restore": (_good("tune", "restore"),),
    }


def _experiments(place: Place) -> dict[str, tuple[Trial, ...]]:
    lab = ("--lab", place.lab)
    return {
        "experiment new": (_good("experiment", "new"), _bad("experiment", "new", "sideways")),
        "experiment check": (
            _good("experiment", "check", place.specification),
            _bad("experiment", "check", f"{HERE}/none.toml"),
        ),
        "experiment run": (
            _good("experiment", "run", place.specification, "--lab", f"{HERE}/lab.db"),
            _bad("experiment", "run", f"{HERE}/none.toml", "--lab", f"{HERE}/lab.db"),
        ),
        "experiment resume": (
            _good("experiment", "resume", "--help"),
            _bad("experiment", "resume", "99", *lab),
        ),
        "experiment status": (
            _good("experiment", "status", "1", *lab),
            _bad("experiment", "status", "99", *lab),
        ),
        "experiment watch": (
            _good("experiment", "watch", "1", "--once", *lab),
            _bad("experiment", "watch", "99", "--once", *lab),
        ),
    }


def _labs(place: Place) -> dict[str, tuple[Trial, ...]]:
    lab = ("--lab", place.lab)
    accepting = ("--accept", "all")
    return {
        "model": (_good("model", "e1", *lab), _bad("model", "99", *lab)),
        "protocol": (_good("protocol", "e1", *lab, *accepting), _bad("protocol", "99", *lab)),
        "report": (_good("report", "e1", *lab, *accepting), _bad("report", "99", *lab)),
        "lab list": (_good("lab", "list", *lab),),
        "lab export": (
            (
                _step("lab", "export", "e1", "--parquet", f"{HERE}/export", *lab),
                _step("lab", "import", f"{HERE}/export", "--lab", f"{HERE}/lab.db"),
            ),
            _bad("lab", "export", "--parquet", f"{HERE}/export", *lab),
        ),
        "lab import": (_bad("lab", "import", f"{HERE}/none", "--lab", f"{HERE}/lab.db"),),
        "lab verify": (_good("lab", "verify", "e1", *lab), _bad("lab", "verify", "99", *lab)),
    }


def _data(place: Place) -> dict[str, tuple[Trial, ...]]:
    to = ("--to", f"{HERE}/rows")
    parquet = ("--format", "parquet")
    tpch = ("data", "tpch", "--scale", "0.001", *to)
    written = (_good(*tpch), _good(*tpch, *parquet)) if place.has_rows else (_good("data", "tpch", "--help"),)
    wisconsin = ("data", "wisconsin", "--rows", "1000", *to)
    return {
        "data wisconsin": (
            _good(*wisconsin),
            _good(*wisconsin, *parquet),
            _bad(*wisconsin, "--relation", "nothing"),
        ),
        "data tpch": (*written, _bad("data", "tpch", "--scale", "0", *to)),
    }
