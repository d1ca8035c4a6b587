"""Triton's programs with torch: tensors, its device "cuda" that is the CPU, differentiation, addresses."""

from __future__ import annotations

import gc
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import pytest

triton = pytest.importorskip("triton", reason="Triton is not installed")
tl = pytest.importorskip("triton.language", reason="Triton is not installed")
torch = pytest.importorskip("torch", reason="torch is not installed")

import warpstep  # noqa: E402
import warpstep.triton  # noqa: E402
from triton_kernels import strided_kernel  # noqa: E402


@pytest.fixture
def door():
    torch.manual_seed(0)
    with warpstep.triton.here(check="bounds") as door:
        yield door


@triton.jit
def double_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, x + x, mask=at < n)


def double(x):
    y = torch.empty_like(x)
    double_kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
    return y


NAMES = ["float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64"]


@pytest.mark.parametrize("name", NAMES)
def test_tensors_of_all_types(door, name):
    x = (torch.rand(300, device="cuda") * 50).to(getattr(torch, name))
    assert torch.equal(double(x), x + x)


@triton.jit
def widen_kernel(x_ptr, y_ptr, N: tl.constexpr):
    tl.store(y_ptr + tl.arange(0, N), tl.load(x_ptr + tl.arange(0, N)).to(tl.float32))


@pytest.mark.parametrize(("name", "target"), [("float8_e5m2", 80), ("float8_e5m2", 90), ("float8_e4m3fn", 90)])
def test_tensors_of_8_bits(name, target):
    if not hasattr(torch, name):
        pytest.skip(f"this torch has no {name}")
    with warpstep.triton.here(target=target):
        x = torch.randn(128, device="cuda").to(getattr(torch, name))
        y = torch.zeros(128, device="cuda")
        widen_kernel[(1,)](x, y, N=128)
    assert torch.equal(y, x.float())


def test_the_device_is_the_cpu_and_says_that_it_is_one(door):
    device = triton.runtime.driver.active.get_active_torch_device()
    x = torch.ones(4, device=device)
    assert device.type == "cpu" and x.is_cuda and x.cuda() is x and x.to("cuda") is x and x.to(device="cuda:0") is x
    made = [
        torch.zeros(3, device="cuda"),
        torch.randn((3,), device=torch.device("cuda", 0)),
        torch.tensor([1], device="cuda"),
        x.new_empty(3, device="cuda"),
        torch.empty_like(x, device="cuda", dtype=torch.float16),
        torch.randint(0, 3, (3,), device="cuda"),
        torch.nn.Linear(2, 2, device="cuda").weight,
        torch.nn.Linear(2, 2).to("cuda").weight,
        torch.nn.Linear(2, 2).cuda().weight,
        torch.zeros(2).pin_memory(),
    ]
    assert all(each.device.type == "cpu" and each.is_cuda for each in made)
    assert torch.cuda.is_available() and torch.cuda.device_count() == 1 and torch.cuda.current_device() == 0
    assert torch.cuda.get_device_capability() == (8, 0) and "warpstep" in torch.cuda.get_device_name()
    assert torch.cuda.get_device_properties("cuda").multi_processor_count == 108
    with torch.cuda.stream(torch.cuda.Stream()), torch.cuda.device(0):
        torch.cuda.current_stream().synchronize()
    torch.cuda.synchronize()


def test_time_is_counted_in_instructions(door):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    double(torch.ones(4096, device="cuda"))
    end.record()
    assert begin.elapsed_time(end) == door.thread_instructions / 1e6 > 0
    cost = triton.testing.do_bench(lambda: double(torch.ones(4096)), quantiles=[0.5, 0.2, 0.8])
    assert cost == [begin.elapsed_time(end)] * 3
    assert triton.testing.do_bench(lambda: None) > 0


