"""Equations 2 and 3: which functions are named, and with what score."""

from __future__ import annotations

import numpy as np
import pytest

from tare.protocol.profile.analyse import analyse
from tare.protocol.profile.found import Factor, Findings
from tests.unit.protocol.profile.made import WAITING, made, microseconds

N = 3_000


def factor(findings: Findings, *names: str, kind: str = "function") -> Factor:
    (found,) = (one for one in findings.factors if set(one.names) == set(names) and one.kind == kind)
    return found


def some(seed: int, sd: float, mean: float = 100.0) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return microseconds(np.random.default_rng(seed).normal(mean, sd, N))


def test_the_score_is_specificity_times_the_share_of_variance() -> None:
    findings = analyse(made({"A": [1, 1, 3, 3], "A/B": [2, 4, 2, 4]}, heights={"A": 3, "B": 1}, height=5))
    a, b = factor(findings, "A"), factor(findings, "B")
    assert (a.height, a.specificity, b.height, b.specificity) == (3, 4.0, 1, 16.0)
    assert a.score == pytest.approx(4 * 1.0)
    assert b.score == pytest.approx(16 * 0.5)
    assert [one.names for one in findings.factors[:1]] == [("B",)]


def test_a_caller_varies_more_than_what_it_calls_and_yet_the_callee_is_named_first() -> None:
    """Three wrappers above one lock wait."""
    findings = analyse(
        made(
            {
                "run": some(1, 1),
                "run/commit": some(2, 1),
                "run/commit/flush": some(3, 1),
                "run/commit/flush/wait": some(4, 30),
            },
            heights={"run": 9, "commit": 7, "flush": 4, "wait": 1},
            height=10,
        )
    )
    shares = [factor(findings, name).share.value for name in ("run", "commit", "flush", "wait")]
    assert shares == sorted(shares, reverse=True)
    assert findings.factors[0].names == ("wait",)


def test_a_function_called_on_several_paths_is_a_factor_on_each_as_in_table_1() -> None:
    """os_event_wait: for locks, from select and from update, and for the log."""
    heights = {"select": 9, "update": 9, "suspend": 4, "commit": 8, "flush": 3, "event_wait": 1}
    select, update, log, rare = some(1, 20), some(2, 30), some(3, 10), some(4, 0.1)
    own = {
        "select/suspend/event_wait": select,
        "update/suspend/event_wait": update,
        "commit/flush/event_wait": log,
        "commit/event_wait": rare,
    }
    findings = analyse(made(own, heights=heights, height=10))
    waits = [one for one in findings.factors if one.names == ("event_wait",)]
    total = sum(own.values()).var()
    assert [(one.beneath, one.others) for one in waits] == [
        (("suspend", "update"), False),
        (("suspend", "select"), False),
        (("flush",), False),
        ((), True),
    ]
    for one, times in zip(waits, (update, select, log, rare), strict=True):
        assert one.share.value == pytest.approx(times.var() / total)
        assert one.score == pytest.approx(81 * one.share.value)
    assert findings.factors[0] is waits[0]


def test_paths_that_hardly_vary_are_summed_as_equation_3_says() -> None:
    left, right = some(1, 1), some(2, 30)
    findings = analyse(made({"A/lock": left, "B/lock": right}))
    lock = factor(findings, "lock")
    assert (lock.instances, lock.beneath, lock.others) == (2, (), False)
    assert lock.share.value == pytest.approx((left.var() + right.var()) / (left + right).var())
    assert lock.own_covariance is not None
    assert lock.own_covariance.value == pytest.approx(1)


def test_the_order_is_that_of_all_paths_of_a_function_together() -> None:
    """Each of four paths of `lock` scores less than `serve`, which is above all of them."""
    own = {f"serve/{name}/lock": some(deep, 20) for deep, name in enumerate("ABCD")}
    heights = {"serve": 5, "A": 4, "B": 4, "C": 4, "D": 4, "lock": 1}
    findings = analyse(made(own, heights=heights, height=8))
    serve = factor(findings, "serve")
    assert findings.factors[0].names == ("lock",)
    assert findings.factors[0].score == pytest.approx(49 * findings.factors[0].share.value)
    assert serve.score > findings.factors[0].score * 0.5
    assert sum(one.score for one in findings.factors if one.names == ("lock",)) > serve.score


def test_callers_that_tell_paths_apart_are_as_few_as_will_do_and_no_two_alike() -> None:
    own = {
        "U/P/X/f": some(1, 20),
        "V/P/X/f": some(2, 20),
        "Y/f": some(3, 20),
        "W/Q/P/X/f": some(4, 20),
        "W/R/P/X/f": some(5, 20),
    }
    findings = analyse(made(own))
    found = [one.beneath for one in findings.factors if one.names == ("f",) and one.kind == "function"]
    assert sorted(found) == [("X", "Q"), ("X", "R"), ("X", "U"), ("X", "V"), ("Y",)]
    crossed = {f"{way}/X/f": some(n, 20) for n, way in enumerate(["B/A", "C/A", "C/B", "B"])}
    beneath = [one.beneath for one in analyse(made(crossed)).factors if one.names == ("f",)]
    assert len(set(beneath)) == 4


