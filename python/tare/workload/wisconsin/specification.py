"""The Wisconsin benchmark as a specification names it: which generation, how large, how organised."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tare.records import Record
from tare.workload.wisconsin.kinds import Generation, Organisation


class WisconsinSpec(Record):
    """`[wisconsin]` in the place of an experiment's own tables and queries."""

    generation: Generation
    rows: tuple[Annotated[int, Field(ge=1_000, le=100_000_000)], ...] = Field(
        default=(10_000,),
        min_length=1,
        description="tuples of the large relations, one size or several; 1983 has 10,000 alone",
    )
    organisations: tuple[Organisation, ...] = Field(default=tuple(Organisation), min_length=1)
    queries: tuple[str, ...] = Field(
        default=(), description="names of queries, or of classes of them; none: every one"
    )
