"""Commands that apply an arm. Tare prints them and changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from tare.errors import UsageError
from tare.tune.settings.values import plain_number


class Form(StrEnum):
    MY_CNF = "my.cnf"
    POSTGRESQL_CONF = "postgresql.conf"
    SQL = "sql"


def export(settings: Mapping[str, str], dbms: str, form: Form) -> str:
    """Text of an arm's settings in a form. Raises UsageError for a form of another DBMS."""
    is_postgresql = dbms == "postgresql"
    if form is (Form.MY_CNF if is_postgresql else Form.POSTGRESQL_CONF):
        own = Form.POSTGRESQL_CONF if is_postgresql else Form.MY_CNF
        raise UsageError(f"{form} is no file of {dbms}", f"choose {own} or {Form.SQL}")
    if form is Form.MY_CNF:
        return "\n".join(["[mysqld]", *(f"{name} = {value}" for name, value in settings.items())]) + "\n"
    if form is Form.POSTGRESQL_CONF:
        return "".join(f"{name} = {_quoted(value)}\n" for name, value in settings.items())
    if is_postgresql:
        lines = [f"ALTER SYSTEM SET {name} = {_quoted(value)};" for name, value in settings.items()]
        return "\n".join([*lines, "SELECT pg_reload_conf();"]) + "\n"
    return "".join(
        f"SET GLOBAL {name} = {plain_number(value) or _quoted(value)};\n" for name, value in settings.items()
    )


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
