"""A page as a browser has it: which widths, what it asked for, what it said, what stands on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

WIDTHS = {"desktop": 1200, "phone": 390}

TOUCH_X, TOUCH_Y = 1, 2  # px that labels may share: boxes are a little larger than their letters

LABELS = """name => [...document.querySelectorAll(`#chart-${name} svg g[class*='axis-label']`)].map(
    axis => [...axis.querySelectorAll('text')].filter(
        text => text.textContent.trim() && getComputedStyle(text).opacity !== '0'
    ).map(text => { const box = text.getBoundingClientRect();
        return [text.textContent, box.left, box.right, box.top, box.bottom]; }))"""

Label = tuple[str, float, float, float, float]
"""Text, left, right, top, bottom."""


@dataclass
class Seen:
    """A page that was opened, and what it did meanwhile."""

    page: Page
    requests: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def shown(self, chart: str, role: str) -> list[str]:
        """The texts of a chart's axis or legend."""
        return self.page.locator(f"#chart-{chart} svg g[class*='{role}'] text").all_text_contents()

    def drawn(self) -> int:
        """How many charts the page says it has drawn."""
        return int(self.page.locator("html").get_attribute("data-drawn") or 0)

    def marks(self, chart: str) -> int:
        """Shapes and texts of its marks, not of axes and legends."""
        return self.page.locator(f"#chart-{chart} svg g[class*='role-mark'] > *").count()

    def said_of(self, chart: str) -> str:
        """Description of a chart for readers who cannot see it."""
        return self.page.locator(f"#chart-{chart}").get_attribute("aria-label") or ""

    def overlapping(self, chart: str) -> list[tuple[str, str]]:
        """Labels of the same axis that lie on each other."""
        axes: list[list[Label]] = self.page.evaluate(LABELS, chart)
        pairs = (pair for axis in axes for pair in combinations(axis, 2))
        return [(one[0], other[0]) for one, other in pairs if _overlap(one, other)]

    def widths(self) -> tuple[int, int]:
        """Widths of the page's content and of the window."""
        page, window = self.page.evaluate("() => [document.documentElement.scrollWidth, window.innerWidth]")
        return page, window


def _overlap(one: Label, other: Label) -> bool:
    _, left, right, top, bottom = one
    _, other_left, other_right, other_top, other_bottom = other
    apart = right <= other_left + TOUCH_X or other_right <= left + TOUCH_X
    above = bottom <= other_top + TOUCH_Y or other_bottom <= top + TOUCH_Y
    return not (apart or above)
