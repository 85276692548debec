"""Relations that the queries read, in either generation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tare.workload.wisconsin.kinds import Generation

VARIANTS = 10
"""Variants of each query, one after the other on either of two relations that are alike (1983, section 3.4)."""


@dataclass(frozen=True, slots=True)
class Naming:
    generation: Generation
    twins: tuple[str, str]  # the large relations
    tenth: str  # ONEKTUP, thoustup
    prime: str  # the first tenth of the second twin
    measured: str  # the attribute that aggregate functions are taken of
    plan: str  # what either twin is called in a plan

    def turns(self) -> Iterator[tuple[int, str, str]]:
        """Each variant's number from 0, its relation A, and its relation B: the other of the two."""
        for turn in range(VARIANTS):
            yield turn, self.twins[turn % 2], self.twins[1 - turn % 2]


NAMING: Mapping[Generation, Naming] = {
    Generation.Y1983: Naming(
        Generation.Y1983,
        twins=("tenthoustup", "tenthoustup2"),
        tenth="thoustup",
        prime="tempbprime",
        measured="fivethous",
        plan="tenthoustup",
    ),
    Generation.Y1993: Naming(
        Generation.Y1993,
        twins=("tenktup1", "tenktup2"),
        tenth="onektup",
        prime="bprime",
        measured="unique3",
        plan="tenktup",
    ),
}
