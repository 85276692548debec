"""Adapters are found by their URL's scheme."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tare.dbms.base import Adapter
from tare.dbms.registry import adapters, find
from tare.errors import UnknownScheme


@pytest.mark.parametrize(
    ("scheme", "name"),
    [
        ("postgresql", "postgresql"),
        ("postgres", "postgresql"),
        ("mariadb", "mariadb"),
        ("mysql", "mariadb"),
        ("sqlite", "sqlite"),
        ("duckdb", "duckdb"),
        ("DuckDB", "duckdb"),
    ],
)
def test_each_scheme_finds_its_adapter(scheme: str, name: str) -> None:
    assert find(f"{scheme}://x").name == name


def test_an_unknown_scheme_lists_the_known_ones() -> None:
    with pytest.raises(UnknownScheme, match="oracle://") as failed:
        find("oracle://u:secret@h/db")
    assert "secret" not in str(failed.value)
    for scheme in ("postgresql://", "mysql://", "sqlite://", "duckdb://"):
        assert scheme in failed.value.next_step


def test_the_built_in_adapters_keep_the_contract() -> None:
    found = adapters()
    assert {"postgresql", "mariadb", "sqlite", "duckdb"} <= set(found)
    assert all(isinstance(adapter, Adapter) for adapter in found.values())


def test_an_installed_package_brings_an_adapter_and_a_broken_one_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other_dbms.py").write_text(
        "from tare.dbms.sqlite import SQLite\n\n\nclass Other(SQLite):\n    name = 'other'\n    schemes = ('other',)\n"
    )
    metadata = tmp_path / "other_dbms-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: other-dbms\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[tare.dbms]\nother = other_dbms:Other\nbroken = no_such_module:Nothing\n"
        "unfinished = tare.dbms.base:Adapter\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert find("other:///x").name == "other"
    assert find("sqlite:///x").name == "sqlite"
    assert not {"broken", "unfinished"} & set(adapters())
