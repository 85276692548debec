"""Functions at which transactions of known DBMSs begin and end, and those that are worth a first look: data."""

from tare.profile.presets.base import Marker, Preset, Rules
from tare.profile.presets.registry import PRESETS, of_dbms, preset

__all__ = ["PRESETS", "Marker", "Preset", "Rules", "of_dbms", "preset"]
