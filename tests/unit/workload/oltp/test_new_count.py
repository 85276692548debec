"""A new count is one edit: everything between the driver and the reader follows from the table."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tare
from tare.lab.exporting import export
from tare.lab.oltp import load, record
from tare.lab.store import open_lab
from tare.workload.oltp import contract
from tests.unit.report.oltp import sample

PACKAGE = Path(tare.__file__).parent
ROOT = Path(__file__).parents[4]
NEW = {
    "name": "cancelled",
    "role": "failed",
    "words": "cancelled by the server",
    "meaning": "The server cancelled the last try.",
    "end": "cancelled",
}
UUID = "aaaa4b1e-9a55-4d8e-8a26-0d6b5f6b7c11"

LATER = f"""
import json, sys
from pathlib import Path
from dataclasses import replace
from tare.lab.foreign import Export
from tare.lab.importing import import_
from tare.lab.oltp import load, record
from tare.lab.store import open_lab
from tare.report.schemas import schema_text
from tare.report.oltp.build import build
from tare.report.oltp.story import story
from tare.report.kit.deliver import show
from tare.workload.oltp.events import Counts, Second
from tare.workload.oltp.samples import ENDS
from tests.unit.report.oltp import sample

lab, exported, other = sys.argv[1:]
with open_lab(lab) as old:
    assert load(old, 1).outcome.all.counts.cancelled == 0

    run = sample.run(seconds=3, stall=None)
    counts = run.outcome.all.counts + Counts.sparse(offered=5, started=5, cancelled=5)
    every = run.outcome.all.model_copy(update={{"counts": counts}})
    run = replace(run, uuid={UUID!r}, outcome=run.outcome.model_copy(update={{"all": every}}))
    again = load(old, record(old, run))
    assert again.outcome.all.counts.cancelled == 5
    assert again.outcome.all.counts.given_up == run.outcome.all.counts.given_up >= 5

built = build(again, 2, lab="lab")
assert json.loads(built.report.model_dump_json(by_alias=True))["all"]["counts"]["cancelled"] == 5
assert "cancelled" in json.loads(schema_text("oltp-v1"))["$defs"]["Counts"]["required"]
assert ENDS[-1] == "cancelled"
show(story(built))

with Export(Path(exported)) as export, open_lab(other, create=True) as new:
    import_(new, export)
    assert load(new, 1).outcome.all.counts.cancelled == 0
"""


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """A copy of the package whose table of counts has one count more; nothing else is edited."""
    folder = tmp_path / "later"
    shutil.copytree(PACKAGE, folder / "tare", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for library in PACKAGE.glob("*.so"):
        (folder / "tare" / library.name).symlink_to(library)
    counts = [*contract.contract()["counts"], NEW]
    (folder / "tare/workload/oltp/counts.py").write_text(contract.counts_text(counts))
    return folder


def test_a_new_count_reaches_lab_report_and_words_and_labs_made_before_it_open(
    tmp_path: Path, later: Path
) -> None:
    lab, exported = tmp_path / "lab.db", tmp_path / "export"
    with open_lab(str(lab), create=True) as earlier:
        run_id = record(earlier, sample.run(seconds=3, stall=None))
        export(earlier, [], exported, [run_id])
    done = subprocess.run(
        [sys.executable, "-c", LATER, lab, exported, tmp_path / "other.db"],
        env={**os.environ, "PYTHONPATH": f"{later}:{ROOT}", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "cancelled by the server" in done.stdout
    with open_lab(str(lab)) as earlier:  # with the count that this Tare does not know
        assert [load(earlier, number).uuid for number in (1, 2)] == [sample.run(seconds=3).uuid, UUID]
        assert record(earlier, sample.run(seconds=3, stall=None, uuid=UUID.replace("a", "b"))) == 3
