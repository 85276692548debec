"""Memory that Tare and a graft share: a file that both map. `struct shared` in `graft.h` has the same layout."""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

from tare.errors import ServerFailed, UsageError
from tare.grafts.catalogue import GRAFTS, Graft

_HEAD = struct.Struct("<8sQQQ")  # magic, policy, parameter, pid
_WORD = struct.Struct("<Q")
_POLICY, _PARAMETER = 8, 16
_COUNTS, _REFUSAL, _REFUSAL_BYTES = 64, 512, 512
_SIZE = 4096
POWERS = range(1, 17)
"""Values of p that the policy age-power takes."""


@dataclass(frozen=True, slots=True)
class State:
    """Contents of the memory at one moment. `pid`: 0 until the graft is in place."""

    graft: Graft
    policy: str
    power: int
    pid: int
    counts: dict[str, int]
    refusal: str

    def since(self, earlier: State) -> dict[str, int]:
        """Counts of the time in between."""
        return {name: count - earlier.counts[name] for name, count in self.counts.items()}


def create(path: Path, graft: Graft, policy: str, power: int) -> None:
    """Write the file anew, before the server starts. Raises UsageError for a policy or power that there is not."""
    head = _HEAD.pack(graft.magic, graft.policy(policy), _checked(power), 0)
    path.unlink(missing_ok=True)
    path.write_bytes(head.ljust(_SIZE, b"\0"))


def read(path: Path) -> State:
    """Raises ServerFailed if the file is not a graft's."""
    data = _read(path)
    magic, policy, power, pid = _HEAD.unpack_from(data)
    graft = next((each for each in GRAFTS.values() if each.magic == magic), None)
    if graft is None or policy >= len(graft.policies):
        raise ServerFailed(f"{path} is not the memory of a graft", "start the server with `tare graft start`")
    counts = {
        count.name: _WORD.unpack_from(data, _COUNTS + number * _WORD.size)[0]
        for number, count in enumerate(graft.counts)
    }
    refusal = data[_REFUSAL : _REFUSAL + _REFUSAL_BYTES].partition(b"\0")[0].decode(errors="replace")
    return State(graft, graft.policies[policy].name, power, pid, counts, refusal)


class Switch:
    """The policy word, mapped: a change takes less than a microsecond."""

    def __init__(self, path: Path) -> None:
        """Raises ServerFailed if the file is not a graft's."""
        self._graft = read(path).graft
        with path.open("r+b") as stream:
            self._memory = mmap.mmap(stream.fileno(), _SIZE)

    def set(self, policy: str, power: int | None = None) -> None:
        """Grants from now on follow this policy. Raises UsageError."""
        number = self._graft.policy(policy)
        if power is not None:
            _WORD.pack_into(self._memory, _PARAMETER, _checked(power))
        _WORD.pack_into(self._memory, _POLICY, number)

    def close(self) -> None:
        self._memory.close()

    def __enter__(self) -> Switch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _checked(power: int) -> int:
    if power not in POWERS:
        raise UsageError(
            f"--power {power} is out of range", f"give a number from {POWERS[0]} to {POWERS[-1]}"
        )
    return power


def _read(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ServerFailed(
            f"{path} cannot be read: {error.strerror}", "run Tare as the server's user"
        ) from error
    if len(data) < _SIZE:
        raise ServerFailed(
            f"{path} is too short for the memory of a graft", "start the server again with a graft"
        )
    return data
