"""Kernels that find warpstep by themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from warpstep.numba import _launch
from warpstep.numba._seam import SEAM


class Dispatcher:
    """A kernel, or a device function, of Numba's that was made by `warpstep.numba.jit`.

    ``kernel[grid, block]``, ``kernel[grid, block, stream, shared]``, `forall` and everything else are those of Numba's dispatcher.
    """

    def __init__(self, dispatcher: Any, cc: tuple[int, int] | None, options: Mapping[str, Any]) -> None:
        """Make it by `warpstep.numba.jit` instead."""
        #: Numba's own.
        self.dispatcher = dispatcher
        self._cc = cc
        self._options = dict(options)
        self.__name__ = getattr(dispatcher, "__name__", "kernel")
        self.__doc__ = getattr(dispatcher, "__doc__", None)
        self.__wrapped__ = dispatcher.py_func

    @contextmanager
    def _device(self) -> Iterator[None]:
        before = SEAM.open(self._cc)
        token = _launch.OPTIONS.set({**self._options, **_launch.asked()})
        try:
            yield
        finally:
            _launch.OPTIONS.reset(token)
            SEAM.close(before)

    @property
    def _numba_type_(self) -> Any:
        return self.dispatcher._numba_type_

    def __getitem__(self, shape: Any) -> Configured:
        with self._device():
            return Configured(self, self.dispatcher[shape])

    def configure(self, *shape: Any, **named: Any) -> Configured:
        """As ``kernel[…]``."""
        with self._device():
            return Configured(self, self.dispatcher.configure(*shape, **named))

    def forall(self, *args: Any, **kwargs: Any) -> Configured:
        """Numba's `forall`: a launch for so many tasks."""
        return Configured(self, self.dispatcher.forall(*args, **kwargs))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.dispatcher(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.dispatcher, name)
        if not callable(found):
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            with self._device():
                return found(*args, **kwargs)

        return call

    def __repr__(self) -> str:
        return f"<warpstep.numba kernel {self.__name__}>"


class Configured:
    """A launch of such a kernel, to be called with its arguments."""

    def __init__(self, owner: Dispatcher, configured: Any) -> None:
        """Make it by ``kernel[grid, block]`` instead."""
        self.owner = owner
        self.configured = configured

    def __call__(self, *args: Any) -> Any:
        with self.owner._device():
            return self.configured(*args)
