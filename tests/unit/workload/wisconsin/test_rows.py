"""The rows of both generations: as defined, and from the fast generator the same as from the plain one."""

from __future__ import annotations

import os
import threading
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.errors import ExportFailed
from tare.workload.wisconsin.checksum import checksum, digest
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.relations import Relation, relation, relations
from tare.workload.wisconsin.rows import tuples, write_csv

Y1983, Y1993 = Generation.Y1983, Generation.Y1993
EVERY = [pytest.param(one, id=one.name) for year in Generation for one in relations(year)]


def columns(one: Relation, rows: int = 10_000) -> dict[str, list[Any]]:
    names = [attribute.name for attribute in one.attributes]
    return dict(zip(names, map(list, zip(*tuples(one, rows), strict=True)), strict=True))


@pytest.mark.parametrize("one", EVERY)
def test_a_relation_has_its_number_of_tuples_in_the_order_of_unique2(one: Relation) -> None:
    assert columns(one)["unique2"] == list(range(one.tuples(10_000)))


@pytest.mark.parametrize("one", [one for one in EVERY if one.values[0].first_of is None])  # type: ignore[union-attr]
def test_unique1_takes_each_value_once(one: Relation) -> None:
    unique1 = columns(one)["unique1"]
    assert sorted(unique1) == list(range(len(unique1)))
    assert unique1 != sorted(unique1)


@pytest.mark.parametrize("one", EVERY)
def test_every_string_has_52_letters(one: Relation) -> None:
    found = columns(one)
    assert {len(text) for name in ("stringu1", "stringu2", "string4") for text in found[name]} == {52}


@pytest.mark.parametrize("one", EVERY)
def test_the_file_holds_the_very_tuples(one: Relation, tmp_path: Path) -> None:
    file = tmp_path / "relation.csv"
    assert write_csv(one, 10_000, file, header=True) == one.tuples(10_000)
    header, *lines = file.read_text().splitlines()
    assert header.split(",") == [attribute.name for attribute in one.attributes]
    assert [tuple(line.split(",")) for line in lines] == [
        tuple(map(str, values)) for values in tuples(one, 10_000)
    ]
    write_csv(one, 10_000, file)
    assert file.read_text().splitlines() == lines


@pytest.mark.parametrize(("name", "large"), [("bprime", "tenktup2"), ("tempbprime", "tenthoustup2")])
def test_bprime_is_the_first_tenth_of_the_second_large_relation(name: str, large: str) -> None:
    year = Y1993 if name == "bprime" else Y1983
    small = list(tuples(relation(year, name), 10_000))
    assert small == list(islice(tuples(relation(year, large), 10_000), 1_000))


# 1993 -----------------------------------------------------------------------------
def test_1993s_first_values_at_ten_thousand_are_the_published_ones() -> None:
    assert columns(relation(Y1993, "tenktup1"))["unique1"][:5] == [8800, 1891, 3420, 9850, 7164]


def test_1993s_attributes_follow_from_unique1_and_unique2() -> None:
    found = columns(relation(Y1993, "tenktup1"))
    u = found["unique1"]
    by_definition = {
        "two": [v % 2 for v in u],
        "four": [v % 4 for v in u],
        "ten": [v % 10 for v in u],
        "twenty": [v % 20 for v in u],
        "onePercent": [v % 100 for v in u],
        "tenPercent": [v % 10 for v in u],
        "twentyPercent": [v % 5 for v in u],
        "fiftyPercent": [v % 2 for v in u],
        "unique3": u,
        "evenOnePercent": [v % 100 * 2 for v in u],
        "oddOnePercent": [v % 100 * 2 + 1 for v in u],
        "string4": ["AHOV"[i % 4] * 4 + "x" * 48 for i in range(len(u))],
    }
    assert {name: found[name] for name in by_definition} == by_definition
    assert found["stringu1"][0] == "AAAANAM" + "x" * 45
    assert sorted(found["stringu1"]) == found["stringu2"]


@settings(max_examples=25, deadline=None)
@given(st.integers(1_000, 4_000))
def test_1993s_relations_of_any_size_are_permutations_with_the_sum_of_their_definition(rows: int) -> None:
    one = relation(Y1993, "tenktup1")
    whole = list(tuples(one, rows))
    assert sorted(values[0] for values in whole) == list(range(rows))
    assert checksum(one, rows) == (rows, digest(iter(whole), one.attributes), rows)


