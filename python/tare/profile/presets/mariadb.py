"""MariaDB and MySQL. A thread handles each command of its client in one call of `dispatch_command`.

A transaction goes on over several commands from `trans_begin`, or where autocommit is off from the first command that
an engine registers for it, to the commit or rollback; or it is one command. Servers built without InnoDB's symbols
(Debian's hide them) show its waits only where they end in the C library: by call site.
"""

from __future__ import annotations

from collections.abc import Mapping

from tare.profile.presets.base import LIBC, Marker, Preset, Rules, Wait

_COM_QUERY = 3
"""enum_server_command (include/mysql_com.h): the packet is the statement's text."""


def _by_dispatch(functions: Mapping[str, int], major: int) -> Rules:
    return {
        "rule": "dispatch",
        "root": functions["root"],
        "labelled": [_COM_QUERY],
        "opens": [functions[role] for role in ("begin", "registers") if role in functions],
        "closes": [functions[role] for role in ("commit", "rollback", "implicit") if role in functions],
    }


def _by_root(functions: Mapping[str, int], major: int) -> Rules:
    return {"rule": "function", "root": functions["root"]}


# dispatch_command(enum_server_command, THD*, char*, unsigned, bool); MySQL from 5.7: (THD*, COM_DATA*, command).
_DISPATCH = ("dispatch_command",)
_TOPS = ("dispatch_command", "mysql_execute_command", "ha_commit_trans")

_PHASES = (
    "mysql_parse",
    "mysql_execute_command",
    "Prepared_statement::execute",
    "open_tables",
    "mysql_lock_tables",
    "mysql_insert",
    "mysql_update",
    "mysql_delete",
    "mysql_select",
    "trans_commit",
    "trans_commit_stmt",
    "trans_rollback",
    "ha_commit_trans",
    "ha_commit_one_phase",
    "MYSQL_BIN_LOG::write_transaction_to_binlog_events",
)

_WORK = (
    "handler::ha_write_row",
    "handler::ha_update_row",
    "handler::ha_delete_row",
    "handler::ha_index_read_map",
    "row_ins_clust_index_entry_low",
    "row_upd_step",
    "row_search_mvcc",
    "row_search_for_mysql",
    "btr_cur_search_to_nth_level",
    "buf_page_get_gen",
    "trx_commit",
    "trx_commit_complete_for_mysql",
)

_WAITS: tuple[Wait, ...] = (
    "lock_wait",
    "lock_wait_suspend_thread",
    ("os_event_wait_low", f"pthread_cond_wait{LIBC}"),
    ("os_event_wait_time_low", f"pthread_cond_timedwait{LIBC}"),
    "log_write_up_to",
    "fil_flush",
    "fil_flush_file_spaces",
    "buf_read_page",
    "srv_conc_enter_innodb",
    "MDL_context::acquire_lock",
    "net_real_write",
    "my_sync",
    *(
        f"{name}{LIBC}"
        for name in (
            "fdatasync",
            "fsync",
            "pread64",
            "pwrite64",
        )
    ),
)

COMMIT = Preset(
    dbms="mariadb",
    txn="commit",
    says="from the first command to the commit or rollback; waiting for the client in between is a node of its own",
    markers={
        "root": Marker(_DISPATCH, detail="word:0,text:2", cpu=True),
        "begin": Marker(("trans_begin",), entry_only=True),
        # bool all: for a whole transaction, where autocommit is off or after BEGIN; else for a statement
        "registers": Marker(("trans_register_ha",), detail="word:1", entry_only=True, optional=True),
        "commit": Marker(("trans_commit",), entry_only=True),
        "rollback": Marker(("trans_rollback",), entry_only=True),
        "implicit": Marker(("trans_commit_implicit",), entry_only=True, optional=True),
    },
    rules=_by_dispatch,
    tops=_TOPS,
    seeds=(*_PHASES, *_WORK),
    waits=_WAITS,
)

STATEMENT = Preset(
    dbms="mariadb",
    txn="statement",
    says="each command of a client: a call of dispatch_command",
    markers={"root": Marker(_DISPATCH, cpu=True)},
    rules=_by_root,
    tops=_TOPS,
    seeds=(*_PHASES, *_WORK),
    waits=_WAITS,
)
