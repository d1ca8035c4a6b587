"""Modules of PTX, their kernels, and launches of these."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypedDict, Unpack

from warpstep import _session, _warpstep
from warpstep._arguments import Arguments, Parameter
from warpstep._html import report_html

#: Numbers of blocks, or of threads of a block: `n`, `(x,)`, `(x, y)` or `(x, y, z)`.
Dimensions = int | tuple[int, ...]
Shape = tuple[tuple[int, int, int], tuple[int, int, int], int]


class Options(TypedDict, total=False):
    """What a launch, and a search of it, can be told; docs/python.md has more of each."""

    #: What is looked for besides what no kernel may do: ``"races,bounds"`` or a list; `CHECKS` has all.
    check: str | Iterable[str]
    #: Races that are no defects: ``"instruction"`` (the default: lanes of one instruction store the same value), ``"same-value"`` (any
    #: stores of the same value) or ``"none"``.
    benign: str
    #: The control model: ``"crs"``, ``"its"``, ``"its-split"`` or ``"thread"``; by default that of the target's hardware.
    control: str
    #: The memory: ``"flat"`` (the default), ``"fermi"`` or another preset.
    memory: str
    #: Whether the lanes of an instruction access flat memory one by one.
    split: bool
    #: Threads of a warp, 1 to 32.
    warp_size: int
    #: A random schedule instead of the default one; the same seed gives the same run on every computer.
    seed: int
    #: Whether matrix instructions round the exact sum once, not as tensor cores do.
    mma_exact: bool
    #: Warp instructions of a run at most.
    max_steps: int
    #: Seconds that it may take.
    timeout: float
    #: Bytes of device memory, and of a search, at most.
    max_memory: int
    #: Whether the kernel works in the arrays themselves, without a copy on the device: for arrays that are too large for one. Kernels
    #: are slower so, and after a defect the arrays hold what was written until then.
    in_place: bool
    #: What messages call the arguments, in their order; ``arg0``, ``arg1`` … if nothing is said.
    names: Sequence[str]


#: Their names.
_OPTIONS = frozenset(Options.__annotations__)


@dataclass(frozen=True, slots=True)
class Run:
    """What a launch gave that ended as it should."""

    #: Blocks that were completed.
    blocks: int
    #: Warp instructions that were executed.
    warp_instructions: int
    #: Thread instructions that were executed.
    thread_instructions: int
    #: What the kernel printed, as bytes.
    output: bytes
    #: A hash of all device memory at the end, the same on every computer.
    memory_hash: int

    @property
    def printed(self) -> str:
        """What the kernel printed, as text."""
        return self.output.decode("utf-8", "replace")

    def _repr_html_(self) -> str:
        text = f"{self.blocks} blocks, {self.warp_instructions} warp instructions"
        return report_html("\n".join([text, self.printed]) if self.output else text)


class Module(Mapping[str, "Kernel"]):
    """A module of PTX: its text is read and checked once, its kernels are launched as often as one likes.

    A module is a mapping from names to kernels. It can be pickled, and used by several threads at the same time.

    >>> module = Module(".version 8.0 .target sm_80 .address_size 64 .entry nothing() { ret; }")
    >>> list(module)
    ['nothing']
    >>> module["nothing"][2, 32]().blocks
    2
    """

    __slots__ = ("__weakref__", "_kernels", "_native", "name")

    def __init__(self, text: str | bytes, name: str = "kernel.ptx") -> None:
        """Read a text of PTX; `name` is what messages call it."""
        if isinstance(text, (bytes, bytearray)):
            text = bytes(text).decode("utf-8", "replace").rstrip("\0")
        if not isinstance(text, str):
            raise TypeError(
                f"a module is made of a text of PTX, not of {type(text).__name__}: for a file, from_file(path)"
            )
        self._begin(_warpstep.Module(name, text))

    def _begin(self, native: _warpstep.Module) -> None:
        self._native: _warpstep.Module | None = native
        self._kernels: dict[str, Kernel] = {}
        #: What messages call it.
        self.name = native.name

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Module:
        """Read a file of PTX, which messages name.

        >>> Module.from_file("none.ptx")
        Traceback (most recent call last):
        ...
        warpstep.InputError: [unreadable] Error: cannot read none.ptx: there is no such file
        """
        module = cls.__new__(cls)
        module._begin(_warpstep.Module.from_file(os.fspath(path)))
        return module

    @classmethod
    def linked(cls, texts: Iterable[tuple[str, str]]) -> Module:
        """Link several texts, each with the name that messages call it by: what one declares ``.extern``, another one defines.

        >>> head = ".version 8.0 .target sm_80 .address_size 64 "
        >>> caller = head + ".extern .func done; .entry nothing() { call done; ret; }"
        >>> module = Module.linked([("caller.ptx", caller), ("done.ptx", head + ".visible .func done { ret; }")])
        >>> module["nothing"][1, 1]().blocks
        1
        """
        module = cls.__new__(cls)
        module._begin(_warpstep.Module.linked([(str(name), str(text)) for name, text in texts]))
        return module

    @property
    def native(self) -> _warpstep.Module:
        """The compiled part's module; the package's own use."""
        if self._native is None:
            raise ValueError(f"the module {self.name} was closed: make it again")
        return self._native

    @property
    def text(self) -> str:
        """Its text; of several that were linked, the first."""
        return self.native.text

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """All its texts, each with its name."""
        return tuple(self.native.texts())

    def close(self) -> None:
        """Free what the module holds. Its kernels cannot be launched any more; runs that go on end as they would."""
        self._native = None
        self._kernels.clear()

    def __enter__(self) -> Module:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getitem__(self, name: str) -> Kernel:
        found = self._kernels.get(name)
        if found is not None:
            return found
        parameters = self.native.parameters(name)
        if parameters is None:
            there = ", ".join(self.native.kernels()) or "none"
            raise KeyError(f"{self.name} has no kernel {name!r}; its kernels: {there}")
        kernel = Kernel(self, name, tuple(Parameter(*each) for each in parameters))
        self._kernels[name] = kernel
        return kernel

    def __iter__(self) -> Iterator[str]:
        return iter(self.native.kernels())

    def __len__(self) -> int:
        return len(self.native.kernels())

    # Two modules of one text are the same, also in another process.
    def __eq__(self, other: object) -> bool:
        return self is other or isinstance(other, Module) and self.texts == other.texts

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, self.texts

    def __repr__(self) -> str:
        if self._native is None:
            return f"<Module {self.name}, closed>"
        return f"<Module {self.name}: {', '.join(self) or 'no kernels'}>"


#: Modules that came to this process by pickle, the last few: a worker reads a text once.
_RESTORED: dict[tuple[tuple[str, str], ...], Module] = {}


def _restored(*texts: tuple[str, str]) -> Module:
    found = _RESTORED.get(texts)
    if found is None or found._native is None:
        while len(_RESTORED) >= 16:
            _RESTORED.pop(next(iter(_RESTORED)), None)
        found = _RESTORED[texts] = Module.linked(texts)
    return found


class Kernel:
    """A kernel of a module: ``kernel[grid, block](…)`` launches it.

    >>> module = Module('''.version 8.0 .target sm_80 .address_size 64
    ...     .entry fill(.param .u64 to, .param .f32 value) {
    ...         .reg .b32 %r; .reg .f32 %f; .reg .b64 %a, %b;
    ...         ld.param.u64 %a, [to]; ld.param.f32 %f, [value];
    ...         mov.u32 %r, %tid.x; mul.wide.u32 %b, %r, 4; add.s64 %a, %a, %b;
    ...         st.global.f32 [%a], %f; ret;
    ...     }''')
    >>> fill = module["fill"]
    >>> print(*fill.parameters, sep=", ")
    to: u64, value: f32
    >>> import numpy as np
    >>> x = np.zeros((2, 2), dtype=np.float32)
    >>> _ = fill[1, 4](x, 1.5, check="races,bounds")
    >>> x.tolist()
    [[1.5, 1.5], [1.5, 1.5]]
    """

    __slots__ = ("module", "name", "parameters")

    def __init__(self, module: Module, name: str, parameters: tuple[Parameter, ...]) -> None:
        """Take it from its module instead: ``module[name]``."""
        #: The module.
        self.module = module
        #: Its name.
        self.name = name
        #: Its parameters.
        self.parameters = parameters

    def __getitem__(self, shape: tuple[Any, ...]) -> Launch:
        """Give a launch of so many blocks of so many threads: ``kernel[grid, block]`` or ``kernel[grid, block, shared]``.

        `grid` and `block` are numbers or tuples of up to three; `shared` is the dynamic shared memory of a block in bytes.
        """
        if not isinstance(shape, tuple) or len(shape) not in (2, 3):
            raise TypeError(f"{self.name}[grid, block] or {self.name}[grid, block, shared memory in bytes]")
        return Launch(self, shaped(*shape))

    def __call__(self, *arguments: Any, **options: Any) -> NoReturn:
        """Say what is missing: a kernel is launched with numbers of blocks and threads."""
        raise TypeError(f"how many blocks, of how many threads? `{self.name}[grid, block](…)` launches the kernel")

    def arguments(self, given: Sequence[Any], names: Sequence[str] | None) -> Arguments:
        """Describe what was given for the parameters; the package's own use."""
        return Arguments(self.name, self.parameters, names).take(given)

    def __reduce__(self) -> tuple[Any, ...]:
        return _kernel, (self.module, self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and (self.name, self.module) == (other.name, other.module)

    def __hash__(self) -> int:
        return hash((self.name, self.module))

    def __repr__(self) -> str:
        return f"<Kernel {self.name}({', '.join(map(str, self.parameters))}) of {self.module.name}>"


def _kernel(module: Module, name: str) -> Kernel:
    return module[name]


class Launch:
    """A kernel with the numbers of its blocks and threads, to be called with its arguments."""

    __slots__ = ("kernel", "shape")

    def __init__(self, kernel: Kernel, shape: Shape) -> None:
        """Make it by ``kernel[grid, block]`` instead."""
        #: The kernel.
        self.kernel = kernel
        #: Blocks in x, y, z; threads of a block; dynamic shared memory in bytes.
        self.shape = shape

    def __call__(self, *arguments: Any, **options: Unpack[Options]) -> Run:
        """Run the kernel to its end, and give back what it did.

        Arrays are the kernel's memory: they hold what it left there. Numbers are converted as its parameters are declared;
        `None` is the null pointer; bytes, and scalars of structured dtypes, are structs by value.

        Raises `Defect` when the kernel is wrong (its arrays are as they were before then), `LimitReached`, `Unsupported`,
        `InputError`; `TypeError` and `ValueError` for arguments that do not fit.
        """
        kernel = self.kernel
        native = kernel.module.native
        if options and not _OPTIONS.issuperset(options):
            unknown = next(key for key in options if key not in _OPTIONS)
            raise TypeError(f"there is no option `{unknown}`; arguments of the kernel are given in their order")
        names = options.pop("names", None) if options else None
        taken = kernel.arguments(arguments, names)
        session = _session.current
        given = native_options(options) if options or session is not None else None
        if session is not None and session.asks:
            from warpstep._searches import launch_in_session

            run = launch_in_session(session, self, taken, given)
        else:
            run = Run(*native.run(kernel.name, self.shape, taken.described, given))
        if taken.written_back:
            taken.finish()
        return run

    def __repr__(self) -> str:
        return f"<Launch {self.kernel.name}{list(self.shape)}>"


def native_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Give options as the compiled part takes them, with the checks of a pytest session."""
    given = {key: value for key, value in options.items() if value is not None}
    checks = _checks(given["check"]) if "check" in given else []
    if _session.current is not None:
        checks += [check for check in _session.current.check if check not in checks]
    if checks or "check" in given:
        given["check"] = checks
    return given


def _checks(check: str | Iterable[str]) -> list[str]:
    if isinstance(check, str):
        check = check.split(",")
    words = [each.strip() for each in check if each.strip()]
    for word in words:
        if word not in _warpstep.CHECKS:
            raise ValueError(f'check="{word}": there are {", ".join(_warpstep.CHECKS)}')
    return words


def shaped(grid: Any, block: Any, shared: Any = 0) -> Shape:
    """Give the numbers of a launch as the compiled part takes them."""
    return _three("grid", grid), _three("block", block), _count("shared memory", shared, 0)


def _three(what: str, given: Any) -> tuple[int, int, int]:
    if type(given) is int and 0 < given < 1 << 32:
        return given, 1, 1
    # What the doors give, which is checked in less time.
    if type(given) is tuple and len(given) == 3 and all(type(each) is int and 0 < each < 1 << 32 for each in given):
        return given
    numbers = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if not 1 <= len(numbers) <= 3:
        raise ValueError(f"{what}={given!r}: one, two or three numbers")
    x, y, z = (*(_count(what, number, 1) for number in numbers), 1, 1)[:3]
    return x, y, z


def _count(what: str, number: Any, least: int) -> int:
    try:
        count = number.__index__()
    except AttributeError:
        raise TypeError(f"{what}: {number!r} is no whole number") from None
    if not least <= count < 1 << 32:
        raise ValueError(f"{what}: {number} is not from {least} to {(1 << 32) - 1}")
    return int(count)
