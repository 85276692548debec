"""`tare compare`: two queries, servers or settings; or two results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tare.cli import options
from tare.cli.command import WORDS
from tare.cli.option_groups import Outputs, RunOptions, ServerOptions, StatementOptions, with_groups
from tare.measure.choices import Blocks, CacheState


@with_groups
def compare(
    context: typer.Context,
    *,
    db: options.DbOfStatements = None,
    sql: options.SqlOrResults = None,
    file: options.Files = None,
    each: options.Each = False,
    a_db: Annotated[
        str | None,
        typer.Option(
            "--a-db",
            metavar="URL",
            callback=options.url,
            help="Database of arm A, where the arms are two servers: each query runs on both by turns. Default: --db.",
        ),
    ] = None,
    b_db: Annotated[
        str | None,
        typer.Option("--b-db", metavar="URL", callback=options.url, help="Database of arm B. Default: --db."),
    ] = None,
    a_set: Annotated[
        list[str] | None,
        typer.Option(
            "--a-set",
            metavar="NAME=VALUE",
            help="Setting of arm A's sessions, where the arms are settings: work_mem=4MB. Repeatable.",
        ),
    ] = None,
    b_set: Annotated[
        list[str] | None,
        typer.Option("--b-set", metavar="NAME=VALUE", help="Setting of arm B's sessions. Repeatable."),
    ] = None,
    runs: Annotated[
        int,
        typer.Option(min=2, metavar="N", help="Timed runs of each query; with --until ci=P%, the fewest."),
    ] = 12,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="ci=P%|decided",
            help="Continue until the ratio's 95% interval is within P% either way; or in blocks of five rounds until A "
            "and B are different or, with --margin, equivalent. Exit code of decided: 0, or 4 if --max is over.",
        ),
    ] = None,
    max_runs: Annotated[
        int, typer.Option(min=2, metavar="N", help="With --until ci=P%: the most runs of each.")
    ] = 200,
    blocks: Annotated[
        Blocks,
        typer.Option(
            help="Blocks, in which each query runs once (five times with --fail-if and --until decided). session: a "
            "fresh session for each; restart: the server is restarted before each; run: one session for all.",
        ),
    ] = Blocks.SESSION,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            metavar="slower=P%|bytes=P%|plan|answer",
            help="Be a gate: exit with 3 if B is slower than A by more than P%, 0 if not, 4 if undecided; runs until "
            "decided, or for --max. Repeatable: also 3 if B reads more bytes from the disk by more than P%, has "
            "another plan, or another answer.",
        ),
    ] = None,
    max_: Annotated[
        str,
        typer.Option(
            "--max", metavar="TIME", help="Longest time of a gate, and of --until decided: 90s, 10m, 1h."
        ),
    ] = "10m",
    bisect: Annotated[
        bool,
        typer.Option(
            "--bisect",
            help="Exit codes of a gate for `git bisect run`: 0 good, 1 bad, 125 undecided or not measured, 128 a bad "
            "request.",
        ),
    ] = False,
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Measure that the verdict is about: wall_ms, cpu_ms (the leader's), resources.cpu_ms (all processes') "
            "or instructions. Default: resources.cpu_ms when warm, wall_ms otherwise.",
        ),
    ] = None,
    margin: Annotated[
        str | None,
        typer.Option(
            metavar="P%",
            help="Change, either way, that does not matter: A and B are different if the interval of their ratio lies "
            "beyond it, equivalent if it lies within, else undecided. Default: any change matters.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the order of runs.")] = 0,
    lab: options.Lab = "lab.db",
    profiles: options.Profiles = "profiles",
    run_options: RunOptions,
    statement_options: StatementOptions,
    outputs: Outputs,
    allow_writes: options.AllowWrites = False,
    server_options: ServerOptions,
) -> None:
    """Compare two queries: runs interleaved in random order, and how sure the difference is.

    Without a database it compares two results of `tare time --json`, query by query (tare compare OLD.json NEW.json),
    two transactional runs (tare compare o1 o2) or two profiles (tare compare p1 p2).

    Of two queries it reports the ratio with its 95% interval, Mann–Whitney's p and the effect size, and whether the
    difference lies in planning or in execution. The verdict is drawn from the 99% interval: different, equivalent (with
    --margin), or undecided. A run with --until ci=P% stops on the interval's width, never on a p-value.

    With --a-db and --b-db, or --a-set and --b-set, each query is compared with itself: on two servers, or under two
    settings. The verdicts on several queries hold for all together.

    With --fail-if and --until decided, A runs twice in each round: the ratio of its two copies is this machine's noise
    floor now, and a margin tighter than the floor stays undecided. The verdict's error rate, 5%, holds however many
    blocks the run takes. Exit code of a gate: 0 not slower, 3 slower, 4 undecided, 1 not measured, 2 the request was at
    fault.
    """
    from tare.cli.arms import on_both, targets_of
    from tare.cli.compare_results import compare_ids, compare_results, pair_of_results
    from tare.cli.gate import git_codes, run_gate
    from tare.cli.given import refuse_given
    from tare.cli.output import deliver
    from tare.cli.queries import gather
    from tare.cli.until_decided import run_until_decided
    from tare.cli.values import long_enough, percentage
    from tare.cli.weighing import Target, conditions, weigh
    from tare.errors import UsageError
    from tare.protocol.measures import WALL
    from tare.protocol.stop import Stop, enough
    from tare.report.asked import Asked
    from tare.report.comparison import COMPARED, TOTAL_CPU
    from tare.report.gate_conditions import parse

    with git_codes(bisect):
        outputs.check()
        if measure is not None and measure not in COMPARED:
            raise UsageError(
                f"--measure {measure}: not a measure that is compared", f"give one of {', '.join(COMPARED)}"
            )
        limit = None if margin is None else percentage(margin, "--margin")
        pair = pair_of_results(sql or [], file or [])
        if pair is not None and pair.kind is not None:
            compare_ids(context, pair, lab, Path(profiles), outputs)
            return
        if pair is not None:
            compare_results(context, pair, measure, limit, outputs)
            return
        refuse_given(
            context, ("lab", "profiles"), "is for two runs that are kept: o1 o2, p1 p2", "leave it out"
        )
        is_gate, is_until_decided = bool(fail_if), until == DECIDED
        _refuse_unfit(context, blocks, is_gate=is_gate, is_until_decided=is_until_decided)
        target = Target("", server_options, allow_writes)
        targets = targets_of(target, db, (a_db, b_db), (a_set, b_set))
        queries = gather(context.meta[WORDS], sql, file, targets[0].url, each=each)
        if len(targets) == 2:
            queries = on_both(queries)
        elif len(queries) != 2:
            raise UsageError(
                f"{len(queries)} queries given, and two are compared",
                'name two: -f a.sql -f b.sql, or "SELECT …" "SELECT …"; or any number, with --a-set and --b-set',
            )
        if until and not is_until_decided and len(queries) > 2:
            raise UsageError(
                f"--until {until} compares one query, and {len(queries) // 2} are given",
                "give --runs, or --until decided",
            )
        how = conditions(runs, run_options, statement_options, seed=seed)
        stop = Stop.parse(until, runs, max_runs) if until and not is_until_decided else None
        about = measure or (TOTAL_CPU if is_gate or how.cache is CacheState.WARM else WALL.name)
        asked = Asked(
            runs=runs,
            cache=how.cache,
            warmup=how.warmup,
            until=stop,
            compare=about,
            tier=server_options.tier,
            clocked=how.clocked,
            answer=how.answer,
            blocks=blocks,
            margin=limit,
        )
        if fail_if:
            run_gate(targets, queries, how, asked, parse(fail_if), long_enough(max_, "--max"), outputs)
            return
        if is_until_decided:
            run_until_decided(targets, queries, how, asked, long_enough(max_, "--max"), outputs)
            return
        weighed = weigh(
            targets,
            queries,
            how,
            asked,
            lambda weigher: weigher.interleaved(
                enough(COMPARED[about], stop, runs), max_runs if stop else 2 * runs, blocks
            ),
            quiet=outputs.quiet,
            expected=None if stop else len(queries) * runs,
        )
        deliver(weighed, outputs)


DECIDED = "decided"
_FIXED_RUNS = ("runs", "max_runs")


def _refuse_unfit(context: Any, blocks: Blocks, *, is_gate: bool, is_until_decided: bool) -> None:
    """Raises UsageError for an option that this way of comparing does not use."""
    from tare.cli.given import refuse_given
    from tare.errors import UsageError

    if is_gate:
        why = "does not apply to a gate, which runs until it is decided by its own margin"
        refuse_given(context, (*_FIXED_RUNS, "until", "margin"), why, "leave it out; give --max")
    else:
        refuse_given(
            context, ("bisect",), "applies to a gate only", "add --fail-if slower=5%, or leave it out"
        )
    if not (is_gate or is_until_decided):
        refuse_given(context, ("max_",), "applies to a gate and to --until decided only", "leave it out")
        return
    refuse_given(context, _FIXED_RUNS, "does not apply to --until decided", "leave it out; give --max")
    if blocks is Blocks.RUN:
        raise UsageError(
            "--blocks run: a gate and --until decided need sessions, whose spread is their error",
            "leave --blocks out",
        )
