"""`tare tune`: settings as arms that take turns under one load."""

from __future__ import annotations

from enum import StrEnum
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from tare.cli import options
from tare.cli.bench_oltp import Db, Setting
from tare.cli.command import Commands
from tare.cli.experiment_run import Dir
from tare.tune.export import Form

app = Commands(
    help="Compare settings of a server under one load. Arms take turns in windows of a single open-loop run, so what "
    "changes with time meets all of them; the baseline runs twice, which gives the noise floor. Settings are always "
    "put back.\n\nExample: tare tune run tpcc --db postgresql --set synchronous_commit=off --rate 300",
    no_args_is_help=True,
)

Run = Annotated[str, typer.Argument(metavar="RUN", help="Tuning run by its id: t1.")]
AllowChanges = Annotated[
    bool,
    typer.Option(
        "--allow-changes",
        help="Change settings of a server that Tare did not start.",
    ),
]
AllowClients = Annotated[
    bool,
    typer.Option(
        "--allow-clients",
        help="Change settings although other sessions use the server.",
    ),
]
Rate = Annotated[
    float | None, typer.Option(min=0.001, metavar="RATE", help="Transactions per second to request.")
]
Objectives = Annotated[
    str,
    typer.Option(
        metavar="FIGURE[,...]",
        help="Figures to judge by: variance, sd, mean, p50, p99, p99.9, norm, throughput.",
    ),
]
Connections = Annotated[
    int, typer.Option(min=1, max=10_000, metavar="N", help="Number of connections to the server.")
]
WindowLength = Annotated[str, typer.Option("--window", metavar="DURATION", help="Length of a window.")]
Settle = Annotated[
    str,
    typer.Option("--settle", metavar="DURATION", help="Time after a switch that is left out of the figures."),
]
Warmup = Annotated[str, typer.Option("--warmup", metavar="DURATION", help="Load before the first window.")]
Margin = Annotated[
    str,
    typer.Option(metavar="PERCENT", help="Difference that does not matter."),
]
Mix = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TYPE=WEIGHT[,...]",
        help="Types of transactions to send. Repeatable. Default: the workload's mix.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=2**31 - 1,
        metavar="N",
        help="Seed for arrivals and the order of arms. Default: a new one.",
    ),
]


class Keep(StrEnum):
    DURABILITY = "durability"


KeepOption = Annotated[
    Keep | None,
    typer.Option("--keep", metavar="durability", help="Leave out arms that give durability up."),
]


@app.command()
def run(
    load: Annotated[
        str,
        typer.Argument(
            metavar="WORKLOAD|FILE",
            help="Workload by its name in `tare bench oltp list`, or a specification: tune.toml.",
        ),
    ],
    db: Db,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE[,...]",
            help="Setting to change; each value is an arm. Repeatable. Arms of several settings need a specification.",
        ),
    ] = None,
    rate: Rate = None,
    objective: Objectives = "variance,p99,mean",
    keep: KeepOption = None,
    connections: Connections = 64,
    blocks: Annotated[
        int, typer.Option(min=2, max=10_000, metavar="N", help="Blocks; each holds every arm once.")
    ] = 12,
    window: WindowLength = "5s",
    settle: Settle = "0.7s",
    warmup: Warmup = "10s",
    margin: Margin = "10%",
    mix: Mix = None,
    option: Setting = None,
    seed: Seed = None,
    allow_changes: AllowChanges = False,
    allow_clients: AllowClients = False,
    tunings: options.Tunings = "tunings",
    lab: options.Lab = "lab.db",
    dir_: Dir = None,
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.Numbers = None,
    title: options.Title = None,
) -> None:
    """Measure arms and judge each against the baseline.

    The workload must be loaded (`tare bench oltp load`). Windows that begin with a backlog end the run: the server is
    over capacity at this rate, and no arm has a result. Ctrl-C keeps the whole blocks. After kill -9, `tare tune
    restore` puts the settings back.

    The exit code is 1 if no arm has a result.

    Example: tare tune run tpcc --db mariadb --set innodb_flush_log_at_trx_commit=0,2 --rate 400
    """
    from tare.cli import tune_request
    from tare.cli.tune_run import Call, measure
    from tare.errors import UsageError
    from tare.tune.specification import TuneSpecification

    if load.endswith(".toml"):
        if set_ or rate is not None:
            raise UsageError("--set and --rate do not apply to a specification", f"write them into {load}")
        specification = tune_request.read(Path(load))
    else:
        if not set_:
            raise UsageError("--set is needed", "write e.g. --set synchronous_commit=off --rate 300")
        specification = TuneSpecification(
            load=tune_request.load(load, rate, connections, warmup, mix, option),
            blocks=tune_request.blocks(window, settle, blocks),
            goal=tune_request.goal(objective, margin, keep is Keep.DURABILITY),
            arm=tune_request.arms(set_),
        )
    call = Call(
        db=db,
        lab=lab,
        dir=dir_,
        tunings=Path(tunings),
        allow_changes=allow_changes,
        allow_clients=allow_clients,
        given={"html": html, "markdown": markdown, "json": json},
        title=title,
    )
    raise typer.Exit(measure(call, specification, seed))


