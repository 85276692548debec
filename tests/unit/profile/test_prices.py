"""Prices of probes on this machine, measured on a process of our own."""

from __future__ import annotations

import pytest

from tare.profile.costs import LOADED, PAIR_NS, Price
from tare.profile.prices import Prices, measured


def test_stepping_over_an_instruction_costs_more_than_emulating_it() -> None:
    found = measured()
    assert found is not None, "probes cannot be set: install what CONTRIBUTING names, and run as root"
    assert 0 < found.emulated_ns < found.stepped_ns


def test_a_price_is_this_machine_s_where_it_was_measured() -> None:
    price = Price.of("attach", Prices(1_000.0, 11_400.0))
    assert price.pair_ns == pytest.approx(1_000.0 * LOADED)
    assert price.step == pytest.approx(5_200.0 / (1_000.0 * LOADED))
    assert not price.measured, "on the watched server nothing was"


def test_where_stepping_costs_nothing_more_such_functions_are_no_dearer() -> None:
    assert Price.of("attach", Prices(1_000.0, 990.0)).step == 0.0


def test_without_a_measured_price_the_stated_one_holds() -> None:
    assert Price.of("attach").pair_ns == PAIR_NS["attach"]
