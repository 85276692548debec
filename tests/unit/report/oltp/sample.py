"""Runs of TPC-C as a queue would have them: arrivals on a schedule, sixteen servers, a stall, a change of rate.

Times are simulated; every figure of a run follows from the same transactions, so that sums agree.
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tare.dbms.base import Server
from tare.measure.environment import MachineFacts
from tare.workload.oltp.distribution import Distribution
from tare.workload.oltp.run import Asked, Measure, OltpRun, Phase, Trouble
from tare.workload.oltp.told import Checked, Counts, Loaded, OfType, Outcome, Own, Quick, Second
from tare.workload.oltp.verdict import Freeze, RateMissed, Sentence

Floats = NDArray[np.float64]

SERVER = Server(
    "postgresql",
    "18.1",
    {"shared_buffers": "1GB", "synchronous_commit": "on", "max_connections": "100"},
    "postgresql://postgres@127.0.0.1:5432/tpcc",
    local=True,
)
MACHINE = MachineFacts(
    "AMD EPYC 7B13", 4, 4, 16 << 30, "KVM", "6.1.0-28-amd64", "Debian GNU/Linux 12", "3.11.2", "0.1.0"
)
MIX = {"new_order": 45.0, "payment": 43.0, "order_status": 4.0, "delivery": 4.0, "stock_level": 4.0}
_MS = {"new_order": 9.0, "payment": 4.0, "order_status": 1.6, "delivery": 22.0, "stock_level": 6.0}
_CONNECTIONS = 16


def run(
    *,
    uuid: str = "6f0a4b1e-9a55-4d8e-8a26-0d6b5f6b7c11",
    seed: int = 7,
    rates: tuple[float, ...] = (300.0, 400.0),
    seconds: int = 30,
    slower: float = 1.0,
    stall: tuple[float, float] | None = (12.0, 14.0),
    closed: bool = False,
    **changes: Any,
) -> OltpRun:
    """`slower`: service times, times this; `stall`: from and to, in seconds, no transaction comes to its end."""
    random = np.random.default_rng(seed)
    due = _schedule(rates, seconds)
    kinds = random.choice(len(MIX), size=due.size, p=np.array(list(MIX.values())) / 100)
    mean = np.array(list(_MS.values()))[kinds] * 1e-3 * slower
    service = mean * random.lognormal(-0.18, 0.6, due.size)
    start, end = _served(due, service, stall)
    if closed:
        due = start
    response, waited, lag = (end - due) * 1e9, (end - start) * 1e9, (start - due) * 1e9
    fate = random.random(due.size)
    good = fate > 0.0004
    rolled = good & (kinds == 0) & (fate < 0.0104)
    total = float(seconds * len(rates))

    def of(name: str, mine: NDArray[np.bool_]) -> OfType:
        ended = mine & good
        return OfType(
            name=name,
            counts=_counts(mine, good, rolled),
            response=distribution(response[ended]),
            service=distribution(waited[ended]),
            lag=Distribution() if closed else distribution(lag[ended]),
        )

    types = tuple(of(name, kinds == place) for place, name in enumerate(MIX))
    everyone = np.ones(due.size, dtype=bool)
    phase_of = lambda second: min(int(second // seconds), len(rates) - 1)  # noqa: E731
    told = tuple(
        _second(number, phase_of(max(number, 0)), due, start, end, good, rolled, response, waited)
        for number in range(-5, int(np.ceil(end.max())))
    )
    found = OltpRun(
        uuid=uuid,
        started_at="2026-11-22T10:00:05.250+00:00",
        ended_at="2026-11-22T10:01:05.900+00:00",
        url=SERVER.url,
        server=SERVER,
        machine=MACHINE,
        workload="tpcc",
        loaded=Loaded(
            workload="tpcc", scale=4.0, seed=2**64 - 1, options='{"fixed_lines":"15"}', complete=True
        ),
        asked=Asked(
            arrivals="closed" if closed else "constant",
            phases=tuple(Phase(None if closed else rate, float(seconds)) for rate in rates),
            connections=_CONNECTIONS,
            seed=seed,
            warmup_s=5.0,
            drain_s=10.0,
            tries=3,
            isolation="read_committed",
            mix={},
            options={},
        ),
        isolation="read committed",
        outcome=Outcome(
            started_ns=1_000_000_000_000,
            took_ns=int(end.max() * 1e9),
            intended_rate=None if closed else due.size / total,
            rate=due.size / total,
            sustained_rate=float(good.sum()) / total,
            invalid=(),
            freezes=_freezes(due, end),
            types=types,
            all=of("all", everyone),
            warmup_ns=5_200_000_000,
            warmup=Counts(offered=1500, started=1500, committed=1488, rolled_back=12),
            reconnects=0,
            own=Own(cpu_ns=int(due.size * 0.19e6), peak_rss_bytes=21 << 20),
            mix=tuple(MIX.values()),
            samples=0,
        ),
        seconds=told,
        measures=tuple(_measures(told, stall, random)),
        before=checks(),
        after=checks(),
        unmeasured={"server_block_io": "the kernel accounts no delays (kernel.task_delayacct = 0)"},
        deviations=("the file system's cache was warm",),
    )
    return replace(found, **changes)


def checks(failing: int = 0) -> tuple[Checked, ...]:
    """Checks of two conditions; `failing` rows of the first fail."""
    return (
        Checked(
            name="3.3.2.1",
            says="w_ytd is the sum of d_ytd of the warehouse's districts",
            failing=failing,
            columns=("w_id", "w_ytd", "sum_d_ytd"),
            rows=tuple((str(w), "300000.00", "299999.00") for w in range(1, min(failing, 3) + 1)),
            took_ns=4_000_000,
        ),
        Checked(
            name="3.3.2.2",
            says="d_next_o_id - 1 is the greatest o_id of orders and new_order",
            failing=0,
            columns=("d_w_id", "d_id"),
            rows=(),
            took_ns=31_000_000,
        ),
    )


def hostile() -> OltpRun:
    """Not valid, with markup wherever a word comes from outside."""
    markup = "</script><script>document.title='taken'</script>"
    found = run(seconds=8, rates=(120.0,), stall=None)
    outcome = found.outcome.model_copy(
        update={"invalid": (RateMissed(rate=97.1, intended_rate=120.0), Sentence(text=markup))}
    )
    return replace(
        found,
        outcome=outcome,
        after=(
            *checks(failing=5),
            Checked(name=markup, says=markup, failing=1, columns=(markup,), rows=((markup,),), took_ns=1),
        ),
        troubles=(Trouble(3.2, f"server closed the connection {markup}"),),
        deviations=(markup,),
        unmeasured={markup: markup},
        measures=(*found.measures, *(Measure(second, markup, second * 1.5, markup) for second in range(8))),
    )


# Inside ---------------------------------------------------------------------------------
def _schedule(rates: tuple[float, ...], seconds: int) -> Floats:
    parts = [place * seconds + np.arange(int(rate * seconds)) / rate for place, rate in enumerate(rates)]
    return np.concatenate(parts)


def _served(due: Floats, service: Floats, stall: tuple[float, float] | None) -> tuple[Floats, Floats]:
    free = [0.0] * _CONNECTIONS
    start, end = np.empty_like(due), np.empty_like(due)
    for place in range(due.size):
        begun = max(due[place] + 6e-5, heapq.heappop(free))
        ended = begun + service[place]
        if stall and begun < stall[1] and ended > stall[0]:
            ended += stall[1] - max(stall[0], begun)
        start[place], end[place] = begun, ended
        heapq.heappush(free, ended)
    return start, end


def _freezes(due: Floats, end: Floats) -> tuple[Freeze, ...]:
    """Gaps of a second between ends that follow each other, with ten transactions waiting at their end."""
    ends = np.sort(end)
    found = []
    for before, next_ in pairwise(ends):
        if next_ - before < 1:
            continue
        waiting = int(((due < next_) & (end >= next_)).sum())
        if waiting >= 10:
            length_ns = int((next_ - before) * 1e9)
            found.append(Freeze(start_ns=int(before * 1e9), length_ns=length_ns, waiting=waiting))
    return tuple(found)


def distribution(values: Floats) -> Distribution:
    """Distribution of times in ns, in buckets of three significant digits."""
    if not values.size:
        return Distribution()
    kept = np.maximum(values.astype(np.int64), 1)
    step = 10 ** np.maximum(np.floor(np.log10(kept)).astype(np.int64) - 2, 0)
    upper, count = np.unique((kept // step + 1) * step - 1, return_counts=True)
    return Distribution(
        count=int(kept.size),
        mean=float(kept.mean()),
        m2=float(((kept - kept.mean()) ** 2).sum()),
        norm=2.0,
        power_sum=float(((kept / 1e6) ** 2).sum()),
        min=int(kept.min()),
        max=int(kept.max()),
        histogram=tuple(zip(upper.tolist(), count.tolist(), strict=True)),
    )


def _counts(mine: NDArray[np.bool_], good: NDArray[np.bool_], rolled: NDArray[np.bool_]) -> Counts:
    sent, failed = int(mine.sum()), int((mine & ~good).sum())
    back = int((mine & rolled).sum())
    return Counts(
        offered=sent,
        started=sent,
        committed=sent - failed - back,
        rolled_back=back,
        deadlocks=failed,
        retried_deadlock=2 * failed,
    )


def _second(
    number: int,
    phase: int,
    due: Floats,
    start: Floats,
    end: Floats,
    good: NDArray[np.bool_],
    rolled: NDArray[np.bool_],
    response: Floats,
    service: Floats,
) -> Second:
    if number < 0:
        few = Quick(mean=8e6, p50=6_000_000, p95=19_000_000, p99=30_000_000, max=44_000_000)
        counts = Counts(offered=300, started=300, committed=300)
        return Second(
            number=number, phase=0, counts=counts, backlog=0, running=2, response=few, service=few,
            own_cpu_ns=57_000_000,
        )  # fmt: skip
    within = (end >= number) & (end < number + 1)
    ended = within & good
    counts = _counts(within, good, rolled).model_copy(
        update={
            "offered": int(((due >= number) & (due < number + 1)).sum()),
            "started": int(((start >= number) & (start < number + 1)).sum()),
        }
    )
    return Second(
        number=number,
        phase=phase,
        counts=counts,
        backlog=int(((due < number + 1) & (start >= number + 1)).sum()),
        running=int(((start < number + 1) & (end >= number + 1)).sum()),
        response=_quick(response[ended]),
        service=_quick(service[ended]),
        own_cpu_ns=int(within.sum() * 190_000),
    )


def _quick(values: Floats) -> Quick | None:
    if not values.size:
        return None
    p50, p95, p99 = (int(x) for x in np.quantile(values, (0.5, 0.95, 0.99)))
    return Quick(mean=float(values.mean()), p50=p50, p95=p95, p99=p99, max=int(values.max()))


def _measures(
    told: tuple[Second, ...], stall: tuple[float, float] | None, random: np.random.Generator
) -> list[Measure]:
    found = []
    for second in told:
        still = stall is not None and stall[0] <= second.number < stall[1]
        rate = second.counts.committed
        noise = float(random.normal(1, 0.04))
        cpu = 0.0 if still else rate * 0.0035 * noise
        values = {
            "server_cpu": (cpu, "s/s"),
            "server_run_queue": (0.0 if still else 0.06 * noise, "s/s"),
            "wal_bytes": (0.0 if still else rate * 4_300.0 * noise, "bytes/s"),
            "buffer_hits": (rate * 61.0 * noise, "1/s"),
            "waiting_lock": (float(random.poisson(0.4)), "1"),
            "checkpoint_age": ((380 + 0.9 * second.number) * 2.0**20, "bytes"),
            "deadlocks": (0.0, "1/s"),
        }
        found += [Measure(second.number, name, value, unit) for name, (value, unit) in values.items()]
    return found
