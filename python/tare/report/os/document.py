"""Document of `tare os`, as `--json` writes it (`schemas/os-v1.json`). Times are in ns, sizes in bytes."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from tare.os.checks import Agreement, Quantity
from tare.os.findings import Kind
from tare.os.levels import Level
from tare.report.ratio import Ratio


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class States(_Part):
    """Time of threads by what they did."""

    on_cpu: int
    run_queue: int
    sleep: int
    block_io: int
    other_wait: int


class CallReport(_Part):
    """System calls of one name. `bytes`: sum of positive results, which are bytes for calls that return a length."""

    name: str
    count: int
    errors: int
    bytes: int
    spent: States


class RoleReport(_Part):
    """Processes of one role on one node, over all traced executions. `outside`: their time outside system calls;
    with level light, all of it."""

    node: str
    role: str
    processes: int
    outside: States
    calls: tuple[CallReport, ...]
    counts: dict[str, int]
    histograms: dict[str, tuple[int, ...]] = Field(
        description="Counts of values by their number of bits: entry n counts 2^(n-1) to 2^n - 1."
    )


def time_of(roles: Iterable[RoleReport]) -> States:
    """Time of all threads of the roles, in calls and outside them."""
    parts = [part for role in roles for part in (role.outside, *(call.spent for call in role.calls))]
    return States(**{name: sum(getattr(part, name) for part in parts) for name in States.model_fields})


def cpu_in_calls(roles: Iterable[RoleReport], names: Container[str] | None = None) -> int:
    """CPU time in system calls of these names; None: in all."""
    calls = [call for role in roles for call in role.calls if names is None or call.name in names]
    return sum(call.spent.on_cpu for call in calls)


class NodeReport(_Part):
    """`io`: time in which a block request of the node was open; `busy`: CPU time of its threads in that time. Packets
    and bytes: of the links of its network, None where it shares Tare's network."""

    node: str
    io: int
    busy: int
    received_packets: int | None
    sent_packets: int | None
    received_bytes: int | None
    sent_bytes: int | None


class SavingReport(_Part):
    messages: int
    bytes: int
    saved_messages: int
    saved_bytes: int


class FlowReport(_Part):
    node: str
    destination: str
    messages: int
    bytes: int


class MulticastReport(_Part):
    """Messages that one multicast could have replaced. `unhashed`: messages whose payload no call shows; they are not
    judged. `tls_share`: share of messages that are encrypted, whose contents never repeat."""

    every: SavingReport
    small: SavingReport
    large: SavingReport
    by_window_ms: dict[str, SavingReport]
    gaps: dict[str, float] = Field(description="Percentiles of times between copies.")
    cached: SavingReport
    unhashed: int
    tls_share: float
    flows: tuple[FlowReport, ...]


class CheckReport(_Part):
    quantity: Quantity
    traced: int
    least: int
    most: int
    processes: int
    agreement: Agreement
    difference: float


class FindingReport(_Part):
    kind: Kind
    node: str
    role: str
    share: float


class SliceReport(_Part):
    """A second of a watch, for one node."""

    at: int
    length: int
    node: str
    on_cpu: int
    block_io: int
    block_read_bytes: int
    block_write_bytes: int
    sent_bytes: int
    received_bytes: int


class StageReport(_Part):
    """A query, or the load that was watched. `elapsed`: over all traced executions; `wall`: median of one."""

    name: str
    sql: str
    error: str
    executions: int
    elapsed: int
    wall: float | None
    wall_overhead: Ratio | None
    cpu_overhead: Ratio | None
    programs: int = Field(description="Run time of the tracer's own programs.")
    program_runs: int
    lost: dict[str, int]
    is_whole: bool
    nodes: tuple[NodeReport, ...]
    roles: tuple[RoleReport, ...]
    idle_share: float | None = Field(
        description="CPU time of the nodes without the query, over that with it, in windows of one length."
    )
    multicast: MulticastReport | None
    findings: tuple[FindingReport, ...]
    slices: tuple[SliceReport, ...]


class OsReport(_Part):
    version: Literal[1] = 1
    title: str
    written_at: str
    written_by: str
    target: str
    command: str
    level: Level
    online_cpus: int
    kernel: str
    interrupted: bool
    refused: str | None = Field(description="Reason for which only /proc could be read.")
    nodes: tuple[str, ...]
    stages: tuple[StageReport, ...]
    checks: tuple[CheckReport, ...]
