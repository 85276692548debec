"""Output and SQL in any locale: nothing fails to be printed, and text reaches the server as it was typed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import environment

TEXT = "Zürich→中😀"
LOCALES = {
    "C": {"LC_ALL": "C", "LANG": "C"},
    "POSIX, without UTF-8": {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    "ascii output": {"PYTHONIOENCODING": "ascii"},
    "latin-1 output": {"PYTHONIOENCODING": "latin-1:strict"},
}


def _tare(locale: str, *words: str | bytes, text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run(
        [sys.executable, "-m", "tare", *words],
        input=text,
        capture_output=True,
        timeout=120,
        env=environment(COLUMNS="80", **LOCALES[locale]),
        check=False,
    )
    assert b"Traceback" not in done.stderr, done.stderr
    assert b"UnicodeEncodeError" not in done.stderr + done.stdout, done.stderr
    return done


@pytest.mark.parametrize("locale", LOCALES)
def test_text_reaches_the_server_as_it_was_typed(locale: str, tmp_path: Path) -> None:
    """From an argument, a set-up phase, a parameter, a file and standard input; each query returns a row if so."""
    codes = " || ".join(f"char({ord(char)})" for char in TEXT)
    where = f"FROM t WHERE x = {codes} AND x = '{{p}}'"
    (tmp_path / "q.sql").write_text(f"SELECT '{TEXT}' {where}", encoding="utf-8")
    words = ["time", f"SELECT 1 {where} AND x = '{TEXT}'", "-f", str(tmp_path / "q.sql"), "-f", "-"]
    words += ["--setup", f"CREATE TABLE IF NOT EXISTS t AS SELECT '{TEXT}' AS x", "-L", f"p={TEXT}"]
    words += ["--db", "sqlite:///:memory:", "--runs", "1", "--warmup", "0", "--json", "-"]
    done = _tare(locale, *map(os.fsencode, words), text=f"SELECT 2 {where}".encode())
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout.decode("utf-8"))
    assert [query["answer"]["rows"] for query in document["results"]] == [1, 1, 1]
    assert all(TEXT in query["sql"] for query in document["results"])
    assert TEXT in document["command"]


@pytest.mark.parametrize(
    ("locale", "unit"),
    [("POSIX, without UTF-8", b"us"), ("ascii output", b"us"), ("latin-1 output", "µs".encode("latin-1"))],
)
def test_reports_and_errors_spell_what_an_encoding_lacks(locale: str, unit: bytes) -> None:
    given = ("--db", "sqlite:///:memory:", "--runs", "2", "--warmup", "0", "-v")
    shown = _tare(locale, "time", f"SELECT '{TEXT}'".encode(), *given)
    assert shown.returncode == 0, shown.stderr
    assert unit in shown.stdout
    assert b"rich->\\u4e2d\\ud83d\\ude00" in shown.stdout
    refused = _tare(locale, "time", f"SELECT {TEXT}".encode(), *given)
    assert refused.returncode == 2
    assert b"SQLite refused" in refused.stderr


@pytest.mark.parametrize(
    "words", [("doctor",), ("time", "SELECT 1", "--db", "sqlite:///:memory:", "--runs", "5", "-v")]
)
def test_a_report_in_ascii_is_as_narrow_as_any(words: tuple[str, ...]) -> None:
    shown = _tare("ascii output", *words).stdout
    assert shown.isascii()
    wide = [line for line in shown.decode().splitlines() if len(line) > 80 and not line.startswith("  ")]
    assert not wide, "only a command to copy, which is indented, is wider"


def test_sql_that_is_not_utf8_is_named() -> None:
    for words in ((b"SELECT '\xfc'",), (b"SELECT 1", b"--setup", b"SELECT '\xfc'")):
        done = _tare("C", "time", *words, "--db", "sqlite:///:memory:")
        assert done.returncode == 2, done.stdout
        assert b"not UTF-8" in done.stderr
