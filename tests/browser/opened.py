"""A page as a browser has it: which widths, what it asked for, what it said."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

WIDTHS = {"desktop": 1200, "phone": 390}


@dataclass
class Seen:
    """A page that was opened, and what it did meanwhile."""

    page: Page
    requests: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def shown(self, chart: str, role: str) -> list[str]:
        """The texts of a chart's axis or legend."""
        return self.page.locator(f"#chart-{chart} svg g[class*='{role}'] text").all_text_contents()
