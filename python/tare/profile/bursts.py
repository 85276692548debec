"""Calls of functions that do nothing, in a process of their own: `python -m tare.profile.bursts`.

Each line of the input is a number of calls, behind `stepped` or `emulated`; the answer is the nanoseconds that they
took.
"""

from __future__ import annotations

import sys

from tare._probe import burst


def main() -> None:
    for line in sys.stdin:
        which, calls = line.split()
        print(burst(which == "stepped", int(calls)), flush=True)


if __name__ == "__main__":
    main()
