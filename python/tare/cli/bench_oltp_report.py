"""Reports of transactional runs in a lab, for `tare report` and `tare compare`."""

from __future__ import annotations

from collections.abc import Sequence


def report(
    run: str, lab: str, html: str | None, markdown: str | None, json: str | None, title: str | None
) -> None:
    """Report a run: validity first, latency over time, distributions, each type, the server, the conditions."""
    from tare.cli import destinations
    from tare.report.kit.deliver import deliver
    from tare.report.oltp.make import make
    from tare.report.oltp.story import story

    given = {"html": html, "markdown": markdown, "json": json}
    destinations.check(given)
    built = make(lab, run, title=title)
    deliver(story(built), built.report, given)


def merge(runs: Sequence[str], lab: str, html: str | None, markdown: str | None, json: str | None) -> int:
    """Merge the runs of several clients, keep the result and report it. Returns the exit code."""
    from tare.cli import destinations
    from tare.lab import oltp
    from tare.lab.store import open_lab
    from tare.protocol.oltp.merge import merge_clients
    from tare.report.kit.deliver import deliver
    from tare.report.oltp.make import make
    from tare.report.oltp.story import story

    given = {"html": html, "markdown": markdown, "json": json}
    destinations.check(given)
    with open_lab(lab) as store:
        ids = [oltp.find(store, asked) for asked in runs]
        merged = merge_clients({f"o{run_id}": oltp.load(store, run_id) for run_id in ids})
        number = oltp.record(store, merged)
    built = make(lab, f"o{number}")
    deliver(story(built), built.report, given)
    return 1 if merged.invalid else 0


def compare(
    run_a: str,
    run_b: str,
    lab: str,
    html: str | None,
    markdown: str | None,
    json: str | None,
    title: str | None,
) -> None:
    """Compare two runs: ratios of means, variances, standard deviations and 99th percentiles, by type.

    Each ratio has a 95% interval, from batches of the runs' seconds; a ratio without an interval is not printed.
    Differences that make the runs incomparable (scale, mix, rate, machine, an invalid run) come first."""
    from tare.cli import destinations
    from tare.report.kit.deliver import deliver
    from tare.report.oltp.comparison_story import story
    from tare.report.oltp.make import make_comparison

    given = {"html": html, "markdown": markdown, "json": json}
    destinations.check(given)
    found = make_comparison(lab, run_a, run_b, title=title)
    deliver(story(found), found, given)


def compare_groups(
    runs: Sequence[str], lab: str, html: str | None, markdown: str | None, json: str | None, title: str | None
) -> None:
    """Compare any number of runs, grouped where their settings are equal: ratios of the first group over each other
    one, with 95% intervals over runs."""
    from tare.cli import destinations
    from tare.report.kit.deliver import deliver
    from tare.report.oltp.groups_story import story
    from tare.report.oltp.make import make_groups

    given = {"html": html, "markdown": markdown, "json": json}
    destinations.check(given)
    found = make_groups(lab, runs, title=title)
    deliver(story(found), found, given)
