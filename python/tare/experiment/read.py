"""Reads a specification from its TOML, and reports all mistakes at once, each with its line and a suggestion."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from tare.errors import SpecificationMistake
from tare.experiment.checks import mistakes_of
from tare.experiment.explain import Finding, explained
from tare.experiment.places import Places
from tare.experiment.specification import Specification
from tare.experiment.warnings import warnings_of

if TYPE_CHECKING:
    from tare.lab.progress import RunFacts

Placed = tuple[int, int, str]
"""Line and column, from 1, and the message."""

_SYNTAX = re.compile(
    r"^(?P<message>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$"
)


def read_specification(source: Path | str) -> tuple[Specification, str]:
    """Read a file (Path) or the TOML itself (str); return the TOML as it was read, too.

    Raises SpecificationMistake, and never shows a password."""
    name, text = (str(source), _read(source)) if isinstance(source, Path) else ("the specification", source)
    document = _parsed(name, text)
    specification = None
    findings: list[Finding] = []
    try:
        # As JSON, since pydantic's strict mode then takes arrays and names for tuples and enumerations.
        specification = Specification.model_validate_json(json.dumps(document, default=str), strict=True)
    except ValidationError as error:
        findings = explained(error, document)
    findings += mistakes_of(document, specification)
    if findings or specification is None:
        raise _mistaken(name, _placed(Places(text), findings))
    return specification, text


def specification_of(run: RunFacts) -> Specification:
    """Return the specification that a run was begun with."""
    return read_specification(run.specification)[0]


def warnings(specification: Specification, text: str) -> list[Placed]:
    """Return warnings about a specification that can be run."""
    return _placed(Places(text), warnings_of(specification))


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SpecificationMistake(
            f"{path} cannot be read: {error.strerror}",
            "name the experiment's TOML file; `tare experiment new onepass > e.toml` writes an example",
        ) from None
    except UnicodeDecodeError as error:
        raise SpecificationMistake(
            f"{path} is not UTF-8 text (byte {error.start})", "save it as UTF-8"
        ) from None


def _parsed(name: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        message, line, column = "brackets are nested too deeply", 1, 1
    except tomllib.TOMLDecodeError as error:
        match = _SYNTAX.match(str(error))
        message = match["message"] if match else str(error)
        line = int((match and match["line"]) or text.rstrip().count("\n") + 1)
        column = int((match and match["column"]) or 1)
    except ValueError:  # Python reads no number of more than 4,300 digits
        message, line, column = "a number is too long", 1, 1
    raise _mistaken(
        name, [(line, column, f"not TOML: {message[:1].lower()}{message[1:]}{_meant(text, line)}")]
    )


def _meant(text: str, line: int) -> str:
    """Suggest how to write a line that is not TOML."""
    lines = text.splitlines()
    there = lines[line - 1].strip() if line <= len(lines) else ""
    if re.match(r"[\w-]+\s*:", there):
        return "; write `key = value`, not `key: value`"
    if re.match(r"[\w.-]+\s*=\s*[A-Za-z_/][^\"']*$", there):
        return "; put text in quotes"
    return ""


def _placed(places: Places, findings: Iterable[Finding]) -> list[Placed]:
    placed = {(places.place(path).line, places.place(path).column, text) for path, text in findings}
    return sorted(placed)


def _mistaken(name: str, placed: list[Placed]) -> SpecificationMistake:
    count = "1 mistake" if len(placed) == 1 else f"{len(placed)} mistakes"
    lines = "\n".join(f"  line {line}, column {column}: {text}" for line, column, text in placed)
    return SpecificationMistake(
        f"{name} has {count}:\n{lines}",
        "correct them; `tare experiment check FILE` reports whether any is left",
        placed,
    )
