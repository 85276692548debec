"""Functions of a process that runs: those that are chosen when a library is loaded, and libraries by file."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tare.profile.functions import NoSuchFunction, is_runtime
from tare.profile.images import functions_of, readable
from tare.profile.server import mapped_files, of_process

LIBC, LIBM = "libc.so.6", "libm.so.6"


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


LOADER = """
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int main(void) {
    char path[4096];
    while (fgets(path, sizeof path, stdin)) {
        path[strcspn(path, "\\n")] = 0;
        puts(dlopen(path, RTLD_NOW) ? "loaded" : dlerror());
        fflush(stdout);
    }
}
"""
"""Program that loads each library that it reads the path of, and has no other functions to look through."""


def test_a_library_that_is_loaded_later_is_found_then(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    copy, program = tmp_path / "libplugin-of-this-test.so", tmp_path / "loader"
    compiler = ("gcc", "-o", program, "-x", "c", "-", "-ldl")
    subprocess.run(compiler, input=LOADER, text=True, check=True, timeout=60)
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as loader:
        to, answers = loader.stdin, loader.stdout
        assert to is not None
        assert answers is not None

        def load(library: str) -> None:
            print(library, file=to, flush=True)
            assert answers.readline() == "loaded\n"

        load(LIBM)
        functions = functions_of(of_process(loader.pid))
        assert not functions.all_named(f"cbrt@{copy.name}")
        shutil.copy(next(one for one in mapped_files(loader.pid) if LIBM in one), copy)
        load(str(copy))
        assert [one.object for one in functions.all_named(f"cbrt@{copy.name}")] == [str(copy)]
        assert str(copy) in {one.object for one in functions.called_by_pointer()}
        copy.unlink()
        deleted = next(one for one in mapped_files(loader.pid) if copy.name in one)
        assert deleted.endswith(" (deleted)")
        assert readable(loader.pid, deleted).exists() or os.geteuid() != 0
        to.close()


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
