"""TPC-H on PostgreSQL's shards, seen from the operating system: a row for each query, as docs/os.md shows. Needs root.

python -m benchmarks.os_tpch [--small] [--shards 4] [--scale 0.1] [--runs 2] [--timeout 25] [--folder DIR]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tare.cluster import cluster as clusters
from tare.cluster.tpch import ensure_loaded
from tare.dbms.registry import find
from tare.os.levels import Level
from tare.os.nodes import node_of_namespace
from tare.os.roles import known_rules
from tare.os.session import Query, run
from tare.report.os.build import build
from tare.report.os.document import CheckReport, OsReport, StageReport, cpu_in_calls, time_of
from tare.workload.tpch.queries import NUMBERS, query

NAME = "ostpch"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="two shards, two queries: does it work")
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=25.0)
    parser.add_argument("--folder", type=Path, default=Path("target/os"))
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    shards, scale, numbers = (2, 0.01, (1, 6)) if asked.small else (asked.shards, asked.scale, tuple(NUMBERS))
    began = time.monotonic()
    cluster = clusters.start(clusters.Request("postgresql", shards, NAME))
    try:
        session = find(cluster.url).connect(cluster.url)
        session.prepare("SELECT 1").execute(None)
        print(
            f"start to first query, {shards} shards: {time.monotonic() - began:.1f} s (bar 60 s)", flush=True
        )
        ensure_loaded(cluster, scale, lambda text: None)
        nodes = [node_of_namespace(node.name, node.namespace) for node in cluster.nodes]
        queries = [Query(f"Q{number}", query(number, "postgresql", scale)) for number in numbers]
        trace = run(
            nodes,
            Level.MESSAGES,
            session,
            queries,
            runs=asked.runs,
            warmup=1,
            timeout_s=asked.timeout,
            seed=1,
            say=lambda text: print(text, file=sys.stderr, flush=True),
        )
        session.close()
    finally:
        clusters.stop(NAME)
    report = build(trace, known_rules(), target=f"cluster of {shards} shards", command="", title=None)
    (asked.folder / "os-tpch.json").write_text(report.model_dump_json())
    show(report)


HEADINGS = ("query", "wall", "coordinator", "shards", "run queue", "system", "messages", "bytes", "multicast")


def show(report: OsReport) -> None:
    print(f"| {' | '.join(HEADINGS)} |")
    print("|---" * len(HEADINGS) + "|")
    for stage in report.stages:
        print(
            _row(stage, report.nodes[0])
            if stage.executions
            else f"| {stage.name} | {stage.error} | | | | | | | |"
        )
    print()
    for check in report.checks:
        print(_check(check))


def _row(stage: StageReport, coordinator: str) -> str:
    nodes = [node.node for node in stage.nodes]
    times = {name: time_of(role for role in stage.roles if role.node == name) for name in nodes}
    shards = sum(time.on_cpu for name, time in times.items() if name != coordinator)
    whole = time_of(stage.roles)
    found = stage.multicast
    sent = f"{found.every.messages / stage.executions:,.0f}" if found else "0"
    size = f"{found.every.bytes / stage.executions / 2**20:.2f} MiB" if found else "0"
    saved = (
        f"{found.every.saved_messages / found.every.messages:.1%}" if found and found.every.messages else "–"
    )
    cells = (
        stage.name,
        f"{(stage.wall or 0) / 1e6:,.0f} ms",
        f"{times[coordinator].on_cpu / stage.elapsed:.0%}",
        f"{shards / stage.elapsed:.0%}",
        f"{whole.run_queue / stage.elapsed:.0%}",
        f"{cpu_in_calls(stage.roles) / whole.on_cpu:.1%}",
        sent,
        size,
        saved,
    )
    return f"| {' | '.join(cells)} |"


def _check(check: CheckReport) -> str:
    return (
        f"{check.quantity.value}: {check.agreement.value}, traced {check.traced:,}, counted {check.least:,} to "
        f"{check.most:,}, outside by {check.difference:.3%}"
    )


if __name__ == "__main__":
    main()
