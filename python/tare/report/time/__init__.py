"""The report of `tare time` and `tare compare`."""
