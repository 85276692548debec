"""SQLite and DuckDB: libraries in somebody's process.

A statement of SQLite is a call of one function. DuckDB runs one lazily: since version 2 it is submitted by one call and
run by those that fetch its result. Every version from 1 to 2 calls one function when a statement begins, after parsing,
and one when it ends, also where it fails.
"""

from __future__ import annotations

from collections.abc import Mapping

from tare.profile.presets.base import LIBC, Marker, Preset, Rules


def _by_root(functions: Mapping[str, int], major: int) -> Rules:
    return {"rule": "function", "root": functions["root"]}


_SYSTEM = tuple(f"{name}{LIBC}" for name in ("fdatasync", "fsync", "pread64", "pwrite64", "nanosleep"))

SQLITE = Preset(
    dbms="sqlite",
    txn="statement",
    says="each step of a statement: a call of sqlite3_step (a row of a query, or a whole change with its commit)",
    markers={"root": Marker(("sqlite3_step",), cpu=True)},
    rules=_by_root,
    tops=("sqlite3_step",),
    seeds=(
        "sqlite3VdbeExec",
        "sqlite3VdbeHalt",
        "sqlite3BtreeCommitPhaseOne",
        "sqlite3BtreeBeginTrans",
        "sqlite3PagerCommitPhaseOne",
        "sqlite3BtreeInsert",
        *_SYSTEM,
    ),
)


def _by_marks(functions: Mapping[str, int], major: int) -> Rules:
    return {"rule": "marks", "begin": functions["begin"], "end": [functions["end"]]}


_DUCKDB_SEEDS = (
    "duckdb::Parser::ParseQuery",
    "duckdb::Planner::CreatePlan",
    "duckdb::Optimizer::Optimize",
    "duckdb::Executor::ExecuteTask",
    "duckdb::PipelineExecutor::Execute",
    "duckdb::TransactionContext::Commit",
    *_SYSTEM,
)

_DUCKDB_BY_CALL = Preset(
    dbms="duckdb",
    txn="statement",
    says="each statement: a call of duckdb_query, or of duckdb_execute_prepared",
    markers={"root": Marker(("duckdb_query", "duckdb_execute_prepared"), cpu=True)},
    rules=_by_root,
    tops=("duckdb_query", "duckdb_execute_prepared"),
    seeds=_DUCKDB_SEEDS,
)
"""A library that shows its C interface alone."""

DUCKDB = Preset(
    dbms="duckdb",
    txn="statement",
    says="each statement: from duckdb::ClientContext::BeginQueryInternal, which follows parsing, to EndQueryInternal",
    markers={
        "begin": Marker(("duckdb::ClientContext::BeginQueryInternal",), cpu=True, entry_only=True),
        "end": Marker(("duckdb::ClientContext::EndQueryInternal",), cpu=True, entry_only=True),
    },
    rules=_by_marks,
    tops=(
        "duckdb::ClientContext::SubmitStatement",  # 2 and later
        "duckdb::ClientContext::PendingStatementInternal",  # up to 1
    ),
    seeds=_DUCKDB_SEEDS,
    otherwise=_DUCKDB_BY_CALL,
)
