"""Functions of a process that runs: those that are chosen when a library is loaded, and libraries by file."""

from __future__ import annotations

import ctypes
import os
import shutil
from pathlib import Path

import pytest

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


def test_a_library_that_is_loaded_later_is_found_then(tmp_path: Path) -> None:
    library = next(one for one in mapped_files(os.getpid()) if "/libm.so" in one or "/libc.so" in one)
    functions = functions_of(of_process(os.getpid()))
    copy = tmp_path / "libplugin-of-this-test.so"
    assert not functions.all_named(f"cbrt@{copy.name}")
    shutil.copy(library.replace("libc.so", "libm.so"), copy)
    ctypes.CDLL(str(copy))
    assert [one.object for one in functions.all_named(f"cbrt@{copy.name}")] == [str(copy)]
    assert str(copy) in {one.object for one in functions.called_by_pointer()}
    copy.unlink()
    deleted = next(one for one in mapped_files(os.getpid()) if copy.name in one)
    assert deleted.endswith(" (deleted)")
    assert readable(os.getpid(), deleted).exists() or os.geteuid() != 0


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
