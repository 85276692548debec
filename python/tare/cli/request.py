"""From flags to the conditions that queries are weighed under."""

from __future__ import annotations

from tare.errors import UsageError
from tare.measure.choices import AnswerRule, CacheState, Clocked
from tare.measure.phases import Phases
from tare.measure.weigh import Conditions


def conditions(
    *,
    runs: int,
    warmup: str,
    cache: CacheState,
    cold: bool,
    execution_only: bool,
    answer: AnswerRule,
    timeout: float | None,
    phases: Phases,
    seed: int = 0,
) -> Conditions:
    if cold and cache not in (CacheState.WARM, CacheState.COLD):
        raise UsageError(f"--cold and --cache {cache} contradict each other", "give one of them")
    return Conditions(
        runs=runs,
        cache=CacheState.COLD if cold else cache,
        timeout_s=timeout,
        phases=phases,
        warmup=_warmup(warmup),
        seed=seed,
        clocked=Clocked.EXECUTION if execution_only else Clocked.TOTAL,
        answer=answer,
    )


def _warmup(text: str) -> int | None:
    if text == "auto":
        return None
    if text.isascii() and text.isdigit():
        return int(text)
    raise UsageError(f"--warmup {text!r} is neither a number nor auto", "give a count such as 3, or auto")
