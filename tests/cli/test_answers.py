"""`tare time` compares answers: last bits are no change, a wrong digit is, and no value ends a run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pytest

from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.measure.answer import Answer, read_answer
from tare.measure.choices import AnswerRule
from tests.cli.running import Said, tare

AVERAGE = "SELECT g, avg(v) FROM parallel_sums GROUP BY g"
TIMES = 200

_FILL = {
    "postgresql": "CREATE TABLE parallel_sums AS SELECT i % 100 AS g, ((i * 7919) % 1000003) / 7.0::float8 AS v "
    "FROM generate_series(1, 100000::bigint) AS s(i); "
    "ALTER TABLE parallel_sums SET (parallel_workers = 2); ANALYZE parallel_sums",
    "duckdb": "CREATE TABLE parallel_sums AS SELECT i % 100 AS g, ((i * 7919) % 1000003) / 7.0::DOUBLE AS v "
    "FROM range(1, 500001) AS s(i)",
}
_PARALLEL = {
    "postgresql": "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET debug_parallel_query = off",
    "duckdb": "SET threads = 4",
}


@contextmanager
def _connected(url: str) -> Iterator[Session]:
    session = find(url).connect(url, allow_writes=True)
    try:
        yield session
    finally:
        session.close()


def _answer(session: Session, sql: str) -> Answer:
    prepared = session.prepare(sql)
    try:
        fetched = prepared.execute(60)
        return read_answer(fetched.rows(), AnswerRule.CLOSE, fetched.single_precision)
    finally:
        prepared.close()


@pytest.mark.parametrize("dbms", ["postgresql", "duckdb"])
def test_a_parallel_average_never_changes_its_answer_and_a_wrong_digit_does(
    dbms: str, request: pytest.FixtureRequest
) -> None:
    """200 executions; then one value of one group is off by so much that the group's average is off by 1.2e-8."""
    with _connected(request.getfixturevalue(f"{dbms}_url")) as session:
        session.run(_FILL[dbms])
        try:
            session.run(_PARALLEL[dbms])
            assert dbms != "postgresql" or "Gather" in session.explain(AVERAGE).text
            first = _answer(session, AVERAGE)
            found = [first.doubles.compared(_answer(session, AVERAGE).doubles) for _ in range(TIMES)]
            assert all(agree for agree, _ in found)
            assert max(difference for _, difference in found) < 1e-12

            rows = 1000 if dbms == "postgresql" else 5000  # of each group
            changed = f"SELECT g, avg(v + CASE WHEN v = (SELECT max(v) FROM parallel_sums) THEN {rows} * 0.6e-8 * v "
            planted = _answer(session, f"{changed}ELSE 0 END) FROM parallel_sums GROUP BY g")
            assert planted.rows == first.rows
            assert planted.exact == first.exact
            assert not first.doubles.compared(planted.doubles)[0]
        finally:
            session.run("DROP TABLE parallel_sums")


# Values that a driver has no room for --------------------------------------------------------
AWKWARD = {
    "postgresql": [
        "date 'infinity'", "date '4713-01-01 BC'", "timestamp '-infinity'", "timestamp '20000-01-01'",
        "timestamptz '20000-01-01 00:00:00+00'", "timestamptz '2024-01-01 00:00:00+00'",
        "interval '170000000 years'", "interval '1 mon -2 days'", "time '24:00'", "timetz '24:00+1'",
        "daterange('infinity', NULL)", "ARRAY[date '2020-01-01', 'infinity']", "ARRAY[interval '1 mon']",
        "(repeat('[', 3000) || repeat(']', 3000))::json", "numeric 'NaN'", "'-Infinity'::float8",
        r"'\xdead'::bytea", "row(1, NULL)", "10::numeric ^ 6000", "inet '::1'", "ARRAY[0.1::float8, NULL]",
        "'{[2020-01-01,infinity)}'::datemultirange",
    ],
    "duckdb": [
        "timestamptz '2024-01-01 00:00:00+00'", "timestamptz 'infinity'", "interval '170000000 years'",
        "interval '1000000000 days'", "[interval '170000000 years']", "date 'infinity'", "date '5877642-06-25 (BC)'",
        "timestamp '294247-01-01'", "time '24:00:00'", "timetz '24:00:00+00'", "timestamp_ns '2200-01-01'",
        "time_ns '12:00:00.123456789'", "map {[1]: 2}", "{'at': timestamptz '2024-01-01 00:00:00+00'}",
        "'nan'::double", "'1'::bit", "1::uhugeint", "123456789012345678901234567890::bignum",
        "union_value(a := timestamptz '2024-01-01 00:00:00+00')",
    ],
    "mariadb": [
        "cast('2024-00-01' AS date)", "cast('2024-00-01 10:00:00' AS datetime)", "timestamp '0000-00-00 00:00:00'",
        "date '2024-00-00'", "sec_to_time(9999999)", "b'101010101'", "point(1, 2)", "x'00ff'",
    ],
    "sqlite": ["9e999", "x'00ff'", "char(0)", "9223372036854775807", "'\u20ac'"],
}  # fmt: skip