# 1983 -----------------------------------------------------------------------------
@pytest.mark.parametrize("one", [pytest.param(one, id=one.name) for one in relations(Y1983)])
def test_1983s_integers_are_drawn_from_the_range_they_are_named_after(one: Relation) -> None:
    found = columns(one)
    ends = {"two": 2, "four": 4, "ten": 10, "twenty": 20, "hundred": 100}
    for name, end in ends.items():
        assert set(found[name]) == set(range(end)), name
    for name, end in {"thousand": 1_000, "twothous": 2_000, "fivethous": 5_000, "tenthous": 10_000}.items():
        assert 0 <= min(found[name]) < end / 50
        assert end - end / 50 < max(found[name]) < end
    assert set(found["odd100"]) == set(range(1, 200, 2))
    assert set(found["even100"]) == set(range(0, 200, 2))


def test_1983s_small_ranges_hang_together_as_in_the_papers_figure_1() -> None:
    found = columns(relation(Y1983, "tenthoustup"))
    for hundred, ten, two in zip(found["hundred"], found["ten"], found["two"], strict=True):
        assert (ten, two) == (hundred % 10, hundred % 2)
    pairs = Counter(zip(found["hundred"], (value % 100 for value in found["thousand"]), strict=True))
    assert len(pairs) > 5_000, "thousand follows from hundred"


def test_1983s_draws_are_even() -> None:
    counts = Counter(columns(relation(Y1983, "tenthoustup"))["hundred"])
    chi_squared = sum((count - 100) ** 2 / 100 for count in counts.values())
    assert 61 < chi_squared < 149  # 99 degrees of freedom: 99.9% of all even draws


def test_1983s_strings_are_those_that_the_paper_prints() -> None:
    shown = [text.replace("x", "") for text in columns(relation(Y1983, "thoustup"))["stringu2"]]
    assert shown[:3] == ["AAA", "BAA", "CAA"]
    assert shown[21:23] == ["VAA", "ABA"]
    assert shown[43:45] == ["VBA", "ACA"]
    assert shown[483:485] == ["VVA", "AAB"]
    assert shown[-2:] == ["IBC", "JBC"]


def test_1983s_letters_stand_first_middle_and_last() -> None:
    found = columns(relation(Y1983, "thoustup"))
    assert found["stringu2"][22] == "A" + "x" * 25 + "B" + "x" * 24 + "A"
    assert [text.replace("x", "") for text in found["string4"][:5]] == ["AAA", "HHH", "OOO", "VVV", "AAA"]
    assert sorted(found["stringu1"]) == sorted(found["stringu2"]) != found["stringu1"]


def test_1983s_twins_are_alike_and_not_the_same() -> None:
    one, other = (columns(relation(Y1983, name)) for name in ("tenthoustup", "tenthoustup2"))
    for name in ("unique1", "hundred", "thousand"):
        assert one[name] != other[name]


def test_1983s_relations_are_the_same_on_every_machine() -> None:
    assert {one.name: checksum(one, 10_000)[1] for one in relations(Y1983)} == {
        "thoustup": 1035404132494,
        "twothoustup": 2146787042293,
        "fivethoustup": 5380452746164,
        "tenthoustup": 10694243492361,
        "tenthoustup2": 10822697818307,
        "tempbprime": 1085368919932,
    }


# Bad ends -------------------------------------------------------------------------
def test_a_reader_that_leaves_is_the_cause_of_the_failure(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: pipe.open("rb").close(), daemon=True)
    reader.start()
    with pytest.raises(ExportFailed, match="tenktup1") as failed:
        write_csv(relation(Y1993, "tenktup1"), 100_000, pipe)
    assert isinstance(failed.value.__cause__, BrokenPipeError)
    reader.join(10)


def test_a_full_disk_is_said() -> None:
    with pytest.raises(ExportFailed, match="No space left"):
        write_csv(relation(Y1993, "tenktup1"), 10_000, Path("/dev/full"))


def test_no_relation_has_more_than_a_hundred_million_tuples(tmp_path: Path) -> None:
    one = relation(Y1993, "tenktup1")
    with pytest.raises(ValueError, match="1 to 100"):
        next(tuples(one, 100_000_001))
    with pytest.raises(ValueError, match="1 to 100"):
        write_csv(one, 100_000_001, tmp_path / "x.csv")
