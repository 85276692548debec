"""The comparison of two results of `tare time`, weighed at two times."""
