"""`tare compare`: measures whether B is faster than A; or compares two runs that were recorded."""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli import options
from tare.cli.help import ADVANCED
from tare.measure.choices import AnswerRule, Blocks, CacheState


def compare(
    ctx: typer.Context,
    sql: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SQL|RUN|FILE",
            help="Two statements, each in quotes; runs by id: transactional runs (o1 o2 …) or two profiles (p1 p2); or "
            "two results of `tare time --json`.",
        ),
    ] = None,
    db: options.MaybeDb = None,
    file: options.Files = None,
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
        int, typer.Option(min=2, metavar="N", help="Timed runs of each query; the fewest, with --until.")
    ] = 12,
    blocks: Annotated[
        Blocks,
        typer.Option(
            metavar=options.choices(Blocks),
            help="Blocks, in which each query runs once: a fresh session each, a restart of the server each (its own "
            "servers only, or --allow-restart), or run: all in one session.",
        ),
    ] = Blocks.SESSION,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="ci=P%", help="Continue until the ratio's 95% interval is within P% on either side."
        ),
    ] = None,
    max_runs: Annotated[
        int, typer.Option(min=2, metavar="N", help="Most runs of each query, with --until.")
    ] = 200,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            metavar="slower=P%|bytes=P%|plan|answer",
            help="Be a gate: exit with 3 if B is slower than A by more than P%, 0 if not, 4 if undecided; runs until "
            "decided or --max. Repeatable: also 3 if B reads more bytes from the disk by more than P%, has another "
            "plan, or another answer.",
        ),
    ] = None,
    max_: Annotated[
        float,
        options.duration("--max", "Longest time of a gate (--fail-if).", least=1.0),
    ] = 600.0,
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
            help="Measure that the verdict is about: wall_ms, cpu_ms (the leader's), resources.cpu_ms (all "
            "processes') or instructions. Default: resources.cpu_ms when warm, wall_ms otherwise.",
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(metavar="N", help="Seed for the order of runs.", rich_help_panel=ADVANCED),
    ] = 0,
    warmup: options.Warmup = "auto",
    cache: options.Cache = CacheState.WARM,
    cold: options.Cold = False,
    timeout: options.Timeout = None,
    answer: options.Answer = AnswerRule.CLOSE,
    setup: options.Setup = None,
    prepare: options.Prepare = None,
    conclude: options.Conclude = None,
    cleanup: options.Cleanup = None,
    lab: options.Lab = "lab.db",
    profiles: options.Profiles = "profiles",
    html: options.Html = None,
    markdown: options.Markdown = None,
    json: options.Json = None,
    csv: options.Csv = None,
    format_: options.Formats = None,
    title: options.Title = None,
    allow_writes: options.AllowWrites = False,
    allow_restart: options.AllowRestart = False,
    connect_timeout: options.ConnectTimeout = 10.0,
    tier: options.TierFlag = None,
    machine_settings: options.Settings = True,
    verbose: options.Verbose = False,
) -> None:
    """Compare two queries: measure how much faster one is, and how sure that is. Or compare two recorded runs.

    Runs of the two are interleaved in random order, each pair in a fresh session. Prints the ratio with its 95%
    interval, Mann–Whitney's p and the effect size. The verdict comes from the interval: --until stops at the interval's
    width, never at a p-value.

    With --a-db and --b-db, or --a-set and --b-set, each query is compared with itself on two servers or under two
    settings; a folder given with -f holds a set of queries, whose verdicts hold for all together.

    Two files that `tare time --json` wrote are compared as they are, and the report says what else changed between the
    two sessions. Two runs by id are compared as the lab keeps them: ratios of means, variances and 99th percentiles of
    transactional runs, or the variance of profiles before and after. More than two transactional runs are grouped where
    their settings are equal, and a run is one sample.

    With --fail-if, A runs twice in each round: the ratio of its two copies is this machine's noise floor now, and a
    gate tighter than its floor stays undecided. The exit code of a gate is 0 not slower, 3 slower, 4 undecided, 1 not
    measured, 2 a bad request.

    Example: tare compare -f a.sql -f b.sql --db sqlite:///f.db --until ci=2%
    """
    from tare.cli.arms import files_in, on_both, targets_of
    from tare.cli.earlier import deliver_earlier, results_of
    from tare.cli.gate import git_codes, run_gate
    from tare.cli.kinds import refuse_given
    from tare.cli.output import Outputs, deliver, parse_formats
    from tare.cli.request import conditions, gather
    from tare.cli.weighing import Target, weigh
    from tare.errors import UsageError
    from tare.lab.run_ids import parse
    from tare.measure.phases import Phases
    from tare.protocol.measures import WALL
    from tare.protocol.rounds import enough
    from tare.protocol.stop import Stop
    from tare.report.asked import Asked
    from tare.report.comparison import COMPARED, TOTAL_CPU
    from tare.report.gate_conditions import parse as parse_gate

    if not fail_if:
        refuse_given(ctx, GATE_ALONE, "a comparison without --fail-if")
    if sql and not file and all(parse(text) for text in sql):
        _runs(ctx, sql, lab, profiles, html, markdown, json, title)
        return
    refuse_given(ctx, RUNS_ALONE, "two queries or results")
    outputs = Outputs(html, markdown, json, csv, parse_formats(format_))
    outputs.check()
    if results := results_of(sql):
        deliver_earlier(results, measure, outputs, verbose=verbose)
        return
    target = Target("", connect_timeout, allow_writes, allow_restart, tier, machine_settings)
    targets = targets_of(target, db, a_db, b_db, a_set, b_set)
    queries = gather(sql, files_in(file), None, "1", None, db=targets[0].url, each=len(targets) > 1)
    if len(targets) > 1:
        queries = on_both(queries)
    elif len(queries) != 2:
        raise UsageError(
            f"{len(queries)} queries given, but a comparison needs two",
            'name two: -f a.sql -f b.sql, or "SELECT …" "SELECT …"; or one with --a-set and --b-set',
        )
    how = conditions(
        runs=runs,
        warmup=warmup,
        cache=cache,
        cold=cold,
        timeout=timeout,
        answer=answer,
        phases=Phases.of(setup, prepare, conclude, cleanup),
        seed=seed,
    )
    stop = Stop.parse(until, runs, max_runs) if until else None
    about = measure or (TOTAL_CPU if fail_if or how.cache is CacheState.WARM else WALL.name)
    if about not in COMPARED:
        raise UsageError(
            f"--measure {about}: not a measure that can be compared", f"give one of {', '.join(COMPARED)}"
        )
    asked = Asked(
        runs=runs,
        cache=how.cache,
        warmup=how.warmup,
        until=stop,
        compare=about,
        tier=tier,
        answer=answer,
        blocks=blocks,
    )
    if fail_if:
        with git_codes(bisect):
            refuse_given(ctx, NOT_IN_A_GATE, "a gate, which decides by itself how long it runs")
            if blocks is Blocks.RUN:
                raise UsageError(
                    "--blocks run: a gate needs blocks, whose spread is its error", "give session or restart"
                )
            run_gate(targets, queries, how, asked, parse_gate(fail_if), max_, outputs, verbose=verbose)
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
    deliver(weighed, outputs, verbose=verbose)


