"""Plans as they are compared."""

from __future__ import annotations

from tare.dbms.base import Plan, PlanNode


def scan(table: str) -> Plan:
    leaf = PlanNode("Index Scan", {"relation": table, "index": f"{table}_unique1"})
    return Plan(PlanNode("Sort", {"key": f"{table}.unique2"}, (leaf,)), f"the text of {table}")


def test_the_same_plan_over_two_relations_that_are_alike_is_one_plan() -> None:
    one, other = scan("tenktup1"), scan("tenktup2")
    assert one.fingerprint != other.fingerprint
    names = {"tenktup2": "tenktup1", "tenktup2_unique1": "tenktup1_unique1"}
    assert other.renamed(names).fingerprint == one.renamed(names).fingerprint


def test_a_name_that_only_begins_alike_is_another_relation() -> None:
    assert scan("tenktup22").renamed({"tenktup2": "tenktup1"}).fingerprint == scan("tenktup22").fingerprint


def test_what_the_dbms_said_stays_as_it_said_it() -> None:
    assert scan("tenktup2").renamed({"tenktup2": "tenktup1"}).text == "the text of tenktup2"
