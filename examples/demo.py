"""The demonstration: a throw-away PostgreSQL, two tables, two queries weighed.

Run it with `make demo`. The server listens on a socket in a directory of its own,
as an ordinary user, and is stopped at the end; nothing else is touched.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psycopg

from tare.dbms.servers import start_postgresql

HERE = Path(__file__).parent
QUERIES = ("pricing", "priority")  # order takes less than a tick, too short for TTPv2


def main() -> int:
    begin = time.monotonic()
    with start_postgresql() as server:
        print(f"PostgreSQL is up after {time.monotonic() - begin:.1f} s; loading 750,000 rows …", flush=True)
        with psycopg.connect(server.url, autocommit=True) as connection:
            for statement in (HERE / "schema.sql").read_text().split(";"):
                if statement.strip():
                    connection.execute(statement)
        print(
            f"loaded after {time.monotonic() - begin:.1f} s; weighing two queries, ten times each",
            flush=True,
        )
        files = [word for name in QUERIES for word in ("-f", str(HERE / "queries" / f"{name}.sql"))]
        command = [sys.executable, "-m", "tare", "time", *files, "--db", server.url]
        code = subprocess.run(command, check=False).returncode
    print(f"the demonstration took {time.monotonic() - begin:.0f} s; try your own: tare time --help")
    return code


if __name__ == "__main__":
    sys.exit(main())
