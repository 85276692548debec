"""TPC-C's data made wrong in twelve ways, one for each consistency condition (clause 3.3.2), all at once.

All is done to warehouse 1, mostly in a district of its own; what is found must be what was planted, and nothing else.
They are the cases of `crates/tare-load/tests/tpcc/corruption.rs`, so chosen that they also hold after a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.workload.oltp.events import CheckResult

Keys = frozenset[tuple[int, ...]]


def plant(url: str) -> Mapping[str, Keys]:
    """By condition: the rows that it must name from now on."""
    session = find(url).connect(url, allow_writes=True)
    try:
        inner = _number(session, "SELECT max(no_o_id) - 1 FROM new_order WHERE no_w_id = 1 AND no_d_id = 4")
        for sql in _statements(inner):
            session.run(sql)
    finally:
        session.close()
    return {name: frozenset(keys) for name, keys in _found(inner).items()}


def named(one: CheckResult, expected: Keys) -> bool:
    """Whether it names these rows and no others, with more than their keys."""
    length = len(next(iter(expected)))
    keys = {tuple(int(value) for value in row[:length]) for row in one.rows}
    return one.failing == len(expected) and keys == expected and len(one.columns) > length


def _statements(new_order: int) -> Sequence[str]:
    district, order = "d_w_id = 1 AND d_id = {}", "o_w_id = 1 AND o_d_id = {} AND o_id = {}"
    line, customer = (
        "ol_w_id = 1 AND ol_d_id = {} AND ol_o_id = {}",
        "c_w_id = 1 AND c_d_id = {} AND c_id = {}",
    )
    return [
        # 1, 8, 9: takings of the warehouse and of a district that nobody paid, by unlike amounts
        "UPDATE warehouse SET w_ytd = w_ytd + 2 WHERE w_id = 1",
        f"UPDATE district SET d_ytd = d_ytd + 1 WHERE {district.format(10)}",
        # 9: takings of another district
        f"UPDATE district SET d_ytd = d_ytd + 1 WHERE {district.format(1)}",
        f"UPDATE district SET d_ytd = d_ytd - 1 WHERE {district.format(2)}",
        # 2: a district's next number
        f"UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE {district.format(3)}",
        # 3: a hole in the new orders, which the order (5) and the deliveries (11) show too
        f"DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 4 AND no_o_id = {new_order}",
        # 4: a line of no order
        f"UPDATE order_line SET ol_o_id = 9999999 WHERE {line.format(5, 1)} AND ol_number = 1",
        f"UPDATE orders SET o_ol_cnt = o_ol_cnt - 1 WHERE {order.format(5, 1)}",
        # 5: an order that lost its carrier
        f"UPDATE orders SET o_carrier_id = NULL WHERE {order.format(7, 70)}",
        f"UPDATE order_line SET ol_delivery_d = NULL WHERE {line.format(7, 70)}",
        # 6: a line counted with another order
        f"UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE {order.format(8, 80)}",
        f"UPDATE orders SET o_ol_cnt = o_ol_cnt - 1 WHERE {order.format(8, 81)}",
        # 7: a line that lost its delivery
        f"UPDATE order_line SET ol_delivery_d = NULL WHERE {line.format(9, 90)} AND ol_number = 3",
        # 10: a balance and its payments
        "UPDATE customer SET c_balance = c_balance + 1, c_ytd_payment = c_ytd_payment - 1 "
        f"WHERE {customer.format(1, 1234)}",
        # 11: a delivery too many
        f"UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1 WHERE {customer.format(2, 77)}",
        # 12: payments to date
        f"UPDATE customer SET c_ytd_payment = c_ytd_payment + 1 WHERE {customer.format(3, 3000)}",
    ]


def _found(new_order: int) -> dict[str, set[tuple[int, ...]]]:
    return {
        "3.3.2.1": {(1,)},
        "3.3.2.2": {(1, 3)},
        "3.3.2.3": {(1, 4)},
        "3.3.2.4": {(1, 5)},
        "3.3.2.5": {(1, 4, new_order), (1, 7, 70)},
        "3.3.2.6": {(1, 8, 80), (1, 8, 81)},
        "3.3.2.7": {(1, 9, 90, 3)},
        "3.3.2.8": {(1,)},
        "3.3.2.9": {(1, 1), (1, 2), (1, 10)},
        "3.3.2.10": {(1, 1, 1234)},
        "3.3.2.11": {(1, 2), (1, 4)},
        "3.3.2.12": {(1, 3, 3000)},
    }


def _number(session: Session, sql: str) -> int:
    prepared = session.prepare(sql)
    try:
        [[value]] = prepared.execute(None).rows()
    finally:
        prepared.close()
    assert isinstance(value, int), f"{sql}: {value!r}"
    return value
