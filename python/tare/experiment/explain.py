"""Mistakes that pydantic finds in a specification, in the words of its author."""

from __future__ import annotations

import types
import typing
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError

from tare.experiment.places import Path
from tare.experiment.specification import Specification

Finding = tuple[Path, str]

_EXPECTED = {
    "string_type": "a text in quotes",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "an array",
    "finite_number": "a finite number",
}


def explained(error: ValidationError, document: dict[str, Any]) -> list[Finding]:
    """A misspelt key is one mistake, not also a missing one."""
    errors = [one for one in error.errors(include_url=False) if not _follows(one, error)]
    missing = {tuple(one["loc"]) for one in errors if one["type"] == "missing"}
    findings: list[Finding] = []
    for one in errors:
        if one["type"] != "extra_forbidden":
            continue
        path = tuple(one["loc"])
        meant = _meant(path, document)
        missing.discard((*path[:-1], meant))
        findings.append((path, _unknown(path, document, meant)))
    for one in errors:
        path = tuple(one["loc"])
        if one["type"] == "missing" and path in missing:
            findings.append((path, f"`{path[-1]}` is missing in {where(path[:-1], document)}"))
        elif one["type"] not in ("missing", "extra_forbidden"):
            findings.append((path, _wrong(dict(one), path, document)))
    return findings


def _follows(one: Any, error: ValidationError) -> bool:
    """An array whose every element is wrong is called empty, too."""
    path = tuple(one["loc"])
    return one["type"] == "too_short" and any(
        len(other["loc"]) > len(path) and tuple(other["loc"][: len(path)]) == path for other in error.errors()
    )


def where(path: Path, document: dict[str, Any]) -> str:
    """The table that a path is in, as it is written in TOML, with its name if it has one."""
    keys = [str(part) for part in path if isinstance(part, str)]
    if not keys:
        return "the file's first part, above all [tables]"
    found: Any = document
    for part in path:
        found = found[part]  # pydantic has been there
    name = found.get("name") if isinstance(found, dict) else None
    shown = f"[[{'.'.join(keys)}]]" if isinstance(path[-1], int) else f"[{'.'.join(keys)}]"
    return f'{shown} "{name}"' if isinstance(name, str) and name else shown


def _unknown(path: Path, document: dict[str, Any], meant: str | None) -> str:
    key, place = path[-1], where(path[:-1], document)
    if meant:
        return f"unknown key `{key}` in {place}; did you mean `{meant}`?"
    if len(path) > 1 and key in Specification.model_fields:
        return f"`{key}` does not belong in {place}: move it to the top of the file, above the first [table]"
    return f"unknown key `{key}` in {place}; known are {', '.join(_fields(path[:-1]))}"


def _meant(path: Path, document: dict[str, Any]) -> str | None:
    """The key that was probably meant: a similar one that is not there yet."""
    table: Any = document
    for part in path[:-1]:
        table = table[part]
    free = [name for name in _fields(path[:-1]) if name not in table]
    return next(iter(get_close_matches(str(path[-1]), free, n=1, cutoff=0.6)), None)


def _wrong(error: dict[str, Any], path: Path, document: dict[str, Any]) -> str:
    kind, context, given = error["type"], error.get("ctx", {}), error["input"]
    key = next((part for part in reversed(path) if isinstance(part, str)), "")
    shown = f"`{key}` in {where(_container(path), document)}" if len(path) > 1 else f"`{key}`"
    if kind == "tuple_type" and isinstance(given, dict):
        return f"{shown} may be given several times: write [[{key}]], not [{key}]"
    if kind in _EXPECTED:
        return f"{shown} must be {_EXPECTED[kind]}, not {_named(given)}"
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return f"{shown} must be a table, such as [{key}] with its keys below, not {_named(given)}"
    if kind in ("literal_error", "enum"):
        close = _close(given, context["expected"])
        return f"{shown} must be {context['expected']}, not {_named(given)}{close}"
    if kind == "string_pattern_mismatch":
        return f"{shown} must begin with a letter and hold letters, digits and _ only, 60 at most, not {_named(given)}"
    if kind in ("string_too_short", "too_short"):
        return f"{shown} must not be empty"
    message = str(error["msg"]).replace("Input should be", "must be").replace("Input", "it")
    return f"{shown} {message}, not {_named(given)}"


def _container(path: Path) -> Path:
    """The table that the key is in: an array's element counts as the array's."""
    cut = len(path) - 1
    while cut and isinstance(path[cut], int):
        cut -= 1
    return path[:cut]


def _named(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f'the text "{value if len(value) <= 40 else value[:39] + "…"}"'
        case int() | float():
            return f"{value}"
        case list():
            return "an array"
        case dict():
            return "a table"
    return str(value)


def _close(given: Any, expected: str) -> str:
    names = [part.strip("' ") for part in expected.replace(" or ", ",").split(",")]
    found = get_close_matches(str(given), names, n=1)
    return f"; did you mean '{found[0]}'?" if found else ""


def _fields(path: Path) -> list[str]:
    """The keys that the table at this path may have."""
    model: type[BaseModel] | None = Specification
    for part in path:
        if isinstance(part, str) and model is not None and part in model.model_fields:
            model = _model_in(model.model_fields[part].annotation)
    return list(model.model_fields) if model is not None else []


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return annotation if issubclass(annotation, BaseModel) else None
    return next((m for m in map(_model_in, typing.get_args(annotation)) if m is not None), None)
