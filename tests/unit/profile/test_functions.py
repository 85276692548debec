"""Functions of a process that runs: those that are chosen when a library is loaded, and libraries by file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tare.errors import UsageError
from tare.profile.functions import NoSuchFunction, is_runtime
from tare.profile.images import functions_of, readable
from tare.profile.server import mapped_files, of_process

LIBC = "libc.so.6"


def test_an_indirect_function_is_the_implementation_in_use() -> None:
    functions = functions_of(of_process(os.getpid()))
    known = functions.named(f"memcpy@{LIBC}")
    assert known.name.startswith("memcpy")
    assert known.size > 0
    assert functions.all_named(f"memcpy@{LIBC}") == [known]


def test_an_indirect_function_of_a_process_that_is_not_known_is_refused_with_names() -> None:
    functions = functions_of(of_process(os.getpid()))
    functions._pid = None
    with pytest.raises(NoSuchFunction, match="chooses between several implementations of memcpy"):
        functions.named(f"memcpy@{LIBC}")


LOADER = "import ctypes, sys\nfor line in sys.stdin:\n    ctypes.CDLL(line.strip())\n    print(flush=True)"


def test_a_library_that_is_loaded_later_is_found_then(tmp_path: Path) -> None:
    """In a process of its own: this one has libraries with hundreds of thousands of functions."""
    with subprocess.Popen(
        [sys.executable, "-c", LOADER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as loader:
        assert loader.stdin is not None
        assert loader.stdout is not None

        def load(library: str) -> None:
            print(library, file=loader.stdin, flush=True)
            loader.stdout.readline()

        load("libm.so.6")
        library = next(file for file in mapped_files(loader.pid) if "/libm.so" in file)
        functions = functions_of(of_process(loader.pid))
        copy = tmp_path / "libplugin-of-this-test.so"
        assert not functions.all_named(f"cbrt@{copy.name}")
        shutil.copy(library, copy)
        load(str(copy))
        assert [function.object for function in functions.all_named(f"cbrt@{copy.name}")] == [str(copy)]
        assert str(copy) in {function.object for function in functions.called_by_pointer()}
        copy.unlink()
        deleted = next(file for file in mapped_files(loader.pid) if copy.name in file)
        assert deleted.endswith(" (deleted)")
        assert readable(loader.pid, deleted).exists() or os.geteuid() != 0


def test_a_launcher_without_names_is_represented_by_the_library_of_the_transaction(tmp_path: Path) -> None:
    (tmp_path / "part.c").write_text("int work(void) { return 1; }")
    (tmp_path / "launcher.c").write_text(
        "int work(void); int pause(void); int main(void) { return work() + pause(); }"
    )
    flags = {"libpart.so": ("-shared", "-fPIC", "part.c"), "launcher": ("-s", "launcher.c", "./libpart.so")}
    for output, options in flags.items():
        subprocess.run(["gcc", *options, "-o", output], check=True, cwd=tmp_path)
    with subprocess.Popen(["./launcher"], cwd=tmp_path) as launcher:
        try:
            library = tmp_path / "libpart.so"
            while str(library) not in mapped_files(launcher.pid):
                time.sleep(0.01)
            server = of_process(launcher.pid)
            with pytest.raises(UsageError, match="stripped"):
                functions_of(server, "function:main")
            assert functions_of(server, "function:work@libpart.so").named("work").object == str(library)
        finally:
            launcher.kill()


@pytest.mark.parametrize(
    ("path", "runtime"),
    [
        ("/lib/x86_64-linux-gnu/libc.so.6", True),
        ("/opt/libcrypto.so.3", False),
        ("/lib64/ld-linux-x86-64.so.2", True),
    ],
)
def test_libraries_that_serve_any_program_are_known(path: str, runtime: bool) -> None:
    assert is_runtime(path) == runtime
