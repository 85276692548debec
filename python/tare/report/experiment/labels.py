"""What protocols are called where there is little room."""

from __future__ import annotations

LABELS = {"ttp1": "TTPv1", "ttp2": "TTPv2", "exact": "exact protocol"}
"""Protocols in tables and captions."""


def label(protocol: str) -> str:
    return LABELS.get(protocol, protocol)