def test_benchmarks_are_left_out_unless_they_are_asked_for(door, capsys):
    axis = {"x_names": ["n"], "x_vals": [128, 256], "line_arg": "which", "line_vals": ["ours"], "line_names": ["ours"]}
    called = []

    @triton.testing.perf_report(triton.testing.Benchmark(**axis, plot_name="doubling", args={}))
    def benchmark(n, which):
        called.append(n)
        return triton.testing.do_bench(lambda: double(torch.ones(n, device="cuda")))

    benchmark.run(print_data=True)
    assert called == [] and capsys.readouterr().out == "doubling: not run, there is no time to be measured here\n"


def test_outside_all_is_as_it_was():
    is_cuda, event, empty = torch.ones(1).is_cuda, torch.cuda.Event.__new__, torch.empty
    with warpstep.triton.here():
        assert torch.empty is not empty and torch.cuda.Event.__new__ is not event
    assert torch.ones(1).is_cuda == is_cuda is False and torch.cuda.Event.__new__ is event and torch.empty is empty
    assert "data_ptr" not in vars(torch.Tensor) and "is_cuda" not in vars(torch.Tensor)
    assert not torch.cuda.is_available() or torch.version.cuda


def test_tensors_that_are_elsewhere(door):
    x = torch.ones(4)
    with pytest.raises(TypeError, match="has no memory here: give a strided tensor of the CPU"):
        double_kernel[(1,)](torch.ones(4, device="meta"), x, 4, BLOCK=128)


def test_tensors_of_no_elements(door):
    double_kernel[(1,)](torch.ones(0), torch.ones(0), 0, BLOCK=128)


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return double(x)

    @staticmethod
    def backward(ctx, gradient):
        made = torch.zeros(gradient.shape, device="cuda")
        assert made.is_cuda
        return double(gradient.contiguous()) + made


def test_differentiation(door):
    x = torch.rand(200, device="cuda", requires_grad=True)
    y = Double.apply(x)
    y.sum().backward()
    assert torch.equal(y, 2 * x) and (x.grad == 2).all() and len(door.runs) == 2
    [gradient] = torch.autograd.grad(Double.apply(x), x, torch.full((200,), 3.0))
    assert (gradient == 6).all()


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[4:12, 8:24],
        lambda x: x.t()[:8, :16],
        lambda x: x[::4, 1::2],
        lambda x: x[:1].expand(8, -1)[:, :16],
        lambda x: x.unfold(0, 16, 2)[:8, 0],
    ],
)
def test_views_are_passed_where_they_lie(door, view):
    given = view(torch.rand(32, 32))
    y = torch.zeros(8, 16)
    strided_kernel[(1,)](given, y, given.stride(0), given.stride(1), R=8, C=16)
    assert torch.equal(y, given)


