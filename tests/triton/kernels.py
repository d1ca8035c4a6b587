"""Writes the PTX of this folder, with no GPU: pip install triton==3.9.0; python kernels.py

Tiles are small, so that a run takes little time, and loops are pipelined, so that copies are in flight over iterations.
The first line of each file says how much shared memory and how many threads a block has."""
import os
import re

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
os.environ["TRITON_ALWAYS_COMPILE"] = "1"
os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def product(a, b, rows, cols, first, last, m, n, k, TYPE: tl.constexpr, PRECISION: tl.constexpr, BM: tl.constexpr,
            BN: tl.constexpr, BK: tl.constexpr):
    """A tile of a[m, k] * b[k, n]: the sum over first <= k < last."""
    total = tl.zeros((BM, BN), dtype=TYPE)
    for base in range(first, last, BK):
        ks = base + tl.arange(0, BK)
        x = tl.load(a + rows[:, None] * k + ks[None, :], mask=(rows[:, None] < m) & (ks[None, :] < last), other=0)
        y = tl.load(b + ks[:, None] * n + cols[None, :], mask=(ks[:, None] < last) & (cols[None, :] < n), other=0)
        total = tl.dot(x, y, total, input_precision=PRECISION, out_dtype=TYPE)
    return total


@triton.jit
def matmul(a, b, c, m, n, k, TYPE: tl.constexpr, PRECISION: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
           BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    total = product(a, b, rows, cols, 0, k, m, n, k, TYPE, PRECISION, BM, BN, BK)
    tl.store(c + rows[:, None] * n + cols[None, :], total, mask=(rows[:, None] < m) & (cols[None, :] < n))


@triton.jit
def splitk(a, b, c, m, n, k, part, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Each block along z adds its part of the sum to c."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    first = tl.program_id(2) * part
    last = tl.minimum(first + part, k)
    total = product(a, b, rows, cols, first, last, m, n, k, tl.float32, "tf32", BM, BN, BK)
    mask = (rows[:, None] < m) & (cols[None, :] < n)
    tl.atomic_add(c + rows[:, None] * n + cols[None, :], total, mask=mask, sem="relaxed")


@triton.jit
def grouped(a, b, c, table, problems, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Products of different sizes in one launch. A row of the table: m, n, k, then where a, b and c begin. Blocks take the
    tiles of all problems in turns."""
    tile = tl.program_id(0)
    before = 0
    for problem in range(problems):
        row = table + problem * 6
        m = tl.multiple_of(tl.load(row), 8)
        n = tl.multiple_of(tl.load(row + 1), 8)
        k = tl.multiple_of(tl.load(row + 2), 8)
        pa = a + tl.multiple_of(tl.load(row + 3), 16)
        pb = b + tl.multiple_of(tl.load(row + 4), 16)
        pc = c + tl.multiple_of(tl.load(row + 5), 16)
        wide = tl.cdiv(n, BN)
        tiles = tl.cdiv(m, BM) * wide
        while tile < before + tiles:
            own = tile - before
            rows = own // wide * BM + tl.arange(0, BM)
            cols = own % wide * BN + tl.arange(0, BN)
            total = product(pa, pb, rows, cols, 0, k, m, n, k, tl.float32, "tf32", BM, BN, BK)
            mask = (rows[:, None] < m) & (cols[None, :] < n)
            tl.store(pc + rows[:, None] * n + cols[None, :], total.to(c.dtype.element_ty), mask=mask)
            tile += tl.num_programs(0)
        before += tiles


@triton.jit
def attend(q, k, v, o, logs, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Causal attention: o = softmax(scale * q kT) v for n rows of each head, with the logarithms to base 2 of the sums."""
    head = tl.program_id(1) * n
    first = tl.program_id(0) * BM
    rows = first + tl.arange(0, BM)
    ds = tl.arange(0, D)
    query = tl.load(q + (head + rows)[:, None] * D + ds[None, :], mask=rows[:, None] < n, other=0.0)
    most = tl.full((BM,), -1e30, dtype=tl.float32)
    sums = tl.zeros((BM,), dtype=tl.float32)
    total = tl.zeros((BM, D), dtype=tl.float32)
    for base in range(0, tl.minimum(first + BM, n), BN):
        cols = base + tl.arange(0, BN)
        key = tl.load(k + (head + cols)[:, None] * D + ds[None, :], mask=cols[:, None] < n, other=0.0)
        score = tl.dot(query, tl.trans(key)) * (scale * 1.4426950408889634)
        score = tl.where((cols[None, :] <= rows[:, None]) & (cols[None, :] < n), score, -1e30)
        new = tl.maximum(most, tl.max(score, 1))
        weight = tl.exp2(score - new[:, None])
        shrink = tl.exp2(most - new)
        sums = sums * shrink + tl.sum(weight, 1)
        value = tl.load(v + (head + cols)[:, None] * D + ds[None, :], mask=cols[:, None] < n, other=0.0)
        total = tl.dot(weight.to(value.dtype), value, total * shrink[:, None])
        most = new
    total = total / sums[:, None]
    tl.store(o + (head + rows)[:, None] * D + ds[None, :], total.to(o.dtype.element_ty), mask=rows[:, None] < n)
    tl.store(logs + head + rows, most + tl.log2(sums), mask=rows < n)


@triton.jit
def attend_dq(q, k, v, o, do, logs, dots, dq, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """The gradient of q, and the products of rows of o and do, which the gradients of k and v need, too."""
    head = tl.program_id(1) * n
    first = tl.program_id(0) * BM
    rows = first + tl.arange(0, BM)
    ds = tl.arange(0, D)
    at = (head + rows)[:, None] * D + ds[None, :]
    query = tl.load(q + at, mask=rows[:, None] < n, other=0.0)
    slope = tl.load(do + at, mask=rows[:, None] < n, other=0.0)
    out = tl.load(o + at, mask=rows[:, None] < n, other=0.0)
    dot = tl.sum(out.to(tl.float32) * slope.to(tl.float32), 1)
    tl.store(dots + head + rows, dot, mask=rows < n)
    log = tl.load(logs + head + rows, mask=rows < n, other=0.0)
    total = tl.zeros((BM, D), dtype=tl.float32)
    for base in range(0, tl.minimum(first + BM, n), BN):
        cols = base + tl.arange(0, BN)
        key = tl.load(k + (head + cols)[:, None] * D + ds[None, :], mask=cols[:, None] < n, other=0.0)
        value = tl.load(v + (head + cols)[:, None] * D + ds[None, :], mask=cols[:, None] < n, other=0.0)
        score = tl.dot(query, tl.trans(key)) * (scale * 1.4426950408889634)
        weight = tl.where(cols[None, :] <= rows[:, None], tl.exp2(score - log[:, None]), 0.0)
        change = weight * (tl.dot(slope, tl.trans(value)) - dot[:, None])
        total = tl.dot(change.to(key.dtype), key, total)
    tl.store(dq + at, total * scale, mask=rows[:, None] < n)


@triton.jit
def attend_dkdv(q, k, v, do, logs, dots, dk, dv, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """The gradients of k and v: each block has columns of its own and goes through the rows from the diagonal on."""
    head = tl.program_id(1) * n
    first = tl.program_id(0) * BN
    cols = first + tl.arange(0, BN)
    ds = tl.arange(0, D)
    at = (head + cols)[:, None] * D + ds[None, :]
    key = tl.load(k + at, mask=cols[:, None] < n, other=0.0)
    value = tl.load(v + at, mask=cols[:, None] < n, other=0.0)
    dkey = tl.zeros((BN, D), dtype=tl.float32)
    dvalue = tl.zeros((BN, D), dtype=tl.float32)
    for base in range(first, n, BM):
        rows = base + tl.arange(0, BM)
        from_ = (head + rows)[:, None] * D + ds[None, :]
        query = tl.load(q + from_, mask=rows[:, None] < n, other=0.0)
        slope = tl.load(do + from_, mask=rows[:, None] < n, other=0.0)
        log = tl.load(logs + head + rows, mask=rows < n, other=0.0)
        dot = tl.load(dots + head + rows, mask=rows < n, other=0.0)
        score = tl.dot(key, tl.trans(query)) * (scale * 1.4426950408889634)
        weight = tl.where(cols[:, None] <= rows[None, :], tl.exp2(score - log[None, :]), 0.0)
        dvalue = tl.dot(weight.to(slope.dtype), slope, dvalue)
        change = weight * (tl.dot(value, tl.trans(slope)) - dot[None, :])
        dkey = tl.dot(change.to(query.dtype), query, dkey)
    tl.store(dk + at, dkey * scale, mask=cols[:, None] < n)
    tl.store(dv + at, dvalue, mask=cols[:, None] < n)


@triton.jit
def layernorm(x, weight, bias, y, means, scales, n, epsilon, BN: tl.constexpr):
    """y = (x - mean) / sqrt(variance + epsilon) * weight + bias for rows of any length."""
    row = tl.program_id(0)
    total = tl.zeros((BN,), dtype=tl.float32)
    for base in range(0, n, BN):
        cols = base + tl.arange(0, BN)
        total += tl.load(x + row * n + cols, mask=cols < n, other=0.0)
    mean = tl.sum(total, 0) / n
    squares = tl.zeros((BN,), dtype=tl.float32)
    for base in range(0, n, BN):
        cols = base + tl.arange(0, BN)
        apart = tl.where(cols < n, tl.load(x + row * n + cols, mask=cols < n, other=0.0) - mean, 0.0)
        squares += apart * apart
    scale = tl.rsqrt(tl.sum(squares, 0) / n + epsilon)
    tl.store(means + row, mean)
    tl.store(scales + row, scale)
    for base in range(0, n, BN):
        cols = base + tl.arange(0, BN)
        w = tl.load(weight + cols, mask=cols < n, other=0.0)
        b = tl.load(bias + cols, mask=cols < n, other=0.0)
        normal = (tl.load(x + row * n + cols, mask=cols < n, other=0.0) - mean) * scale
        tl.store(y + row * n + cols, normal * w + b, mask=cols < n)


def write(file, kernel, arguments, constants, warps=2, stages=3):
    """arguments: names with types; those that end with | are multiples of 16."""
    names = {arg.name: place for place, arg in enumerate(kernel.params)}
    signature = {name: kind.rstrip("|") for name, kind in arguments.items()} | {name: "constexpr" for name in constants}
    aligned = {(names[name],): [["tt.divisibility", 16]] for name, kind in arguments.items() if kind[-1] == "|"}
    source = ASTSource(kernel, signature=signature, constexprs=constants, attrs=aligned)
    made = triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": warps, "num_stages": stages})
    text = made.asm["ptx"]
    # Debug sections and the names of source files, which would be those of who ran this.
    text = re.sub(r"(?ms)^\s*\.section[^{}]*\{.*?^\s*\}\n", "", text)
    text = re.sub(r"(?m)^\s*\.(loc|file)\b.*\n", "", text)
    text = re.sub(r"(?m)^\$L__(tmp|func_)\w+:\n", "", text)
    text = re.sub(r"(?m)[ \t]+(//.*)?$", "", text)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), file + ".ptx"), "w") as out:
        out.write(f"// {made.metadata.shared} bytes of shared memory, {32 * warps} threads; made by kernels.py\n")
        out.write(re.sub(r"\A[/\s]*// Generated by", "// Generated by", text).strip() + "\n")


if __name__ == "__main__":
    sizes = {"m": "i32|", "n": "i32|", "k": "i32|"}
    tiles = {"BM": 32, "BN": 32, "BK": 32}
    large = {"BM": 64, "BN": 64, "BK": 32}
    for name, element, total, precision, tile, warps in [
        ("f16", "fp16", "fp32", "tf32", tiles, 2),
        ("bf16", "bf16", "fp32", "tf32", large, 4),
        ("tf32", "fp32", "fp32", "tf32", tiles, 2),
        ("f32", "fp32", "fp32", "ieee", tiles, 2),
        ("i8", "i8", "i32", "tf32", tiles, 2),
    ]:
        kinds = {"a": f"*{element}|", "b": f"*{element}|", "c": f"*{total}|"} | sizes
        kind = tl.int32 if total == "i32" else tl.float32
        write("matmul_" + name, matmul, kinds, {"TYPE": kind, "PRECISION": precision} | tile, warps)
    halves = {"a": "*fp16|", "b": "*fp16|", "c": "*fp32|"}
    # In tiles of the usual size, to be measured.
    write("../../benches/tensor/matmul", matmul, halves | sizes,
          {"TYPE": tl.float32, "PRECISION": "tf32", "BM": 128, "BN": 128, "BK": 32}, warps=4)
    write("splitk", splitk, halves | sizes | {"part": "i32|"}, tiles)
    write("grouped", grouped, halves | {"table": "*i32|", "problems": "i32"}, tiles)

    rows = {"D": 32, "BM": 32, "BN": 32}
    half, word, last = "*fp16|", "*fp32|", {"n": "i32|", "scale": "fp32"}
    write("attend", attend, {"q": half, "k": half, "v": half, "o": half, "logs": word} | last, rows)
    inputs = {"q": half, "k": half, "v": half}
    write("attend_dq", attend_dq,
          inputs | {"o": half, "do": half, "logs": word, "dots": word, "dq": word} | last, rows)
    write("attend_dkdv", attend_dkdv,
          inputs | {"do": half, "logs": word, "dots": word, "dk": word, "dv": word} | last, rows)
    write("layernorm", layernorm,
          {"x": word, "weight": word, "bias": word, "y": word, "means": word, "scales": word, "n": "i32|",
           "epsilon": "fp32"}, {"BN": 128}, warps=4)
