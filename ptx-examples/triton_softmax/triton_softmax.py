"""Triton: softmax of each row, one program per row, with masked loads and reductions over 128 threads."""
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def softmax(out, x, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    v = tl.load(x + row * columns + at, mask=inside, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * columns + at, e / tl.sum(e, axis=0), mask=inside)


if __name__ == "__main__":
    source = ASTSource(softmax, signature={"out": "*fp32", "x": "*fp32", "columns": "i32", "BLOCK": "constexpr"},
                       constexprs={"BLOCK": 256})
    target = GPUTarget("cuda", int(sys.argv[2].removeprefix("sm_")), 32)
    made = triton.compile(source, target=target, options={"num_warps": 4, "num_stages": 1})
    with open(sys.argv[1], "w") as f:
        f.write(made.asm["ptx"])
    print("shared memory:", made.metadata.shared, file=sys.stderr)
