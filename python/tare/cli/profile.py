"""`tare profile`: which functions make a transaction's duration vary."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from tare.cli import options, profile_show
from tare.cli.command import Commands

app = Commands(
    help="Find the functions that make transactions unpredictable: the variance of their durations is split over the "
    "call tree of an unmodified server.",
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
        metavar="PRESET|function:NAME|usdt:PROVIDER:BEGIN,END|annotation",
        help="Transaction to profile. commit: from the first command to the commit; statement: one of them. "
        "Default: commit for servers, statement for engines in a process.",
    ),
]
Budget = Annotated[
    str,
    typer.Option(
        metavar="SHARE",
        help="Share of the throughput that probes may take, averaged over the whole profile: 5% or 0.05. Predicted "
        "from the calls counted, then measured after each group of windows; probes that take more are let go.",
    ),
]
Peak = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE",
        help="Share of the throughput that probes may take while all are on. Default: four times the budget.",
    ),
]
Duration = Annotated[
    str,
    typer.Option(
        metavar="DURATION",
        help="Length of all rounds, counting and analysis included: 60s, 2m. From the first "
        "transaction on; looking at the server before and after, and the report, take some 10 s more.",
    ),
]
Rounds = Annotated[
    int, typer.Option(min=1, max=50, help="At most; refinement may end earlier, and says why.")
]
Auto = Annotated[
    bool | None,
    typer.Option(
        "--auto/--no-auto",
        help="Divide what varies, round after round, or make one round only. Default: one round where --functions "
        "names what to watch, else further rounds.",
    ),
]
Functions = Annotated[
    str | None,
    typer.Option(
        metavar="F[,F…]",
        help="Watch these, instead of what is known to be worth a look; with --auto they are the first round. NAME, "
        "NAME@LIBRARY, or 0xADDRESS.",
    ),
]
Top = Annotated[int, typer.Option(min=1, max=1000, help="How many factors to print.")]
Name = Annotated[
    str | None, typer.Option(metavar="NAME", help="Name of the run. Default: the DBMS, date and time.")
]
ServerTime = Annotated[
    bool,
    typer.Option(
        "--server-time",
        help="Look for what the server itself varies by: time waiting for the client between statements is taken out.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=2**63 - 1, metavar="N", help="Seed of the windows' order.")]


@app.command()
def attach(
    db: Annotated[
        str | None,
        typer.Option(
            "--db",
            envvar="TARE_DB",
            metavar="URL|NAME",
            callback=options.url,
            help="postgresql://…, mariadb://… on this machine; or postgresql, mariadb: the one that runs here.",
        ),
    ] = None,
    pid: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="A process instead, of whatever program.")
    ] = None,
    children: Annotated[
        bool | None,
        typer.Option(
            "--children/--no-children",
            help="Watch processes that it forks and has forked, too. Default: where it has children that run the same "
            "program.",
        ),
    ] = None,
    txn: Txn = None,
    top: Top = 10,
    budget: Budget = "5%",
    peak: Peak = None,
    duration: Duration = "60s",
    rounds: Rounds = 5,
    auto: Auto = None,
    functions: Functions = None,
    server_time: ServerTime = False,
    name: Name = None,
    profiles: options.Profiles = "profiles",
    seed: Seed = 0,
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.Numbers = None,
    connect_timeout: options.ConnectTimeout = 10.0,
) -> None:
    """Profile a running server, without a restart: uprobes on its functions, by BPF. Needs root, and a load on it.

    The first round watches phases and waits that are known to matter; calls are counted before anything is timed, so
    that the probes stay within the budget. Each further round divides the function whose own time varies most. Windows
    with and without probes take turns, and the overhead really caused is reported with its interval; where that is
    above the budget, the dearest probes are let go at once. After the last probe is off, Tare watches for 2 s that the
    server gets on. Ctrl-C ends the round; what is there is analysed.

    Exit code: 0 done, 1 the profile failed, 2 the request was at fault, 3 the watched server ended or hangs, 130
    Ctrl-C, 143 SIGTERM.
    """
    from tare.cli.profile_call import Call
    from tare.cli.profile_request import asked

    call = Call(name, profiles, top, {"html": html, "markdown": markdown, "json": json})
    request = asked(
        txn=txn,
        budget=budget,
        peak=peak,
        duration=duration,
        rounds=rounds,
        auto=auto,
        functions=functions,
        server_time=server_time,
        seed=seed,
    )
    raise typer.Exit(call.attached(request, db, pid, connect_timeout, children))


@app.command(context_settings={"allow_interspersed_args": False})
def run(
    command: Annotated[
        list[str], typer.Argument(metavar="COMMAND...", help="The server, and its arguments.")
    ],
    backend: Annotated[
        Backend,
        typer.Option(
            help="agent: trampolines in an unmodified program; xray: sleds of clang -fxray-instrument; annotation: "
            "only what the program says itself."
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
            help="A shell command that puts a load on it, started with it and ended with the profile.",
        ),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Let COMMAND run on when the profile has ended, for `refine`.")
    ] = False,
    txn: Txn = None,
    top: Top = 10,
    budget: Budget = "5%",
    duration: Duration = "60s",
    rounds: Rounds = 5,
    auto: Auto = None,
    functions: Functions = None,
    server_time: ServerTime = False,
    name: Name = None,
    profiles: options.Profiles = "profiles",
    seed: Seed = 0,
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.Numbers = None,
) -> None:
    """Start COMMAND with Tare's library in it, and profile it from within: a probe costs some 40 ns, not microseconds.

    The program is not changed: the library is preloaded, and puts trampolines on the functions of each round while it
    runs. The load comes from elsewhere, or from --load. Ctrl-C ends the profile, then COMMAND.

    Exit code: 0 done, 1 the profile failed, 2 the request was at fault, 3 COMMAND ended or hangs in mid-run, 130
    Ctrl-C, 143 SIGTERM.
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
def refine(
    run: profile_show.Run,
    functions: Annotated[
        str | None,
        typer.Argument(metavar="[F,F…]", help="Divide these: their callees are watched beside what was."),
    ] = None,
    top: Top = 10,
    budget: Budget = "5%",
    peak: Peak = None,
    duration: Duration = "60s",
    rounds: Rounds = 5,
    auto: Annotated[
        bool,
        typer.Option("--auto/--no-auto", help="Go on by itself. Default: only where no function is named."),
    ] = True,
    server_time: ServerTime = False,
    name: Name = None,
    profiles: options.Profiles = "profiles",
    seed: Seed = 0,
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.Numbers = None,
) -> None:
    """Go on from a run whose server still runs: divide further, in a new run that begins with what this one found.

    Exit code: 0 done, 1 the profile failed, 2 the request was at fault or the server has ended, 3 the server ended or
    hangs in mid-run, 130 Ctrl-C.
    """
    from tare.cli.profile_call import Call
    from tare.cli.profile_request import asked

    call = Call(name, profiles, top, {"html": html, "markdown": markdown, "json": json})
    request = asked(
        txn=None,
        budget=budget,
        peak=peak,
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
        typer.Argument(
            metavar="[COMMAND]...", help="A program to look at too: can a library be preloaded into it?"
        ),
    ] = None,
    json: options.AsJson = False,
) -> None:
    """Try each way to watch functions on this machine, and say which works and why another does not.

    Exit code: 0 at least one works, 1 none does.
    """
    from tare.cli.profile_backends import told

    raise typer.Exit(told(command or [], as_json=json))


app.command()(profile_show.show)
app.command()(profile_show.diff)
app.command("list")(profile_show.list_)
app.command()(profile_show.export)
