"""What Tare does with the packages of some extras only."""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, packages_distributions
from typing import Any

import pytest
import typer
from benchmarks.packages import PROJECT, packages
from packaging.utils import canonicalize_name

from tare.cli.app import app
from tare.cli.help import example
from tare.extras import EXTRAS
from tests.install.selected import command, environment

Run = Callable[..., tuple[int, str]]

EXPERIMENT = """name = "small"
scenario = "exhaustive"
qes = 2
[[dbms]]
name = "lite"
start = "sqlite"
[[tables]]
name = "ft_big"
cardinality = 20
step = 20
[[queries]]
name = "scan"
sql = "SELECT sum(id2) FROM ft_big"
"""


def commands(found: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not hasattr(found, "commands"):
        yield path, found
        return
    for name, below in found.commands.items():
        yield from commands(below, (*path, name))


GUARDED = {
    path: (found.callback.extras, example(found.help))
    for path, found in commands(typer.main.get_command(app))
    if hasattr(found.callback, "extras")
}


def run_with(tmp_path_factory: pytest.TempPathFactory, extras: Sequence[str]) -> Run:
    try:
        variables = environment(tmp_path_factory.mktemp("packages"), extras)
    except PackageNotFoundError as error:
        pytest.skip(f"the environment lacks {error}: run `make build`")
    folder = tmp_path_factory.mktemp("work")
    with sqlite3.connect(folder / "x.db") as connection:
        connection.execute("CREATE TABLE t (a)")
    (folder / "e.toml").write_text(EXPERIMENT)
    (folder / "duckdb.toml").write_text(EXPERIMENT.replace('start = "sqlite"', 'start = "duckdb"'))

    def run(line: str) -> tuple[int, str]:
        done = command(shlex.split(line), variables, folder)
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_with(tmp_path_factory, [])


def test_the_package_has_these_extras_and_all_is_all_but_what_is_compiled() -> None:
    listed = PROJECT["optional-dependencies"]
    assert set(listed) == {*EXTRAS, "all"}
    assert listed["all"] == [f"tare-db[{','.join(sorted(set(EXTRAS) - {'mariadb'}))}]"]


@pytest.mark.parametrize("name", sorted(set(EXTRAS) - {"mariadb"}))
def test_an_extra_brings_the_modules_that_it_is_said_to_bring_and_the_core_does_not(name: str) -> None:
    try:
        brought = set(packages([name]))
    except PackageNotFoundError as error:
        pytest.skip(f"the environment lacks {error}: run `make build`")
    owners = {
        module: {canonicalize_name(owner) for owner in packages_distributions()[module]}
        for module in EXTRAS[name].modules
    }
    assert all(owner & brought for owner in owners.values())
    assert brought - set(packages([]))
    assert not owners or any(not owner & set(packages([])) for owner in owners.values())


@pytest.mark.parametrize("extras", [[], ["all"]])
def test_nothing_brings_pandas_scipy_or_vl_convert(extras: list[str]) -> None:
    try:
        assert not {"pandas", "scipy", "vl-convert-python"} & set(packages(extras))
    except PackageNotFoundError as error:
        pytest.skip(f"the environment lacks {error}: run `make build`")


@pytest.mark.parametrize("path", GUARDED, ids=" ".join)
def test_a_command_that_lacks_its_extra_ends_before_any_work(path: tuple[str, ...], core: Run) -> None:
    extras, line = GUARDED[path]
    assert line
    code, shown = core(line.removeprefix("tare "))
    assert code == 2, shown
    assert f"pip install 'tare-db[{','.join(extras)}]' (to {EXTRAS[extras[0]].purpose}" in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize(
    ("line", "extra"),
    [
        ("time 'SELECT 1' --db duckdb:///x.duckdb", "duckdb"),
        ("compare o1 o2", "report"),
        ("data wisconsin --rows 1000 --format parquet --to rows", "report"),
        ("data tpch --scale 0.01 --to rows", "tpch"),
    ],
)
def test_an_argument_that_needs_an_extra_ends_the_command_too(line: str, extra: str, core: Run) -> None:
    code, shown = core(line)
    assert code == 2, shown
    assert f"pip install 'tare-db[{extra}]'" in shown


@pytest.mark.parametrize(
    "line",
    [
        "time 'SELECT 1' --db sqlite:///x.db --html time.html --markdown time.md --json time.json --csv time.csv",
        "compare 'SELECT 1' 'SELECT 2' --db sqlite:///x.db --runs 6 --html compare.html",
        "doctor --json",
        "isolate --help",
        "server list",
        "graft list",
        "tune restore",
        "experiment new onepass",
        "data wisconsin --rows 1000 --to csv",
        "bench oltp list",
        "bench oltp load ycsb --db sqlite:///oltp.db",
        "bench oltp check ycsb --db sqlite:///oltp.db",
    ],
)
def test_the_core_does_this(line: str, core: Run) -> None:
    code, shown = core(line)
    assert code == 0, shown


def test_duckdb(tmp_path_factory: pytest.TempPathFactory) -> None:
    run = run_with(tmp_path_factory, ["duckdb"])
    code, shown = run("experiment check e.toml")
    assert code == 0, shown
    code, shown = run("time 'SELECT 1' --db duckdb:///none.duckdb")
    assert code == 1
    assert "there is no file" in shown


def test_report_records_runs_and_reports_all_but_experiments(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    run = run_with(tmp_path_factory, ["report"])
    for line in (
        "experiment run e.toml --lab lab.db",
        "experiment status e1 --lab lab.db",
        "lab list --lab lab.db",
        "lab verify e1 --lab lab.db",
        "lab export e1 --lab lab.db --parquet exported",
        "lab import exported --lab other.db",
        "bench oltp load ycsb --db sqlite:///oltp.db",
        "bench oltp run ycsb --db sqlite:///oltp.db --rate 20 --duration 2s --lab lab.db",
        "report o1 --lab lab.db --html o1.html",
        "profile list",
    ):
        code, shown = run(line)
        assert code == 0, f"{line}\n{shown}"
    code, shown = run("experiment run duckdb.toml --lab none.db")
    assert code == 2, shown
    assert "pip install 'tare-db[duckdb]'" in shown
    assert "there is no lab" in run("lab list --lab none.db")[1], "nothing was begun"
    code, shown = run("report e1 --lab lab.db")
    assert code == 2
    assert "pip install 'tare-db[models]'" in shown


def test_models_judges_a_lab(tmp_path_factory: pytest.TempPathFactory) -> None:
    run = run_with(tmp_path_factory, ["models"])
    for line in (
        "experiment run e.toml --lab lab.db",
        "model e1 --lab lab.db",
        "protocol e1 --lab lab.db --protocol exact --accept all",  # other processes of this machine are no matter here
        "report e1 --lab lab.db --html e1.html",
    ):
        code, shown = run(line)
        assert code == 0, f"{line}\n{shown}"
