"""A pytest plugin: all tests of a file run on one worker of pytest-xdist, as they share servers and data."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling, Scheduling

from tests.ci.classes import lies_in

APART = (
    "tests/profile/test_programs.py",
    "tests/profile/test_run.py",
    "tests/profile/test_survivors.py",
    "tests/profile/test_unseen.py",
)
"""Files whose tests share nothing, and so may run on several workers."""


class LoadSharedFiles(LoadFileScheduling):
    """Scheduling with a unit of work for each file, or for each test of a file in `APART`."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return nodeid if lies_in(PurePosixPath(file), APART) else file


@pytest.hookimpl(optionalhook=True)  # as there may be no workers
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    return LoadSharedFiles(config, log) if config.getvalue("dist") == "loadfile" else None
