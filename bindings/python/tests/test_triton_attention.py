"""Fused attention in Triton: tiles by pointers and by descriptors, forward and backward; the tutorial about it, where it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

triton = pytest.importorskip("triton", reason="Triton is not installed")
tl = pytest.importorskip("triton.language", reason="Triton is not installed")

import warpstep.triton  # noqa: E402
from conftest import plugin_flags  # noqa: E402

RANDOM = np.random.default_rng(7)


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, log_ptr, scale, n, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr, CAUSAL: tl.constexpr
):  # fmt: skip
    head, rows, d = tl.program_id(1) * n * D, tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, D)
    q = tl.load(q_ptr + head + rows[:, None] * D + d[None, :])
    most, weight, total = (
        tl.full((M,), -float("inf"), tl.float32),
        tl.zeros((M,), tl.float32),
        tl.zeros((M, D), tl.float32),
    )
    last = (tl.program_id(0) + 1) * M if CAUSAL else n
    for start in range(0, last, N):
        columns = start + tl.arange(0, N)
        k = tl.load(k_ptr + head + columns[None, :] * D + d[:, None])
        score = tl.dot(q, k) * (scale * 1.44269504)
        if CAUSAL:
            score = tl.where(rows[:, None] >= columns[None, :], score, -1.0e6)
        more = tl.maximum(most, tl.max(score, 1))
        power = tl.math.exp2(score - more[:, None])
        old = tl.math.exp2(most - more)
        v = tl.load(v_ptr + head + columns[:, None] * D + d[None, :])
        weight = weight * old + tl.sum(power, 1)
        total = tl.dot(power.to(tl.float16), v, total * old[:, None])
        most = more
    tl.store(log_ptr + tl.program_id(1) * n + rows, most + tl.math.log2(weight))
    tl.store(out_ptr + head + rows[:, None] * D + d[None, :], (total / weight[:, None]).to(tl.float16))


@pytest.mark.parametrize("causal", [False, True])
def test_attention(door, causal):
    heads, n, d = 2, 128, 32
    q, k, v = (RANDOM.uniform(-1, 1, (heads, n, d)).astype(np.float16) for _ in range(3))
    out, log = np.zeros((heads, n, d), np.float16), np.zeros((heads, n), np.float32)
    attention_kernel[(n // 64, heads)](
        q, k, v, out, log, 0.5, n, D=d, M=64, N=32, CAUSAL=causal, num_warps=4, num_stages=2
    )
    score = 0.5 * np.einsum("hmd,hnd->hmn", q.astype(np.float64), k.astype(np.float64))
    if causal:
        score = np.where(np.tri(n, dtype=bool), score, -np.inf)
    power = np.exp(score)
    assert np.abs(out - power @ v.astype(np.float64) / power.sum(2, keepdims=True)).max() < 2e-3
    assert np.abs(log - np.log2(power.sum(2))).max() < 1e-3


@triton.jit
def attention_back_kernel(
    q_ptr, k_ptr, v_ptr, do_ptr, log_ptr, delta_ptr, dq_ptr, dk_ptr, dv_ptr, scale, n, D: tl.constexpr, T: tl.constexpr
):  # fmt: skip
    head, d = tl.program_id(1) * n * D, tl.arange(0, D)
    columns = tl.program_id(0) * T + tl.arange(0, T)
    k = tl.load(k_ptr + head + columns[:, None] * D + d[None, :])
    v = tl.load(v_ptr + head + columns[:, None] * D + d[None, :])
    dk, dv = tl.zeros((T, D), tl.float32), tl.zeros((T, D), tl.float32)
    for start in range(0, n, T):
        rows = start + tl.arange(0, T)
        q = tl.load(q_ptr + head + rows[:, None] * D + d[None, :])
        do = tl.load(do_ptr + head + rows[:, None] * D + d[None, :])
        log, delta = tl.load(log_ptr + tl.program_id(1) * n + rows), tl.load(delta_ptr + tl.program_id(1) * n + rows)
        power = tl.math.exp2(tl.dot(q, tl.trans(k)) * (scale * 1.44269504) - log[:, None])
        dv += tl.dot(tl.trans(power.to(tl.float16)), do)
        ds = (power * (tl.dot(do, tl.trans(v)) - delta[:, None])).to(tl.float16)
        dk += tl.dot(tl.trans(ds), q)
        # All blocks add to the same rows.
        tl.atomic_add(dq_ptr + head + rows[:, None] * D + d[None, :], tl.dot(ds, k) * scale)
    tl.store(dk_ptr + head + columns[:, None] * D + d[None, :], dk * scale)
    tl.store(dv_ptr + head + columns[:, None] * D + d[None, :], dv)


def test_attention_backward():
    heads, n, d, scale = 2, 64, 32, 0.5
    q, k, v, do = (RANDOM.uniform(-1, 1, (heads, n, d)).astype(np.float16) for _ in range(4))
    score = scale * np.einsum("hmd,hnd->hmn", q.astype(np.float64), k.astype(np.float64))
    power = np.exp(score)
    log = np.log2(power.sum(2)).astype(np.float32)
    power /= power.sum(2, keepdims=True)
    delta = (power @ v.astype(np.float64) * do).sum(2).astype(np.float32)
    dq, dk, dv = np.zeros((3, heads, n, d), np.float32)
    with warpstep.triton.here(check="races,bounds,uninit"):
        attention_back_kernel[(n // 32, heads)](q, k, v, do, log, delta, dq, dk, dv, scale, n, D=d, T=32)
    ds = power * (np.einsum("hmd,hnd->hmn", do.astype(np.float64), v.astype(np.float64)) - delta[:, :, None])
    wanted = [scale * ds @ k, scale * np.swapaxes(ds, 1, 2) @ q, np.swapaxes(power, 1, 2) @ do]
    for found, exact in zip((dq, dk, dv), wanted, strict=True):
        assert np.abs(found - exact).max() < 3e-3


def blocks_of(given):
    """A hook of a configuration: descriptors that the host has made get the shape of its blocks."""
    for name, rows in (("q", "M"), ("k", "N"), ("v", "N"), ("out", "M")):
        if hasattr(given[name], "block_shape"):
            given[name].block_shape = [given[rows], given["D"]]


@triton.jit
def as_descriptor(given, rows, D: tl.constexpr, B: tl.constexpr):
    if isinstance(given, tl.tensor_descriptor):
        return given
    else:  # noqa: RET505 (what Triton does not compile, it must not come to)
        return tl.make_tensor_descriptor(given, [rows, D], [D, 1], [B, D])


@triton.autotune(
    [
        triton.Config({"M": 64, "N": 32}, num_stages=2, num_warps=4, pre_hook=blocks_of),
        triton.Config({"M": 32, "N": 64}, num_stages=3, num_warps=2, pre_hook=blocks_of),
    ],
    key=["n"],
)
@triton.jit
def tiled_attention_kernel(
    q, k, v, out, log_ptr, scale, heads, n, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr, CAUSAL: tl.constexpr
):  # fmt: skip
    head, first = tl.program_id(1) * n, tl.program_id(0) * M
    q = as_descriptor(q, heads * n, D, M).load([head + first, 0])
    k, v = as_descriptor(k, heads * n, D, N), as_descriptor(v, heads * n, D, N)
    rows = first + tl.arange(0, M)
    most, weight = tl.full((M,), -float("inf"), tl.float32), tl.zeros((M,), tl.float32)
    total = tl.zeros((M, D), tl.float32)
    last = tl.minimum(n, first + M) if CAUSAL else n
    for start in tl.range(0, last, N, warp_specialize=False):
        score = tl.dot(q, k.load([head + start, 0]).T) * (scale * 1.44269504)
        if CAUSAL:
            score = tl.where(rows[:, None] >= start + tl.arange(0, N)[None, :], score, -1.0e6)
        more = tl.maximum(most, tl.max(score, 1))
        power, old = tl.math.exp2(score - more[:, None]), tl.math.exp2(most - more)
        weight = weight * old + tl.sum(power, 1)
        total = tl.dot(power.to(tl.float16), v.load([head + start, 0]), total * old[:, None])
        most = more
    tl.store(log_ptr + head + rows, most + tl.math.log2(weight))
    as_descriptor(out, heads * n, D, M).store([head + first, 0], (total / weight[:, None]).to(tl.float16))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("made_by", ["kernel", "host"])
@pytest.mark.parametrize("config", warpstep.triton.configs(tiled_attention_kernel), ids=["64x32", "32x64"])
def test_attention_by_descriptors_and_its_gradient(door, made_by, causal, config):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    descriptor = pytest.importorskip("triton.tools.tensor_descriptor").TensorDescriptor
    heads, n, d, scale = 2, 128, 32, 0.5

    def described(x):
        return x if made_by == "kernel" else descriptor(x, [heads * n, d], [d, 1], [1, 1])

    class Attention(torch.autograd.Function):
        @staticmethod
        def forward(ctx, q, k, v):
            out, log = torch.empty_like(q), torch.empty(heads, n)
            triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
            warpstep.triton.only(tiled_attention_kernel, config)[lambda meta: (n // meta["M"], heads)](
                *map(described, (q, k, v, out)), log, scale, heads, n, D=d, CAUSAL=causal
            )
            ctx.save_for_backward(q, k, v, out, log)
            return out

        @staticmethod
        def backward(ctx, do):
            q, k, v, out, log = ctx.saved_tensors
            dq, dk, dv = torch.zeros(3, heads, n, d)
            delta = (out.float() * do.float()).sum(2)
            attention_back_kernel[(n // 32, heads)](q, k, v, do, log, delta, dq, dk, dv, scale, n, D=d, T=32)
            return dq.half(), dk.half(), dv.half()

    torch.manual_seed(7)
    q, k, v = (torch.empty(heads, n, d, dtype=torch.float16).uniform_(-1, 1).requires_grad_() for _ in range(3))
    out, do = Attention.apply(q, k, v), torch.empty(heads, n, d, dtype=torch.float16).uniform_(-1, 1)
    exact = [x.detach().double().requires_grad_() for x in (q, k, v)]
    score = scale * exact[0] @ exact[1].transpose(1, 2)
    if causal:
        score = score.masked_fill(~torch.ones(n, n, dtype=torch.bool).tril(), -float("inf"))
    wanted = score.softmax(2) @ exact[2]
    assert (out.double() - wanted).abs().max() < 1e-3
    if not causal:
        out.backward(do)
        wanted.backward(do.double())
        for found, right in zip((q, k, v), exact, strict=True):
            assert (found.grad.double() - right.grad).abs().max() < 3e-3


#: The folder of Triton's tutorials, which are not ours: python/tutorials of its repository.
TUTORIALS = os.environ.get("WARPSTEP_TRITON_TUTORIALS", "")


@pytest.mark.skipif(not TUTORIALS, reason="WARPSTEP_TRITON_TUTORIALS names no folder with Triton's tutorials")
@pytest.mark.parametrize(
    "test", ["triton-fp16-bwd-False-False", "triton-fp16-bwd-False-True", "triton-fp8-fwd-False-True"]
)
def test_the_tutorial_passes_its_own_test(test):
    """The file as it is, with its own bounds: 1e-2 of results and gradients."""
    wanted = f"{Path(TUTORIALS) / '06-fused-attention.py'}::test_op[{test}-64-128-2-1]"
    flags = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore",
        "--warpstep-triton",
        "--warpstep-check",
        "races,bounds,uninit",
    ]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *plugin_flags(), *flags, wanted], capture_output=True, text=True
    )
    assert ran.returncode == 0 and "1 passed" in ran.stdout, ran.stdout
