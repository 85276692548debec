"""`tare data wisconsin` and `tare data tpch` as a user runs them."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tare.errors import MissingProgram
from tare.workload.tpch.data import generator
from tests.cli.running import start, tare


def test_the_relations_of_1993_are_written_with_their_names(tmp_path: Path) -> None:
    said = tare("data", "wisconsin", "--rows", "1000", "--to", str(tmp_path / "new" / "folder"))
    assert said.code == 0, said.err
    assert "tenktup1.csv: 1,000 tuples" in said.out
    first, second, *_ = (tmp_path / "new" / "folder" / "tenktup1.csv").read_text().splitlines()
    assert first.startswith("unique1,unique2,two,")
    assert second.startswith("147,0,1,3,7,7,47,")


def test_json_names_each_file_and_its_tuples(tmp_path: Path) -> None:
    words = (
        "--generation",
        "1983",
        "--relation",
        "thoustup",
        "--relation",
        "tempbprime",
        "--no-header",
        "--json",
    )
    said = tare("data", "wisconsin", "--to", str(tmp_path), *words)
    assert said.code == 0, said.err
    assert said.result["generation"] == "1983"
    found = {one["relation"]: one for one in said.result["files"]}
    assert {name: one["tuples"] for name, one in found.items()} == {"thoustup": 1_000, "tempbprime": 1_000}
    for one in found.values():
        path = Path(one["path"])
        assert path.stat().st_size == one["bytes"]
        assert len(path.read_text().splitlines()) == 1_000


def test_a_second_call_is_refused_and_replaces_when_told_to(tmp_path: Path) -> None:
    words = ("data", "wisconsin", "--rows", "1000", "--format", "parquet", "--to", str(tmp_path))
    assert tare(*words).code == 0
    refused = tare(*words)
    assert refused.code == 2
    assert "--replace" in refused.err
    assert tare(*words, "--replace").code == 0


def test_bad_requests_say_what_to_do(tmp_path: Path) -> None:
    for words, told in (
        (("--relation", "tenktup"), "tenktup2"),
        (("--relation", "nonsense"), "onektup"),
        (("--generation", "1983", "--rows", "20000"), "--generation 1993"),
        (("--rows", "999"), "1000"),
        (("--rows", "100000001"), "100000000"),
        (("--format", "xml"), "parquet"),
    ):
        said = tare("data", "wisconsin", "--to", str(tmp_path), *words)
        assert said.code == 2, words
        assert told in said.err, said.err
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    running = start(
        "data", "wisconsin", "--rows", "20000000", "--relation", "tenktup1", "--to", str(tmp_path)
    )
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not any(tmp_path.rglob("*.csv")):
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=20)
    assert running.returncode == 130, err
    assert list(tmp_path.iterdir()) == []


def test_the_tables_of_tpch_are_written_whole_and_replaced_only_on_request(tmp_path: Path) -> None:
    try:
        generator()
    except MissingProgram as error:
        pytest.skip(str(error))
    words = ("data", "tpch", "--scale", "0.001", "--to", str(tmp_path / "rows"))
    said = tare(*words, "--json")
    assert said.code == 0, said.err
    files = {file["table"]: Path(file["path"]) for file in said.result["files"]}
    assert len(files) == 8
    assert files["orders"].read_text().count("\n") == 1 + 1_500
    refused = tare(*words)
    assert refused.code == 2
    assert "--replace" in refused.err
    assert sorted((tmp_path / "rows").iterdir()) == sorted(files.values())
    files["orders"].write_text("")
    assert tare(*words, "--replace").code == 0
    assert files["orders"].read_text().count("\n") == 1 + 1_500


def test_a_scale_of_tpch_out_of_bounds_is_refused(tmp_path: Path) -> None:
    said = tare("data", "tpch", "--scale", "0", "--to", str(tmp_path))
    assert said.code == 2
    assert "0.001" in said.err
    assert list(tmp_path.iterdir()) == []


def test_a_missing_generator_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingProgram) as missing:
        generator()
    assert missing.value.next_step == "pip install 'tare-db[tpch]'"
