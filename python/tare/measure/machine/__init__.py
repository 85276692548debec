"""The machine a measurement runs on: its settings, what disturbs it, and keeping it quiet."""

from tare.measure.machine.settings import MachineSettings, delay_accounting_on

__all__ = ["MachineSettings", "delay_accounting_on"]
