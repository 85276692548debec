"""The part of a report's document that tells under which conditions runs were made, and how to do it again."""

from __future__ import annotations

from pydantic import Field

from tare.report.document import Document


class Machine(Document):
    facts: dict[str, str | int | float | bool | None] = Field(
        description="CPU model, memory, kernel, operating system, …"
    )


class Run(Document):
    id: int
    uuid: str
    experiment: str
    scenario: str
    dbms: str
    version: str
    settings: dict[str, str] = Field(description="Settings of the DBMS that matter to a measurement.")
    machine: int = Field(description="Index in `machines`.")
    state: str
    said: str | None
    cache: str
    qes_per_qatc: int
    timeout_ms: float | None
    started_at: str
    ended_at: str | None
    tier: str = Field(description="How the kernel was read.")
    tick_ms: float
    online_cpus: int = Field(description="CPUs that the DBMS and the executor might run on.")
    tare: str
    means: dict[str, str] = Field(description="Why a measure is missing over the whole run, by its name.")
    deviations: list[str]
    queries: int
    qatcs: int = Field(description="Q@Cs that were timed.")
    same_plan: int = Field(description="Q@Cs that were visited and not timed, the plan being the last one.")
    failed_qatcs: int
    qes: int = Field(description="QEs that count: no warm-up, the Q@C's last attempt.")


class Missing(Document):
    """A query or a Q@C that has no time, and why."""

    run: int
    dbms: str
    query: str
    cardinality: int | None = Field(description="Null: the whole query could not be run.")
    why: str


class Reproduction(Document):
    experiment: str
    hash: str
    toml: str
    queries: list[tuple[str, str]] = Field(description="Name and SQL.")
