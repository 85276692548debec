"""The planted program and the cost program, by the compilers that are there."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BUILT = ROOT / "target" / "planted"
HEADERS = ROOT / "include"

CLANGS = ("clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14", "clang")
XRAY = ("-fxray-instrument", "-fxray-instruction-threshold=1")


class NotBuilt(Exception):
    """A compiler or its run-time library is missing; says which."""


@dataclass(frozen=True)
class Program:
    name: str
    sources: tuple[Path, ...]
    libraries: tuple[str, ...]
    flags: tuple[str, ...] = ()

    def plain(self) -> Path:
        return self.built(flags=self.flags)

    def built(self, compiler: str = "gcc", flags: tuple[str, ...] = (), more: tuple[Path, ...] = ()) -> Path:
        """Path of the program, which is built again if a source is younger."""
        place = BUILT / f"{self.name}-{compiler}{''.join(flags)}"
        sources = (*self.sources, *more)
        inputs = (*sources, *self.sources[0].parent.glob("*.h"), *HEADERS.glob("*.h"))
        if place.exists() and place.stat().st_mtime > max(one.stat().st_mtime for one in inputs):
            return place
        if shutil.which(compiler) is None:
            raise NotBuilt(f"no {compiler} here")
        BUILT.mkdir(parents=True, exist_ok=True)
        command = [compiler, "-std=gnu11", "-O2", "-g", *flags, f"-I{HEADERS}", *sources]
        done = subprocess.run(
            [*map(str, command), "-o", str(place), *self.libraries],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise NotBuilt(f"{compiler} {' '.join(flags)}: {done.stderr.strip()[-600:]}")
        return place

    def built_for_xray(self) -> Path:
        """With clang's sleds; XRay's run-time library is a package of its own (libclang-rt-19-dev)."""
        why = []
        for compiler in filter(shutil.which, CLANGS):
            try:
                return self.built(compiler, XRAY)
            except NotBuilt as missing:
                why.append(str(missing))
        raise NotBuilt("; ".join(why) or "no clang here; apt install clang-19 libclang-rt-19-dev")


NOP_FIRST = ("-fpatchable-function-entry=1",)
"""A NOP before each function, which the kernel steps over by itself under a uprobe. Most functions of servers begin
with a push, where it does likewise; but the small ones of ours begin with a mov, for which the processor must trap a
second time. On some virtual machines that takes longer than one of our transactions. So does a ret at which a
function leaves, in any build."""

PLANTED = Program("planted", tuple(sorted((HERE / "c").glob("*.c"))), ("-lm", "-pthread"), NOP_FIRST)
COST = Program("cost", (HERE / "cost" / "cost.c",), ())


def cost_with_hooks() -> Path:
    """By -finstrument-functions, with hooks that only record."""
    return COST.built(flags=("-finstrument-functions",), more=(HERE / "cost" / "hooks.c",))
