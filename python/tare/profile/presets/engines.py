"""SQLite and DuckDB: libraries in somebody's process. A statement is a call of one function."""

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

DUCKDB = Preset(
    dbms="duckdb",
    txn="statement",
    says="each statement: a call of duckdb::ClientContext::Query, or of the first of its kin that the library shows",
    markers={
        "root": Marker(
            (
                "duckdb::ClientContext::Query",
                "duckdb::Connection::Query",
                "duckdb::ClientContext::PendingQuery",
                "duckdb_query",
                "duckdb_execute_prepared",
            ),
            cpu=True,
        )
    },
    rules=_by_root,
    tops=("duckdb::ClientContext::Query",),
    seeds=(
        "duckdb::Parser::ParseQuery",
        "duckdb::Planner::CreatePlan",
        "duckdb::Optimizer::Optimize",
        "duckdb::Executor::ExecuteTask",
        "duckdb::PipelineExecutor::Execute",
        "duckdb::TransactionContext::Commit",
        *_SYSTEM,
    ),
)
