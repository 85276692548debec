"""The relations, held against the paper and the definition of 1993."""

from __future__ import annotations

import pytest

from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.relations import KEY, OTHER_KEY, STRING_LENGTH, Kind, relation, relations, third

SIZES = {
    Generation.Y1983: {
        "thoustup": 1_000,
        "twothoustup": 2_000,
        "fivethoustup": 5_000,
        "tenthoustup": 10_000,
        "tenthoustup2": 10_000,
        "tempbprime": 1_000,
    },
    Generation.Y1993: {"onektup": 1_000, "tenktup1": 10_000, "tenktup2": 10_000, "bprime": 1_000},
}


@pytest.mark.parametrize("generation", Generation)
def test_at_ten_thousand_rows_the_relations_have_the_sizes_that_they_are_named_after(
    generation: Generation,
) -> None:
    assert {one.name: one.tuples(10_000) for one in relations(generation)} == SIZES[generation]


def test_relations_of_1993_grow_together_and_those_of_1983_but_for_the_large_ones_do_not() -> None:
    assert {one.name: one.tuples(10**8) for one in relations(Generation.Y1993)} == {
        "onektup": 10**7,
        "tenktup1": 10**8,
        "tenktup2": 10**8,
        "bprime": 10**7,
    }
    assert relation(Generation.Y1983, "fivethoustup").tuples(10_000) == 5_000


def test_tuples_of_1983_have_the_182_bytes_of_the_paper_with_integers_of_two() -> None:
    kinds = [attribute.kind for attribute in relation(Generation.Y1983, "tenthoustup").attributes]
    assert kinds.count(Kind.INTEGER) * 2 + kinds.count(Kind.STRING) * STRING_LENGTH == 182


@pytest.mark.parametrize("generation", Generation)
def test_every_relation_has_the_attributes_that_its_indexes_are_on(generation: Generation) -> None:
    for one in relations(generation):
        names = [attribute.name for attribute in one.attributes]
        assert {KEY, OTHER_KEY, third(generation)} <= set(names)
        assert len(names) == len({name.lower() for name in names}) == 16


@pytest.mark.parametrize("generation", Generation)
def test_bprime_is_the_beginning_of_the_second_large_relation(generation: Generation) -> None:
    (bprime,) = (one for one in relations(generation) if one.first_of)
    assert bprime.first_of is not None
    whole = relation(generation, bprime.first_of)
    assert bprime.seed == whole.seed
    assert bprime.tuples(10_000) * 10 == whole.tuples(10_000)


def test_the_two_large_relations_of_1983_differ() -> None:
    assert relation(Generation.Y1983, "tenthoustup").seed != relation(Generation.Y1983, "tenthoustup2").seed
