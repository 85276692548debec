"""Data on known DBMSes: where transactions begin and end, and which functions are worth a first look."""

from tare.profile.presets.base import Marker, Preset, Rules
from tare.profile.presets.registry import PRESETS, of_dbms, preset

__all__ = ["PRESETS", "Marker", "Preset", "Rules", "of_dbms", "preset"]
