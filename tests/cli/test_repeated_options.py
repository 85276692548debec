"""An option given twice is refused or all of it counts: no command drops one without a word."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from tare.cli.app import application
from tare.cli.command import refuse_repeated
from tare.errors import UsageError
from tests.cli.running import tare


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, below in sorted(getattr(command, "commands", {}).items()):
        yield from commands(below, (*path, name))


COMMANDS = dict(commands(typer.main.get_command(application())))
OPTIONS = [
    pytest.param(path, option, id=" ".join(("tare", *path, option.opts[0])))
    for path, command in COMMANDS.items()
    for option in command.params
    if option.param_type_name == "option"
]


def once(option: Any) -> list[str]:
    """Its name and as many values as it takes. They are not read here."""
    return [max(option.opts, key=len), *(() if option.is_flag else ("1",) * option.nargs)]


def test_every_command_is_looked_at() -> None:
    assert len(COMMANDS) > 40
    assert len(OPTIONS) > 250


@pytest.mark.parametrize(("path", "option"), OPTIONS)
def test_an_option_given_twice_is_refused_unless_it_is_repeatable(path: tuple[str, ...], option: Any) -> None:
    command = COMMANDS[path]
    words = [*once(option), *once(option)]
    context = command.context_class(command, info_name=path[-1] if path else "tare")
    if option.multiple:
        refuse_repeated(command, context, words)
        assert "epeat" in (option.help or ""), "its help says that it may be repeated"
    else:
        with pytest.raises(UsageError, match="is given 2 times") as refused:
            refuse_repeated(command, context, words)
        assert max(option.opts, key=len) in refused.value.what


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_the_guard(path: tuple[str, ...]) -> None:
    assert any(
        "command.py" in (base.__dict__["parse_args"].__code__.co_filename)
        for base in type(COMMANDS[path]).__mro__
        if "parse_args" in base.__dict__
    )


def test_two_servers_for_compare_are_refused_with_a_hint_and_without_their_passwords(sqlite_url: str) -> None:
    done = tare(
        "compare",
        "SELECT 1",
        "SELECT 2",
        "--db",
        "postgresql://u:secret1@h/d",
        "--db",
        "mariadb://u:secret2@h/d",
    )
    assert done.code == 2
    assert "--db is given 2 times" in done.err
    assert "both queries run on the server of one --db" in done.err
    assert "secret" not in done.err


def test_a_flag_and_its_contrary_are_refused(sqlite_url: str) -> None:
    done = tare("time", "SELECT 1", "--db", sqlite_url, "--machine-settings", "--no-machine-settings")
    assert done.code == 2
    assert "--machine-settings is given 2 times" in done.err


def test_words_of_an_isolated_command_are_its_own() -> None:
    context = COMMANDS["isolate",].context_class(COMMANDS["isolate",], info_name="isolate")
    refuse_repeated(
        COMMANDS["isolate",], context, ["--cpus", "1", "--", "tool", "--cpus", "1", "--cpus", "2"]
    )


def test_phases_given_twice_all_run_in_order(sqlite_url: str, tmp_path: Path) -> None:
    said = tmp_path / "said"

    def write(word: str) -> str:
        return f"!echo {word} >> {said}"

    phases = [
        word
        for phase in ("setup", "prepare", "conclude", "cleanup")
        for number in (1, 2)
        for word in (f"--{phase}", write(f"{phase}{number}"))
    ]
    done = tare("time", "SELECT 1", "--db", sqlite_url, "--runs", "1", "--warmup", "0", *phases)
    assert done.code == 0, done.err
    assert said.read_text().split() == [
        *("setup1", "setup2", "prepare1", "prepare2", "conclude1", "conclude2", "cleanup1", "cleanup2")
    ]


@pytest.mark.parametrize(
    "words",
    [
        ("time", "SELECT {n}", "--db", "sqlite:///f", "-L", "n=1", "-L", "n=2"),
        ("time", "SELECT {n}", "--db", "sqlite:///f", "-L", "n=1", "-P", "n", "1", "2"),
        ("server", "start", "postgresql", "--set", "work_mem=1MB", "--set", "work_mem=2MB"),
    ],
)
def test_a_name_given_twice_is_refused_too(words: tuple[str, ...]) -> None:
    done = tare(*words)
    assert done.code == 2
    assert "twice" in done.err
