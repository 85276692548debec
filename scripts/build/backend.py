"""The build backend: maturin's, with the BPF tier added where this machine can build it, and the profiler's agent.

The BPF tier needs a clang that compiles for BPF and a C compiler that finds libelf and zlib. Each is tried by
compiling a tiny program; where one fails, everything else is built and stderr says what is missing.
``TARE_BPF=0`` leaves the tier out, ``TARE_BPF=1`` insists on it.

The agent, a library that a server preloads, is a crate of its own: cargo builds it, and it is put beside the Python
modules. It exists for x86-64 Linux only; elsewhere the package comes without.

The charts' JavaScript is written from vl-convert, which is 80 times its size, so that only a build needs vl-convert.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

FEATURE = "bpf"
NEXT_STEP = "Debian: apt-get install clang libelf-dev zlib1g-dev pkg-config; then install the package again"

ROOT = Path(__file__).parents[2]
AGENT = ROOT / "python" / "tare" / "libtare_agent.so"
CHARTS = ROOT / "python" / "tare" / "report" / "kit" / "charts.js"

SOURCE_FILES = ("Cargo.lock", "Cargo.toml", "LICENSE", "NOTICE", "README.md", "pyproject.toml")
SOURCE_FOLDERS = ("crates", "include", "python", "scripts/build")

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
    # A server that runs has the old one mapped, and must keep it as it is.
    _replace(AGENT, Path(made[-1]).read_bytes(), 0o755)


def write_charts() -> None:
    """Writes Vega, Vega-Lite and Vega-Embed into the package, as one script (NOTICE has their licences)."""
    try:
        import vl_convert
    except ImportError:
        if CHARTS.exists():
            return
        raise SystemExit(
            "tare: charts.js cannot be written: pip install vl-convert-python, then build again"
        ) from None
    _replace(CHARTS, vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").encode(), 0o644)


def _replace(file: Path, content: bytes, mode: int) -> None:
    """Renames the new file into the place of the old one."""
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as new:
        new.write(content)
    Path(new.name).chmod(mode)
    Path(new.name).replace(file)


def _build(hook: Callable[[], str], settings: Settings) -> str:
    """Runs one of maturin's hooks with the feature in its arguments (unless the caller gives his own)."""
    build_agent()
    write_charts()
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
    """Packs all that a build needs: maturin's own hook leaves out this backend and the agent's crate."""
    with tempfile.TemporaryDirectory() as folder:
        metadata = Path(folder, prepare_metadata_for_build_wheel(folder, config_settings), "METADATA")
        name = metadata.parent.name.removesuffix(".dist-info")
        with tarfile.open(
            Path(sdist_directory, f"{name}.tar.gz"), "w:gz", format=tarfile.PAX_FORMAT
        ) as archive:
            archive.add(metadata, f"{name}/PKG-INFO")
            for file in sources():
                archive.add(file, f"{name}/{file.relative_to(ROOT)}")
    return f"{name}.tar.gz"


def sources() -> list[Path]:
    """Files that a build needs, without what builds and caches leave among them."""
    found = [ROOT / name for name in SOURCE_FILES]
    for folder in SOURCE_FOLDERS:
        found += [file for file in (ROOT / folder).rglob("*") if file.is_file()]
    made = {CHARTS}
    return sorted(
        file
        for file in found
        if file not in made and file.suffix not in (".so", ".pyc") and not file.parent.name.startswith(".")
    )


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
