"""The tables: all rounds together, each run, each type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.oltp_runs import conditions
from benchmarks.oltp_variance.runs import NAMES, WORKS, Done, Work
from benchmarks.page import table
from tare.protocol.oltp.precision import Estimate, Figures, precision
from tare.report.oltp.reasons import reasons
from tare.workload.oltp.distribution import MS, Distribution, merge

PAPER = {"MySQL 5.6": (1.7, 7.5), "Postgres 9.6": (1.9, 11.0), "VoltDB": (3.3, 6.1)}
"""sd/mean and p99/mean of the whole mix; of New-Order alone the paper says that they "remained similar"."""


KINDS = ("response", "service")


def of(done: Done, kind: str) -> Distribution:
    found: Distribution = getattr(done.run.outcome.all, kind)
    return found


def spread(distribution: Distribution) -> tuple[float, float, float, float, float]:
    """mean, sd, p99 in ms; sd/mean, p99/mean."""
    mean, sd, p99 = (
        distribution.mean / MS,
        (distribution.sd or 0) / MS,
        (distribution.quantile(0.99) or 0) / MS,
    )
    return mean, sd, p99, sd / mean, p99 / mean


def cells(all_: Sequence[Done]) -> Iterator[tuple[Work, str, list[Done]]]:
    for work in WORKS:
        for dbms in NAMES:
            some = [done for done in all_ if (done.work.name, done.dbms) == (work.name, dbms)]
            if some:
                yield work, dbms, some


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def with_range(whole: float, rounds: Sequence[float]) -> str:
    between = f" [{number(min(rounds))}, {number(max(rounds))}]" if len(rounds) > 1 else ""
    return number(whole) + between


def valid(some: Sequence[Done]) -> list[Done]:
    return [one for one in some if not one.run.invalid]


def pooled(all_: Sequence[Done], kind: str) -> str:
    """All valid rounds together, with the lowest and the highest of them."""
    lines = []
    for work, dbms, some in cells(all_):
        each = [spread(of(one, kind)) for one in valid(some)]
        figures = ["–"] * 5
        if each:
            whole = spread(merge(of(one, kind) for one in valid(some)))
            figures = [with_range(value, [one[at] for one in each]) for at, value in enumerate(whole)]
        lines.append([work.name, dbms, f"{len(each)} of {len(some)}", *figures])
    if kind == "response":
        lines += [
            ["whole mix", f"*paper: {name}*", "", "", "", "", f"*{cv}*", f"*{p99}*"]
            for name, (cv, p99) in PAPER.items()
        ]
    return table(
        ("work", "DBMS", "valid rounds", "mean, ms", "sd, ms", "p99, ms", "sd/mean", "p99/mean"), lines
    )


def interval(estimate: Estimate | None) -> str:
    if estimate is None:
        return "–"
    if estimate.low is None or estimate.high is None:
        return number(estimate.value)
    return f"{number(estimate.value)} ({number(estimate.low)}–{number(estimate.high)})"


def over(above: Estimate | None, below: Estimate | None) -> Estimate | None:
    """Its interval is of the two's far ends: rather too wide."""
    if above is None or below is None:
        return None
    ratio = above.value / below.value
    if above.low is None or above.high is None or not below.low or below.high is None:
        return Estimate(ratio)
    return Estimate(ratio, above.low / below.high, above.high / below.low)


def each_run(all_: Sequence[Done]) -> str:
    lines = []
    for *_, some in cells(all_):
        for done in some:
            response = Figures(of(done, "response"), precision(done.run, "response"))
            lag = of(done, "response").mean - of(done, "service").mean
            p99 = response.quantile(0.99)
            lines.append([
                done.work.name, done.dbms, str(done.round + 1), f"{done.run.outcome.rate:.2f}",
                "yes" if not done.run.invalid else "**no**",
                *map(interval, (response.mean, response.sd, p99, response.cv, over(p99, response.mean))),
                f"{response.effective:.0f}" if response.effective else "–",
                f"{lag / MS:.2f}", f"{of(done, 'response').max / MS:.0f}",
            ])  # fmt: skip
    header = ("work", "DBMS", "round", "rate, 1/s", "valid", "mean, ms", "sd, ms", "p99, ms", "sd/mean", "p99/mean",
              "effective n", "mean lag, ms", "longest, ms")  # fmt: skip
    return table(header, lines)


def by_type(all_: Sequence[Done]) -> str:
    """Table of the whole mix by type, all valid rounds together: how much of the spread is that types differ."""
    lines = []
    for work, dbms, some in cells(all_):
        if work.mix or not valid(some):
            continue
        for at, kind in enumerate(some[0].run.outcome.types):
            whole = merge(one.run.outcome.types[at].response for one in valid(some))
            if whole.count > 1:
                mean, sd, p99, cv, far = spread(whole)
                lines.append(
                    [
                        dbms,
                        kind.name,
                        f"{whole.count}",
                        number(mean),
                        number(sd),
                        number(p99),
                        f"{cv:.2f}",
                        f"{far:.1f}",
                    ]
                )
    return table(("DBMS", "type", "n", "mean, ms", "sd, ms", "p99, ms", "sd/mean", "p99/mean"), lines)


def page(all_: Sequence[Done], load_before: float, asked: str) -> str:
    refused = [
        f"- {one.work.name}, {one.dbms}, round {one.round + 1}: {why}"
        for one in all_
        for why in reasons(one.run.invalid)
    ]
    return "\n\n".join(
        (
            f"{conditions(all_[0].run, load_before)} {asked}",
            "**Response time**, all valid rounds together [lowest, highest round]:",
            pooled(all_, "response"),
            "**Service time**, the same:",
            pooled(all_, "service"),
            "**Each run**, response time with its own 95% interval (see [oltp](oltp.md)):",
            each_run(all_),
            "**By type** in the whole mix, response time, all valid rounds together:",
            by_type(all_),
            *(("Not valid:", "\n".join(refused)) if refused else ()),
        )
    )
