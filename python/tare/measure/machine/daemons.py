"""Daemons known to wake up by themselves, by the name the kernel shows (15 bytes at most).

All of them can wait for the length of a measurement. Nothing here may be one that others
wait for: no init, bus, login, network, container or database process.
"""

from __future__ import annotations

from collections.abc import Mapping

PERIODIC: Mapping[str, str] = {
    "cron": "starts jobs by the clock",
    "crond": "starts jobs by the clock",
    "anacron": "starts overdue jobs",
    "atd": "starts jobs by the clock",
    "packagekitd": "refreshes package lists",
    "apt.systemd.dai": "refreshes package lists",
    "unattended-upgr": "installs updates",
    "dnf-automatic": "installs updates",
    "updatedb": "walks all file systems",
    "updatedb.mlocat": "walks all file systems",
    "updatedb.plocat": "walks all file systems",
    "mandb": "rebuilds the manual's index",
    "logrotate": "rewrites log files",
    "fstrim": "trims file systems",
    "fwupd": "looks for firmware",
    "tracker-miner-f": "indexes files",
    "tracker-extract": "indexes files",
    "baloo_file": "indexes files",
    "baloo_file_extr": "indexes files",
    "smartd": "asks disks for their health",
}
