"""The driver's process: it starts light, and it ends when whoever started it does."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

COMMAND = (sys.executable, "-m", "tare.workload.oltp.driver")
PATIENCE_S = 20.0


def driver(*options: str) -> subprocess.Popen[bytes]:
    command = (COMMAND[0], *options, *COMMAND[1:])
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)


def request(url: str, **other: object) -> bytes:
    action = {"do": "check", "rows": 1}
    asked: dict[str, Any] = {
        "url": url,
        "workload": "ycsb",
        "scale": None,
        "seed": 1,
        "connect_timeout_s": 60.0,
    }
    return json.dumps(asked | {"action": action} | other).encode() + b"\n"


def ended(process: subprocess.Popen[bytes], line: bytes) -> tuple[int, dict[str, Any]]:
    assert process.stdin
    assert process.stdout
    process.stdin.write(line)
    process.stdin.flush()
    events = process.stdout.readlines()
    code = process.wait(PATIENCE_S)
    process.communicate()
    return code, json.loads(events[-1])


def test_a_request_that_cannot_be_read_is_at_fault_itself() -> None:
    code, failed = ended(driver(), b'{"url": 1}\n')
    assert (code, failed["event"], failed["usage"]) == (2, "action_failed", True)


def test_a_database_that_is_not_there_is_named_without_its_password(tmp_path: Path) -> None:
    code, failed = ended(driver(), request(f"postgresql://me:s3cret@/shop?host={tmp_path}"))
    assert (code, failed["usage"]) == (1, False)
    assert str(tmp_path) in failed["what"]
    assert "s3cret" not in json.dumps(failed)


def test_it_carries_nothing_but_the_probe() -> None:
    process = driver("-X", "importtime")
    _, said = process.communicate(b"{}\n", PATIENCE_S)
    imported = [line.rsplit(b"|", 1)[-1].strip().decode() for line in said.splitlines() if b"|" in line]
    ours = {name for name in imported if name.startswith("tare")}
    assert ours == {"tare", "tare.workload", "tare.workload.oltp", "tare._probe"}
    assert not {"pydantic", "numpy", "sqlalchemy", "rich", "typer", "asyncio"} & set(imported)


def test_it_ends_at_once_when_its_input_does() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, driver() as process:
        assert process.stdin
        process.stdin.write(request(f"postgresql://me@127.0.0.1:{silent.getsockname()[1]}/shop"))
        process.stdin.flush()
        time.sleep(0.5)
        assert process.poll() is None  # it waits for an answer
        began = time.monotonic()
        process.stdin.close()
        process.wait(PATIENCE_S)
        assert time.monotonic() - began < 5
