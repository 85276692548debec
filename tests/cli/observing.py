"""An observer as a user starts it, and a browser's part of talking to it."""

from __future__ import annotations

import http.client
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.cli.running import environment


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str


@dataclass
class Observed:
    """`address` has the token in it; `origin` does not."""

    address: str
    process: subprocess.Popen[str]
    cookie: str = ""

    @property
    def origin(self) -> str:
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.netloc}"

    def admit(self) -> None:
        """Change the token into the cookie."""
        parts = urlsplit(self.address)
        answer = self.ask("GET", f"{parts.path}?{parts.query}")
        assert answer.status == 303, answer
        assert "token" not in answer.headers["location"]
        given = answer.headers["set-cookie"]
        assert "HttpOnly" in given
        assert "samesite=strict" in given.lower()
        self.cookie = given.partition(";")[0]

    def ask(self, method: str, path: str, **headers: str) -> Answer:
        """`headers`: by name, with `_` for `-`."""
        connection = http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=180)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookie:
            sent.setdefault("Cookie", self.cookie)
        connection.request(method, path, headers=sent)
        found = connection.getresponse()
        text = found.read().decode()
        connection.close()
        return Answer(found.status, {name.lower(): value for name, value in found.getheaders()}, text)

    def post(self, path: str, **headers: str) -> Answer:
        return self.ask("POST", path, Origin=headers.pop("Origin", self.origin), **headers)


@contextmanager
def observing(lab: str, *words: str) -> Iterator[Observed]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tare", "observe", "--lab", lab, *words],
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert "http://127.0.0.1:" in line, line
        yield Observed(line.split()[-1], process)
    finally:
        process.terminate()
        process.communicate(timeout=20)
