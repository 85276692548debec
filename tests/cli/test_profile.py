"""`tare profile` as a user meets it: requests at fault. Profiles of real servers are in `tests/profile`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import Said, tare


def profile(*words: str, **more: str) -> Said:
    return tare("profile", *words, **more)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["attach"], ["name one server to watch", "--db URL"]),
        (["attach", "--db", "postgresl"], ["neither a URL nor a DBMS", "did you mean postgresql?"]),
        (["attach", "--db", "sqlite:///x.db"], ["sqlite has no server", "--pid N"]),
        (["attach", "--db", "oracle://h/d"], ["oracle://", "postgresql://"]),
        (["attach", "--pid", "4194305"], ["there is no process 4194305"]),
        (["attach", "--db", "postgresql", "--budget", "5"], ["--budget 5: no share", "5% or 0.05"]),
        (["attach", "--db", "postgresql", "--budget", "-1%"], ["--budget"]),
        (["attach", "--db", "postgresql", "--duration", "60"], ["--duration 60: no duration"]),
        (["attach", "--db", "postgresql", "--duration", "0s"], ["--duration 0s", "above 0"]),
        (["attach", "--db", "postgresql", "--functions", "a,,b"], ["names an empty function"]),
        (["attach", "--db", "postgresql", "--json", "-", "--html", "-"], ["standard output"]),
        (["attach", "--db", "postgresql", "--html", "/nowhere/p.html"], ["mkdir -p /nowhere"]),
        (["run", "--", "no-such-server"], ["there is no program no-such-server"]),
        (["run", "--user", "nobody-of-that-name", "--", "sleep", "1"], ["there is no such user"]),
        (["refine", "nowhere"], ["no profile 'nowhere'"]),
        (["show", "nowhere"], ["no profile 'nowhere'"]),
        (["diff", "nowhere", "nowhere"], ["no profile 'nowhere'"]),
        (["export", "nowhere"], ["nothing to export", "--perfetto trace.json"]),
        (["export", "nowhere", "--folded", "-"], ["no profile 'nowhere'"]),
    ],
)
def test_a_request_at_fault_is_refused_with_what_to_write_instead(
    words: list[str], said: list[str], tmp_path: Path
) -> None:
    found = profile(*words, TARE_PROFILES=str(tmp_path / "profiles"))
    assert found.code == 2, found.err
    for text in said:
        assert text in found.err
    assert "Traceback" not in found.err
    assert not (tmp_path / "profiles").exists()


def test_a_password_is_in_no_message(tmp_path: Path) -> None:
    url = "postgresql://me:s3cret@127.0.0.1:1/db"
    found = profile("attach", "--db", url, "--connect-timeout", "1s", "--profiles", str(tmp_path))
    assert found.code == 1
    assert "s3cret" not in found.out + found.err


def test_a_folder_without_profiles_says_how_to_make_one(tmp_path: Path) -> None:
    found = profile("list", "--profiles", str(tmp_path / "none"))
    assert found.code == 0
    assert "tare profile attach" in found.out
    assert json.loads(profile("list", "--profiles", str(tmp_path), "--json").out)["profiles"] == []


def test_what_is_no_profile_is_named_in_the_list(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "about.json").write_text("{")
    found = profile("list", "--profiles", str(tmp_path), "--json")
    assert found.code == 0
    assert "broken" in found.result["damaged"][0]
    assert "broken" in profile("list", "--profiles", str(tmp_path)).out


@pytest.mark.parametrize("command", ["attach", "run", "refine", "show", "diff", "export", "list", "backends"])
def test_every_command_says_what_it_is_for_and_how_it_exits(command: str) -> None:
    found = profile(command, "--help")
    assert found.code == 0
    assert "Exit code" in found.out


def test_each_backend_is_tried_and_says_what_it_saw() -> None:
    found = profile("backends", "--json")
    tried = {one["name"]: one for one in found.result["backends"]}
    assert set(tried) == {"attach", "agent", "xray", "annotation"}
    assert found.code == (0 if any(one["works"] for one in tried.values()) else 1)
    assert all(one["says"] for one in tried.values())
    assert all(one["next_step"] for one in tried.values() if not one["works"])
    assert not any("0 of 0" in one["says"] for one in tried.values())
