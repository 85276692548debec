"""Text of the command line and the terminal, whatever the locale."""

from __future__ import annotations

import codecs
import os
import sys

_ASCII = {
    "µ": "u", "±": "+/-", "…": "...", "–": "-", "—": "-", "−": "-", "×": "x", "≤": "<=", "≥": ">=", "→": "->",
    "·": "-", "✓": "+", "✗": "x", "─": "-", "━": "-", "│": "|", "█": "#", "\u202f": " ", "“": '"', "”": '"', "’": "'",
}  # fmt: skip

PLAIN = "tare-plain"
"""Error handler that writes in ASCII what an encoding lacks."""


def accept_any_locale() -> None:
    """Starts Python once more in UTF-8 mode where it takes all text for ASCII, as in the C locale: arguments, file
    names and what users type are UTF-8 there too. In another locale output never fails for want of a character."""
    if codecs.lookup(sys.getfilesystemencoding()).name == "ascii" and not sys.flags.utf8_mode:
        words = [sys.executable, *sys.orig_argv[1:]]
        os.execve(sys.executable, words, {**os.environ, "PYTHONUTF8": "1"})
    codecs.register_error(PLAIN, _plain)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and codecs.lookup(stream.encoding).name != "utf-8":
            stream.reconfigure(errors=PLAIN)  # type: ignore[union-attr]


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_ASCII.get(sign, "?") for sign in lacking), error.end
