"""Report of a profile that is analysed once."""

from __future__ import annotations

import pytest

from tare.report.profile.build import Built
from tests.unit.report.profile import sample


@pytest.fixture(scope="session")
def built() -> Built:
    return sample.report()


@pytest.fixture(scope="session")
def hostile() -> Built:
    return sample.hostile()


@pytest.fixture(scope="session", params=["built", "hostile", "nothing", "alike"])
def any_built(request: pytest.FixtureRequest) -> Built:
    match request.param:
        case "nothing":
            return sample.nothing()
        case "alike":
            return sample.alike()
        case name:
            found: Built = request.getfixturevalue(name)
            return found
