"""What a profile found, as text, page, data and other tools' formats."""

from tare.report.profile.build import Built, build
from tare.report.profile.drawn import Drawn, drawn

__all__ = ["Built", "Drawn", "build", "drawn"]