@app.command()
def search(
    load: Annotated[
        str, typer.Argument(metavar="WORKLOAD", help="Workload by its name in `tare bench oltp list`.")
    ],
    db: Db,
    rate: Rate = None,
    knobs: Annotated[
        str | None,
        typer.Option(
            metavar="auto|NAME[,...]",
            help="Settings of Tare's table to try. Default: auto, all that the server has; none where --set is given.",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE[,...]", help="Setting and values to try, too. Repeatable."),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(metavar="PROFILE", help="Try the settings that govern the factors of this profile: p1."),
    ] = None,
    objective: Objectives = "variance,p99,mean",
    keep: KeepOption = None,
    budget: Annotated[str, typer.Option("--budget", metavar="DURATION", help="Time to take.")] = "30m",
    connections: Connections = 64,
    window: WindowLength = "3s",
    settle: Settle = "0.5s",
    warmup: Warmup = "5s",
    margin: Margin = "10%",
    mix: Mix = None,
    option: Setting = None,
    seed: Seed = None,
    allow_changes: AllowChanges = False,
    allow_clients: AllowClients = False,
    tunings: options.Tunings = "tunings",
    profiles: options.Profiles = "profiles",
    lab: options.Lab = "lab.db",
    dir_: Dir = None,
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.Numbers = None,
    title: options.Title = None,
) -> None:
    """Search the best of many settings: the worse half leaves in each round, and the last two are measured again.

    The first figure of --objective ranks the candidates. Verdicts are over fresh blocks alone, since the best of many
    noisy figures is too good. A candidate that overloads the server at this rate leaves at once.

    The exit code is 1 if no arm has a result.

    Example: tare tune search tpcc --db mariadb --rate 400 --keep durability --budget 30m
    """
    from tare.cli import tune_request, values
    from tare.cli.tune_run import Call, SearchRequest
    from tare.cli.tune_run import search as measure
    from tare.errors import UsageError

    if knobs is not None and profile is not None:
        raise UsageError("--knobs and --profile both say what to try", "give one of them")
    asked = SearchRequest(
        load=tune_request.load(load, rate, connections, warmup, mix, option),
        blocks=tune_request.blocks(window, settle, 2),
        goal=tune_request.goal(objective, margin, keep is Keep.DURABILITY),
        arms=tune_request.arms(set_ or ()),
        has_knobs=knobs is not None or profile is not None or not set_,
        knobs=tune_request.knobs(knobs),
        functions=None if profile is None else tune_request.functions(profile, Path(profiles)),
        budget_s=values.long_enough(budget, "--budget"),
    )
    call = Call(
        db=db,
        lab=lab,
        dir=dir_,
        tunings=Path(tunings),
        allow_changes=allow_changes,
        allow_clients=allow_clients,
        given={"html": html, "markdown": markdown, "json": json},
        title=title,
    )
    raise typer.Exit(measure(call, asked, seed))


@app.command()
def resume(
    run: Run,
    db: Db,
    blocks: Annotated[int, typer.Option(min=1, max=10_000, metavar="N", help="Blocks to add.")] = 12,
    allow_changes: AllowChanges = False,
    allow_clients: AllowClients = False,
    tunings: options.Tunings = "tunings",
    lab: options.Lab = "lab.db",
    dir_: Dir = None,
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.Numbers = None,
    title: options.Title = None,
) -> None:
    """Add blocks to a tuning run, with the same arms on the same server, and report all of them.

    Example: tare tune resume t1 --db postgresql --blocks 24
    """
    from tare.cli.tune_run import Call, extend

    call = Call(
        db=db,
        lab=lab,
        dir=dir_,
        tunings=Path(tunings),
        allow_changes=allow_changes,
        allow_clients=allow_clients,
        given={"html": html, "markdown": markdown, "json": json},
        title=title,
    )
    raise typer.Exit(extend(call, run, blocks))


@app.command()
def report(
    run: Run,
    tunings: options.Tunings = "tunings",
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.Numbers = None,
    title: options.Title = None,
) -> None:
    """Report a tuning run again.

    Example: tare tune report t1 --html t1.html
    """
    from tare.cli import destinations
    from tare.cli.tune_run import deliver_tuning
    from tare.tune.store import load

    given = {"html": html, "markdown": markdown, "json": json}
    destinations.check(given)
    deliver_tuning(load(Path(tunings), run), given, title)


@app.command()
def apply(
    run: Run,
    arm: Annotated[str, typer.Argument(metavar="ARM", help="Arm by its name in the report.")],
    as_: Annotated[
        Form,
        typer.Option("--as", metavar="my.cnf|postgresql.conf|sql", help="Form of the commands to print."),
    ] = Form.SQL,
    tunings: options.Tunings = "tunings",
) -> None:
    """Print the commands that apply an arm. Nothing is changed.

    Example: tare tune apply t1 synchronous_commit=off --as postgresql.conf
    """
    from tare.errors import UsageError
    from tare.meant import meant
    from tare.tune.durability import losses
    from tare.tune.export import export
    from tare.tune.store import load

    tuning = load(Path(tunings), run)
    settings = tuning.arms.get(arm)
    if not settings:
        known = [name for name, values in tuning.arms.items() if values]
        raise UsageError(
            f"t{tuning.number} has no arm {arm}", meant(arm, known, f"choose one of {', '.join(known)}")
        )
    for loss in losses(settings):
        typer.echo(f"{loss.setting} = {loss.value} gives durability up: {loss.what}", err=True)
    typer.echo(export(settings, tuning.dbms, as_), nl=False)


@app.command()
def restore(json: options.AsJson = False) -> None:
    """Put back the settings that killed tuning runs left.

    The exit code is 1 if a server did not prove each value; its journal stays.

    Example: tare tune restore
    """
    from tare.tune.journal import restore as put_back

    restored = put_back()
    document = {
        "restored": [
            {
                "url": undone.url,
                "settings": [setting.name for setting in undone.kept],
                "failure": undone.failure,
            }
            for undone in restored
        ]
    }
    if json:
        typer.echo(dumps(document))
    else:
        for undone in restored:
            if undone.failure is None:
                typer.echo(f"{undone.url}: put back {undone.what}")
            else:
                typer.echo(
                    f"{undone.url}: {undone.what} not put back: {undone.failure}\n  journal: {undone.path}",
                    err=True,
                )
        if not restored:
            typer.echo("no tuning run left settings behind", err=True)
    raise typer.Exit(1 if any(undone.failure for undone in restored) else 0)
