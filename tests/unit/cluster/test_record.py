"""State files of clusters."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.cluster import record
from tare.errors import ServerFailed, UsageError
from tests.unit.cluster.makings import cluster


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(record, "ROOT", tmp_path)
    return tmp_path


def test_a_record_is_read_as_it_was_written() -> None:
    record.folder("test").mkdir()
    record.write(cluster())
    assert record.read("test") == cluster()


def test_a_folder_without_a_record_is_a_cluster_of_which_nothing_was_made() -> None:
    record.folder("test").mkdir()
    assert record.names() == ["test"]
    assert record.read("test") is None


def test_the_file_of_the_registry_is_no_cluster() -> None:
    record.registry_file().touch()
    assert record.names() == []


def test_a_record_of_another_format_is_not_guessed_at(root: Path) -> None:
    record.folder("test").mkdir()
    (root / "test" / "cluster.json").write_text('{"format": 99}')
    with pytest.raises(ServerFailed, match="its format is not"):
        record.read("test")


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    record.folder("other").mkdir()
    with pytest.raises(UsageError, match=r"no cluster test \(clusters: other\)"):
        record.known("test")


def test_nodes_are_found_by_role() -> None:
    made = cluster()
    assert made.coordinator.name == "c"
    assert [shard.name for shard in made.shards] == ["s1", "s2"]
