"""One PostgreSQL is enough here: the benchmark's SQL is the same for all that Tare knows."""

from __future__ import annotations

import pytest

from tests.dbms.conftest import WITHOUT_MYSQL, dbms_named


@pytest.fixture(params=[one for one in WITHOUT_MYSQL if one != "postgresql15"])
def dbms(request: pytest.FixtureRequest) -> str:
    return dbms_named(request)
