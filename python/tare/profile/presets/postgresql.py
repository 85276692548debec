"""PostgreSQL. A backend says in `pgstat_report_activity(state, query)` what it turns to (`pg_stat_activity.state`).

It says RUNNING when a command has been read, and IDLE after the commit but before `ReadyForQuery` is sent: a
transaction lasts from the one to the other, without reading the command and sending the last of the answer. In the
extended protocol each message that does something says RUNNING; the commit happens at Sync, before IDLE.
"""

from __future__ import annotations

from collections.abc import Mapping

from tare.profile.presets.base import Marker, Preset, Rules

_STARTING = 18
"""Since this version `BackendState` has STATE_STARTING before IDLE, so all later values are one higher
(src/include/utils/backend_status.h)."""

_IDLE, _RUNNING, _IDLE_IN_TRANSACTION, _FASTPATH, _IDLE_ABORTED = 1, 2, 3, 4, 5


def _up(major: int) -> int:
    return 1 if major >= _STARTING else 0


def _state(major: int) -> str:
    return f"word:0,text:1,until:{_IDLE + _up(major)}"


def _by_state(functions: Mapping[str, int], major: int) -> Rules:
    up = _up(major)
    return {
        "rule": "state",
        "marker": functions["state"],
        "running": [_RUNNING + up, _FASTPATH + up],
        "pausing": [_IDLE_IN_TRANSACTION + up, _IDLE_ABORTED + up],
        "ended": [_IDLE + up],
    }


def _by_command(functions: Mapping[str, int], major: int) -> Rules:
    rules = _by_state(functions, major)
    return {**rules, "pausing": [], "ended": [*rules["ended"], *rules["pausing"]]}


_TOPS = ("exec_simple_query", "exec_execute_message", "PortalRun", "CommitTransactionCommand")

_PHASES = (
    "pg_parse_query",
    "pg_analyze_and_rewrite",  # up to 14
    "pg_analyze_and_rewrite_fixedparams",
    "pg_plan_queries",
    "GetCachedPlan",
    "StartTransactionCommand",
    "CommitTransactionCommand",
    "AbortCurrentTransaction",
    "PortalStart",
    "PortalRun",
    "standard_ExecutorStart",
    "standard_ExecutorRun",
    "standard_ExecutorFinish",
    "standard_ExecutorEnd",
    "standard_ProcessUtility",
)

_WORK = (
    "heap_insert",
    "heap_update",
    "heap_delete",
    "heap_lock_tuple",
    "heap_page_prune_opt",
    "index_getnext_slot",
    "index_insert",
    "_bt_doinsert",
    "EvalPlanQual",
    "AfterTriggerEndQuery",
    "AfterTriggerFireDeferred",
    "XLogInsert",
    "GetSnapshotData",
    "RelationGetBufferForTuple",
    "ReleasePredicateLocks",
    "PreCommit_CheckForSerializationFailure",
    "CheckForSerializableConflictIn",
    "ResourceOwnerRelease",
    "SPI_execute_plan_with_paramlist",
)

_WAITS = (
    "LWLockAcquire",
    "LWLockAcquireOrWait",
    "LWLockWaitForVar",
    "ProcSleep",
    "XactLockTableWait",
    "LockAcquireExtended",
    "XLogFlush",
    "issue_xlog_fsync",
    "SyncRepWaitForLSN",
    "ReadBufferExtended",
    "WaitReadBuffers",  # 17 and later
    "pgaio_wref_wait",  # 18 and later
    "smgrread",  # up to 16
    "smgrreadv",
    "smgrextend",
    "smgrzeroextend",
    "FileRead",  # up to 16
    "FileReadV",
    "FileWrite",
    "FileWriteV",
    "FileSync",
    "LockBuffer",
    "ConditionVariableSleep",
    "WaitLatch",
    "SimpleLruReadPage_ReadOnly",
    "pg_usleep",
)

COMMIT = Preset(
    dbms="postgresql",
    txn="commit",
    says="from the first command to the commit or rollback; waiting for the client in between is a node of its own",
    markers={
        "state": Marker(("pgstat_report_activity",), detail=_state, cpu=True, entry_only=True),
    },
    rules=_by_state,
    tops=_TOPS,
    seeds=(*_PHASES, *_WORK),
    waits=_WAITS,
)

STATEMENT = Preset(
    dbms="postgresql",
    txn="statement",
    says="each command, in a transaction block each by itself: from when it was read to when its answer is ready",
    markers={
        "state": Marker(("pgstat_report_activity",), detail="word:0,text:1", cpu=True, entry_only=True),
    },
    rules=_by_command,
    tops=_TOPS,
    seeds=(*_PHASES, *_WORK),
    waits=_WAITS,
)
