"""Triton: a matrix product in plain float32 multiply-adds, without tensor instructions."""
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for base in range(0, k, BK):
        ks = base + tl.arange(0, BK)
        x = tl.load(a + rows[:, None] * k + ks[None, :], mask=(rows[:, None] < m) & (ks[None, :] < k), other=0.0)
        y = tl.load(b + ks[:, None] * n + cols[None, :], mask=(ks[:, None] < k) & (cols[None, :] < n), other=0.0)
        total += tl.dot(x, y, input_precision="ieee")
    tl.store(c + rows[:, None] * n + cols[None, :], total, mask=(rows[:, None] < m) & (cols[None, :] < n))


if __name__ == "__main__":
    kinds = {"a": "*fp32", "b": "*fp32", "c": "*fp32", "m": "i32", "n": "i32", "k": "i32",
             "BM": "constexpr", "BN": "constexpr", "BK": "constexpr"}
    source = ASTSource(matmul, signature=kinds, constexprs={"BM": 16, "BN": 16, "BK": 16})
    target = GPUTarget("cuda", int(sys.argv[2].removeprefix("sm_")), 32)
    made = triton.compile(source, target=target, options={"num_warps": 2, "num_stages": 1})
    with open(sys.argv[1], "w") as f:
        f.write(made.asm["ptx"])
    print("shared memory:", made.metadata.shared, file=sys.stderr)
