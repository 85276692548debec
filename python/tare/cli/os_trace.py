"""`tare os`: what queries or any load ask of the operating system."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tare.cli import options
from tare.cli.bench_tpch import EMBEDDED
from tare.cli.command import Commands
from tare.cli.help import ADVANCED
from tare.errors import UsageError
from tare.os.levels import Level

if TYPE_CHECKING:
    from tare.dbms.base import Session
    from tare.errors import PrivilegeMissing
    from tare.os.nodes import Node
    from tare.os.roles import Rule
    from tare.os.session import Query, Trace

app = Commands(
    help="Trace what queries, or any load, ask of the operating system: system calls, waits, page cache, block "
    "requests and messages, by node and role. Without root, what /proc shows.\n\n"
    "Example: tare os run 'SELECT count(*) FROM t' --db postgresql",
    no_args_is_help=True,
)

Nodes = Annotated[
    list[str] | None,
    typer.Option(
        "--node",
        metavar="NAME=SCOPE",
        help="Node by its processes: pid:NUMBER (with its children), cgroup:PATH, or netns:NAME for all processes of a "
        "network namespace. Repeatable.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Trace the nodes of a cluster that `tare cluster start` made."),
]
LevelOption = Annotated[
    Level,
    typer.Option(
        metavar=options.choices(Level),
        help="Depth of the trace. proc: none, only /proc. light: no system calls. full: with them. messages: with a "
        "hash of each message that nodes send over TCP.",
    ),
]
Roles = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Rules that give processes roles by their command lines, before the known ones: [[rule]] tables with "
        "pattern and role.",
        rich_help_panel=ADVANCED,
    ),
]


@app.command()
def watch(
    pid: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Process to trace, with its children.")
    ] = None,
    db: options.MaybeDb = None,
    node: Nodes = None,
    cluster: Cluster = None,
    duration: Annotated[float, options.duration("--duration", "Length of the trace.", least=0.1)] = 30.0,
    level: LevelOption = Level.FULL,
    roles: Roles = None,
    html: options.Html = None,
    markdown: options.Markdown = None,
    json: options.Json = None,
    title: options.Title = None,
) -> None:
    """Trace whatever a process, a server or a cluster does for a while. Ctrl-C ends the trace and reports it.

    Example: tare os watch --db postgresql --duration 10s --html os.html
    """
    from tare.os import session as conduct
    from tare.os.tracing import best_level

    outputs = _checked(html, markdown, json)
    rules = _rules(roles)
    nodes, target = _nodes(pid, db, node, cluster)
    level, refused = best_level(level)
    trace = conduct.watch(nodes, level, duration, _say)
    scope = ["--pid", str(pid)] if pid else _scope(target, db, node, cluster)
    words = ["watch", *scope, "--duration", f"{duration:g}s", "--level", level]
    _deliver(trace, rules, target, words, outputs, title, refused)


@app.command()
def run(
    queries: Annotated[
        list[str] | None,
        typer.Argument(metavar="SQL|tpch", help="Queries in quotes, or tpch for those of TPC-H."),
    ] = None,
    db: options.MaybeDb = None,
    cluster: Cluster = None,
    file: Annotated[
        list[Path] | None,
        typer.Option("--file", "-f", metavar="FILE", help="Trace the query in FILE. Repeatable."),
    ] = None,
    node: Nodes = None,
    numbers: Annotated[
        str,
        typer.Option("--queries", metavar="N[,N-N...]", help="Numbers of TPC-H's queries, such as 1,5-7."),
    ] = "1-22",
    scale: Annotated[
        float, typer.Option(min=0.01, max=10_000, metavar="N", help="Scale factor of TPC-H that is loaded.")
    ] = 0.1,
    runs: Annotated[
        int,
        typer.Option(min=1, max=1000, metavar="N", help="Traced executions; as many run without the trace."),
    ] = 5,
    warmup: Annotated[
        int, typer.Option(min=0, max=1000, metavar="N", help="Executions before the first traced one.")
    ] = 1,
    level: LevelOption = Level.FULL,
    timeout: options.Timeout = None,
    roles: Roles = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Seed for the order of executions.", rich_help_panel=ADVANCED),
    ] = None,
    html: options.Html = None,
    markdown: options.Markdown = None,
    json: options.Json = None,
    title: options.Title = None,
) -> None:
    """Trace queries one by one, on a server, a cluster, or an embedded DBMS.

    Traced and plain executions take turns, so the report says what the trace itself costs. A query that fails is
    reported with its error, and the others run; the exit code is then 1.

    Example: tare os run tpch --db postgresql --queries 1,6 --scale 0.1
    """
    from tare.cli.oltp_request import seed as new_seed
    from tare.dbms.registry import find
    from tare.dbms.url import scheme_of
    from tare.os import session as conduct
    from tare.os.tracing import best_level

    outputs = _checked(html, markdown, json)
    rules = _rules(roles)
    url = _url(db, cluster)
    chosen = _queries(queries or [], file or [], numbers, scheme_of(url), scale)
    if "tpch" in (queries or ()):
        _load_tpch(url, cluster, scale)
    session = find(url).connect(url)
    try:
        nodes = _cluster_nodes(cluster) if cluster else _given(node) or [_server(session, scheme_of(url))]
        level, refused = best_level(level)
        trace = conduct.run(
            nodes,
            level,
            session,
            chosen,
            runs=runs,
            warmup=warmup,
            timeout_s=timeout,
            seed=new_seed(seed),
            say=_say,
        )
        target = f"cluster {cluster}" if cluster else session.server.url
    finally:
        session.close()
    named = [word for path in file or () for word in ("-f", str(path))]
    parts = ["--queries", numbers, "--scale", f"{scale:g}"] if "tpch" in (queries or ()) else []
    words = ["run", *(queries or ()), *named, *_scope(target, db, node, cluster), *parts]
    words += ["--runs", str(runs), "--warmup", str(warmup), "--level", level]
    _deliver(trace, rules, target, words, outputs, title, refused)
    if any(stage.error for stage in trace.stages):
        raise typer.Exit(1)


# What is traced --------------------------------------------------------------------------------
def _nodes(
    pid: int | None, db: str | None, node: Sequence[str] | None, cluster: str | None
) -> tuple[list[Node], str]:
    """Nodes to watch, and what they are in words."""
    from tare.dbms.registry import find
    from tare.dbms.url import scheme_of
    from tare.os.nodes import node_of_process

    ways = [
        name
        for name, value in (("--pid", pid), ("--db", db), ("--node", node), ("--cluster", cluster))
        if value
    ]
    if len(ways) != 1:
        given = f"{', '.join(ways)} given" if ways else "nothing to trace is given"
        raise UsageError(given, "give one of --pid, --db, --node and --cluster")
    if pid:
        return [node_of_process("process", pid)], f"process {pid}"
    if node:
        return _given(node), ", ".join(node)
    if cluster:
        return _cluster_nodes(cluster), f"cluster {cluster}"
    assert db is not None
    if scheme_of(db) in EMBEDDED:
        raise UsageError(
            "an embedded DBMS runs in the program that uses it", "give that program's process id: --pid N"
        )
    session = find(db).connect(db)
    try:
        pid, target = _server_process(session), session.server.url
    finally:
        session.close()
    return [node_of_process("server", pid)], target


def _server(session: Session, scheme: str) -> Node:
    """All processes of the server; this process for an embedded DBMS. Raises UsageError."""
    from tare.os.nodes import Node, node_of_process

    if scheme in EMBEDDED:
        return Node("process", (os.getpid(),))
    return node_of_process("server", _server_process(session))


def _server_process(session: Session) -> int:
    """Id of the process that started all others of the server. Raises UsageError."""
    leader = session.leader()
    if leader is None:
        raise UsageError(
            f"the processes of {session.server.url} are not on this machine, or in another container",
            "run Tare where the server runs, in the same container",
        )
    parents = session.worker_parents(leader)
    return parents[0] if parents else leader.pid


def _given(node: Sequence[str] | None) -> list[Node]:
    from tare.os.nodes import check_apart, parse_node

    nodes = [parse_node(text) for text in node or ()]
    check_apart(nodes)
    return nodes


def _cluster_nodes(name: str) -> list[Node]:
    from tare.cluster import cluster as clusters
    from tare.os.nodes import node_of_namespace

    found = clusters.find(name)
    return [node_of_namespace(one.name, one.namespace) for one in found.nodes]


def _url(db: str | None, cluster: str | None) -> str:
    if cluster:
        from tare.cluster import cluster as clusters

        return clusters.find(cluster).url
    if db is None:
        raise UsageError("no database is given", "give --db URL or --cluster NAME")
    return db


def _queries(
    texts: Sequence[str], files: Sequence[Path], numbers: str, scheme: str, scale: float
) -> list[Query]:
    from tare.cli.bench_tpch import chosen
    from tare.os.session import Query
    from tare.workload.tpch.queries import query

    found = [
        Query(f"Q{number}", query(number, scheme, scale))
        for text in texts
        if text == "tpch"
        for number in chosen(numbers)
    ]
    given = [text for text in texts if text != "tpch"]
    found += [Query("query" if len(given) == 1 else f"query {at}", text) for at, text in enumerate(given, 1)]
    for path in files:
        try:
            found.append(Query(path.stem, path.read_text()))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} cannot be read: {error}", "name a file with one query") from error
    if not found:
        raise UsageError("no query is given", "give SQL in quotes, -f FILE, or tpch")
    return found


def _load_tpch(url: str, cluster: str | None, scale: float) -> None:
    """Load the tables where none of them exists."""
    if cluster:
        from tare.cluster import cluster as clusters
        from tare.cluster.tpch import ensure_loaded as load_shards

        load_shards(clusters.find(cluster), scale, _say)
        return
    from tare.cli.bench_tpch import prepare
    from tare.cli.weighing import Target
    from tare.dbms.url import scheme_of

    prepare(Target(url, 10.0, True, False, None, False), scheme_of(url), scale)


# What comes of it ---------------------------------------------------------------------------------
def _checked(html: str | None, markdown: str | None, json: str | None) -> dict[str, str | None]:
    from tare.cli import destinations

    given = {"html": html, "markdown": markdown, "json": json}
    destinations.check(given)
    return given


def _rules(file: Path | None) -> Sequence[Rule]:
    from tare.os.roles import known_rules, read_rules

    return read_rules(file) if file else known_rules()


def _deliver(
    trace: Trace,
    rules: Sequence[Rule],
    target: str,
    words: Sequence[str],
    outputs: dict[str, str | None],
    title: str | None,
    refused: PrivilegeMissing | None,
) -> None:
    """`words`: those of the command that trace the same."""
    from tare.report.kit.deliver import deliver
    from tare.report.os.build import build
    from tare.report.os.story import story

    report = build(
        trace,
        rules,
        target=target,
        command=shlex.join(["tare", "os", *words]),
        title=title,
        refused=refused.what if refused else None,
    )
    deliver(story(report), report, outputs)


def _scope(target: str, db: str | None, node: Sequence[str] | None, cluster: str | None) -> list[str]:
    """Options that name what was traced. `target`: URL without a password."""
    given = ["--cluster", cluster] if cluster else ["--db", target] if db else []
    return [*given, *(word for text in node or () for word in ("--node", text))]


def _say(text: str) -> None:
    if sys.stderr.isatty():
        typer.echo(f"\r\x1b[K{text}", err=True, nl=False)
