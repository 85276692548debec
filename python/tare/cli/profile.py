"""`tare profile`: finds the functions that make a transaction's duration vary."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from tare.cli import options, profile_show
from tare.cli.command import Commands, needs
from tare.cli.help import ADVANCED

app = Commands(
    help="Find the functions that make transactions unpredictable: the variance of their durations over the call tree "
    "of an unmodified server.\n\nExample: tare profile attach --db postgresql --txn commit",
    no_args_is_help=True,
)


class Backend(StrEnum):
    AGENT = "agent"
    XRAY = "xray"
    ANNOTATION = "annotation"


Txn = Annotated[
    str | None,
    typer.Option(
        "--txn",
        metavar="TRANSACTION",
        help="Definition of a transaction. commit: from the first command to the commit; statement: one statement; "
        "function:NAME; usdt:PROVIDER:BEGIN,END; annotation: markers in the program. "
        "Default: commit for servers, statement for engines in a process.",
    ),
]
Budget = Annotated[
    str,
    typer.Option(
        metavar="SHARE",
        help="Share of a transaction's time that probes may take: 5% or 0.05. Tare predicts it from counted calls, "
        "measures it after each pair of windows, and removes probes that take more.",
    ),
]
Duration = Annotated[
    float,
    options.duration(
        "--duration",
        "Length of all rounds, with counting and analysis, from the first transaction on. Examining the server "
        "before and after, and the report, take some 10 s more.",
        least=0.001,
    ),
]
Rounds = Annotated[
    int,
    typer.Option(
        min=1, max=50, metavar="N", help="Most rounds. Refinement may stop earlier, and then says why."
    ),
]
Auto = Annotated[
    bool | None,
    typer.Option(
        "--auto/--no-auto",
        help="Divide the function that varies most, round after round, or make one round only. Default: one round with "
        "--functions, else further rounds.",
    ),
]
Functions = Annotated[
    str | None,
    typer.Option(
        metavar="FUNCTION[,...]",
        help="Watch these functions instead of the preset's; with --auto they are the first round. NAME, "
        "NAME@LIBRARY, or 0xADDRESS.",
    ),
]
Name = Annotated[
    str | None, typer.Option(metavar="NAME", help="Name of the profile. Default: the DBMS, date and time.")
]
ServerTime = Annotated[
    bool,
    typer.Option(
        "--server-time",
        help="Explain the variance of the server alone: time that it waits for the client between statements is "
        "left out.",
        rich_help_panel=ADVANCED,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        min=0,
        max=2**63 - 1,
        metavar="N",
        help="Seed for the order of windows.",
        rich_help_panel=ADVANCED,
    ),
]


@app.command()
@needs("report")
def attach(
    db: Annotated[
        str | None,
        typer.Option(
            "--db",
            envvar="TARE_DB",
            metavar="URL|NAME",
            callback=options.url,
            help="Server to watch: postgresql://…, mariadb://… on this machine; or postgresql, mariadb, if one runs "
            "here.",
        ),
    ] = None,
    pid: Annotated[
        int | None,
        typer.Option(min=1, metavar="PID", help="Process to watch instead, of any program."),
    ] = None,
    children: Annotated[
        bool | None,
        typer.Option(
            "--children/--no-children",
            help="Also watch processes that it forks or has forked. Default: if it has children that run the same "
            "program.",
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    txn: Txn = None,
    top: profile_show.Top = 10,
    budget: Budget = "5%",
    duration: Duration = 60.0,
    rounds: Rounds = 5,
    auto: Auto = None,
    functions: Functions = None,
    server_time: ServerTime = False,
    name: Name = None,
    profiles: options.Profiles = "profiles",
    seed: Seed = 0,
    html: options.Html = None,
    markdown: options.Markdown = None,
    json: options.Json = None,
    connect_timeout: options.ConnectTimeout = 10.0,
) -> None:
    """Profile a running server without a restart, by uprobes on its functions. Needs root, and a load on the server.

    The first round watches phases and waits that are known to matter. Tare counts calls before it times them, to keep
    the probes within the budget. Each further round divides the function whose own time varies most. Windows with
    and without probes alternate, and the report gives the measured overhead with its interval; when that exceeds the
    budget, Tare removes the most expensive probes at once. After removing the last probe it checks for 2 s that the
    server continues. Ctrl-C ends the round, and Tare analyses the recorded part. Exit code 3: the server ended or
    hangs.

    Example: tare profile attach --db postgresql --txn commit --duration 2m
    """
    from tare.cli.profile_call import Call
    from tare.cli.profile_request import asked

    call = Call(name, profiles, top, {"html": html, "markdown": markdown, "json": json})
    request = asked(
        txn=txn,
        budget=budget,
        duration=duration,
        rounds=rounds,
        auto=auto,
        functions=functions,
        server_time=server_time,
        seed=seed,
    )
    raise typer.Exit(call.attached(request, db, pid, connect_timeout, children))


@app.command(context_settings={"allow_interspersed_args": False})
@needs("report")
def run(
    command: Annotated[
        list[str], typer.Argument(metavar="COMMAND", help="The server's program and its arguments.")
    ],
    backend: Annotated[
        Backend,
        typer.Option(
            metavar=options.choices(Backend),
            help="Way to watch functions. agent: trampolines in an unmodified program; xray: sleds of clang "
            "-fxray-instrument; annotation: only the program's own markers.",
            rich_help_panel=ADVANCED,
        ),
    ] = Backend.AGENT,
    user: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Run COMMAND as this user: some servers refuse to run as root."),
    ] = None,
    load: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Shell command that puts a load on the server. Tare starts it with COMMAND and ends it with the "
            "profile.",
        ),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave COMMAND running after the profile, for `refine`.")
    ] = False,
    txn: Txn = None,
    top: profile_show.Top = 10,
    budget: Budget = "5%",
    duration: Duration = 60.0,
    rounds: Rounds = 5,
    auto: Auto = None,
    functions: Functions = None,
    server_time: ServerTime = False,
    name: Name = None,
    profiles: options.Profiles = "profiles",
    seed: Seed = 0,
    html: options.Html = None,
    markdown: options.Markdown = None,
    json: options.Json = None,
) -> None:
    """Start COMMAND with Tare's library preloaded, and profile it from inside: a probe costs some 40 ns.

    The program file is not changed: the library puts trampolines on the functions of each round while the program
    runs. Put a load on it yourself, or with --load. Ctrl-C ends the profile, then COMMAND. Exit code 3: COMMAND ended
    or hangs.

    Example: tare profile run --user postgres -- postgres -D /var/lib/pg
    """
    from tare.cli.profile_call import Call
    from tare.cli.profile_request import asked

    call = Call(name, profiles, top, {"html": html, "markdown": markdown, "json": json})
    request = asked(
        txn=txn,
        budget=budget,
        duration=duration,
        rounds=rounds,
        auto=auto,
        functions=functions,
        server_time=server_time,
        seed=seed,
    )
    raise typer.Exit(call.launched(request, command, str(backend), user=user, load=load, keep=keep))


@app.command()
@needs("report")
def refine(
    run: profile_show.Run,
    functions: Annotated[
        str | None,
        typer.Argument(
            metavar="FUNCTION[,...]", help="Divide these functions: their callees are watched as well."
        ),
    ] = None,
    top: profile_show.Top = 10,
    budget: Budget = "5%",
    duration: Duration = 60.0,
    rounds: Rounds = 5,
    auto: Annotated[
        bool,
        typer.Option(
            "--auto/--no-auto",
            help="Continue with further rounds. Without effect where a function is named.",
        ),
    ] = True,
    server_time: ServerTime = False,
    name: Name = None,
    profiles: options.Profiles = "profiles",
    seed: Seed = 0,
    html: options.Html = None,
    markdown: options.Markdown = None,
    json: options.Json = None,
) -> None:
    """Continue a profile whose server still runs: divide further, in a new profile that begins with its findings.

    Exit code 3: the server ended or hangs.

    Example: tare profile refine p1 heap_update,XLogFlush
    """
    from tare.cli.profile_call import Call
    from tare.cli.profile_request import asked

    call = Call(name, profiles, top, {"html": html, "markdown": markdown, "json": json})
    request = asked(
        txn=None,
        budget=budget,
        duration=duration,
        rounds=rounds,
        auto=auto and functions is None,
        functions=functions,
        server_time=server_time,
        seed=seed,
    )
    raise typer.Exit(call.refined(request, run))


@app.command()
def backends(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="Program to test for preloading Tare's library into it."),
    ] = None,
    json: options.Json = None,
) -> None:
    """Try each way to watch functions on this machine, and report which work and why the others do not.

    The exit code is 1 if none works.

    Example: tare profile backends -- postgres
    """
    from tare.cli.profile_backends import report

    raise typer.Exit(report(command or [], json))


app.command()(profile_show.show)
app.command()(profile_show.diff)
app.command("list")(profile_show.list_)
app.command()(profile_show.export)
