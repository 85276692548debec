"""Holm's correction: hand-computed values, and order that does not matter."""

from __future__ import annotations

import pytest

from tare.protocol.comparison.holm import holm


def test_values_are_those_of_the_step_down_procedure() -> None:
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "c": 0.06, "b": 0.06})


def test_no_value_exceeds_1_and_none_overtakes_a_smaller_one() -> None:
    assert holm({"a": 0.5, "b": 0.9}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}
