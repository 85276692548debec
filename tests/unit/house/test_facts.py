"""Facts decide, not the words of messages: no place of the package reads a message to know what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tare
from tests.unit.house.message_flow import places

PACKAGE = Path(tare.__file__).parent

CASES = {
    "a word in a reason": '''
        def why(view: View) -> str:
            return "the trace was rejected by Tare"

        def state(view: View) -> str:
            reason = why(view)
            return "rejected" if "rejected" in reason else "none"
        ''',
    "a word in a field": '''
        def stop() -> Run:
            return Run(ended="the server ended too early")

        def state(run: Run) -> str:
            return "gone" if run.ended.startswith("the server") else "there"
        ''',
    "the beginning of a sentence": '''
        def short(count: int) -> str:
            text = f"{count} queries were left out (see below)"
            return text.partition(" (")[0]
        ''',
    "a sentence as a key": '''
        STATES = {"the server ended early": 1, "interrupted": 2}
        ''',
    "digits printed in a warning": '''
        def few(findings: Findings, number: int) -> list[str]:
            return [warning for warning in findings.warnings if f" {number} " in f" {warning} "]

        def analyse(count: int) -> Findings:
            return Findings(warnings=[f"only {count} transactions were seen"])
        ''',
    "the text of an error": '''
        class Refused(TareError):
            """A server refused."""

        def again(error: Refused) -> bool:
            return "password" in error.what
        ''',
    "a pattern over a sentence": '''
        import re

        def number(count: int) -> object:
            text = f"about {count} transactions were seen"
            return re.search("[0-9]+", text)
        ''',
}  # fmt: skip

FREE = {
    "text of the kernel": '''
        def cpus(text: str) -> list[str]:
            return [line for line in text.splitlines() if line.startswith("processor")]
        ''',
    "a key": '''
        def is_index(row: Row) -> bool:
            return row.kind == "index" and "index" in row.parts
        ''',
    "escapes": '''
        def escaped(count: int) -> str:
            text = f"{count} | transactions were seen"
            return text.replace("|", "\\\\|")
        ''',
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_reading_a_message_is_found(case: str, tmp_path: Path) -> None:
    assert len(_places(CASES[case], tmp_path)) == 1


@pytest.mark.parametrize("case", FREE)
def test_text_of_others_and_keys_may_be_read(case: str, tmp_path: Path) -> None:
    assert _places(FREE[case], tmp_path) == []


def test_no_code_decides_by_the_words_of_a_message() -> None:
    found = "\n".join(map(str, places(PACKAGE)))
    assert not found, f"give a fact (an enum, a record) beside the words, and decide by that:\n{found}"


def test_no_page_cuts_up_a_sentence() -> None:
    cut = re.compile(r"\.(removeprefix|removesuffix|startswith|endswith|partition|split|find)\(")
    found = [
        f"{page.relative_to(PACKAGE)}:{number}"
        for page in sorted(PACKAGE.rglob("templates/*"))
        for number, line in enumerate(page.read_text().splitlines(), 1)
        if page.suffix in (".html", ".md", ".txt") and "{" in line and cut.search(line)
    ]
    assert found == []


def _places(source: str, folder: Path) -> list[object]:
    import textwrap

    (folder / "room.py").write_text(textwrap.dedent(source))
    return list(places(folder))
