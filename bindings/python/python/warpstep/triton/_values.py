"""Arguments of a Triton kernel as its PTX takes them: tuples and descriptors in pieces, numbers as bytes."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from typing import Any

#: A parameter: its name, its type in Triton's words, and what was given for it.
Given = tuple[str, str, Any]

_FLOATS = {"fp16": "<e", "fp32": "<f", "f32": "<f", "fp64": "<d"}
_BITS = {"1": 1, "8": 1, "16": 2, "32": 4, "64": 8}


def flattened(signature: Mapping[str, Any], arguments: tuple[Any, ...], described: bool) -> Iterator[Given]:
    """Give the parameters of a kernel in their order: without constants, tuples and descriptors in pieces.

    `described`: whether descriptors of tensors stay in one piece, as targets with an engine for them have it.

    >>> list(flattened({"x": "*fp32", "B": "constexpr", "s": ("i32", "constexpr")}, (1, 2, (3, 4)), False))
    [('x', '*fp32', 1), ('s[0]', 'i32', 3)]
    """
    for (name, kind), value in zip(signature.items(), arguments, strict=True):
        yield from _pieces(name, kind, value, described)


def _pieces(name: str, kind: Any, value: Any, described: bool) -> Iterator[Given]:
    if isinstance(kind, tuple):
        for k, (part, each) in enumerate(zip(kind, value, strict=True)):
            yield from _pieces(f"{name}[{k}]", part, each, described)
    elif kind.startswith("tensordesc"):
        yield from _descriptor(name, kind, value, described)
    elif kind != "constexpr":
        yield name, kind, value


def _descriptor(name: str, kind: str, value: Any, described: bool) -> Iterator[Given]:
    """Pieces of a descriptor, as the compiler's lowering has them."""
    if described:
        raise NotImplementedError(
            f"`{name}` is a descriptor of a tensor, which this target's copy engine reads (TMA): give target=80, where Triton "
            "makes loads and stores of it"
        )
    found = re.match(r"tensordesc<([^[>]*)\[([^]]*)\]", kind)
    if found is None:
        raise NotImplementedError(f"`{name}` is {kind}: there is no such parameter here")
    # Shape and strides come twice, since Triton's own lowering of loads and stores has no use for those of the engine's descriptor.
    # A version before 3.6 has one flag.
    pieces = [("*" + found.group(1), value.base)]
    pieces += [("i64", each) for each in (*value.shape, *value.strides)]
    pieces.append(("i1", value.padding == "nan"))
    if hasattr(value, "round_f32_to_tf32"):
        pieces.append(("i1", value.round_f32_to_tf32))
    pieces += [("i32", each) for each in value.shape]
    pieces += [("i64", each) for each in value.strides]
    for k, (part, each) in enumerate(pieces):
        yield (name if k == 0 else f"{name}.{k}"), part, each


def packed(name: str, kind: str, value: Any) -> bytes:
    """Give a number as the bytes of its parameter.

    >>> packed("n", "i32", -1).hex(), packed("x", "bf16", 1.0).hex(), packed("flag", "i1", True).hex()
    ('ffffffff', '803f', '01')
    """
    if kind == "bf16":
        return _brain(float(value))
    if kind in _FLOATS:
        try:
            return struct.pack(_FLOATS[kind], float(value))
        except OverflowError:
            return struct.pack(_FLOATS[kind], float("inf") if value > 0 else float("-inf"))
    size = _BITS.get(kind[1:]) if kind[:1] in "iu" else None
    if size is None:
        raise NotImplementedError(f"`{name}` is {kind}: there is no such parameter here")
    number = int(value)
    if not -(1 << 8 * size - 1) <= number < 1 << 8 * size:
        raise OverflowError(f"`{name}` is {number}, which does not fit {kind}")
    return number.to_bytes(size, "little", signed=number < 0)


def _brain(value: float) -> bytes:
    """The 16-bit brain float that is closest to a number, to even where two are."""
    try:
        [bits] = struct.unpack("<I", struct.pack("<f", value))
    except OverflowError:
        [bits] = struct.unpack("<I", struct.pack("<f", float("inf") if value > 0 else float("-inf")))
    special = bits & 0x7F800000 == 0x7F800000
    rounded = bits | (0x400000 if bits & 0x7FFFFF else 0) if special else bits + 0x7FFF + (bits >> 16 & 1)
    return struct.pack("<H", rounded >> 16)
