"""From flags to the conditions that queries are weighed under."""

from __future__ import annotations

from tare.cli.option_groups import RunOptions, StatementOptions
from tare.errors import UsageError
from tare.measure.choices import CacheState, Clocked
from tare.measure.phases import Phases
from tare.measure.weigh import Conditions


def conditions(
    runs: int, given: RunOptions, statements: StatementOptions, *, seed: int = 0, keeps_going: bool = False
) -> Conditions:
    """Return the conditions of a run. Raises UsageError for flags that contradict each other or cannot be read."""
    if given.cold and given.cache not in (CacheState.WARM, CacheState.COLD):
        raise UsageError(f"--cold and --cache {given.cache} contradict each other", "give one of them")
    return Conditions(
        runs=runs,
        cache=CacheState.COLD if given.cold else given.cache,
        timeout_s=given.timeout,
        phases=Phases.of(statements.setup, statements.prepare, statements.conclude, statements.cleanup),
        warmup=_warmup(given.warmup),
        seed=seed,
        clocked=Clocked.EXECUTION if given.execution_only else Clocked.TOTAL,
        answer=statements.answer,
        keeps_going=keeps_going,
    )


def _warmup(text: str) -> int | None:
    if text == "auto":
        return None
    if text.isascii() and text.isdigit():
        return int(text)
    raise UsageError(f"--warmup {text!r} is neither a number nor auto", "give a count such as 3, or auto")