@pytest.mark.parametrize(
    "dbms", [pytest.param("mariadb", marks=pytest.mark.mariadb), "postgresql", "duckdb", "sqlite"]
)
def test_no_value_ends_a_run(dbms: str, request: pytest.FixtureRequest) -> None:
    queries = [f"SELECT {value}, 1.5" for value in AWKWARD[dbms]]
    url = request.getfixturevalue(f"{dbms}_url")
    said = tare("time", *queries, "--db", url, "--runs", "2", "--warmup", "1", "--json", "-")
    assert said.code == 0, said.err
    assert [result["sql"] for result in said.result["results"]] == queries
    for value, result in zip(AWKWARD[dbms], said.result["results"], strict=True):
        answer = result["answer"]
        assert answer["rows"] == 1, value
        assert answer["consistent"] is (answer["not_compared"] is None), value


@pytest.mark.mariadb
def test_a_partial_time_that_the_driver_cannot_read_is_named(mariadb_url: str) -> None:
    with _connected(mariadb_url) as session:
        session.run("SET sql_mode = ''; CREATE TABLE partial (at datetime); INSERT INTO partial VALUES "
                    "('2024-01-00 10:00:00')")  # fmt: skip
        try:
            said = tare("time", "SELECT at FROM partial", "--db", mariadb_url, "--runs", "6", "-v")
        finally:
            session.run("DROP TABLE partial")
    assert said.code == 0, said.err
    assert "not compared: the driver cannot read a value" in _flat(said)
    assert "cast the column to text" in _flat(said)
    assert "the same in every run" not in said.out.split("\nplan ", 1)[0]


@pytest.mark.parametrize(
    "style", ["DateStyle = 'German'", "IntervalStyle = 'sql_standard'", "DateStyle = 'SQL, DMY'"]
)
def test_postgresql_is_weighed_under_any_style_of_dates(style: str, postgresql_url: str) -> None:
    sql = "SELECT date '2024-02-01', timestamptz '2024-02-01 10:00+00', interval '1 mon 2 days', tstzrange(NULL, now())"
    said = tare(
        "time", sql.replace("now()", "'2024-02-01'"), "--db", postgresql_url, "--setup", f"SET {style}",
        "--runs", "2", "--warmup", "0", "--json", "-",
    )  # fmt: skip
    assert said.code == 0, said.err
    assert said.result["results"][0]["answer"]["consistent"]


def test_postgresql_is_weighed_under_the_styles_of_a_role(postgresql_url: str) -> None:
    role = "CREATE ROLE styled LOGIN; ALTER ROLE styled SET DateStyle = 'SQL, DMY'; "
    with _connected(postgresql_url) as session:
        session.run(f"{role}ALTER ROLE styled SET IntervalStyle = 'iso_8601'")
        try:
            url = re.sub(r"user=\w+", "user=styled", postgresql_url)
            said = tare(
                "time", "SELECT timestamptz '2024-02-01 10:00+00', interval '1 mon'", "--db", url, "--runs", "2",
                "--warmup", "0", "--json", "-",
            )  # fmt: skip
        finally:
            session.run("DROP ROLE styled")
    assert said.code == 0, said.err
    assert said.result["results"][0]["answer"]["consistent"]