GATE_ALONE = ("max_", "bisect")
NOT_IN_A_GATE = ("runs", "until", "max_runs")

RUNS_ALONE = ("lab", "profiles", "title")
"""Options that apply to recorded runs only."""


def _runs(
    ctx: typer.Context,
    runs: list[str],
    lab: str,
    profiles: str,
    html: str | None,
    markdown: str | None,
    json: str | None,
    title: str | None,
) -> None:
    """Compare recorded runs of one kind: two, or any number of transactional runs. Raises UsageError."""
    from tare import extras

    extras.need("a comparison of recorded runs", "report")
    from tare.cli.kinds import DOCUMENT, kind_of, refuse_other_options
    from tare.errors import UsageError
    from tare.lab.run_ids import Kind

    kind = kind_of(runs, lab, profiles)
    if kind is Kind.TUNING:
        raise UsageError(
            "tuning runs are not compared in pairs: each compares its own arms",
            f"report it: tare report {runs[0]}",
        )
    if kind is Kind.EXPERIMENT:
        raise UsageError(
            "experiments are not compared in pairs", f"report them side by side: tare report {' '.join(runs)}"
        )
    refuse_other_options(ctx, (*DOCUMENT, "db"), "recorded runs")
    if kind is Kind.OLTP and len(runs) > 2:
        from tare.cli.bench_oltp_report import compare_groups

        compare_groups(runs, lab, html, markdown, json, title)
        return
    if len(runs) != 2:
        raise UsageError(f"{len(runs)} runs given, but a comparison needs two", "name two: o1 o2, or p1 p2")
    if kind is Kind.OLTP:
        from tare.cli.bench_oltp_report import compare as compare_oltp

        compare_oltp(runs[0], runs[1], lab, html, markdown, json, title)
    else:
        from tare.cli.profile_show import diff

        diff(runs[0], runs[1], profiles=profiles, html=html, markdown=markdown, json=json, title=title)
