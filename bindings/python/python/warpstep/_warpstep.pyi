"""The compiled part."""

from collections.abc import Callable
from typing import Any

__version__: str
OPTIMISED: bool
CHECKS: list[str]
ELEMENT_TYPES: list[str]
FIRST_ADDRESS: int
LAST_ADDRESS: int

_Shape = tuple[tuple[int, int, int], tuple[int, int, int], int]
_Options = dict[str, Any] | None
_Judge = Callable[[list[bytes]], str | None] | None
_Arguments = list[tuple[Any, ...]]
_Ran = tuple[int, int, int, bytes, int]
_Found = tuple[int | None, str, str, str, str, str, int, str]

class Module:
    def __new__(cls, name: str, text: str) -> Module: ...
    @staticmethod
    def from_file(path: str) -> Module: ...
    @staticmethod
    def linked(texts: list[tuple[str, str]]) -> Module: ...
    @property
    def name(self) -> str: ...
    @property
    def text(self) -> str: ...
    def texts(self) -> list[tuple[str, str]]: ...
    def variables(self) -> list[tuple[str, bytes]]: ...
    def kernels(self) -> list[str]: ...
    def parameters(self, kernel: str) -> list[tuple[str, str, int, bool, bool, bool]] | None: ...
    def run(
        self, kernel: str, shape: _Shape, arguments: _Arguments, options: _Options, judge: _Judge = None
    ) -> _Ran: ...
    def replay(
        self,
        kernel: str,
        shape: _Shape,
        arguments: _Arguments,
        options: _Options,
        schedule: str,
        judge: _Judge,
        rel: float | None,
    ) -> _Ran: ...

def panics(text: str) -> None: ...
def hunt(
    module: Module,
    kernel: str,
    shape: _Shape,
    arguments: _Arguments,
    options: _Options,
    judge: _Judge,
    rel: float | None,
    seeds: tuple[int, int],
) -> tuple[list[_Found], int, int, bool, str]: ...
def prove(
    module: Module,
    kernel: str,
    shape: _Shape,
    arguments: _Arguments,
    options: _Options,
    judge: _Judge,
    rel: float | None,
) -> tuple[bool | None, list[_Found], int, str]: ...
def compare(
    module: Module,
    kernel: str,
    shape: _Shape,
    arguments: _Arguments,
    options: _Options,
    judge: _Judge,
    rel: float | None,
    seeds: int,
) -> tuple[bool | None, list[tuple[str, str, str, bool, str]], str, str]: ...
