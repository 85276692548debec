"""How a verdict on a correlation, and a level of it, are written: in text and in charts alike."""

from __future__ import annotations

from tare.protocol.model.result import Level, Verdict

SIGNS = {
    Verdict.EXACT: "✓",
    Verdict.CLOSE: "~",
    Verdict.OFF: "✗",
    Verdict.NOT_SIGNIFICANT: "?",
    Verdict.NON_VARYING: "=",
    Verdict.MISSING: "–",
}
LEVELS = {Level.HIGH: "high", Level.MEDIUM: "med", Level.LOW: "low"}
