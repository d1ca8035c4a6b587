"""What programs measure time with: streams and events, whose time is counted in instructions."""

from __future__ import annotations

from typing import Any

from warpstep.triton import _settings

#: Thread instructions that are told as a millisecond. No GPU is meant: the numbers only grow as what kernels do.
PER_MILLISECOND = 1_000_000


class Stream:
    """The one stream: a launch is done when it comes back."""

    cuda_stream = 0
    stream_id = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def synchronize(self) -> None:
        """Wait for nothing."""

    def wait_stream(self, other: Any) -> None:
        """Wait for nothing."""

    def wait_event(self, event: Any) -> None:
        """Wait for nothing."""

    def record_event(self, event: Event | None = None) -> Event:
        """Note how much was done until now."""
        noted = Event() if event is None else event
        noted.record()
        return noted

    def query(self) -> bool:
        """Say that all is done."""
        return True

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Event:
    """A moment, told by how much was done until then."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self._at = 0

    def record(self, stream: Any = None) -> None:
        """Note how much was done until now."""
        self._at = _settings.current().instructions()

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds until another moment, by instructions; never 0, which programs divide by."""
        return max(end._at - self._at, 1) / PER_MILLISECOND

    def synchronize(self) -> None:
        """Wait for nothing."""

    def wait(self, stream: Any = None) -> None:
        """Wait for nothing."""

    def query(self) -> bool:
        """Say that it is over."""
        return True


_Stream = Stream


class Interface:
    """The part of ``torch.cuda`` that Triton's own benchmarks use."""

    Event = Event
    Stream = Stream

    @staticmethod
    def synchronize(device: Any = None) -> None:
        """Wait for nothing."""

    @staticmethod
    def current_stream(device: Any = None) -> _Stream:
        """Give the one stream."""
        return Stream()

    @staticmethod
    def default_stream(device: Any = None) -> _Stream:
        """Give the one stream."""
        return Stream()

    @staticmethod
    def stream(stream: Any) -> _Stream:
        """Give the one stream, as a context."""
        return Stream()

    @staticmethod
    def current_device() -> int:
        """Give the number of the device as torch counts: there is one."""
        return 0
