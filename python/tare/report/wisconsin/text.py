"""The findings for a terminal: sentences, then the paper's questions with each system's answer."""

from __future__ import annotations

import textwrap

from tare.report.safe import printable
from tare.report.wisconsin.document import WisconsinReport

_WIDTH = 100


def render(report: WisconsinReport) -> str:
    blocks = [_filled(one) for one in (*report.headline, *(f"{one}." for one in report.unfinished))]
    for question in report.questions:
        lines = [_filled(f"{question.question} ({question.source})")]
        lines += [_filled(f"{of.system}: {of.verdict}; {of.short}", indent="  ") for of in question.answers]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _filled(text: str, indent: str = "") -> str:
    return textwrap.fill(
        printable(text), _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  " if indent else ""
    )