@triton.jit
def table_kernel(table_ptr, out_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    x_ptr = tl.load(table_ptr + row).to(tl.pointer_type(tl.float32))
    tl.store(out_ptr + row, tl.sum(tl.load(x_ptr + tl.arange(0, N)), axis=0))


def test_tables_of_addresses_of_tensors_and_of_their_parts(door):
    x = torch.rand(5, 128, device="cuda")
    other = torch.rand(128, device="cuda")
    # Views that are gone at once: their storage is not.
    table = torch.tensor([*(x[k].data_ptr() for k in (4, 0, 2)), other.data_ptr()], device="cuda")
    gc.collect()
    before, out = table.clone(), torch.zeros(4, device="cuda")
    table_kernel[(4,)](table, out, N=128)
    assert torch.allclose(out, torch.stack([x[4].sum(), x[0].sum(), x[2].sum(), other.sum()]))
    assert torch.equal(table, before)
    launch = warpstep.triton.prepare(table_kernel[(4,)], table, out, N=128)
    assert launch.hunt(seeds=5, check="races,bounds,uninit", expect=lambda table, out: bool(out.all())).findings == ()
    table[3] += 4
    with pytest.raises(warpstep.Defect, match=r"\*table_ptr\[3\]"):
        table_kernel[(4,)](table, out, N=128)
    del other
    gc.collect()
    table[3] -= 4
    with pytest.raises(warpstep.Defect):
        table_kernel[(4,)](table, out, N=128)


@triton.autotune(
    configs=[triton.Config({"BLOCK": 32}, num_warps=1), triton.Config({"BLOCK": 64}, num_warps=1)],
    key=["n"],
    reset_to_zero=["total_ptr"],
    restore_value=["x_ptr"],
)
@triton.jit
def total_kernel(x_ptr, total_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    tl.atomic_add(total_ptr, tl.sum(x, axis=0))
    tl.store(x_ptr + at, x + 1, mask=at < n)


@pytest.mark.parametrize("numpy", [False, True])
def test_hooks_of_autotuning(numpy):
    x, total = torch.ones(128, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    given = (x.numpy(), total.numpy()) if numpy else (x, total)
    with warpstep.triton.here(tune="instructions") as door:
        warpstep.triton.only(total_kernel, *total_kernel.configs)[lambda meta: (128 // meta["BLOCK"],)](*given, 128)
    assert len(door.runs) == 3 and total.item() == 128 and (x == 2).all()


def test_expectations_are_told_tensors(door):
    x = torch.arange(64, dtype=torch.bfloat16)[::2]
    y = torch.zeros(32, dtype=torch.bfloat16)

    @triton.jit
    def copy(x_ptr, y_ptr, N: tl.constexpr):
        tl.store(y_ptr + tl.arange(0, N), tl.load(x_ptr + 2 * tl.arange(0, N)))

    seen = []
    launch = warpstep.triton.prepare(copy[(1,)], x, y, N=32)
    launch.hunt(seeds=0, expect=lambda *left: seen.append(left))
    assert torch.equal(seen[-1][0], x) and torch.equal(seen[-1][1], x) and not y.any()
    # In another process, too, where they lie at other addresses.
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert not launch.hunt(seeds=1, expect=every_second, executor=pool).findings


def every_second(x, y) -> bool:
    return torch.equal(x, y) and x.stride() == (2,) and x.tolist() == list(range(0, 64, 2))


@triton.jit
def described_kernel(x, y, M: tl.constexpr, N: tl.constexpr):
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    y.store([row, column], x.load([row, column]) * 2)


def test_descriptors_made_by_the_host(door):
    descriptor = pytest.importorskip("triton.tools.tensor_descriptor").TensorDescriptor
    x, y = torch.rand(20, 64, device="cuda"), torch.zeros(20, 64, device="cuda")
    described_kernel[(3, 4)](descriptor.from_tensor(x, [8, 16]), descriptor.from_tensor(y, [8, 16]), M=8, N=16)
    assert torch.equal(y, 2 * x)
    words = r"`x` is a descriptor of a tensor.*give target=80"
    with warpstep.triton.here(target=90), pytest.raises(NotImplementedError, match=words):
        described_kernel[(3, 4)](descriptor.from_tensor(x, [8, 16]), descriptor.from_tensor(y, [8, 16]), M=8, N=16)


def test_a_tensor_whose_storage_was_freed_or_made_smaller(door):
    y = torch.zeros(32)
    for size in (0, 16):
        x = torch.ones(32)
        x.untyped_storage().resize_(size)
        words = f"a tensor of 128 bytes has a storage of {size}, which was made smaller: give it the storage"
        for given in ((x, y), (y, x)):
            with pytest.raises(ValueError, match=words):
                double_kernel[(1,)](*given, 32, BLOCK=32)
        x.untyped_storage().resize_(128)
    double_kernel[(1,)](x, y, 32, BLOCK=32)


@pytest.mark.parametrize("name", ["complex64", "quint8"])
def test_types_of_tensors_that_triton_has_not(door, name):
    x = torch.ones(32)
    x = torch.quantize_per_tensor(x, 0.1, 0, torch.quint8) if name == "quint8" else x.to(torch.complex64)
    with pytest.raises(TypeError, match=f"a tensor of torch.{name} is no argument of a Triton kernel: give numbers"):
        double_kernel[(1,)](x, torch.ones(32), 32, BLOCK=32)
