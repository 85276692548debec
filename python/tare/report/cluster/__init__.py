"""Report of `tare cluster speedup`."""
