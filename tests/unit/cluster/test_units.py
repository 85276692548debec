"""Sizes and rates as options give them."""

from __future__ import annotations

import pytest

from tare.cluster.units import rate_bits, rate_text, size_bytes, size_text
from tare.errors import UsageError


@pytest.mark.parametrize(
    ("text", "size"),
    [("512MiB", 512 << 20), ("1GiB", 1 << 30), ("1.5 gib", 3 << 29), ("64KiB", 65_536), ("2MB", 2_000_000)],
)
def test_a_size_has_a_unit(text: str, size: int) -> None:
    assert size_bytes(text, "--memory") == size


@pytest.mark.parametrize(
    ("text", "rate"), [("100Mbit", 10**8), ("1gbit", 10**9), ("2.5Mbit", 2_500_000), ("800kbit", 800_000)]
)
def test_a_rate_has_a_unit(text: str, rate: int) -> None:
    assert rate_bits(text, "--rate") == rate


@pytest.mark.parametrize("text", ["", "512", "MiB", "-1MiB", "1e3MiB", "100Mbit", "1 MiB more"])
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="--memory") as refused:
        size_bytes(text, "--memory")
    assert "--memory 512MiB" in refused.value.next_step


@pytest.mark.parametrize("text", ["fast", "100", "100MB", "-5Mbit"])
def test_a_rate_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--rate"):
        rate_bits(text, "--rate")


def test_texts_have_the_largest_unit_that_fits() -> None:
    assert [size_text(size) for size in (512, 1 << 20, 3 << 29)] == ["512 B", "1 MiB", "1.5 GiB"]
    assert [rate_text(rate) for rate in (800, 800_000, 10**8, 10**10)] == [
        "800 bit/s",
        "800 kbit/s",
        "100 Mbit/s",
        "10 Gbit/s",
    ]
