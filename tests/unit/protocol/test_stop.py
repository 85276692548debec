"""When to stop: on the interval's width alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.errors import UsageError
from tare.protocol.compare import compare
from tare.protocol.statistics import summarise
from tare.protocol.stop import Stop, relative_half_width


def steady(n: int, centre: float = 100.0) -> list[float]:
    return [centre + (i % 3) * 0.1 for i in range(n)]


def test_the_rule_is_read_and_shown_as_it_was_written() -> None:
    assert str(Stop.parse("ci=2%")) == "ci=2%"
    assert Stop.parse("ci=0.5%").half_width == 0.005


@pytest.mark.parametrize("text", ["", "2%", "ci=2", "p=5%", "ci=0%", "ci=-1%", "ci=100%"])
def test_any_other_rule_is_refused_with_a_next_step(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        Stop.parse(text)
    assert "ci=2%" in refused.value.next_step


def test_a_narrow_interval_stops_but_not_before_the_minimum() -> None:
    rule = Stop(0.02, min_runs=10)
    assert not rule.after(compare(steady(9), steady(9)))
    assert rule.after(compare(steady(10), steady(10)))
    assert not rule.after(summarise(steady(9)))
    assert rule.after(summarise(steady(10)))


def test_a_wide_interval_goes_on_until_patience_ends() -> None:
    wild = [float(10 ** (i % 4)) for i in range(20)]
    assert not Stop(0.02, max_runs=21).after(compare(wild, wild))
    assert Stop(0.02, max_runs=20).after(compare(wild, wild))


@given(st.floats(0.5, 2))
def test_how_far_apart_the_two_are_does_not_matter(factor: float) -> None:
    a = steady(12)
    width = relative_half_width(compare(a, [x * factor for x in steady(12)]))
    assert width == pytest.approx(relative_half_width(compare(a, steady(12))), rel=1e-6)


def test_without_an_interval_there_is_no_width() -> None:
    assert relative_half_width(summarise([1.0, 2.0])) is None
    assert relative_half_width(compare([0.0] * 10, [0.0] * 10)) is None
