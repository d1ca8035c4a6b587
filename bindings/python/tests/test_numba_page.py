"""The page about Numba, and the examples in docstrings."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")

import warpstep.numba

ROOT = Path(__file__).parents[3]
PAGE = "docs/numba.md"
pytestmark = pytest.mark.filterwarnings("ignore::Warning")


def test_the_page_runs(monkeypatch):
    monkeypatch.chdir(ROOT)
    text = (ROOT / PAGE).read_text()
    blocks = list(re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    assert len(blocks) > 3
    everything: dict[str, object] = {"__name__": "__main__"}
    for block in blocks:
        # Lines are those of the page.
        before = "\n" * text[: block.start(1)].count("\n")
        exec(compile(before + block.group(1), PAGE, "exec"), everything)
    # The report that the page shows is the one that is raised.
    shown = re.search(r"^```\n(\[out-of-bounds\].*?)^```", text, re.MULTILINE | re.DOTALL)
    assert shown is not None
    # The page has neither the folder that it lies in nor lines of PTX, which come with the version of the compiler.
    said = str(everything["defect"]).replace(f"{ROOT}/", "")
    assert _plain(said) == _plain(shown.group(1))


def _plain(report: str) -> list[str]:
    """The words of a report: neither places in PTX nor the drawing beside them."""
    lines = [re.sub(r"[│╭╰─┬\s]+", " ", line).strip() for line in report.splitlines()]
    return [line for line in lines if line and not re.search(r"\.ptx|ld\.global", line)]


def test_examples_in_docstrings_run():
    done = doctest.testmod(warpstep.numba, extraglobs={"warpstep": __import__("warpstep")})
    assert done.failed == 0 and done.attempted > 5
