"""Words of a command line as text, and text on a terminal that lacks characters of it: in any locale."""

from __future__ import annotations

import codecs
import os
import sys

from tare.errors import UsageError

_PLAIN = "tare.plain"
_SPELLED = str.maketrans({
    "µ": "u", "×": "x", "−": "-", "–": "-", "—": "-", "─": "-", "╴": "-", "│": "|", "├": "+", "└": "+", "·": ".",
    "…": "...", "→": "->", "±": "+/-", "≥": ">=", "✓": "+", "✗": "x", "“": '"', "”": '"', "²": "2", "§": "S",
    "Σ": "sum ", "√": "sqrt ", "δ": "delta", "φ": "phi", "ε": "eps", "₁": "1", "₂": "2", "▪": "#", "█": "#",
    **dict.fromkeys("▏▎▍▌▋▊▉", "#"), **dict.fromkeys("▁▂▃▄▅▆▇", "#"),
})  # fmt: skip


def as_text(word: str) -> str:
    """The text of a word on the command line. In a locale without UTF-8, Python has bytes of it as lone surrogates.

    Raises UsageError for a word that is not UTF-8."""
    try:
        word.encode()
    except UnicodeEncodeError:
        try:
            return os.fsencode(word).decode()
        except UnicodeError as error:
            raise UsageError(
                f"{shown(word)} is not UTF-8 text", "write it into a file in UTF-8, and give -f FILE"
            ) from error
    return word


def shown(word: str) -> str:
    """Return text like `as_text`, with a mark for each byte that is not UTF-8."""
    try:
        return os.fsencode(word).decode("utf-8", "replace")
    except UnicodeEncodeError:  # text that this locale cannot have had on a command line
        return word.encode("utf-8", "replace").decode()


def print_in_any_locale() -> None:
    """From now on, standard output and error spell what their encoding lacks: "us" for "µs", "\\u4e2d" for the rest."""
    codecs.register_error(_PLAIN, _spelled)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)  # None: closed, or not a stream of ours
        if reconfigure is not None:
            reconfigure(errors=_PLAIN)


def spelled(text: str, encoding: str) -> str:
    """Return text as an output of this encoding shows it, once `print_in_any_locale` was called."""
    return text.encode(encoding, _PLAIN).decode(encoding)


def _spelled(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    found = error.object[error.start : error.end].translate(_SPELLED)
    return "".join(char if char.isascii() else _escaped(char) for char in found), error.end


def _escaped(char: str) -> str:
    """Return the escape of JSON, which is in UTF-16."""
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
