"""Ids: a letter for the kind, and a number."""

from __future__ import annotations

import pytest

from tare.lab.ids import IdKind, experiment_id, fitting, kind_of, number_of, oltp_id

UUIDS = [(1, "e1230000-9a55"), (2, "0f2b0000-9a55"), (12, "1200aaaa-9a55"), (1230, "77770000-9a55")]


def test_an_id_names_its_kind_and_its_number() -> None:
    assert kind_of(experiment_id(3)) is IdKind.EXPERIMENT
    assert kind_of(f" {oltp_id(12)} ".upper()) is IdKind.OLTP
    assert [kind_of(one) for one in ("p1", "t1")] == [IdKind.PROFILE, IdKind.TUNING]
    assert number_of("o12", IdKind.OLTP) == number_of("12", IdKind.OLTP) == 12


@pytest.mark.parametrize("text", ["", "e", "3", "e0", "x1", "e1e", "SELECT 1", "e-1", "a.json", "e٣"])
def test_other_texts_have_no_kind(text: str) -> None:
    assert kind_of(text) is None


@pytest.mark.parametrize("text", ["o1", "e", "e1 e2", "1.0", "", "e" + "9" * 30])
def test_other_texts_are_no_number_of_an_experiment(text: str) -> None:
    assert number_of(text, IdKind.EXPERIMENT) is None


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("e1", [1]),
        ("1", [1]),
        ("e2", [2]),
        ("0f2b", [2]),
        ("e123", []),  # a short number is never a beginning of a uuid
        ("e1230", [1230]),  # a run's number before a uuid that begins so
        ("e1230000", [1]),
        ("12", [12]),
        ("1200", [12]),
        ("o1", []),
        ("", []),
    ],
)
def test_a_run_is_found_by_its_id_or_the_beginning_of_its_uuid(text: str, numbers: list[int]) -> None:
    assert fitting(text, UUIDS, IdKind.EXPERIMENT) == numbers
