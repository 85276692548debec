"""One PostgreSQL is enough here: the benchmark's SQL is the same for all that Tare knows."""

from __future__ import annotations

import pytest

from tests.dbms.conftest import DBMSES, MYSQL, dbms_named


@pytest.fixture(params=[one for one in DBMSES if one not in ("postgresql15", MYSQL)])
def dbms(request: pytest.FixtureRequest) -> str:
    return dbms_named(request)
