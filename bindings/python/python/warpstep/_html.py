"""Reports as HTML, for notebooks."""

from __future__ import annotations

import html
import re

_STYLE = "font-family:monospace;line-height:1.3;white-space:pre;overflow-x:auto;margin:0"
_ERROR = "color:#b00020;font-weight:bold"
_QUIET = "color:#777"


def report_html(text: str) -> str:
    """Give a report as HTML: the same text, what is wrong in red, frames of excerpts in grey."""
    lines = html.escape(text).split("\n")
    marked = [_line(line, first=number == 0) for number, line in enumerate(lines)]
    return f'<pre class="warpstep" style="{_STYLE}">' + "\n".join(marked) + "</pre>"


def _line(line: str, first: bool) -> str:
    if first or re.match(r"\[[a-z0-9-]+\] Error:|mismatch:", line):
        return f'<span style="{_ERROR}">{line}</span>'
    return re.sub(r"[\u2500-\u257f]+", lambda frame: f'<span style="{_QUIET}">{frame.group()}</span>', line)


def parts_html(title: str, parts: list[str]) -> str:
    """Give several reports below a line that says what they are."""
    return f"<div><p><b>{html.escape(title)}</b></p>" + "".join(parts) + "</div>"
