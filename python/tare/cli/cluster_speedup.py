"""`tare cluster speedup`: queries on clusters of several sizes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from tare.cli import options
from tare.errors import UsageError

if TYPE_CHECKING:
    from tare.cluster.speedup import Arm, Event


def speedup(
    *,
    shards: Annotated[
        str,
        typer.Option(
            "--shards", metavar="N,N[,N...]", help="Sizes of the clusters; the first is compared with."
        ),
    ] = "1,2,4",
    cpus: Annotated[
        float,
        typer.Option(
            metavar="N",
            help="CPU quota of each node, the coordinator included. The largest cluster must fit into this machine.",
        ),
    ] = 0.3,
    rate: Annotated[
        str,
        typer.Option(
            metavar="RATE[,RATE...]",
            help="Rates of the links, such as none,10Mbit: each size is measured with each rate.",
        ),
    ] = "none",
    queries: Annotated[
        str, typer.Option(metavar="N[,N-N...]", help="Numbers of TPC-H's queries, such as 1,5-7.")
    ] = "1,6",
    scale: Annotated[
        float, typer.Option(min=0.01, max=10_000, metavar="N", help="Scale factor; 1 is about 1 GB.")
    ] = 0.1,
    blocks: Annotated[
        int, typer.Option(min=2, max=10_000, metavar="N", help="Executions of each query on each cluster.")
    ] = 8,
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Memory of each node, page cache included, such as 512MiB."),
    ] = None,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="Beginning of the clusters' names.")
    ] = "speedup",
    version: Annotated[
        str | None, typer.Option(metavar="MAJOR", help="Version of the shards, such as 18 or 15.")
    ] = None,
    timeout: options.Timeout = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed for the order within blocks.")] = 0,
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.Numbers = None,
) -> None:
    """Measure how much faster TPC-H's queries are on larger clusters, each node with the same CPU quota.

    Example: tare cluster speedup --shards 1,2,4 --cpus 0.3 --queries 1,5,6 --html speedup.html

    Starts and loads all clusters, runs each query once on every cluster in each block, and removes the clusters.
    Ctrl-C ends it early; whole blocks are reported.

    Exit code: 0 done, 1 a query failed, 2 the request was at fault, 130 Ctrl-C, 143 SIGTERM.
    """
    from importlib.metadata import version as installed

    from tare.cli import destinations
    from tare.cli.tpch_queries import of_numbers
    from tare.cluster import rights, units
    from tare.cluster.record import Limits
    from tare.cluster.request import DEFAULT_DISK
    from tare.cluster.speedup import SpeedupRequest, Stopped, measure
    from tare.interruption import exit_code_of
    from tare.os.facts import now
    from tare.report.cluster.document import build_report
    from tare.report.cluster.story import story
    from tare.report.kit.deliver import deliver

    given = {"html": html, "markdown": markdown, "json": json}
    destinations.check(given)
    memory_bytes = None if memory is None else units.size_bytes(memory, "--memory")
    request = SpeedupRequest(
        engine="postgresql",
        name=name,
        arms=arms(shards, rate),
        cpus=cpus,
        scale=scale,
        queries=tuple(of_numbers(queries, "postgresql", scale)),
        blocks=blocks,
        seed=seed,
        limits=Limits(disk_bytes=DEFAULT_DISK, memory_bytes=memory_bytes),
        version=version,
        timeout_s=timeout,
    )
    rights.check()
    stopped: list[KeyboardInterrupt] = []

    def hear(event: Event) -> None:
        if isinstance(event, Stopped):
            stopped.append(event.interrupt)
        elif sys.stderr.isatty():
            typer.echo(line(event), err=True)

    record = measure(request, hear)
    for query, error in record.failures.items():
        typer.echo(f"tare: {query}: {error}", err=True)
    report = build_report(record, installed("tare-db"), now())
    deliver(story(report), report, given)
    if stopped:
        raise typer.Exit(exit_code_of(stopped[0]))
    raise typer.Exit(1 if record.failures else 0)


def arms(shards: str, rates: str) -> tuple[Arm, ...]:
    """Return each size with each rate, sizes first. Raises UsageError."""
    from tare.cluster import units
    from tare.cluster.speedup import Arm

    words = [word.strip() for word in shards.split(",")]
    wrong = next((word for word in words if not (word.isascii() and word.isdigit() and int(word))), None)
    if wrong is not None:
        raise UsageError(f"--shards {shards}: {wrong!r} is no number of shards", "write --shards 1,2,4")
    limits = [
        None if word.strip() == "none" else units.rate_bits(word.strip(), "--rate")
        for word in rates.split(",")
    ]
    return tuple(dict.fromkeys(Arm(shards=int(word), rate_bits=limit) for limit in limits for word in words))


def line(event: Event) -> str:
    """Return an event as a line of a log."""
    from tare.cluster.speedup import Done, Failed, Step

    match event:
        case Step():
            return f"{event.text} …"
        case Done():
            one = event.execution
            return f"block {one.block + 1}, {one.query}, {one.arm.name}: {one.wall_ns / 1e6:.1f} ms"
        case Failed():
            return f"{event.query} failed: {event.error}"
    return "interrupted: whole blocks are kept"
