"""Cost of `tare observe`: server time of its pages on a lab of 10^6 QEs, and its effect on a measured query.

Pages: a browser's looks at the first page and at the longest run, in CPU time of the server. Effect: a query of about
100 ms of CPU, in blocks by turns with and without an observer whose page of the growing run a browser has open; the
ratio is over pairs of blocks.
"""

from __future__ import annotations

import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

from tests.cli.observing import Observed, observing

from benchmarks.common import Figure, arguments, postgresql, report, rig, weigh_once
from benchmarks.synthetic import chunks, write_lab
from tare.measure.query import Query
from tare.measure.rig import Rig
from tare.protocol.comparison.blocks import ratio_over_blocks

MANY = 100_000  # Q@Cs, ten QEs each
SMALL = 200
QUERY = Query(
    "100 ms", "SELECT sum((a * b) % 7) FROM generate_series(1, 1000) AS a, generate_series(1, 2700) AS b"
)
WARM_UP = 3
FIRST_S, LOOK_S, EFFECT = 1.0, 0.2, 0.5  # the last in %


def seconds(observed: Observed, path: str, **headers: str) -> float:
    """Until the page is here."""
    begun = time.monotonic()
    answer = observed.ask("GET", path, **headers)
    assert answer.status == 200, answer
    return time.monotonic() - begun


def cpu_s(pid: int) -> float:
    ns = Path(f"/proc/{pid}/schedstat").read_text().split()[0]
    return int(ns) / 1e9


def pages(lab: Path, run: str, looks: int) -> list[Figure]:
    with observing(str(lab)) as observed:
        observed.admit()
        found = [Figure("first page", seconds(observed, "/"), "s", FIRST_S)]
        for name, path in (("first page again", "/"), (f"page of {run}", f"/runs/{run}")):
            before = cpu_s(observed.process.pid)
            for _ in range(looks):
                seconds(observed, path, Tare_Part="1")
            spent = (cpu_s(observed.process.pid) - before) / looks
            found.append(Figure(f"{name}: CPU of a look", spent, "s", LOOK_S))
    return found


@contextmanager
def open_in_browser(lab: Path) -> Iterator[None]:
    from playwright.sync_api import sync_playwright

    with observing(str(lab)) as observed, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.goto(observed.address)
        page.click("main a")
        page.wait_for_selector(".live")
        page.wait_for_timeout(3000)
        yield
        browser.close()


def effect(lab: Path, pairs: int, executions: int) -> list[Figure]:
    """Ratios of mean CPU and wall times, with the observer over without."""
    times: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    with postgresql() as url, rig(url) as tare:
        for number in range(pairs):
            for with_it in (True, False) if number % 2 else (False, True):
                with open_in_browser(lab) if with_it else nullcontext():
                    times[with_it].append(block(tare, executions))
    return [
        more(name, [pair[place] for pair in times[False]], [pair[place] for pair in times[True]])
        for place, name in enumerate(("CPU", "wall"))
    ]


def block(tare: Rig, executions: int) -> tuple[float, float]:
    """Mean CPU and wall time, ns."""
    found = [weigh_once(tare, QUERY).elapsed for _ in range(executions + WARM_UP)][WARM_UP:]
    cpu = statistics.fmean(one.cpu_ns for one in found if one is not None and one.cpu_ns is not None)
    return cpu, statistics.fmean(one.wall_ns for one in found if one is not None)


def more(name: str, without: Sequence[float], with_it: Sequence[float]) -> Figure:
    found = ratio_over_blocks(without, with_it)
    assert found is not None
    value, low, high = (100 * (ratio - 1) for ratio in (found.ratio, found.low, found.high))
    spread = f"[{low:+.2f}, {high:+.2f}], {found.blocks} pairs of blocks"
    return Figure(f"{name} of a query, more with the observer", value, "%", EFFECT, spread=spread)


def grow(lab: Path) -> None:
    """The last run seems to be made now, so that its page is looked for every two seconds."""
    with closing(sqlite3.connect(lab)) as connection, connection:
        connection.execute("UPDATE run SET state = 'running' WHERE id = (SELECT max(id) FROM run)")


def main() -> None:
    asked = arguments(__doc__ or "", pairs=12, executions=25)
    with tempfile.TemporaryDirectory(prefix="tare-observe-") as folder:
        lab = Path(folder) / "lab.db"
        write_lab(lab, chunks(SMALL if asked.small else MANY))
        found = pages(lab, "e1", 2 if asked.small else 20)
        grow(lab)
        found += effect(lab, 2 if asked.small else asked.pairs, 3 if asked.small else asked.executions)
    report(found, asked.json)


if __name__ == "__main__":
    main()
