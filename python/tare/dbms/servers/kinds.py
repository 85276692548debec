"""The kinds of servers that Tare starts: a module each, with the same functions."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from tare.dbms.servers import mariadb, mysql, postgresql

KINDS: Mapping[str, ModuleType] = {kind.KIND: kind for kind in (postgresql, mariadb, mysql)}
