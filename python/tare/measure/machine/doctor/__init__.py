"""`tare doctor`: what this machine and this user allow, and what disturbs a measurement."""

from tare.measure.machine.doctor.examine import examine
from tare.measure.machine.doctor.finding import Area, Finding, Status

__all__ = ["Area", "Finding", "Status", "examine"]
