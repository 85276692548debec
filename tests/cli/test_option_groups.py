"""A group of options stands in the place of its parameter, and reaches the command as a record."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from tare.cli import bench_tpch, compare, time
from tare.cli.option_groups import Outputs, RunOptions, ServerOptions, StatementOptions, with_groups
from tare.measure.choices import CacheState

SHARED = {
    "time": (time.time, (RunOptions, StatementOptions, Outputs, ServerOptions)),
    "compare": (compare.compare, (RunOptions, StatementOptions, Outputs, ServerOptions)),
    "bench tpch": (bench_tpch.tpch, (RunOptions, Outputs, ServerOptions)),
}


def parameters(command: Any) -> list[str]:
    app = typer.Typer()
    app.command()(command)
    return [str(parameter.name) for parameter in typer.main.get_command(app).params]


def test_a_command_receives_its_groups_with_what_was_given_and_with_defaults() -> None:
    received: list[object] = []

    @with_groups
    def command(*, number: int = 1, run: RunOptions, last: bool = False, server: ServerOptions) -> None:
        """Say nothing."""
        received.extend((number, run, last, server))

    app = typer.Typer()
    app.command()(command)
    done = CliRunner().invoke(app, ["--number", "3", "--cold", "--timeout", "2.5s", "--no-machine-settings"])
    assert done.exit_code == 0, done.output
    run = RunOptions(warmup="auto", cache=CacheState.WARM, cold=True, execution_only=False, timeout=2.5)
    assert received == [3, run, False, ServerOptions(machine_settings=False)]


def test_the_options_of_a_group_stand_in_its_place() -> None:
    @with_groups
    def command(*, first: int = 1, outputs: Outputs, last: int = 2) -> None: ...

    listed = [name for name in parameters(command) if "completion" not in name]
    assert listed == ["first", "verbose", "html", "markdown", "json", "csv", "last"]


@pytest.mark.parametrize("name", SHARED)
def test_a_command_has_every_option_of_its_groups(name: str) -> None:
    command, groups = SHARED[name]
    given = parameters(command)
    for group in groups:
        assert {field.name for field in fields(group)} <= set(given)
