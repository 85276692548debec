"""A run of the planted program, in which every function beneath a transaction is watched."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.planted.build import PLANTED
from benchmarks.planted.program import Source, Truth, running
from benchmarks.profile_ways import Way, numbered, recording, settle
from tare._probe import Image, assemble
from tare.protocol.profile.measured import Function, Measured, Window, from_tables

ROOTS = {False: "transaction", True: "run_step"}  # by whether annotations tell of transactions
MARKER = "tare_mark"
PROBED = "probed"


def profiled(way: Way, source: Source, seed: int, seconds: float) -> tuple[Measured, Truth]:
    program = way.program(PLANTED)
    image = Image(program)
    (root,) = image.find(ROOTS[source.events])
    beneath = image.heights(root.address)
    named = [one for one in image.functions() if one.address in beneath and one.name]
    functions = [
        Function(number, one.name, one.inferred, beneath[one.address], image.path, one.address, one.size)
        for number, one in enumerate(named, start=1)
    ]
    marks = image.find(MARKER) if source.events else []
    targets = numbered(image, named + marks)
    markers = targets[len(named) :]
    probes = [(one.id, "site", False, False) for one in functions] + [
        (one[0], "mark", False, True) for one in markers
    ]
    rules: dict[str, Any] = {"rule": "annotation"}
    if not source.events:
        rules = {"rule": "function", "root": next(one.id for one in functions if one.name == root.name)}
    truth, file = way.folder / "truth.csv", way.folder / "recording.tare"
    way.prepare(program, targets)
    with (
        running(program, source, seed, truth, way.environment()) as process,
        recording(way, process.pid, file) as recorder,
    ):
        refused = recorder.set(targets, probes, "timing", PROBED, 1)
        if refused:
            raise SystemExit(f"{way.name} refused {refused}")
        settle()
        time.sleep(seconds)
    return _measured(file, rules, functions, max(beneath.values()) + 1), Truth.read(truth)


def _measured(file: Path, rules: dict[str, Any], functions: list[Function], height: int) -> Measured:
    found = assemble(str(file), json.dumps(rules))
    windows = [Window.of(one) for one in json.loads(found.windows)]
    return from_tables(
        pa.table(found.transactions),
        pa.table(found.paths),
        pa.table(found.cells),
        windows=[one for one in windows if one.purpose == PROBED],
        functions=functions,
        texts=found.texts,
        records=found.records,
        lost=found.lost,
        call_graph_height=height,
        waiting_name="[waiting]",
    )
