"""Servers that tests need and npm brings, all downloaded: `python -m tests.dbms.downloads`."""

from __future__ import annotations

import sys

from tare.dbms.servers import download
from tare.errors import TareError
from tests.dbms import postgresql_tls


def main() -> None:
    try:
        for programs in (download.mysql, postgresql_tls.programs):
            programs(lambda line: print(line, file=sys.stderr))
    except TareError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