def test_a_function_beneath_itself_is_counted_once() -> None:
    inner, outer = some(1, 10), some(2, 10)
    findings = analyse(made({"f": outer, "f/g/f": inner}))
    f = factor(findings, "f")
    assert f.instances == 1
    assert f.share.value == pytest.approx(1)
    assert f.own_covariance is not None
    assert f.own_covariance.value == pytest.approx(1)


def test_two_functions_that_vary_together_are_a_factor_that_outweighs_each() -> None:
    both = np.random.default_rng(5).normal(0, 20, N)
    findings = analyse(
        made(
            {
                "A": some(1, 1),
                "A/read": microseconds(100 + both + np.random.default_rng(6).normal(0, 3, N)),
                "A/send": microseconds(100 + both + np.random.default_rng(7).normal(0, 3, N)),
            },
            heights={"A": 8, "read": 1, "send": 2},
            height=10,
        )
    )
    assert findings.factors[0].kind == "pair"
    assert set(findings.factors[0].names) == {"read", "send"}
    assert findings.factors[0].height == 2
    assert findings.factors[0].share.value == pytest.approx(0.5, abs=0.02)
    assert findings.factors[0].own_covariance is None


def test_a_pair_that_cancels_out_scores_below_all_others() -> None:
    waits = some(1, 20)
    findings = analyse(made({"A": some(2, 5), "A/wait": waits, "A/write": 200_000 - waits}))
    last = findings.factors[-1]
    assert last.kind == "pair"
    assert set(last.names) == {"wait", "write"}
    assert last.score < 0


def test_a_function_without_recorded_callees_is_its_own_body() -> None:
    findings = analyse(made({"A": some(1, 10), "A/B": some(2, 10)}))
    assert {one.names for one in findings.factors if one.kind == "body"} == {("A",)}
    assert factor(findings, "A", kind="body").height == factor(findings, "A").height


def test_a_function_whose_callees_hardly_vary_is_listed_once_and_not_again_as_its_body() -> None:
    findings = analyse(made({"A": some(1, 10), "A/B": some(2, 0.1)}))
    assert [one.kind for one in findings.factors if one.names == ("A",)] == ["function"]


def test_waiting_for_the_client_is_a_factor_too() -> None:
    findings = analyse(made({"A": some(1, 3), WAITING: some(2, 40)}, heights={"A": 2}, height=4))
    assert findings.factors[0].kind == "waiting"
    assert findings.factors[0].functions == ()
    assert findings.factors[0].share.value == pytest.approx(1, abs=0.05)


def test_where_the_call_graph_does_not_know_a_function_what_was_seen_beneath_it_tells_its_height() -> None:
    findings = analyse(made({"A": [1, 2, 3], "A/B": [1, 2, 4], "A/B/C": [1, 3, 3]}))
    assert [(one.name, one.height) for one in findings.nodes] == [
        ("transaction", None),
        ("A", 2),
        ("B", 1),
        ("C", 0),
    ]
    assert findings.call_graph_height == 3


def test_the_call_graph_is_higher_than_all_that_was_seen_in_it() -> None:
    findings = analyse(made({"top": [1, 2, 4]}, heights={"top": 9}, height=5))
    assert findings.call_graph_height == 10
    assert factor(findings, "top").specificity == 1


def test_a_caller_by_pointer_is_higher_than_what_was_seen_beneath_it() -> None:
    """`handler` calls `rnd_next` by pointer: the static call graph knows nothing beneath it."""
    findings = analyse(
        made(
            {"run": some(1, 1), "run/handler": some(2, 0.1), "run/handler/rnd_next": some(3, 30)},
            heights={"run": 12, "handler": 0, "rnd_next": 5},
            height=13,
        )
    )
    assert [factor(findings, name).height for name in ("run", "handler", "rnd_next")] == [12, 6, 5]
    assert findings.factors[0].names == ("rnd_next",)


def test_functions_that_call_each_other_are_of_one_height_above_what_they_call() -> None:
    own = {"f/g/leaf": some(1, 9), "g/f": some(2, 9), "top/f": some(3, 9)}
    findings = analyse(made(own, heights={"leaf": 3, "top": 1}))
    heights = {one.name: one.height for one in findings.nodes if one.function is not None}
    assert heights == {"leaf": 3, "f": 4, "g": 4, "top": 5}


def test_names_that_were_inferred_stay_marked() -> None:
    findings = analyse(made({"A": some(1, 3), "A/B": some(2, 3)}, inferred=["B"]))
    assert factor(findings, "B").inferred
    assert not factor(findings, "A").inferred


@pytest.mark.parametrize("source", ["lock", "disk", "parse", "net"])
def test_each_planted_source_is_the_top_factor(source: str) -> None:
    """Four leaves; one of them varies, the others a little."""
    own = {
        f"run/step{deep}/{name}": some(deep, 40 if name == source else 4)
        for deep, name in enumerate(["lock", "disk", "parse", "net"])
    }
    findings = analyse(made(own), replicates=200)
    top = findings.factors[0]
    assert top.names == (source,)
    assert top.share.low > 0.8
    assert top.own_covariance is not None
    assert top.own_covariance.value > 0.9
