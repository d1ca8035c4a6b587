"""torch's device ``"cuda"`` on a computer that has none: programs that ask for it get tensors of the CPU.

What is replaced, while a `warpstep.triton.here` holds: functions that make tensors and take ``device=``; what moves tensors and
modules there; ``is_cuda``, which is true; what ``torch.cuda`` says of the device; ``data_ptr``, which takes note of who was asked for
an address. ``x.device`` is the CPU, as ``triton.runtime.driver.active.get_active_torch_device()`` is.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from warpstep.triton import _settings
from warpstep.triton._addresses import remember
from warpstep.triton._arrays import address_of
from warpstep.triton._changes import Changes
from warpstep.triton._stream import Event, Stream

#: Functions of torch that make tensors on a device.
_MAKERS = (
    "arange", "as_tensor", "asarray", "bartlett_window", "blackman_window", "empty", "empty_like", "empty_permuted",
    "empty_strided", "eye", "from_file", "full", "full_like", "hamming_window", "hann_window", "kaiser_window", "linspace",
    "logspace", "normal", "ones", "ones_like", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm",
    "range", "sparse_coo_tensor", "tensor", "tril_indices", "triu_indices", "zeros", "zeros_like", "set_default_device", "load",
)  # fmt: skip
#: Methods of tensors that do.
_METHODS = ("new_empty", "new_empty_strided", "new_full", "new_ones", "new_tensor", "new_zeros", "to")


def _is_cuda(device: Any) -> bool:
    return isinstance(device, str) and device.startswith("cuda") or getattr(device, "type", None) == "cuda"


def _on_cpu(make: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes the same on the CPU."""

    @functools.wraps(make)
    def made(*args: Any, **kwargs: Any) -> Any:
        if _is_cuda(kwargs.get("device")):
            kwargs["device"] = "cpu"
        if _is_cuda(kwargs.get("map_location")):
            kwargs["map_location"] = "cpu"
        if any(map(_is_cuda, args)):
            args = tuple("cpu" if _is_cuda(each) else each for each in args)
        if kwargs.get("pin_memory"):
            kwargs["pin_memory"] = False
        return make(*args, **kwargs)

    return made


def _change_tensors(changes: Changes, torch: Any) -> None:
    for name in _MAKERS:
        if hasattr(torch, name):
            changes.set(torch, name, _on_cpu(getattr(torch, name)))
    for name in _METHODS:
        changes.set(torch.Tensor, name, _on_cpu(getattr(torch.Tensor, name)))
    changes.set(torch.nn.Module, "to", _on_cpu(torch.nn.Module.to))
    # It gives the same tensor, as that of a tensor which is there already does.
    same = lambda self, *args, **kwargs: self  # noqa: E731
    changes.set(torch.Tensor, "cuda", same)
    changes.set(torch.Tensor, "pin_memory", same)
    changes.set(torch.nn.Module, "cuda", same)
    changes.set(torch.Tensor, "is_cuda", property(lambda self: self.device.type == "cpu"))

    ask = torch.Tensor.data_ptr

    @functools.wraps(ask)
    def asked(self: Any) -> int:
        # Triton itself asks at each launch how the address is aligned, in a function of this name: that is no address in a table.
        if (
            sys._getframe(1).f_code.co_name == "dynamic_func"
            or self.layout != torch.strided
            or self.device.type != "cpu"
        ):
            return int(ask(self))
        remember(self)
        return address_of(self)

    changes.set(torch.Tensor, "data_ptr", asked)


def _properties(*_: Any) -> SimpleNamespace:
    """What ``torch.cuda.get_device_properties`` gives."""
    from warpstep.triton._driver import Utils, device_name

    told = Utils().get_device_properties(0)
    major, minor = _capability()
    return SimpleNamespace(
        name=device_name(),
        major=major,
        minor=minor,
        total_memory=8 << 30,
        multi_processor_count=told["multiprocessor_count"],
        warp_size=told["warpSize"],
        shared_memory_per_block=49152,
        shared_memory_per_block_optin=told["max_shared_mem"],
        regs_per_multiprocessor=told["max_num_regs"],
        max_threads_per_multi_processor=2048,
        L2_cache_size=40 << 20,
    )


def _capability(*_: Any) -> tuple[int, int]:
    return divmod(int(_settings.current().target.arch), 10)


def _name(*_: Any) -> str:
    from warpstep.triton._driver import device_name

    return device_name()


def _own(answer: Callable[..., Any]) -> Callable[..., Any]:
    """A function of its own that answers the same: torch's compiler keeps tables by function."""
    return lambda *args, **kwargs: answer(*args, **kwargs)


def _change_device(changes: Changes, torch: Any) -> None:
    nothing = lambda *args, **kwargs: None  # noqa: E731
    zero = lambda *args, **kwargs: 0  # noqa: E731
    true = lambda *args, **kwargs: True  # noqa: E731
    stream = lambda *args, **kwargs: Stream()  # noqa: E731
    told: dict[str, Any] = {
        "is_available": true,
        "is_initialized": true,
        "is_bf16_supported": lambda *args, **kwargs: _settings.current().target.arch >= 80,
        "device_count": lambda *args: 1,
        "get_device_capability": _capability,
        "get_device_properties": _properties,
        "get_device_name": _name,
        "current_stream": stream,
        "default_stream": stream,
        "stream": stream,
        "device": stream,
        "device_of": stream,
        "mem_get_info": lambda *args: (8 << 30, 8 << 30),
        "set_device": nothing,
        "manual_seed": nothing,
        "manual_seed_all": nothing,
    }
    told |= dict.fromkeys(("init", "synchronize", "empty_cache", "reset_peak_memory_stats", "ipc_collect"), nothing)
    told |= dict.fromkeys(("current_device", "memory_allocated", "max_memory_allocated", "memory_reserved"), zero)
    for name, value in told.items():
        changes.set(torch.cuda, name, _own(value))
    # The classes stay, since other parts of torch look at what they are; their calls give those of here.
    for kind, made in ((torch.cuda.Stream, Stream), (torch.cuda.Event, Event)):
        changes.set(kind, "__new__", staticmethod(lambda cls, *args, made=made, **kwargs: made()))


#: What holds now, if anything does.
_changes: Changes | None = None


def begin() -> Callable[[], None]:
    """Have torch's programs run on the CPU; gives what ends it. Nothing where torch is not installed."""
    global _changes
    if _changes is not None or "torch" not in sys.modules and importlib.util.find_spec("torch") is None:
        return lambda: None
    import torch

    _changes = changes = Changes()
    _change_tensors(changes, torch)
    _change_device(changes, torch)

    def end() -> None:
        global _changes
        changes.undo()
        _changes = None

    return end
