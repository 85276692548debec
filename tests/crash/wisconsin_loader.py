"""Lays the benchmark's relations in a process of its own, so that it can be killed: URL, rows, setting."""

from __future__ import annotations

import sys

from tare.dbms.registry import find
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.specification import WisconsinSpec
from tare.workload.wisconsin.tables import WisconsinTables


def main() -> None:
    url, rows, setting = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    session = find(url).connect(url, allow_writes=True)
    spec = WisconsinSpec(generation=Generation.Y1993, rows=(rows,))
    tables = WisconsinTables(session, spec, lambda table, loaded, of: print(table, loaded, flush=True))
    tables.prepare()
    tables.settle(rows, setting)
    session.close()
    print("settled", rows, flush=True)


if __name__ == "__main__":
    main()
