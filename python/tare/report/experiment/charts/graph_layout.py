"""Places of the measures in the structural graphs, and of the labels on their arcs: laid by hand, as data.

The three types of process share a layout, so that one graph can be held against another. A measure of a
type is called by its name without the type. px, from the upper left; a label's place is a share of its arc.
"""

from __future__ import annotations

from collections.abc import Mapping

WIDTH = 750
HEIGHT: Mapping[str, int] = {"ttp2": 560, "ttp1": 410}

Node = tuple[str, float, float]  # label, x and y of its middle

NODES: Mapping[str, Mapping[str, Node]] = {
    "ttp2": {
        "user_ticks": ("user ticks", 455, 380),
        "system_ticks": ("system ticks", 150, 85),
        "block_io_ticks": ("block-I/O delay", 530, 125),
        "voluntary_switches": ("voluntary switches", 240, 380),
        "involuntary_switches": ("involuntary switches", 390, 535),
        "read_calls": ("read calls", 380, 20),
        "write_calls": ("write calls", 610, 250),
        "overall_user": ("overall user ticks", 130, 535),
        "overall_system": ("overall system ticks", 85, 250),
        "overall_softirq": ("overall softirq ticks", 655, 470),
        "overall_iowait": ("overall iowait ticks", 665, 20),
    },
    "ttp1": {
        "user_ticks": ("user time", 105, 270),
        "system_ticks": ("system time", 280, 195),
        "maj_faults": ("major faults", 455, 262),
        "overall_user": ("overall user time", 105, 90),
        "overall_system": ("overall system time", 570, 90),
        "overall_maj_faults": ("overall major faults", 668, 330),
        "overall_softirq": ("overall softirq", 330, 20),
        "overall_iowait": ("overall iowait", 285, 385),
    },
}

LABEL_AT: Mapping[str, Mapping[tuple[str, str], float]] = {
    "ttp2": {
        ("user_ticks", "system_ticks"): 0.35,
        ("user_ticks", "read_calls"): 0.45,
        ("user_ticks", "write_calls"): 0.4,
        ("read_calls", "block_io_ticks"): 0.65,
        ("read_calls", "voluntary_switches"): 0.25,
        ("write_calls", "voluntary_switches"): 0.3,
        ("voluntary_switches", "system_ticks"): 0.55,
        ("write_calls", "overall_softirq"): 0.45,
        ("read_calls", "overall_system"): 0.3,
        ("voluntary_switches", "overall_softirq"): 0.8,
    },
    "ttp1": {
        ("overall_softirq", "system_ticks"): 0.35,
        ("maj_faults", "overall_softirq"): 0.35,
        ("overall_user", "overall_iowait"): 0.6,
        ("system_ticks", "overall_system"): 0.45,
    },
}
"""By cause and effect; half way where nothing is said."""
