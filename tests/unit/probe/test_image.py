"""A binary's functions and calls, as Python has them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tare._probe import Function, Image, ProbeError
from tare.profile.worth import may_take_long, worth_a_detour

SOURCE = """
#include <stdio.h>
__attribute__((noipa)) int leaf(int x) { return x * 3; }
__attribute__((noipa)) int middle(int x) { return leaf(x) + leaf(x + 1) * 2; }
__attribute__((noipa)) int tail(int x) { return middle(x + 7); }
__attribute__((noipa)) int prints(int x) { return puts("x") + leaf(x); }
__attribute__((noipa)) int by_pointer(int (*f)(int), int x) { return f(x) + 1; }
int main(int argc) { return tail(argc) + prints(argc) + by_pointer(leaf, argc); }
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    folder = tmp_path_factory.mktemp("image")
    (folder / "program.c").write_text(SOURCE)
    options = ["-O2", "-w", "-Wl,--build-id", "-o", "program", "program.c"]
    subprocess.run(["gcc", *options], check=True, cwd=folder, timeout=60)
    return Image(folder / "program")


def only(image: Image, name: str) -> Function:
    (found,) = image.find(name)
    return found


def names(functions: list[Function]) -> list[str]:
    return sorted(function.name for function in functions)


def test_a_binary_says_what_it_is(image: Image) -> None:
    assert Path(image.path).is_absolute()
    assert len(bytes.fromhex(image.build_id)) >= 8
    assert image.preloadable
    assert image.says.startswith("program: ")
    assert image.counts["symbols"] >= 6
    addresses = [function.address for function in image.functions()]
    assert addresses == sorted(set(addresses))
    assert image.usdt() == []


def test_calls_are_asked_for_by_the_address_of_a_function(image: Image) -> None:
    main, tail, leaf = (only(image, name) for name in ("main", "tail", "leaf"))
    assert names(image.children(main.address)) == ["by_pointer", "prints", "tail"]
    assert names(image.callers(leaf.address)) == ["middle", "prints"]
    assert image.callees(only(image, "prints").address) == [(leaf.address, "leaf"), (0, "puts")]
    assert image.heights(tail.address) == {
        tail.address: 2,
        only(image, "middle").address: 1,
        leaf.address: 0,
    }
    assert image.reachable([tail.address]) == sorted(image.heights(tail.address))
    assert image.naive_nodes(tail.address) == (3.0, 1.0)
    assert image.largest_cycle(main.address) == []
    with pytest.raises(ProbeError, match=r"no function of .* begins at 0x1"):
        image.children(1)


def test_a_call_by_pointer_is_learnt_once(image: Image) -> None:
    caller, callee = only(image, "by_pointer"), only(image, "tail")
    assert caller.indirect_sites == 1
    assert image.learn(caller.address + 4, callee.address)
    assert not image.learn(caller.address, callee.address)
    assert names(image.children(caller.address)) == ["tail"]


def test_addresses_have_names_and_names_have_neighbours(image: Image) -> None:
    middle = only(image, "middle")
    assert image.name_at(middle.address + 3) == "middle+0x3"
    found = image.function_at(middle.address + 3)
    assert found is not None
    assert found.name == "middle"
    assert image.function_at(0) is None
    assert image.find("midle") == []
    assert image.near("midle", 1) == ["middle"]


def test_a_process_is_told_from_another(image: Image) -> None:
    own = Image.of_process(os.getpid())
    own.check(os.getpid())
    with pytest.raises(ProbeError, match="does not use"):
        image.check(os.getpid())
    with pytest.raises(ProbeError, match="it has ended"):
        Image.of_process(2**31 - 1)


def test_a_file_that_is_no_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("#!/bin/sh\n")
    with pytest.raises(ProbeError, match="name the program that it starts"):
        Image(tmp_path / "script")


def test_what_may_take_long_is_long_or_asks_the_system(image: Image, tmp_path: Path) -> None:
    source = tmp_path / "waits.c"
    source.write_text(
        "#include <unistd.h>\n#include <string.h>\n"
        "__attribute__((noipa)) long waits(int fd, char *to) { return read(fd, to, 8) + 1; }\n"
        "__attribute__((noipa)) long counts(const char *text) { return strlen(text) + 1; }\n"
        "int main(int n, char **all) { return waits(n, all[0]) + counts(all[0]); }\n"
    )
    subprocess.run(
        ["gcc", "-O1", "-fno-builtin", "-o", "waits", source.name], check=True, cwd=tmp_path, timeout=60
    )
    made = Image(tmp_path / "waits")
    assert may_take_long(made, only(made, "waits"))
    assert not may_take_long(made, only(made, "counts"))
    assert not may_take_long(image, only(image, "leaf"))
    kept = {one.address for one in worth_a_detour(made)}
    assert kept == {one.address for one in made.functions()}, "a small program keeps them all"
