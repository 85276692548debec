"""`tare os`: what a database asks of its operating system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tare.cli import options
from tare.cli.command import WORDS, Commands
from tare.cli.given import given
from tare.os.level import Level

app = Commands(
    help="Count what a database asks of its operating system: system calls, page cache, disk and sockets, by node and "
    "role.",
    no_args_is_help=True,
)


Nodes = Annotated[
    list[str] | None,
    typer.Option(
        "--node",
        metavar="NAME=pid:P[,P]|cgroup:PATH|netns:NAME",
        help="Observe these processes as one node of a cluster: processes with their descendants, all of a control "
        "group (a path below /sys/fs/cgroup, or absolute), or all of a network namespace. Repeatable.",
    ),
]
ClusterName = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="NAME",
        help="Observe the nodes of this cluster, which `tare cluster start` made.",
    ),
]
LevelOption = Annotated[
    Level | None,
    typer.Option(
        "--level",
        help="proc: counters of /proc, without privilege. light: adds scheduler, page cache, disk and sockets. full: "
        "adds each system call. messages: adds each message with a hash of its content. reads: adds each buffered read "
        "with its place in the file. All but proc need root. "
        "Default: full, or proc where the kernel refuses.",
    ),
]
RoleRules = Annotated[
    Path | None,
    typer.Option(
        "--roles",
        metavar="FILE",
        help="Rules for the roles of threads, which come before the built-in ones. TOML: for each DBMS an array of "
        "tables with title = 'REGEX' or thread = 'REGEX', and role = 'NAME'.",
    ),
]


@app.command()
def watch(
    context: typer.Context,
    *,
    pid: Annotated[
        list[int] | None,
        typer.Option(
            "--pid", min=1, metavar="P", help="Observe this process and its descendants. Repeatable."
        ),
    ] = None,
    node: Nodes = None,
    cluster: ClusterName = None,
    db: options.DbOfStatements = None,
    duration: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION", help="Length: 30s, 2m. Default: until Ctrl-C or the end of the processes."
        ),
    ] = None,
    interval: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="Length of a window: 500ms, 1s. Default: one window for all."),
    ] = None,
    level: LevelOption = None,
    roles: RoleRules = None,
    connect_timeout: options.ConnectTimeout = 10.0,
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.Numbers = None,
) -> None:
    """Observe a load that others put on processes, on a cluster's nodes or on a server.

    For example: tare os watch --db postgresql://localhost/shop --duration 30s

    Ctrl-C ends the observation early; what was counted is reported.

    Exit code: 0 done, 1 the observation failed, 2 the request was at fault, 130 Ctrl-C, 143 SIGTERM.
    """
    from tare.cli import os_request
    from tare.cli.os_call import Call

    call = Call({"html": html, "markdown": markdown, "json": json})
    node = os_request.nodes(node, cluster)
    # TARE_DB is set for other commands, too.
    is_unneeded = bool(pid or node) and "db" not in dict(given(context))
    asked = os_request.SubjectOptions.of(pid, node, None if is_unneeded else db, connect_timeout)
    duration_s = os_request.duration(duration)
    interval_s = os_request.interval(interval, duration_s)
    rules = os_request.rules(roles)
    raise typer.Exit(call.watch(asked.subject(), level, duration_s, interval_s, rules))


@app.command()
def run(
    context: typer.Context,
    *,
    db: options.DbOfStatements = None,
    sql: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SQL]...|tpch", help="Statements, one each; or tpch for TPC-H's queries."),
    ] = None,
    file: options.Files = None,
    each: options.Each = False,
    queries: Annotated[
        str, typer.Option(metavar="N[,N-N...]", help="With tpch: numbers of the queries, such as 1,5-7.")
    ] = "1-22",
    scale: Annotated[
        float,
        typer.Option(
            min=0.01, max=10_000, metavar="N", help="With tpch: scale factor of the data, loaded if absent."
        ),
    ] = 0.1,
    node: Nodes = None,
    cluster: ClusterName = None,
    runs: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Pairs of a traced and an untraced execution of each query; at level proc, executions.",
        ),
    ] = 5,
    level: LevelOption = None,
    cold: options.Cold = False,
    timeout: options.Timeout = None,
    seed: Annotated[
        int, typer.Option(min=0, max=2**63 - 1, metavar="N", help="Seed for the order within pairs.")
    ] = 0,
    roles: RoleRules = None,
    allow_writes: options.AllowWrites = False,
    allow_restart: options.AllowRestart = False,
    connect_timeout: options.ConnectTimeout = 10.0,
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.Numbers = None,
) -> None:
    """Run queries, and count what the server asks of the operating system for each.

    For example: tare os run --db postgresql://localhost/shop "SELECT count(*) FROM orders"
    or, with TPC-H's tables, which are loaded where there are none: tare os run tpch --db URL --queries 1,6 --scale 1
    or, on each node of a cluster: tare os run tpch --cluster NAME --queries 1,6

    Each query runs once to warm up, then in pairs of a traced and an untraced execution in random order, which give the
    overhead of the tracer. Ctrl-C ends the run; whole pairs are reported.

    Exit code: 0 done, 1 a query failed, 2 the request was at fault, 130 Ctrl-C, 143 SIGTERM.
    """
    from tare.cli import os_request
    from tare.cli.os_call import Call
    from tare.cli.os_cluster import cluster_queries
    from tare.cli.queries import gather
    from tare.cli.tpch_queries import tpch_queries
    from tare.os.nodes import parse_node
    from tare.os.run import RunRequest

    call = Call({"html": html, "markdown": markdown, "json": json})
    url = os_request.url_of(db if "db" in dict(given(context)) or not cluster else None, cluster)
    if sql != ["tpch"]:
        chosen = gather(context.meta[WORDS], sql, file, url, each=each)
    elif cluster:
        chosen = cluster_queries(cluster, queries)
    else:
        chosen = tpch_queries(url, queries, scale, connect_timeout, timeout)
    request = RunRequest(
        runs=runs,
        level=level,
        is_cold=cold,
        timeout_s=timeout,
        seed=seed,
        nodes=tuple(map(parse_node, os_request.nodes(node, cluster))),
        rules=os_request.rules(roles),
    )
    connect = os_request.connecting(
        url, connect_timeout, allow_writes=allow_writes, allow_restart=allow_restart
    )
    raise typer.Exit(call.run(connect, chosen, request, url))
