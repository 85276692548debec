"""The build backend: maturin's, with the BPF tier added where this machine can build it, and the profiler's agent.

The BPF tier needs a clang that compiles for BPF and a C compiler that finds libelf and zlib. Each is tried by
compiling a tiny program; where one fails, everything else is built and stderr says what is missing.
``TARE_BPF=0`` leaves the tier out, ``TARE_BPF=1`` insists on it.

The agent, a library that a server preloads, is a crate of its own: cargo builds it, and it is put beside the Python
modules. It exists for x86-64 Linux only; elsewhere the package comes without.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

FEATURE = "bpf"
NEXT_STEP = "Debian: apt-get install clang libelf-dev zlib1g-dev pkg-config; then install the package again"

ROOT = Path(__file__).parents[2]
AGENT = ROOT / "python" / "tare" / "libtare_agent.so"

Settings = Mapping[str, Any] | None


def compiles(command: list[str], source: str) -> bool:
    """Whether ``command`` compiles ``source`` (C, written to a file whose name it gets last)."""
    if shutil.which(command[0]) is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "try.c"
        file.write_text(source)
        done = subprocess.run(
            [command[0], "-o", f"{folder}/out", str(file), *command[1:]], capture_output=True, check=False
        )
    return done.returncode == 0


def missing() -> list[str]:
    """What this machine lacks for the BPF tier, in words; empty if nothing."""
    bpf = '__attribute__((section("socket"))) int program(void *context) { return 0; }\n'
    elf = "#include <libelf.h>\nint main(void) { return elf_version(EV_CURRENT) == EV_NONE; }\n"
    zlib = "#include <zlib.h>\nint main(void) { return zlibVersion() == 0; }\n"
    cc = os.environ.get("CC", "cc").split()
    tried = {
        "a clang that compiles for BPF": compiles(["clang", "-target", "bpf", "-O2", "-g", "-c"], bpf),
        "libelf with its header": compiles([*cc, "-lelf"], elf),
        "zlib with its header": compiles([*cc, "-lz"], zlib),
        "make": shutil.which("make") is not None,
        "pkg-config": shutil.which("pkg-config") is not None,
    }
    return [what for what, works in tried.items() if not works]


def with_bpf() -> bool:
    """Whether to build the BPF tier; says on stderr what is built and why."""
    wish = os.environ.get("TARE_BPF", "")
    if wish == "0":
        print("tare: building without the BPF tier, as TARE_BPF=0 asks", file=sys.stderr)
        return False
    lacks = missing()
    if not lacks:
        print("tare: building all tiers: bpf, taskstats, procfs", file=sys.stderr)
        return True
    text = f"the BPF tier cannot be built here; missing: {', '.join(lacks)}\n  next: {NEXT_STEP}"
    if wish == "1":
        raise SystemExit(f"tare: TARE_BPF=1, but {text}")
    print(f"tare: building the tiers taskstats and procfs; {text}", file=sys.stderr)
    return False


def cargo_flags() -> list[str]:
    """The flags that give cargo, run on the whole workspace, the same features."""
    return ["--features", f"tare-py/{FEATURE}"] if with_bpf() else []


def build_agent() -> None:
    """Builds the agent's library and puts it into the package."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        print("tare: building without the profiler's agent, which is for x86-64 Linux only", file=sys.stderr)
        return
    if not (ROOT / "crates" / "tare-agent").is_dir():
        print("tare: building without the profiler's agent: its source is not here", file=sys.stderr)
        return
    cargo = [os.environ.get("CARGO", "cargo"), "build", "--release", "-p", "tare-agent"]
    done = subprocess.run(
        [*cargo, "--message-format", "json-render-diagnostics"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        raise SystemExit("tare: the profiler's agent does not build; cargo's messages are above")
    made = [
        file
        for message in map(json.loads, done.stdout.splitlines())
        if message.get("reason") == "compiler-artifact"
        for file in message["filenames"]
        if Path(file).name == AGENT.name
    ]
    # Renamed into place: a server that runs has the old one mapped, and must keep it as it is.
    with tempfile.NamedTemporaryFile(dir=AGENT.parent, delete=False) as new:
        new.write(Path(made[-1]).read_bytes())
    Path(new.name).chmod(0o755)
    Path(new.name).replace(AGENT)


def _build(hook: Callable[[], str], settings: Settings) -> str:
    """Runs one of maturin's hooks with the feature in its arguments (unless the caller gives his own)."""
    build_agent()
    given = settings is not None and ("build-args" in settings or "maturin.build-args" in settings)
    if given or not with_bpf():
        return hook()
    before = os.environ.get("MATURIN_PEP517_ARGS")
    os.environ["MATURIN_PEP517_ARGS"] = f"{before or ''} --features {FEATURE}".strip()
    try:
        return hook()
    finally:
        if before is None:
            del os.environ["MATURIN_PEP517_ARGS"]
        else:
            os.environ["MATURIN_PEP517_ARGS"] = before


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    import maturin

    return _build(
        lambda: maturin.build_wheel(wheel_directory, config_settings, metadata_directory), config_settings
    )


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    import maturin

    return _build(
        lambda: maturin.build_editable(wheel_directory, config_settings, metadata_directory), config_settings
    )


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    import maturin

    return str(maturin.build_sdist(sdist_directory, config_settings))


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    import maturin

    return str(maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings))


def prepare_metadata_for_build_editable(metadata_directory: str, config_settings: Settings = None) -> str:
    return prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    import maturin

    return list(maturin.get_requires_for_build_wheel(config_settings))


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    return get_requires_for_build_wheel(config_settings)


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    import maturin

    return list(maturin.get_requires_for_build_sdist(config_settings))
