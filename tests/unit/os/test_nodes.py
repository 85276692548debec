"""Nodes of processes: by id, control group and network namespace."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.errors import UsageError
from tare.os import nodes
from tare.os.nodes import Node, NodeSpec, check_apart, parse_node, resolve, with_descendants
from tare.os.subject import living, of_nodes, of_processes


@pytest.fixture
def tree() -> Iterator[tuple[int, int]]:
    """A process and its child."""
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        "print(child.pid, flush=True)\n"
        "sys.stdin.read()\n"
        "child.kill()\n"
        "child.wait()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield process.pid, int(process.stdout.readline())
        process.stdin.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=pid:5,6", NodeSpec("a", "pid", "5,6")),
        ("a=cgroup:cpu/one", NodeSpec("a", "cgroup", "cpu/one")),
        ("a=netns:/proc/5/ns/net", NodeSpec("a", "netns", "/proc/5/ns/net")),
    ],
)
def test_a_node_is_parsed(text: str, expected: NodeSpec) -> None:
    assert parse_node(text) == expected


@pytest.mark.parametrize("text", ["a", "a=5", "=pid:5", "a=pid:", "a=cgruop:x"])
def test_another_form_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_node(text)


def test_a_process_brings_its_descendants(tree: tuple[int, int]) -> None:
    (node,) = resolve([NodeSpec("a", "pid", str(tree[0]))])
    assert set(node.processes) == set(tree)


def test_nodes_that_share_a_process_are_refused(tree: tuple[int, int]) -> None:
    specs = [NodeSpec("a", "pid", str(tree[0])), NodeSpec("b", "pid", str(tree[1]))]
    with pytest.raises(UsageError, match=f"the nodes a and b share the process {tree[1]}"):
        resolve(specs)


def test_two_nodes_of_one_name_are_refused(tree: tuple[int, int]) -> None:
    with pytest.raises(UsageError, match="two nodes are named a"):
        resolve([NodeSpec("a", "pid", str(tree[1]))] * 2)


def test_nodes_apart_are_taken() -> None:
    check_apart([Node("a", (1, 2)), Node("b", (3,))])


@pytest.mark.parametrize("place", ["x", "5,", "-3", "0"])
def test_an_id_that_is_none_is_refused(place: str) -> None:
    with pytest.raises(UsageError, match="is no id of a process"):
        resolve([NodeSpec("a", "pid", place)])


def test_a_process_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no process 4194305") as raised:
        of_processes([4194305])
    assert raised.value.next_step


def test_tare_itself_is_refused() -> None:
    with pytest.raises(UsageError, match="is Tare itself"):
        of_processes([os.getpid()])


def test_tare_and_what_it_started_are_not_descendants() -> None:
    own = os.getpid()
    parents = {10: 1, own: 10, 2**22 + 1: own, 11: 10}
    assert with_descendants([10], parents) == {10, 11}


def test_an_engine_that_tare_started_is_observed_by_its_id() -> None:
    host = 2**22 + 1
    assert with_descendants([host], {10: 1, os.getpid(): 10, host: os.getpid()}) == {host}


def test_a_control_group_has_the_processes_of_its_groups(
    tree: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files as the kernel has them; Tare's own process is left out."""
    monkeypatch.setattr(nodes, "CGROUPS", tmp_path)
    (tmp_path / "db/sub").mkdir(parents=True)
    (tmp_path / "db/cgroup.procs").write_text(f"{tree[0]}\n{os.getpid()}\n")
    (tmp_path / "db/sub/tasks").write_text(f"{tree[1]}\n")
    for place in ("db", "/db", str(tmp_path / "db")):
        (node,) = resolve([NodeSpec("a", "cgroup", place)])
        assert set(node.processes) == set(tree)


def test_an_empty_control_group_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "CGROUPS", tmp_path)
    (tmp_path / "cgroup.procs").write_text("")
    with pytest.raises(UsageError, match="the node a has no process"):
        resolve([NodeSpec("a", "cgroup", str(tmp_path))])


def test_a_folder_that_is_no_control_group_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no control group"):
        resolve([NodeSpec("a", "cgroup", str(tmp_path))])


def test_a_namespace_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="no-such cannot be read"):
        resolve([NodeSpec("a", "netns", "no-such")])


@pytest.mark.skipif(os.geteuid() != 0, reason="the namespaces of others are hidden from ordinary users")
def test_a_namespace_has_all_its_processes() -> None:
    with subprocess.Popen(
        ["unshare", "--net", "sleep", "60"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            path = Path(f"/proc/{process.pid}/ns/net")
            while process.poll() is None and path.readlink() == Path("/proc/self/ns/net").readlink():
                pass
            if process.poll() is not None:
                pytest.skip("no network namespace can be made here")
            (node,) = of_nodes([NodeSpec("a", "netns", str(path))]).nodes
            assert node.processes == (process.pid,)
        finally:
            process.kill()


def test_a_process_that_ended_is_left_out(tree: tuple[int, int]) -> None:
    assert living([Node("a", (tree[1], 4194305))]) == (Node("a", (tree[1],)),)


def test_the_subject_is_described() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        try:
            subject = of_processes([process.pid])
            assert (subject.name, subject.node_names) == (f"process {process.pid}", ("processes",))
        finally:
            process.kill()
