"""Rules that hold for every command: an example, help that reads, durations, files, ids."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from tare.cli import durations, help
from tare.cli.app import app
from tare.cli.command import OPTIONAL_FILE, complete
from tare.cli.help import PANELS, example, panel_of, paragraphs
from tare.errors import UsageError
from tests.cli.running import tare

WIDTHS = (60, 80, 200)
CRUTCHES = ("Of", "What", "Where", "Which", "Those", "One", "That", "As")
METAVAR = re.compile(r"[^<>\[\]{}]*(\[[^<>{}]+\])*")


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, below in sorted(getattr(command, "commands", {}).items()):
        yield from commands(below, (*path, name))


ROOT = typer.main.get_command(app)
COMMANDS = dict(commands(ROOT))
LEAVES = {path: command for path, command in COMMANDS.items() if not hasattr(command, "commands")}
PARAMETERS = [
    pytest.param(parameter, id=" ".join(("tare", *path, parameter.name)))
    for path, command in COMMANDS.items()
    for parameter in command.params
]


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_an_example_that_its_options_allow(path: tuple[str, ...], tmp_path: Path) -> None:
    shown = example(COMMANDS[path].help)
    assert shown, "a last paragraph “Example: tare …”"
    assert len(shown) < 90
    program, *words = shlex.split(shown)
    assert program == "tare"
    assert tuple(words[: len(path)]) == path
    command: Any = ROOT
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    if not hasattr(COMMANDS[path], "commands"):
        assert command is COMMANDS[path]
    command.make_context(command.name, list(words))


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_begins_with_its_subject_and_keeps_no_line_ends(path: tuple[str, ...]) -> None:
    texts = paragraphs(COMMANDS[path].help)
    assert texts
    for text in texts:
        assert text.split()[0] not in CRUTCHES
        assert "\n" not in text
        assert "Exit code:" not in text, "docs/commands.md has the table"


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_a_command_has_the_options_of_its_function_and_no_others(path: tuple[str, ...]) -> None:
    function = LEAVES[path].callback
    parameters = {parameter.name for parameter in LEAVES[path].params}
    assert parameters <= set(inspect.signature(function).parameters)


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_every_option_has_a_help_that_begins_with_its_subject(parameter: Any) -> None:
    assert parameter.help
    assert parameter.help.split()[0] not in CRUTCHES
    assert parameter.help.rstrip().endswith(".") or parameter.help.rstrip().endswith("…")
    if parameter.param_type_name == "option":
        assert panel_of(parameter) in PANELS
        if not parameter.is_flag:
            assert parameter.metavar, "a metavar of its own"
            assert METAVAR.fullmatch(parameter.metavar)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_no_word_of_the_help_is_cut_and_no_line_is_too_long(path: tuple[str, ...], width: int) -> None:
    command = COMMANDS[path]
    lines = list(help.page(command, width=width, short=False, name="tare " + " ".join(path)))
    shown = set(" ".join(lines).split())
    texts = [command.help or "", *(parameter.help for parameter in command.params)]
    assert set(" ".join(texts).split()) <= shown
    assert not [line for line in lines if len(line) > width and len(line.split()) > 1]


def test_the_short_help_has_the_basic_options_and_says_how_many_there_are_more() -> None:
    short, full = tare("time", "-h", COLUMNS="80"), tare("time", "--help", COLUMNS="80")
    assert (short.code, full.code) == (0, 0)
    assert len(short.out.splitlines()) < 30 < len(full.out.splitlines())
    assert "--runs" in short.out
    assert "--conclude" not in short.out
    assert re.search(r"time --help shows \d+ more options\.", short.out)
    for panel in PANELS[1:]:
        assert f"\n{panel}:\n" in full.out


# Durations ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("250ms", 0.25),
        ("10s", 10),
        ("2m", 120),
        ("2min", 120),
        ("1h", 3600),
        ("1.5s", 1.5),
        ("10", 10),
        (".5", 0.5),
    ],
)
def test_a_duration_has_a_unit_or_is_in_seconds(text: str, seconds: float) -> None:
    assert durations.seconds(text, "--timeout") == seconds
    assert durations.seconds(f" {text.upper()} ", "--timeout") == seconds


@pytest.mark.parametrize("text", ["", "s", "-1s", "1d", "1e3", "inf", "nan", "10 s s", "1s2"])
def test_what_is_not_a_duration_is_refused_with_examples(text: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"--timeout {text}: not a duration")) as refused:
        durations.seconds(text, "--timeout")
    assert "250ms" in refused.value.next_step


def test_every_option_in_time_takes_a_duration() -> None:
    found = {}
    for path, command in LEAVES.items():
        for option in command.params:
            if option.metavar == "DURATION":
                context = command.context_class(command, info_name=path[-1])
                assert option.process_value(context, "2m") == 120
                found[option.name] = path
            else:
                assert "SECONDS" not in (option.metavar or "").upper()
    assert set(found) >= {
        "timeout",
        "connect_timeout",
        "sample",
        "silent_after",
        "duration",
        "warmup",
        "drain",
    }


def test_a_duration_at_fault_names_its_option() -> None:
    said = tare("time", "SELECT 1", "--db", "sqlite:///f.db", "--timeout", "soon")
    assert said.code == 2
    assert "tare: --timeout soon: not a duration" in said.err
    assert "next: write a number and a unit" in said.err


# Files -------------------------------------------------------------------------------------
def test_json_has_one_grammar() -> None:
    options = [
        (path, option)
        for path, command in LEAVES.items()
        for option in command.params
        if option.name in ("json", "html", "markdown", "csv", "progress_json")
    ]
    assert len(options) > 50
    assert {option.metavar for _, option in options} == {OPTIONAL_FILE}


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["e1", "--json"], ["e1", "--json", "-"]),
        (["e1", "--json", "--lab", "l.db"], ["e1", "--json", "-", "--lab", "l.db"]),
        (["e1", "--json", "-"], ["e1", "--json", "-"]),
        (["e1", "--json", "f.json"], ["e1", "--json", "f.json"]),
        (["e1", "--json=f.json"], ["e1", "--json=f.json"]),
        (["--lab", "--json", "e1"], ["--lab", "--json", "e1"]),
        (["--", "--json"], ["--", "--json"]),
    ],
)
def test_a_file_that_is_left_out_is_standard_output(words: list[str], completed: list[str]) -> None:
    command = COMMANDS["experiment", "status"]
    context = command.context_class(command, info_name="status")
    assert complete(command, context, words) == completed


def test_json_goes_to_a_file_beside_the_text(tmp_path: Path) -> None:
    file = tmp_path / "workloads.json"
    said = tare("bench", "oltp", "list", "--json", str(file))
    assert said.code == 0, said.err
    assert said.out.startswith("tpcc: ")
    assert '"workload": "tpcc"' in file.read_text()
    assert tare("bench", "oltp", "list", "--json").out == file.read_text()


def test_a_command_behind_another_keeps_its_own_options() -> None:
    command = COMMANDS["profile", "run"]
    context = command.context_class(command, info_name="run", **command.context_settings)
    words = ["--json", "--", "server", "--json"]
    assert complete(command, context, words) == ["--json", "-", "--", "server", "--json"]
    assert complete(command, context, ["server", "--json"]) == ["server", "--json"]
