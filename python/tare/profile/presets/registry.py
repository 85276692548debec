"""The presets, and finding one."""

from __future__ import annotations

from tare.errors import UsageError
from tare.meant import meant
from tare.profile.presets import engines, mariadb, postgresql
from tare.profile.presets.base import Preset

PRESETS: tuple[Preset, ...] = (
    postgresql.COMMIT,
    postgresql.STATEMENT,
    mariadb.COMMIT,
    mariadb.STATEMENT,
    engines.SQLITE,
    engines.DUCKDB,
)

OTHERWISE = "function:NAME, usdt:PROVIDER:BEGIN,END or annotation"


def of_dbms(dbms: str | None) -> tuple[Preset, ...]:
    """Presets of a DBMS, its usual one first. MySQL's are MariaDB's."""
    kind = "mariadb" if dbms == "mysql" else dbms
    return tuple(one for one in PRESETS if one.dbms == kind)


def preset(dbms: str | None, txn: str) -> Preset:
    """Raises UsageError with what there is instead."""
    known = of_dbms(dbms)
    for one in known:
        if one.txn == txn:
            return one
    if not known:
        raise UsageError(
            f"--txn {txn}: what a transaction of this program is, is not known", f"name it: --txn {OTHERWISE}"
        )
    names = [one.txn for one in known]
    raise UsageError(
        f"--txn {txn}: {dbms} has no such transactions",
        meant(txn, names, f"take {', '.join(names)}, {OTHERWISE}"),
    )
