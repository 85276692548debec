"""Lock orders on MySQL 5.6.24 (the paper's Tables 3 and 4): the policies of lock-order take turns in windows of one
open-loop run, with the server's own order twice.

python -m benchmarks.mending_mysql56 [--small] [--folder DIR] [--cases tpcc-1,seats] [--blocks 12]

Each case takes four arms times --blocks windows of 5 s: four minutes for 12 blocks.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.oltp_common import load
from tare.grafts import server as grafts
from tare.grafts.catalogue import GRAFTS

POLICIES = "eldest,random"
SETTINGS = {"max-connections": "300", "innodb-buffer-pool-size": "512M"}


@dataclass(frozen=True)
class Case:
    """`rate`: transactions per second, below the server's capacity on two CPUs."""

    workload: str
    scale: int
    rate: float


CASES = {
    "tpcc-1": Case("tpcc", 1, 400),
    "tpcc-2": Case("tpcc", 2, 450),
    "tpcc-4": Case("tpcc", 4, 500),
    "seats": Case("seats", 1, 600),
    "tatp": Case("tatp", 1, 2000),
    "epinions": Case("epinions", 1, 1000),
    "ycsb": Case("ycsb", 10, 1500),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="two blocks of one case: does it work")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--blocks", type=int, default=12)
    parser.add_argument("--rate", type=float, help="another rate than the case's")
    parser.add_argument("--folder", type=Path, default=Path("target/mending"))
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    for name in ["tpcc-1"] if asked.small else asked.cases.split(","):
        case = CASES[name]
        rate = 50.0 if asked.small else asked.rate or case.rate
        measure(name, case, rate, 2 if asked.small else asked.blocks, asked.folder)


def measure(name: str, case: Case, rate: float, blocks: int, folder: Path) -> None:
    out = folder / f"{name}-{rate:g}.json"
    with grafts.start(GRAFTS["lock-order"], settings=SETTINGS) as server:
        load(server.url, case.scale, case.workload)
        words = [
            *("tune", "run", case.workload, "--db", server.url, "--set", f"graft.lock-order={POLICIES}"),
            *("--rate", f"{rate:g}", "--blocks", str(blocks), "--connections", "200"),
            *("--objective", "variance,p99,mean", "--tunings", str(folder / "tunings"), "--json", str(out)),
            *("--lab", str(folder / "lab.db")),
        ]
        subprocess.run([sys.executable, "-m", "tare", *words], check=False, stdout=subprocess.DEVNULL)
        counts = grafts.status(server.directory)[1].counts
    if not out.exists():
        print(f"{name} at {rate:g}/s: no result", flush=True)
        return
    report = json.loads(out.read_text())
    print(f"{name} at {rate:g}/s: {' '.join(report['headline'])}", flush=True)
    for floor in report["floors"]:
        print(f"  floor {floor['objective']}: {_shown(floor['ratio'])}", flush=True)
    for arm in report["arms"]:
        for result in arm["results"]:
            verdict = f"{result['verdict']}, {result['blocks_needed']} blocks would decide"
            print(f"  {arm['name']} {result['objective']}: {_shown(result['ratio'])} {verdict}", flush=True)
    print(f"  counts {counts}", flush=True)


def _shown(ratio: dict[str, float] | None) -> str:
    return "none" if ratio is None else f"{ratio['value']:.3f} [{ratio['low']:.3f}, {ratio['high']:.3f}]"


if __name__ == "__main__":
    main()
