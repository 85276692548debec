"""The report of a transactional run, and of two held against each other."""

from tare.report.oltp.build import Built, build

__all__ = ["Built", "build"]
