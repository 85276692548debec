"""A single version of PostgreSQL is enough here: the benchmark's SQL is the same for all that Tare knows."""

from __future__ import annotations

import pytest

from tests.dbms.conftest import WITHOUT_MYSQL


@pytest.fixture(scope="module", params=[one for one in WITHOUT_MYSQL if one != "postgresql15"])
def dbms(request: pytest.FixtureRequest) -> str:
    """All tests of a file run on one DBMS, then on the next: relations that lie right are used again."""
    name: str = request.param
    return name
