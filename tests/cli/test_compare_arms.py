"""`tare compare` with arms: the same queries on two servers, or under two settings of their sessions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import jsonschema
import psycopg
import pytest

from tare.dbms.servers import start_postgresql
from tests.cli.running import tare
from tests.cli.test_compare import WARM
from tests.cli.test_time import SCHEMA

SORT = "SELECT s FROM words ORDER BY s OFFSET 29999"


@pytest.fixture(scope="module")
def two_servers() -> Iterator[tuple[str, str]]:
    """PostgreSQL 18 with room for a sort in memory, and 15 without."""
    with (
        start_postgresql(version="18", settings={"work_mem": "64MB"}) as roomy,
        start_postgresql(version="15", settings={"work_mem": "64kB"}) as tight,
    ):
        for server in (roomy, tight):
            with psycopg.connect(server.url, autocommit=True) as connection:
                connection.execute(
                    "CREATE TABLE words AS SELECT md5(g::text) AS s FROM generate_series(1, 30000) AS g"
                )
                connection.execute("VACUUM ANALYZE words")
        yield roomy.url, tight.url


def test_a_query_is_compared_on_two_servers(two_servers: tuple[str, str]) -> None:
    a, b = two_servers
    said = tare("compare", SORT, "--a-db", a, "--b-db", b, "--runs", "6", "--json", "-", *WARM)
    assert said.code == 0, said.err
    jsonschema.validate(said.result, SCHEMA)
    versions = [arm["server"]["version"] for arm in said.result["arms"]]
    assert versions[0].startswith("18")
    assert versions[1].startswith("15")
    assert said.result["comparison"]["answers_agree"]
    assert [query["name"] for query in said.result["results"]] == [
        f"query 1: {SORT[:29]}… [{letter}]" for letter in "AB"
    ]


def test_settings_of_sessions_are_compared_on_one_server_and_read_back(two_servers: tuple[str, str]) -> None:
    url, _ = two_servers
    said = tare(
        "compare", SORT, "--db", url, "--a-set", "work_mem=32768kB", "--b-set", "work_mem=64kB", "--runs", "10",
        "--json", "-", *WARM,
    )  # fmt: skip
    assert said.code == 0, said.err
    assert [arm["settings"] for arm in said.result["arms"]] == [{"work_mem": "32MB"}, {"work_mem": "64kB"}]
    plans = [query["plan"]["text"] for query in said.result["results"]]
    assert said.result["comparison"]["greater"] == "B"
    assert all(plans)


def test_a_folder_of_queries_has_a_line_each_and_verdicts_that_hold_together(
    two_servers: tuple[str, str], tmp_path: Path
) -> None:
    (tmp_path / "a_count.sql").write_text("SELECT count(*) FROM words")
    (tmp_path / "b_sort.sql").write_text(SORT)
    url, _ = two_servers
    words = (
        "compare",
        "-f",
        str(tmp_path),
        "--db",
        url,
        "--a-set",
        "work_mem=32MB",
        "--b-set",
        "work_mem=64kB",
        *WARM,
    )
    said = tare(*words, "--runs", "8", "--json", "-")
    assert said.code == 0, said.err
    jsonschema.validate(said.result, SCHEMA)
    assert said.result["comparison"] is None
    count, sort = said.result["comparisons"]
    assert sort["verdict"] == "different"
    assert sort["p_holm"] >= sort["measures"][sort["primary"]]["mann_whitney_p"]
    assert count["a"] == "a_count [A]"
    gate = tare(*words, "--fail-if", "slower=20%", "--max", "2m")
    assert gate.code == 3, gate.err
    assert "b_sort" in gate.out.splitlines()[0] + gate.out.splitlines()[1]
    assert "a_count" in gate.out


@pytest.mark.parametrize(
    ("words", "cause", "step"),
    [
        (["--a-set", "shared_buffers=1MB"], "a session cannot set shared_buffers", "--a-db and --b-db"),
        (["--a-set", "nonsense_x=1"], "a session cannot set nonsense_x", "server of its own"),
        (["--a-set", "work_mem=1MB", "--b-set", "work_mem=1MB"], "the arms A and B are the same", "differ"),
        (["--b-set", "work_mem"], "is no NAME=VALUE", "work_mem=64MB"),
        (["--b-set", "a b=1"], "is not the name of a setting", "NAME=VALUE"),
        (["--b-set", "work_mem=1MB", "--b-set", "work_mem=2MB"], "work_mem is given twice", "leave one"),
    ],
)
def test_arms_that_cannot_be_are_refused_with_the_step_that_leads_on(
    postgresql_url: str, words: list[str], cause: str, step: str
) -> None:
    said = tare("compare", "SELECT 1", "--db", postgresql_url, *words)
    assert said.code == 2, said.out
    assert cause in " ".join(said.err.split())
    assert step in " ".join(said.err.split())


def test_an_arm_without_a_database_is_refused() -> None:
    said = tare("compare", "SELECT 1", "--b-db", "sqlite:///none.db")
    assert said.code == 2
    assert "arm A has no database" in said.err
