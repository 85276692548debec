"""The commands of `tare cluster`, as a user gives them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import tare
from tests.cluster.conftest import needs_root
from tests.cluster.leftovers import leftovers

SMALL = ("--disk-size", "1")


@needs_root
def test_a_cluster_from_start_to_stop(name: str) -> None:
    started = tare("cluster", "start", "postgresql", "--shards", "1", "--name", name, *SMALL)
    assert started.code == 0, started.err
    url = started.out.strip()
    assert url.startswith("postgresql:///postgres?host=/")
    assert f"tare cluster stop --name {name}" in started.err

    timed = tare("time", "SELECT 1", "--db", url, "--runs", "2", "--warmup", "0")
    assert timed.code == 0, timed.err

    loaded = tare("cluster", "load", "tpch", "--name", name, "--scale", "0.01")
    assert loaded.code == 0, loaded.err
    assert loaded.out == f"cluster {name} has tpch at scale 0.01, without a CPU quota\n"

    shown = tare("cluster", "status", "--name", name)
    assert shown.code == 0
    assert f"{name}: postgresql, ready, tpch at scale 0.01" in shown.out
    assert shown.out.count("answers") == 2

    [facts] = tare("cluster", "status", "--name", name, "--json").result
    assert facts["url"] == url
    assert facts["quota_cpus"] is None
    assert [node["role"] for node in facts["nodes"]] == ["coordinator", "shard"]
    assert all(node["answers"] and node["loop"].startswith("/dev/loop") for node in facts["nodes"])

    stopped = tare("cluster", "stop", "--name", name)
    assert (stopped.code, stopped.out) == (0, f"stopped and removed: {name}\n")
    again = tare("cluster", "stop", "--name", name, "--json")
    assert (again.code, again.result) == (0, {"stopped": []})


@needs_root
def test_status_of_a_cluster_that_is_not_ready_ends_with_3(name: str) -> None:
    assert tare("cluster", "start", "postgresql", "--shards", "1", "--name", name, *SMALL).code == 0
    [facts] = tare("cluster", "status", "--name", name, "--json").result
    subprocess.run(["kill", "-9", str(facts["nodes"][1]["pid"])], check=True)
    while (shown := tare("cluster", "status", "--name", name)).code == 0:
        pass
    assert shown.code == 3
    assert "its server has ended" in shown.out or "does not answer" in shown.out
    load = tare("cluster", "load", "tpch", "--name", name, "--scale", "0.01")
    assert load.code == 2
    assert f"nodes of cluster {name} do not answer: s1" in load.err
    assert tare("cluster", "stop", "--name", name).code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--name", "A-1"), "no name of a cluster"),
        (("--rate", "fast"), "--rate"),
        (("--memory", "12"), "--memory"),
        (("--cpus", "0"), "--cpus"),
        (("--cpus", "64"), "the sum must stay below"),
        (("--disk-size", "0.1"), "--disk-size"),
        (("--read-ahead", "-4"), "--read-ahead"),
        (("--shards", "0"), "--shards"),
        (("--version", "9"), "no PostgreSQL 9"),
        (("--quota-now",), "--quota-now needs a quota"),
        (("--dir", "/proc"), "not an empty directory"),
        (("--set", "jit"), "no NAME=VALUE"),
    ],
    ids=lambda value: value[0].lstrip("-") if isinstance(value, tuple) else "",
)
@needs_root
def test_a_bad_request_ends_with_2_and_makes_nothing(name: str, words: tuple[str, ...], message: str) -> None:
    usual = {"--name": (name,), "--shards": ("2",)}
    given = [word for option, value in usual.items() if option not in words for word in (option, *value)]
    refused = tare("cluster", "start", "postgresql", *given, *words)
    assert refused.code == 2, refused.err
    assert message in refused.err
    assert "next: " in refused.err
    assert leftovers(name) == []


@pytest.mark.parametrize("words", [(), ("--all", "--name", "one")], ids=["neither", "both"])
def test_stop_needs_a_name_or_all(words: tuple[str, ...]) -> None:
    refused = tare("cluster", "stop", *words)
    assert refused.code == 2
    assert "give either --name or --all" in refused.err


@needs_root
def test_an_unknown_cluster_has_no_status_and_takes_no_load(name: str) -> None:
    for words in (("status", "--name", name), ("load", "tpch", "--scale", "1", "--name", name)):
        refused = tare("cluster", *words)
        assert refused.code == 2
        assert f"there is no cluster {name}" in refused.err


@needs_root
def test_without_its_capabilities_it_names_them(name: str) -> None:
    setpriv = shutil.which("setpriv")
    assert setpriv is not None
    without = (setpriv, "--bounding-set=-net_admin,-sys_admin", "--inh-caps=-net_admin,-sys_admin")
    command = [*without, sys.executable, "-m", "tare", "cluster", "start", "postgresql", "--shards", "1"]
    done = subprocess.run([*command, "--name", name], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "CAP_NET_ADMIN and CAP_SYS_ADMIN" in done.stderr
    assert "sudo" in done.stderr
    assert not Path("/var/lib/tare/clusters", name).exists()
