"""Requests of `tare bench wisconsin`, as the specifications that the executor runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from tare.dbms.url import file_path, scheme_of
from tare.errors import ServerLost, SpecificationMistake, UsageError
from tare.experiment.read import read_specification
from tare.experiment.specification import Specification
from tare.experiment.target import Target, make_file
from tare.measure.choices import CacheState
from tare.workload.wisconsin.catalogue import chosen, names
from tare.workload.wisconsin.kinds import Generation, Organisation
from tare.workload.wisconsin.specification import WisconsinSpec
from tare.workload.wisconsin.tables import replace_foreign

EMBEDDED = ("sqlite", "duckdb")
STARTED = ("postgresql", "mariadb", *EMBEDDED)


@dataclass(frozen=True)
class Request:
    """Request from the command line."""

    databases: Sequence[str]  # URLs, or names of STARTED
    generations: Sequence[Generation] | None  # None: those that have what is asked for
    rows: str  # separated by commas
    organisations: str
    queries: Sequence[str]
    qes: int
    cache: CacheState
    timeout_s: float | None

    def specifications(self) -> list[tuple[Specification, str]]:
        """Return a specification for each generation, with its TOML. Raises UsageError."""
        asked = self.generations or [one for one in Generation if self._is_of(one)] or list(Generation)
        return [self._specification(generation) for generation in dict.fromkeys(asked)]

    def _is_of(self, generation: Generation) -> bool:
        """Whether it has all the queries that are named, and any in the organisations."""
        if not set(self.queries) <= set(names(generation)):
            return False
        return bool(
            chosen(
                WisconsinSpec(
                    generation=generation,
                    organisations=tuple(map(Organisation, _organisations(self.organisations))),
                    queries=tuple(self.queries),
                )
            )
        )

    def _specification(self, generation: Generation) -> tuple[Specification, str]:
        lines = [
            f"# tare bench wisconsin --generation {generation}",
            f'name = "wisconsin_{generation}"',
            f'description = "The Wisconsin benchmark of {generation}."',
            'scenario = "exhaustive"',
            f"qes = {self.qes}",
            f'cache = "{self.cache}"',
            *([f"timeout_s = {float(self.timeout_s)}"] if self.timeout_s is not None else []),
            "",
            "[wisconsin]",
            f'generation = "{generation}"',
            f"organisations = {json.dumps(_organisations(self.organisations))}",
            *([f"rows = {json.dumps(_sizes(self.rows))}"] if generation is Generation.Y1993 else []),
            *([f"queries = {json.dumps(list(self.queries))}"] if self.queries else []),
        ]
        for number, database in enumerate(self.databases, 1):
            kind = "start" if database in STARTED else "url"
            name = (
                database
                if database in STARTED
                else f"{database.partition(':')[0].partition('+')[0]}_{number}"
            )
            lines += ["", "[[dbms]]", f"name = {json.dumps(name)}", f"{kind} = {json.dumps(database)}"]
        try:
            return read_specification("\n".join(lines) + "\n")
        except SpecificationMistake as mistake:
            said = "; ".join(text for _, _, text in mistake.mistakes)
            raise UsageError(said, "correct the request: `tare bench wisconsin --help`") from None


def made_ready(replace: bool, specification: Specification, target: Target) -> None:
    """Makes the file of an embedded DBMS where there is none. With `replace`, drops what stands where the
    benchmark's tables belong. Raises UsageError, and what connecting and dropping raise."""
    assert specification.wisconsin is not None
    if target.starts is None and (kind := scheme_of(target.url)) in EMBEDDED:
        file = file_path(target.url)
        if not file.exists():
            make_file(file, kind)
    if not replace:
        return
    with target:
        session = target.connect(allow_writes=True)
        try:
            replace_foreign(session, specification.wisconsin)
        finally:
            with suppress(ServerLost):
                session.close()


def _sizes(text: str) -> list[int]:
    try:
        return [int(part.replace("_", "")) for part in text.split(",")]
    except ValueError:
        raise UsageError(
            f"--rows {text}: not whole numbers", "give one, or several with commas: --rows 10000,100000"
        ) from None


def _organisations(text: str) -> list[str]:
    known = [str(one) for one in Organisation]
    asked = [part.strip() for part in text.split(",")]
    unknown = [one for one in asked if one not in known]
    if unknown:
        raise UsageError(f"--organisation {unknown[0]}: unknown", f"take of {', '.join(known)}")
    return list(dict.fromkeys(asked))
