"""Which versions of Triton there is a seam for."""

from __future__ import annotations

import re

#: The oldest version whose parts fit.
OLDEST = (3, 5)


def require(version: str) -> None:
    """Refuse versions of Triton that are too old, in words.

    >>> require("3.9.0")
    >>> require("2.1.0")
    Traceback (most recent call last):
    ...
    ImportError: warpstep.triton needs Triton 3.5 or later, and 2.1.0 is installed: pip install -U triton
    """
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:2])
    if numbers < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise ImportError(
            f"warpstep.triton needs Triton {oldest} or later, and {version} is installed: pip install -U triton"
        )
