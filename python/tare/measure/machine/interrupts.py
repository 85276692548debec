"""Device interrupts by CPU and source, as /proc/interrupts counts them.

The scheduler books the serving of an interrupt to the task it interrupts, so a query's CPU
time grows with what devices send to its CPU. Only what devices send can be kept off a CPU:
the clock, calls between CPUs and other interrupts that are local to each CPU are left out.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

PROC_INTERRUPTS = Path("/proc/interrupts")
_COUNTER = 1 << 32  # the kernel counts in unsigned int, and wraps
_RESCHEDULING = "Rescheduling interrupts"  # x86's row RES, ARM's IPI0
_TELLING = 500.0  # interrupts a second; fewer take less than 1% of a CPU at 20 µs each
_TRIGGER = re.compile(r"\d*-?(\d+ +)?(edge|level|fasteoi)", re.IGNORECASE)
# Private to each CPU although numbered: ARM's PPIs (hardware numbers below 32), Xen, RISC-V.
_PER_CPU = re.compile(r"GIC\S*\s+(\d|[12]\d|3[01])\s|xen-percpu|RISC-V INTC")

_Row = tuple[str, dict[int, int], str]  # label, counts by CPU, and the text after them


@dataclass(frozen=True, slots=True)
class Source:
    """A row: a source of interrupts, and their number on each CPU."""

    number: int | None  # of /proc/irq; None for a hypervisor's callback, which has none
    name: str
    counts: dict[int, int]  # by CPU

    @property
    def total(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Interrupts:
    """Device interrupts, since boot or between two readings."""

    cpus: tuple[int, ...]  # those online; none where the file is hidden, as in some containers
    sources: tuple[Source, ...]

    @property
    def total(self) -> int:
        return sum(source.total for source in self.sources)

    def on(self, cpus: Collection[int]) -> int:
        """How many these CPUs took."""
        return sum(source.counts.get(cpu, 0) for source in self.sources for cpu in cpus)

    def share(self, cpus: Collection[int]) -> float:
        """Return the share of these CPUs in all device interrupts: 0 to 1; 0 where there were none."""
        return self.on(cpus) / self.total if self.total else 0.0

    def busiest(self, cpu: int) -> list[Source]:
        """Return the sources that interrupted the CPU, most often first."""
        found = [source for source in self.sources if source.counts.get(cpu, 0)]
        return sorted(found, key=lambda source: -source.counts[cpu])

    def since(self, earlier: Interrupts) -> Interrupts:
        """Return the interrupts after ``earlier``. A source or CPU that is new since began at 0."""
        before = {(source.number, source.name): source.counts for source in earlier.sources}
        return Interrupts(
            self.cpus,
            tuple(
                Source(
                    source.number,
                    source.name,
                    {
                        cpu: _passed(before.get((source.number, source.name), {}).get(cpu, 0), now)
                        for cpu, now in source.counts.items()
                    },
                )
                for source in self.sources
            ),
        )


def _passed(then: int, now: int) -> int:
    if now >= then:
        return now - then
    # Either the counter wrapped, or its device went and came back, and it began anew.
    return now + _COUNTER - then if then > _COUNTER // 2 else now


@dataclass(frozen=True, slots=True)
class Burden:
    """How device interrupts are spread over the CPUs: since boot, and lately."""

    boot: Interrupts
    lately: Interrupts
    seconds: float  # how long "lately" is

    @property
    def rate(self) -> float:
        """Device interrupts a second, lately."""
        return self.lately.total / self.seconds

    @property
    def telling(self) -> bool:
        """Whether there were enough lately for their spread to mean anything."""
        return self.rate >= _TELLING

    def share(self, cpus: Collection[int]) -> float:
        """These CPUs' share, 0 to 1: since boot or lately, whichever is higher."""
        return max(self.boot.share(cpus), self.lately.share(cpus) if self.telling else 0.0)


def parse(text: str) -> Interrupts:
    """The text of /proc/interrupts, of any architecture. What is not understood is left out."""
    cpus, rows = _table(text)
    labels = {label for label, _, _ in rows}
    sources = []
    for label, counts, what in rows:
        if label.isdecimal() and not _PER_CPU.match(what):
            name = _device(what) or f"interrupt {label}"
            if not name.startswith("IPI"):  # numbered on POWER
                sources.append(Source(int(label), name, counts))
        elif label == "HYP" and labels & {"HRE", "HVS"}:
            # Only guests of Hyper-V have those rows, and all their devices call in by this one.
            sources.append(Source(None, "VMBus", counts))
    return Interrupts(cpus, tuple(sources))


def parse_rescheduling(text: str) -> int | None:
    """How often one CPU called another to look at its queue of tasks, all together. None: the text does not tell."""
    _, rows = _table(text)
    return next((sum(counts.values()) for _, counts, what in rows if what == _RESCHEDULING), None)


def _table(text: str) -> tuple[tuple[int, ...], list[_Row]]:
    """The CPUs that are online, and the rows."""
    head, _, body = text.partition("\n")
    cpus = tuple(int(number) for number in re.findall(r"CPU(\d+)", head))
    return cpus, [row for row in (_row(line, cpus) for line in body.splitlines()) if row is not None]


def _row(line: str, cpus: tuple[int, ...]) -> _Row | None:
    """None where a CPU's count is missing."""
    label, _, rest = line.partition(":")
    fields = rest.split(None, len(cpus))
    counts = fields[: len(cpus)]
    if not cpus or len(counts) < len(cpus) or not all(count.isdecimal() for count in counts):
        return None
    what = fields[len(cpus)] if len(fields) > len(cpus) else ""
    return label.strip(), dict(zip(cpus, map(int, counts), strict=True)), what.rstrip()


def _device(what: str) -> str:
    """Chip, hardware number and trigger, then two blanks or more, then who handles it: the last
    alone. Empty where nobody does."""
    chip, *rest = re.split(r"\s{2,}", what)
    return rest[-1] if chip and rest and not _TRIGGER.fullmatch(rest[-1]) else ""


def read() -> Interrupts:
    """Since boot. Raises OSError where the file is missing."""
    return parse(PROC_INTERRUPTS.read_text(errors="replace"))


def rescheduling() -> int | None:
    """Return the number like `parse_rescheduling`, since boot. Raises OSError where the file is missing."""
    return parse_rescheduling(PROC_INTERRUPTS.read_text(errors="replace"))


def watch(seconds: float) -> Burden:
    """Reads now and after ``seconds``. Raises OSError where the file is missing."""
    first, began = read(), time.monotonic()
    time.sleep(seconds)
    second = read()
    return Burden(second, second.since(first), time.monotonic() - began)
