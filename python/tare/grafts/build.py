"""A graft's library: `layout.h` made from the server program's symbols and DWARF, then compiled, once for each program.

The library lies in the user's cache, by a hash of all that it is made of.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tare import _probe, files
from tare.errors import ServerFailed
from tare.grafts.catalogue import BUILDS, COMMON, SOURCES, Graft

_COMPILERS = ("cc", "gcc", "clang")
_FLAGS = ("-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Wno-parentheses", "-fPIC", "-shared")


def library(graft: Graft, program: Path) -> Path:
    """Library of a graft for this server program. Raises ServerFailed for another build, or without a compiler."""
    digest = _check_build(program)
    sources = [SOURCES / name for name in (graft.source, *COMMON)]
    made_of = hashlib.sha256(digest.encode())
    for source in (*sources, Path(__file__), SOURCES.parent / "catalogue.py"):
        made_of.update(source.read_bytes())
    target = _cache() / made_of.hexdigest()[:16] / f"{graft.name}.so"
    if not target.exists():
        _compile(graft, program, target)
    return target


def header(graft: Graft, program: Path) -> str:
    """Text of `layout.h`. Raises ProbeError if the program lacks a symbol or its debug information."""
    return "\n".join(_definitions(graft, program)) + "\n"


def _definitions(graft: Graft, program: Path) -> Iterator[str]:
    yield f"/* Layout of {BUILDS[_digest(program)]}, for the graft {graft.name}. Generated. */"
    yield f"#define BUILD_SIZE {program.stat().st_size}"
    names = {**graft.functions, **{name: name for name in graft.variables}}
    symbols = _probe.symbols(program, list(names.values()))
    for name, linked in names.items():
        yield f"#define {name} {symbols[linked][0]:#x}ul"
    for name, (offset, shift, bits) in _probe.members(program, graft.members).items():
        word = name.replace(".", "_")
        yield f"#define {word} {offset}" if "." in name else f"#define sizeof_{word} {offset}"
        if bits:
            yield f"#define shift_{word} {shift}"
            yield f"#define bits_{word} {bits}"
    for kind, words in (("policy", graft.policies), ("count", graft.counts)):
        yield f"enum {kind} {{ {', '.join(word.constant for word in words)} }};"
    yield "struct code { const char *name; uint64_t address; unsigned char bytes[16]; };"
    yield "static const struct code codes[] = {"
    for name, linked in graft.functions.items():
        address, first = symbols[linked]
        yield f'    {{"{name}", {address:#x}, {{{", ".join(map(hex, first))}}}}},'
    yield "};"


def _compile(graft: Graft, program: Path, target: Path) -> None:
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CC", "cc"), *_COMPILERS))), None)
    if compiler is None:
        raise ServerFailed(
            f"a C compiler is needed to build the graft {graft.name}, and none of {', '.join(_COMPILERS)} is in PATH",
            "install gcc or clang, or set CC",
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tare-graft-") as folder:
        work = Path(folder)
        (work / "layout.h").write_text(header(graft, program))
        made = work / target.name
        command = [compiler, *_FLAGS, f"-I{work}", "-o", str(made), str(SOURCES / graft.source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ServerFailed(
                f"the graft {graft.name} does not compile with {compiler}:\n{done.stderr.rstrip()}",
                "set CC to gcc or clang",
            )
        files.write_bytes(target, made.read_bytes())


def _check_build(program: Path) -> str:
    digest = _digest(program)
    if digest not in BUILDS:
        known = ", ".join(f"{name} (SHA-256 {each[:12]}…)" for each, name in BUILDS.items())
        raise ServerFailed(
            f"{program} is another build than the grafts are made for: SHA-256 {digest[:12]}…; known: {known}",
            "use the server program of that package",
        )
    return digest


def _digest(program: Path) -> str:
    with program.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tare" / "grafts"
