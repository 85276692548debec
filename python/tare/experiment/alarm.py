"""Channels that carry a notice to the user: a command or a webhook."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from tare.errors import Undelivered, UsageError
from tare.experiment.watcher import Notice

TIMEOUT_S = 30.0

Channel = Callable[[Notice], None]
"""Raises Undelivered."""


class Bell:
    """Sends notices to every channel. A channel that failed gets the latest notice again at the next ring."""

    def __init__(self, channels: Sequence[Channel], failed: Callable[[Undelivered], None]) -> None:
        self._channels = channels
        self._failed = failed
        self._due: dict[int, Notice] = {}

    def ring(self, notice: Notice | None) -> None:
        """Send a notice to every channel; None: repeat only what a channel has not taken."""
        if notice is not None:
            self._due = dict.fromkeys(range(len(self._channels)), notice)
        for number, due in list(self._due.items()):
            try:
                self._channels[number](due)
            except Undelivered as error:
                self._failed(error)
            else:
                del self._due[number]

    @property
    def quiet(self) -> bool:
        """Whether every channel has taken the last notice."""
        return not self._due


def check_webhook(url: str) -> None:
    """Raises UsageError unless the URL begins with http:// or https://."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        usable = False
    if not usable:
        raise UsageError("--webhook is not a web address", "give http://… or https://…")


def run_command(command: str, notice: Notice) -> None:
    """Runs the command in a shell, with the notice as JSON on its standard input. Raises Undelivered."""
    variables = {
        "TARE_RUN": notice.run,
        "TARE_EVENT": notice.event.value,
        "TARE_SILENT_FOR": f"{notice.silent_for_s:.0f}",
    }
    try:
        done = subprocess.run(
            command,
            shell=True,
            input=json.dumps(notice.as_json()),
            text=True,
            env=os.environ | variables,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Undelivered(
            f"the command {command!r} has run for {TIMEOUT_S:g} s and was ended", "make it end sooner"
        ) from None
    if done.returncode:
        raise Undelivered(
            f"the command {command!r} ended with exit code {done.returncode}", "run it by itself to see why"
        )


def post(url: str, notice: Notice) -> None:
    """Posts the notice as JSON. Raises Undelivered unless the answer is 2xx."""
    request = urllib.request.Request(
        url,
        data=json.dumps(notice.as_json()).encode(),
        headers={"Content-Type": "application/json", "User-Agent": "tare"},
        method="POST",
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S):
            return
    except urllib.error.HTTPError as error:
        why = f"it answered {error.code} {error.reason}"
    except (urllib.error.URLError, OSError, ValueError) as error:
        why = str(getattr(error, "reason", error))
    host = urlsplit(url).hostname  # the rest of it is often a secret
    raise Undelivered(
        f"the webhook at {host} did not take the notice: {why}", "see that its address is right"
    )