@pytest.mark.parametrize("dbms", ["postgresql", "duckdb"])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("interval '170000000 years'", "interval '170000001 years'"),
        ("timestamptz '2024-01-01 00:00:00+00'", "timestamptz '2024-01-01 00:00:00.000001+00'"),
        ("timestamptz 'infinity'", "timestamptz '9999-12-31 23:59:59.999999+00'"),
        ("real '1.5'", "real '1.501'"),
        ("cast('1.5' AS double precision)", "cast('1.500000015' AS double precision)"),
    ],
)
def test_another_value_is_another_answer(
    one: str, other: str, dbms: str, request: pytest.FixtureRequest
) -> None:
    assert_differ(request.getfixturevalue(f"{dbms}_url"), one, other)


@pytest.mark.parametrize(
    ("dbms", "one", "other"),
    [
        ("sqlite", "1.5", "1.500000015"),
        ("sqlite", "x'00'", "x'01'"),
        ("sqlite", "9e999", "1e308"),
        pytest.param("mariadb", "1.5e0", "1.500000015e0", marks=pytest.mark.mariadb),
        pytest.param("mariadb", "time '838:59:59'", "time '838:59:58'", marks=pytest.mark.mariadb),
        pytest.param("mariadb", "b'101010101'", "b'101010100'", marks=pytest.mark.mariadb),
    ],
)
def test_another_value_of_another_dbms_is_another_answer(
    dbms: str, one: str, other: str, request: pytest.FixtureRequest
) -> None:
    assert_differ(request.getfixturevalue(f"{dbms}_url"), one, other)


def assert_differ(url: str, one: str, other: str) -> None:
    said = tare(
        "compare", f"SELECT {one}, 1", f"SELECT {other}, 1", "--db", url, "--runs", "2", "--warmup", "0",
        "--blocks", "run", "--measure", "wall_ms", "--json", "-",
    )  # fmt: skip
    assert said.code == 0, said.err
    assert said.result["comparison"]["answers_agree"] is False


# What is asked of the comparison -------------------------------------------------------------
def test_a_changed_answer_ends_the_run_and_nothing_says_that_it_was_one(duckdb_url: str) -> None:
    said = tare("time", "SELECT random(), 1", "--db", duckdb_url, "--runs", "5")
    assert said.code == 1
    assert "--answer any" in said.err
    assert "gave 1 row" in said.err
    assert "the same in every run" not in said.out


@pytest.mark.parametrize("sql", ["SELECT now(), random()", "EXPLAIN ANALYZE SELECT count(*) FROM numbers"])
@pytest.mark.parametrize("dbms", ["postgresql", "duckdb"])
def test_what_has_no_single_answer_is_weighed_with_any(
    sql: str, dbms: str, request: pytest.FixtureRequest
) -> None:
    said = tare(
        "time", sql, "--db", request.getfixturevalue(f"{dbms}_url"), "--answer", "any", "--runs", "3", "--warmup", "1",
        "--json", "-",
    )  # fmt: skip
    assert said.code == 0, said.err
    answer = said.result["results"][0]["answer"]
    assert (answer["compared"], answer["hash"]) == ("any", None)
    assert answer["not_compared"] == "--answer any"
    assert len([qe for qe in said.result["results"][0]["qes"] if qe["sample"] is not None]) == 3


def test_exact_finds_a_last_bit_and_close_reports_it(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("bits") / "bits.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE bits AS SELECT 1.0::DOUBLE AS v")
    words = [
        "time", "SELECT v FROM bits", "--db", f"duckdb:///{path}", "--runs", "2", "--warmup", "0", "--allow-writes",
        "--conclude", "UPDATE bits SET v = v + 0.0000000000000003",
    ]  # fmt: skip
    close = tare(*words)
    assert close.code == 0, close.err
    assert "floating-point values to" in _flat(close)
    exact = tare(*words, "--answer", "exact")
    assert exact.code == 1
    assert "not every run gave the same answer" in exact.out
    assert "in the first timed run; others differ" in _flat(exact)
    assert "without --answer exact" in exact.err


def _flat(said: Said) -> str:
    return " ".join(said.out.split())
