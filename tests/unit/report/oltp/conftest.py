"""Report of a run, built once."""

from __future__ import annotations

import pytest

from tare.report.oltp.build import Built, build
from tests.unit.report.oltp import sample


@pytest.fixture(scope="session")
def built() -> Built:
    return build(sample.run(), 3, lab="lab.db")


@pytest.fixture(scope="session")
def hostile() -> Built:
    return build(sample.hostile(), 4, lab="lab.db", title="Sample <b>run</b>")
