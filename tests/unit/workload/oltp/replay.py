"""Stands in for the driver: `python replay.py SCRIPT`, a file with a JSON list of what it does with its request read.

["tell", {…}] a line · ["say", "…"] to standard error · ["wait_stop"] for the line `stop` ·
["sleep", s] · ["exit", n] · ["signal", n] to itself · ["text", "…"] a line that is no JSON ·
["keep", "file"] the request
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

request = sys.stdin.readline()
stopped = threading.Event()


def listen() -> None:
    for line in sys.stdin:
        if line == "stop\n":
            stopped.set()
    os._exit(0)


threading.Thread(target=listen, daemon=True).start()
for what, *more in json.loads(Path(sys.argv[1]).read_text()):
    match what:
        case "tell":
            print(json.dumps(more[0]), flush=True)
        case "text":
            print(more[0], flush=True)
        case "say":
            print(more[0], file=sys.stderr, flush=True)
        case "keep":
            Path(more[0]).write_text(request)
        case "wait_stop":
            stopped.wait()
        case "sleep":
            time.sleep(more[0])
        case "exit":
            os._exit(more[0])
        case "signal":
            os.kill(os.getpid(), more[0])
