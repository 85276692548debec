"""Check: whether the clock is being steered, as the kernel itself says."""

from __future__ import annotations

import ctypes
import os

from tare.measure.machine.doctor.finding import Area, Finding, Status
from tare.measure.machine.doctor.surroundings import Surroundings

_UNSYNCHRONISED = 0x0040  # STA_UNSYNC
_ERROR = 5  # TIME_ERROR, adjtimex(2)


class _Timex(ctypes.Structure):
    """struct timex (linux/timex.h) as far as it is read here; the rest is room for the kernel."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),  # parts per million, scaled by 2**16
        ("maxerror", ctypes.c_long),  # µs
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_byte * 256),
    )


def synchronisation(around: Surroundings) -> Finding:
    name = "clock synchronisation"
    why = "intervals are taken on the monotonic clock, whose rate NTP steers by up to 500 ppm; dates are not"
    kernel = ctypes.CDLL(None, use_errno=True)
    timex = _Timex()  # modes = 0: reads only, needs no right
    state = kernel.adjtimex(ctypes.byref(timex))
    if state < 0:
        return Finding(name, Area.DISTURBANCE, Status.UNKNOWN, os.strerror(ctypes.get_errno()), why)
    rate = f"rate corrected by {timex.freq / 65536:+.1f} ppm"
    if state == _ERROR or timex.status & _UNSYNCHRONISED:
        return Finding(
            name, Area.DISTURBANCE, Status.ADVICE, f"not synchronised, {rate}", why,
            "run chrony or systemd-timesyncd if runs of several machines are to be ordered by time",
        )  # fmt: skip
    return Finding(
        name,
        Area.DISTURBANCE,
        Status.GOOD,
        f"synchronised within {timex.maxerror / 1000:.0f} ms, {rate}",
        why,
    )
