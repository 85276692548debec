"""The paper's Tables 1 to 11, typed once more from its pages: what the report shows of 1983 is these digits."""

from __future__ import annotations

import pytest

from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.published import SYSTEMS, TABLES, Elapsed, table

AS_PRINTED = """
1   U-INGRES 53.2 64.4
    C-INGRES 38.4 53.9
    IDMnodac 31.7 33.4
    IDMdac   21.6 23.6
2   U-INGRES 7.7 27.8 59.2 78.9
    C-INGRES 3.9 18.9 51.2 60.8
    IDMnodac 2.0 9.9 3.8 27.8
    IDMdac   1.5 8.7 3.3 23.7
3   U-INGRES 3.8 6.9
    C-INGRES 0.9 5.0
    IDMnodac 0.8 2.9
    IDMdac   0.7 2.7
4   U-INGRES 611 581 583
    C-INGRES 109 156 127
    IDMnodac >5h >5h >5h
    IDMdac   >5h >5h >5h
5   U-INGRES 126.5 99.5 544.5
    C-INGRES 54.0 103.0 84.0
    IDMnodac 31.0 35.5 44.5
    IDMdac   23.5 27.5 35.0
6   U-INGRES 269.5 191.0 633.0
    C-INGRES 118.0 108.0 144.5
    IDMnodac 84.5 48.5 108.5
    IDMdac   71.5 35.5 88.0
7   U-INGRES 64.6 236.8
    C-INGRES 26.4 132.0
    IDMnodac 29.3 122.2
    IDMdac   22.3 68.1
8   U-INGRES 40.2 176.7 174.2
    C-INGRES 34.0 496.0 484.8
    IDMnodac 32.0 65.0 67.5
    IDMdac   21.2 38.2 38.2
9   U-INGRES 41.2 186.5 182.2
    C-INGRES 37.2 242.2 254.0
    IDMnodac 27.0 65.0 66.8
    IDMdac   21.2 38.0 38.0
10  U-INGRES 5.9 37.6 37.7
    C-INGRES 1.4 32.3 32.8
    IDMnodac 0.9 22.8 29.5
    IDMdac   0.7 20.8 20.9
11  U-INGRES 9.4 6.8 7.2 9.1
    C-INGRES 2.1 0.5 1.6 1.6
    IDMnodac 0.9 0.4 0.6 0.5
    IDMdac   0.8 0.4 0.5 0.5
"""


def printed() -> dict[tuple[int, str], list[str]]:
    found: dict[tuple[int, str], list[str]] = {}
    number = 0
    for line in AS_PRINTED.strip().splitlines():
        words = line.split()
        if words[0].isdigit():
            number = int(words.pop(0))
        found[number, words[0]] = words[1:]
    return found


def test_every_digit_of_the_eleven_tables_is_the_papers() -> None:
    held = {
        (one.number, system): [value.printed.replace("> 5 hours", ">5h") for value in one.elapsed[system]]
        for one in TABLES
        for system in SYSTEMS
    }
    assert held == printed()
    assert sum(map(len, held.values())) == 128


def test_each_number_stands_under_its_own_column() -> None:
    assert table(2).of("C-INGRES", "nonclustered 1000").seconds == 60.8
    assert table(4).of("C-INGRES", "joinABprime").seconds == 156
    assert table(8).of("C-INGRES", "min 100 partitions").seconds == 496
    assert table(11).of("U-INGRES", "modify non-key").seconds == 9.1


def test_what_was_given_up_took_five_hours_at_least() -> None:
    given_up = table(4).of("IDMdac", "joinAselB")
    assert given_up == Elapsed("> 5 hours")
    assert given_up.given_up
    assert given_up.seconds == 18_000


def test_a_speed_up_that_the_papers_text_names_follows_from_the_digits() -> None:
    """Section 4.2: with indexes, joinABprime runs 3.7 times faster on the IDMdac than on C-INGRES."""
    by = table(5).of("C-INGRES", "joinABprime").seconds / table(5).of("IDMdac", "joinABprime").seconds
    assert round(by, 1) == 3.7


def test_every_column_has_a_query_of_today_and_no_two_share_one() -> None:
    from tare.workload.wisconsin.catalogue import catalogue

    asked = [one.published for one in catalogue(Generation.Y1983) if one.published is not None]
    columns = [(one.number, column.key) for one in TABLES for column in one.columns]
    assert sorted(asked) == sorted(columns)


def test_a_table_or_column_that_the_paper_has_not_is_refused() -> None:
    with pytest.raises(KeyError, match="no Table 12"):
        table(12)
    with pytest.raises(KeyError, match="Table 1 has no column"):
        table(1).of("U-INGRES", "20%")
