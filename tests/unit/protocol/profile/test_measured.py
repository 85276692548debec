"""Transactions and functions that the analysis takes from a recording's tables."""

from __future__ import annotations

from dataclasses import replace

from tare.protocol.profile.analyse import analyse
from tare.protocol.profile.measured import UNREAD, Function, Window
from tare.protocol.profile.sites import Callers
from tests.unit.protocol.profile.made import WAITING, made


def test_transactions_come_in_order_of_begin_each_with_its_own_times() -> None:
    found = made(
        {"A": [5, 6, 7], WAITING: [0, 10, 0]}, begin=[30, 10, 20], cpu=[1, None, 3], labels=[4, 5, 6]
    )
    assert found.begin_ns.tolist() == [10, 20, 30]
    assert found.duration_ns.tolist() == [16, 7, 5]
    assert found.waited_ns.tolist() == [10, 0, 0]
    assert found.service_ns.tolist() == [6, 7, 5]
    assert found.cpu_ns.tolist() == [UNREAD, 3, 1]
    assert found.label.tolist() == [5, 6, 4]
    own = dict(
        zip(
            zip(found.cell_transaction.tolist(), found.cell_path.tolist(), strict=True),
            found.own_ns.tolist(),
            strict=True,
        )
    )
    assert {cell: ns for cell, ns in own.items() if ns} == {(0, 2): 6, (0, 1): 10, (1, 2): 7, (2, 2): 5}
    assert found.cell_transaction.tolist() == sorted(found.cell_transaction.tolist())


def test_only_valid_transactions_of_the_windows_asked_for_are_taken_and_the_others_of_these_counted() -> None:
    found = made(
        {"A": [1, 2, 3, 4, 5]},
        window=[0, 0, 1, 1, 0],
        why=["valid", "lost", "valid", "lost", "overlap"],
        windows=[Window(0, 0, 9, "probed", 1)],
    )
    assert found.duration_ns.tolist() == [1]
    assert found.invalid == {"lost": 1, "overlap": 1}


def test_some_transactions_alone_are_numbered_anew() -> None:
    whole = made({"A": [1, 2, 3], "A/B": [0, 5, 6]})
    found = whole.only(whole.duration_ns > 3)
    assert found.duration_ns.tolist() == [7, 9]
    assert found.cell_transaction.tolist() == [0, 0, 0, 1, 1, 1]
    assert found.own_ns.tolist() == [0, 2, 5, 0, 3, 6]


def test_without_waiting_a_transaction_lasts_as_long_as_the_server_worked_on_it() -> None:
    whole = made({"": [1, 2, 3], "A": [5, 6, 7], WAITING: [0, 10, 4]})
    found = whole.without_waiting()
    assert found.server_time
    assert not whole.server_time
    assert found.duration_ns.tolist() == found.service_ns.tolist() == [6, 8, 10]
    assert found.waited_ns.tolist() == [0, 0, 0]
    assert found.cell_path.tolist() == [0, 2] * 3
    assert found.inclusive_ns.tolist() == [6, 5, 8, 6, 10, 7]
    assert found.own_ns.tolist() == [1, 5, 2, 6, 3, 7]


def test_some_transactions_of_those_without_waiting_are_without_it_too() -> None:
    found = made({"A": [5, 6, 7], WAITING: [0, 10, 4]}).without_waiting()
    assert found.only(found.duration_ns > 5).server_time


def test_a_function_that_nothing_is_known_of_is_named_by_its_number() -> None:
    found = made({"A": [1, 2]})
    nameless = replace(found, functions={})
    assert nameless.name(2) == "function 1"
    assert not nameless.inferred(1)


def test_a_call_site_is_named_by_the_function_that_covers_it() -> None:
    """In the caller's object, and beneath the transaction in the program; the first byte behind a function is the
    return address of a call that ends it."""
    found = made({"A@4112": [1, 2, 9], "A@4112/B@272": [1, 5, 1], "A@4112/C@304": [2, 1, 2]})
    program = [
        Function(10, "main", object="/bin/db", address=0x1000, size=0x20),
        Function(1, "A", object="/bin/db", address=0x100, size=0x20),
        Function(3, "C", object="/bin/db", address=0x200, size=0x20),
        Function(2, "B", object="/lib/c", address=0x1000, size=0x20),
    ]
    findings = analyse(replace(found, functions={one.id: one for one in program}), replicates=5)
    callers = {one.name: [site.caller for site in one.sites] for one in findings.nodes}
    assert callers == {"transaction": [], "A": ["main+0x10"], "B": ["A+0x10"], "C": [""]}
    assert Callers(program).at(0x120, "/bin/db") == "A+0x20"
    assert Callers(program).at(0x100, "/bin/db") == ""
