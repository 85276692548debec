"""The models as data: what their papers say of them in words must hold of the tables."""

from __future__ import annotations

import pytest

from tare.errors import UsageError
from tare.protocol.model import tables
from tare.protocol.model.result import Level, Relationship
from tests.unit.protocol.lab_records import RecordedQatC, RecordedRun, lab_of
from tests.unit.protocol.qe_records import qe

TTP2, TTP1 = tables.load("ttp2"), tables.load("ttp1")
BOTH = pytest.mark.parametrize("model", [TTP2, TTP1], ids=["ttp2", "ttp1"])


def _types(one: Relationship) -> tuple[str, str]:
    return one.cause.split("_")[0], one.effect.split("_")[0]


def _kinds(one: Relationship) -> tuple[str, str]:
    """Without the type of process; overall measures keep their name."""
    kept = [name if name.startswith("overall") else name.split("_", 1)[1] for name in (one.cause, one.effect)]
    return kept[0], kept[1]


def _of_type(kind: str) -> dict[tuple[str, str], Relationship]:
    return {_kinds(one): one for one in TTP2.relationships if kind in _types(one)}


@BOTH
def test_no_pair_of_measures_is_predicted_twice(model: tables.Model) -> None:
    pairs = [frozenset((one.cause, one.effect)) for one in model.relationships]
    assert len(set(pairs)) == len(pairs)
    assert all(len(pair) == 2 for pair in pairs)


@BOTH
def test_every_measure_is_in_a_prediction_and_has_a_name(model: tables.Model) -> None:
    used = {name for one in model.relationships for name in (one.cause, one.effect)}
    assert used == set(model.measures)
    assert len(set(model.measures.values())) == len(model.measures)


@BOTH
def test_every_measure_is_derived_from_a_lab(model: tables.Model) -> None:
    from tare.protocol.derived import derived

    columns = set(derived(lab_of(RecordedRun([RecordedQatC([qe()])]))).columns)
    assert set(model.measures) - columns <= {"overall_maj_faults"}


def test_utility_processes_and_daemons_are_predicted_alike_but_for_one_cell() -> None:
    utility, daemon = _of_type("utility"), _of_type("daemon")
    assert utility.keys() == daemon.keys()
    assert len(utility) == 23
    apart = {daemon[of].name for of in utility if utility[of].predicted is not daemon[of].predicted}
    assert apart == {"Xf"}


def test_query_processes_differ_in_what_section_5_2_says() -> None:
    query, utility = _of_type("query").keys(), _of_type("utility").keys()
    assert query - utility == {
        ("user_ticks", "read_calls"),
        ("user_ticks", "write_calls"),
        ("voluntary_switches", "overall_softirq"),
        ("involuntary_switches", "overall_softirq"),
    }
    assert utility - query == {("voluntary_switches", "user_ticks")}  # a loop, for the query process


def test_reads_and_writes_are_predicted_alike() -> None:
    of = {(*_types(one)[:1], *_kinds(one)): one.predicted for one in TTP2.relationships}
    for (kind, cause, effect), level in of.items():
        if cause == "read_calls":
            assert of[(kind, "write_calls", effect)] is level


def test_levels_follow_from_the_type_and_the_kind_of_relationship() -> None:
    """TTPv2 §5.3, in words; Xf is printed "med" in Tables IV and VI against them."""
    for one in TTP2.relationships:
        types, kinds = _types(one), _kinds(one)
        query = types[0] == "query"
        if types[0] == types[1] != "overall":
            expected = Level.HIGH if query else Level.MEDIUM
        elif types == ("overall", "overall"):
            expected = Level.MEDIUM
        elif kinds[1] == f"overall_{kinds[0].removesuffix('_ticks')}":  # part and whole
            expected = Level.HIGH if query else Level.LOW
        else:
            expected = Level.MEDIUM if query else Level.LOW
        assert one.predicted is (Level.MEDIUM if one.name == "Xf" else expected), one.name


def test_ttp1_has_no_cell_with_the_latent_variable() -> None:
    assert not any("req" in label for label in TTP1.measures.values())


def test_a_relationship_names_its_cell_and_its_words() -> None:
    first = TTP2.relationships[0]
    assert (first.name, first.source) == ("Ia", "TTPv2 Table IV (Ia)")
    assert (first.cause_label, first.effect_label) == ("query UTicks", "query STicks")


def test_an_unknown_model_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"ttp3: not a causal model\n  next: take one of ttp2, ttp1"):
        tables.load("ttp3")
