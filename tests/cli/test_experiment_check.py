"""`tare experiment new` and `check`, as a user meets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import tare
from tests.unit.experiment.specifications import GOOD


@pytest.mark.parametrize("scenario", ["onepass", "exhaustive"])
def test_a_new_specification_passes_its_check_without_a_warning(scenario: str, tmp_path: Path) -> None:
    written = tare("experiment", "new", scenario)
    assert written.code == 0
    file = tmp_path / "e.toml"
    file.write_text(written.out)
    checked = tare("experiment", "check", str(file))
    assert (checked.code, checked.err) == (0, "")
    for word in (
        scenario,
        "ft_HT1: 10,000 rows, variable",
        "10,000 down to 1,000 by 1,000",
        "2,200 at most",
        "80,000 in all",
    ):
        assert word in checked.out
    commented = [line for line in written.out.splitlines() if "#" in line]
    assert len(commented) > 15, "an example explains itself"


def test_check_says_as_json_what_will_be_done(tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    file.write_text(GOOD)
    said = tare("experiment", "check", str(file), "--json")
    assert said.code == 0
    found = said.result
    assert found["ok"] is True
    assert found["dbms"] == [{"name": "lite", "url": None, "start": "sqlite"}]
    assert found["cardinalities"] == {"maximum": 1000, "minimum": 100, "step": 100, "count": 10}
    assert found["qatcs_at_most"]["total"] == 30
    assert found["qes"] == {"per_qatc": 10, "at_most": 300}
    assert found["rows_to_load"]["total"] == 1500
    assert len(found["queries"]["sql"]) == found["queries"]["generated"] == 3


def test_every_mistake_is_told_with_its_line_and_the_exit_code_is_2(tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    file.write_text(
        GOOD.replace("cardinality = 1000", "cardinalty = 1000").replace("count = 3", 'count = "3"')
    )
    said = tare("experiment", "check", str(file))
    assert said.code == 2
    assert "line 7, column 1: unknown key `cardinalty`" in said.err
    assert "did you mean `cardinality`?" in said.err
    assert "line 14, column 1: `count` in [generate] must be a whole number" in said.err
    assert "Traceback" not in said.err


def test_mistakes_as_json(tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    file.write_text(GOOD + "what = 1\n")
    said = tare("experiment", "check", str(file), "--json")
    assert said.code == 2
    assert said.result["ok"] is False
    [mistake] = said.result["mistakes"]
    assert (mistake["line"], mistake["column"]) == (15, 1)


def test_a_warning_does_not_keep_an_experiment_from_being_run(tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    file.write_text(GOOD + '[[queries]]\nname = "q"\nsql = "SELECT * FROM ft_HT1, nowhere"\n')
    said = tare("experiment", "check", str(file))
    assert said.code == 0
    assert "line 17, column 1: warning:" in said.err
    assert "nowhere" in said.err


def test_a_file_that_is_not_there_and_an_unknown_scenario_are_the_requests_fault(tmp_path: Path) -> None:
    missing = tare("experiment", "check", str(tmp_path / "none.toml"))
    assert missing.code == 2
    assert "cannot be read" in missing.err
    unknown = tare("experiment", "new", "twopass")
    assert unknown.code == 2
    assert "exhaustive, onepass" in unknown.err


def test_the_sql_of_every_query_is_shown_on_request(tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    file.write_text(GOOD)
    assert tare("experiment", "check", str(file), "--queries").out.count("\nSELECT ") == 3
