"""Every benchmark, one after the other. `--small` for a quick look that each works."""

from __future__ import annotations

import subprocess
import sys
import time

NAMES = (
    "snapshot",
    "exits",
    "interrupted",
    "ends",
    "ci_planted",
    "observer",
    "noise",
    "parts",
    "client_wall",
    "answers",
    "query_processes",
    "cold_files",
    "truth",
    "scale",
    "spark",
    "experiment",
    "wisconsin_data",
    "wisconsin",
    "oltp_driver",
    "oltp_load",
    "oltp_checks",
    "oltp_verdicts",
    "oltp_variance",
    "oltp_age",
    "oltp_curve",
    "comparison_simulation",
    "tune_kills",
    "cluster_kills",
    "tune_search",
    "durability",
    "tuning",
    "profile_cost",
    "profile_planted",
    "profile_culprits",
    "attach_random",
    "profile_servers",
    "profile_overhead",
    "profile_factors",
    "profile_table1",
    "os_overhead",
    "aa",
    "aa_real",
)


def main() -> int:
    worst = 0
    for name in NAMES:
        print(f"── {name}", flush=True)
        begin = time.monotonic()
        done = subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *sys.argv[1:]], check=False)
        print(f"   {time.monotonic() - begin:.0f} s", flush=True)
        worst = max(worst, done.returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())
