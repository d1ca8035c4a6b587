"""The package itself: what is documented runs, what is typed is right, and a wheel works where nothing else is."""

from __future__ import annotations

import doctest
import importlib
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest
import warpstep

HERE = Path(__file__).resolve().parent.parent
ROOT = HERE.parent.parent


@pytest.mark.parametrize("name", ["warpstep", "warpstep._module", "warpstep._searches"])
def test_examples_in_docstrings_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    done = doctest.testmod(
        module, extraglobs={each: getattr(warpstep, each) for each in warpstep.__all__}, optionflags=doctest.ELLIPSIS
    )
    assert done.failed == 0 and (done.attempted > 0 or name != "warpstep")


def examples(path: Path) -> list[str]:
    """The Python of a page, example by example."""
    return re.findall(r"^```python\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL)


def test_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    everything: dict[str, object] = {"__name__": "__main__"}
    blocks = examples(ROOT / "docs" / "python.md")
    assert len(blocks) > 5
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), everything)


def test_everything_public_is_documented():
    for name in warpstep.__all__:
        assert getattr(warpstep, name).__doc__, name
    assert "races" in warpstep.CHECKS and warpstep.__version__


def test_types_and_style():
    """What ruff and mypy say, where they are there."""
    for command in (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy", "python"]):
        if importlib.util.find_spec(command[0]) is None:
            pytest.skip(f"no {command[0]}")
        done = subprocess.run([sys.executable, "-m", *command], cwd=HERE, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif("WARPSTEP_WHEEL" not in os.environ, reason="WARPSTEP_WHEEL names no wheel")
def test_a_wheel_in_a_fresh_environment_runs_the_readme(tmp_path):
    environment = tmp_path / "venv"
    venv.create(environment, with_pip=True)
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    # numpy is what the wheel asks for: that of this environment, where there is no network.
    subprocess.run([python, "-m", "pip", "install", "--quiet", os.environ["WARPSTEP_WHEEL"]], check=True)
    [example] = [block for block in examples(ROOT / "README.md") if "import warpstep" in block]
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run([python, "-c", example], cwd=ROOT, capture_output=True, text=True, env=clean)
    assert done.returncode == 0, done.stderr
    assert "just after the end of buffer" in done.stdout and "1 distinct defect" in done.stdout
