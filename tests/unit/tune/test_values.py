"""Values of settings, as users write them and as servers give them back."""

from __future__ import annotations

import pytest

from tare.errors import UsageError
from tare.tune.settings.values import in_unit, plain_number, same


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("128MB", "8kB", "16384"),
        ("1GB", "kB", "1048576"),
        ("10ms", "ms", "10"),
        ("2s", "ms", "2000"),
        ("1min", "s", "60"),
        ("500us", "ms", "0"),
        ("16", "8kB", "16"),
        ("on", None, "on"),
        ("0.9", None, "0.9"),
    ],
)
def test_a_value_is_converted_to_the_settings_unit(text: str, unit: str | None, expected: str) -> None:
    assert in_unit(text, unit) == expected


@pytest.mark.parametrize(("text", "unit"), [("10MB", "ms"), ("10s", "8kB"), ("3parsecs", "ms")])
def test_a_unit_of_another_kind_is_refused(text: str, unit: str) -> None:
    with pytest.raises(UsageError):
        in_unit(text, unit)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("on", "ON", True),
        ("1", "on", True),
        ("0.9", "0.90", True),
        ("fcfs", "vats", False),
        ("1", "2", False),
    ],
)
def test_values_are_compared_by_what_they_mean(one: str, other: str, equal: bool) -> None:
    assert same(one, other) is equal


def test_suffixes_of_mariadb_become_bytes() -> None:
    assert plain_number("80M") == "83886080"
    assert plain_number("6") == "6"
    assert plain_number("O_DIRECT") is None
