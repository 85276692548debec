"""`tare experiment watch`: tells when an executor goes silent, and when it is heard again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tare.cli import options

if TYPE_CHECKING:
    from tare.experiment.watcher import Notice

LEAST_S, MOST_S = 0.1, 30.0  # between two looks: a tenth of the limit, within these


def watch(
    runs: options.Runs,
    lab: options.Lab = "lab.db",
    silent_after: Annotated[
        float | None,
        typer.Option(
            parser=options.seconds("--silent-after", "100ms"),
            metavar="DURATION",
            help="Report an executor that has been silent for this long: 15m. Default: the specification's, else 5m.",
        ),
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(
            metavar="CMD",
            help="Shell command to run, with TARE_RUN, TARE_EVENT, TARE_SILENT_FOR, and JSON on its input.",
        ),
    ] = None,
    webhook: Annotated[
        str | None, typer.Option(metavar="URL", help="Web address to POST the JSON to.")
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Look once and leave: exit code 1 if a run is silent.")
    ] = False,
) -> None:
    """Watch runs from another process, or machine, and tell when an executor goes silent or its run pauses, and
    when it goes on. Told once each, as a JSON line on standard output, and by --command and --webhook (by default
    those of the specification). Ends when every run is done.

    Heart-beats come with every query execution: let --silent-after be longer than the longest one.

    Exit code: 0 all runs are done (--once: none is silent), 1 a run is silent or the lab cannot be read, 2 the
    request was at fault, 130 Ctrl-C.
    """
    import sys
    from functools import partial
    from time import sleep

    from tare.errors import LabLost
    from tare.experiment.alarm import Bell, Channel, check_webhook, post, run_command
    from tare.experiment.recorded import specification_of
    from tare.experiment.specification import WatchSpec
    from tare.experiment.watcher import Watch
    from tare.lab.progress import run_facts
    from tare.lab.store import find_runs, open_lab
    from tare.measure.backoff import MAX_TRIES

    if webhook is not None:
        check_webhook(webhook)
    with open_lab(lab) as opened:
        watched: list[tuple[Watch, Bell]] = []
        for run_id in find_runs(opened, runs):
            asked = specification_of(run_facts(opened, run_id)).watch or WatchSpec()
            channels: list[Channel] = [_print]
            if by_command := command or asked.command:
                channels.append(partial(run_command, by_command))
            if by_web := webhook or asked.webhook:
                channels.append(partial(post, by_web))
            bell = Bell(channels, lambda error: print(f"tare: {error}", file=sys.stderr))
            watched.append((Watch(run_id, silent_after or asked.silent_after_s), bell))
        pause_s = min(MOST_S, max(LEAST_S, min(one.silent_after_s for one, _ in watched) / 10))
        lost = 0
        while True:
            try:
                for one, bell in watched:
                    bell.ring(one.look(run_facts(opened, one.run_id), opened.where))
                lost = 0
            except LabLost:
                lost += 1
                if lost == MAX_TRIES or once:
                    raise
            if once:
                raise typer.Exit(1 if any(one.told for one, _ in watched) else 0)
            if all(one.over and bell.quiet for one, bell in watched):
                return
            sleep(pause_s)


def _print(notice: Notice) -> None:
    from json import dumps

    print(dumps(notice.as_json()), flush=True)
