"""A specification from its TOML: every mistake in one go, each with its line and what was meant."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tare.errors import SpecificationMistake
from tare.experiment.checks import mistakes_of
from tare.experiment.explain import Finding, explained
from tare.experiment.oddities import warnings_of
from tare.experiment.places import Places
from tare.experiment.specification import Specification

Placed = tuple[int, int, str]
"""Line and column, from 1, and what is to be said."""

_SYNTAX = re.compile(r"^(?P<said>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$")


def read_specification(source: Path | str) -> tuple[Specification, str]:
    """`source` is a file (Path) or the TOML itself (str); gives back the TOML as it was read.

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


def warnings(specification: Specification, text: str) -> list[Placed]:
    """Return the oddities of a specification that can be run."""
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
        said, line, column = "brackets are nested too deeply", 1, 1
    except tomllib.TOMLDecodeError as error:
        match = _SYNTAX.match(str(error))
        said = match["said"] if match else str(error)
        line = int((match and match["line"]) or text.rstrip().count("\n") + 1)
        column = int((match and match["column"]) or 1)
    except ValueError:  # Python reads no number of more than 4,300 digits
        said, line, column = "a number is too long", 1, 1
    raise _mistaken(name, [(line, column, f"not TOML: {said[:1].lower()}{said[1:]}{_meant(text, line)}")])


def _meant(text: str, line: int) -> str:
    """Return what a line that is no TOML was probably meant to be."""
    lines = text.splitlines()
    there = lines[line - 1].strip() if line <= len(lines) else ""
    if re.match(r"[\w-]+\s*:", there):
        return "; write `key = value`, not `key: value`"
    if re.match(r"[\w.-]+\s*=\s*[A-Za-z_/][^\"']*$", there):
        return "; put text in quotes"
    return ""


def _placed(places: Places, findings: Iterable[Finding]) -> list[Placed]:
    placed = {(places.of(path).line, places.of(path).column, text) for path, text in findings}
    return sorted(placed)


def _mistaken(name: str, placed: list[Placed]) -> SpecificationMistake:
    count = "1 mistake" if len(placed) == 1 else f"{len(placed)} mistakes"
    lines = "\n".join(f"  line {line}, column {column}: {text}" for line, column, text in placed)
    return SpecificationMistake(
        f"{name} has {count}:\n{lines}",
        "correct them; `tare experiment check FILE` tells whether all is well",
        placed,
    )
