"""Arrays in the memory of a GPU: of CuPy and PyTorch where they and a GPU are, and of anything that
shows such memory."""

import contextlib
import ctypes
import sys
import types

import numpy as np
import pytest

import polytile as pt
from polytile._context import current
from polytile._library import ffi
from polytile.view import CudaArray, ranges_of

launcher = sys.modules["polytile.launcher"]

scale = pt.kernel("scale[i](f32 a): in x[i]; out y[i]", "y(i) = a * x(i);")
mean = pt.kernel(
    "mean[i, j]: in A[i-1:i+1, j]; out B[i, j]",
    "B(i, j) = (A(i - 1, j) + A(i, j) + A(i + 1, j)) / 4;",
)


class Shown:
    """Says that its memory is a GPU's."""

    def __init__(self, array, **changes):
        self.array = array
        self.__cuda_array_interface__ = {
            "shape": array.shape, "typestr": array.dtype.str, "version": 3, "strides": None,
            "data": (array.__array_interface__["data"][0], False), **changes}


def test_a_host_device_says_that_it_does_not_reach_a_gpu():
    x = np.ones(10, "f4")
    with pytest.raises(pt.InvalidError, match="x lies in the memory of a GPU, which host"):
        scale(Shown(x), Shown(x.copy()), a=2)
    with pytest.raises(pt.InvalidError, match="x lies in the memory of a GPU"):
        scale(Shown(x), x, a=2)


def test_queues_say_what_uses_such_memory():
    x = np.ones(10, "f4")
    with pt.Queue("host") as queue:
        with pytest.raises(pt.InvalidError, match=r"only polytile_run\(\) on that GPU uses"):
            queue.launch(scale, Shown(x), Shown(x.copy()), a=2)


def test_what_is_read_only_is_not_written():
    x = np.ones(10, "f4")
    with pytest.raises(pt.InvalidError, match="y is written"):
        scale(Shown(x), Shown(x, data=(x.__array_interface__["data"][0], True)), a=2)


def test_odd_interfaces_are_refused():
    x = np.ones(10, "f4")
    for changes, why in (({"mask": x}, "mask"), ({"typestr": "<?9"}, "shows no memory"),
                         ({"data": None}, "shows no memory"), ({"shape": ()}, "no dimensions"),
                         ({"shape": (0,)}, "empty"), ({"strides": (-4,)}, "reversed"),
                         ({"data": (0, False)}, "NULL")):
        with pytest.raises(pt.Error, match=why):
            scale(Shown(x, **changes), Shown(x.copy()), a=2, domain=10)


def test_plan_and_check_need_no_gpu():
    x = np.ones((30, 20), "f4")
    there = Shown(x), Shown(x.copy())
    domain = ((1, 28), 20)
    assert pt.plan(mean, *there, domain=domain).data["kernels"] == 1
    assert "not tried, since arrays lie on a GPU" in str(pt.check(mean, *there, domain=domain))


def test_views_on_a_gpu_show_themselves():
    element = np.dtype("f4")
    view = ffi.new("polytile_view *")
    view.resident.n_dims = 2
    for d, (lo, hi, step, stride) in enumerate([(4, 10, 2, 200), (3, 8, 1, 4)]):
        view.resident.range[d].lo, view.resident.range[d].hi = lo, hi
        view.resident.range[d].step, view.stride_bytes[d] = step, stride
    view.origin = ffi.cast("void *", 1 << 40)
    shown = CudaArray.of_view(element, view, ranges_of(view.resident))
    first = (1 << 40) + 4 * 200 + 3 * 4
    assert shown.__cuda_array_interface__ == {
        "shape": (4, 6), "typestr": "<f4", "version": 3, "strides": (400, 4),
        "data": (first, False), "stream": None}
    part = shown[slice(1, 4, 2), 5].__cuda_array_interface__
    assert (part["shape"], part["strides"], part["data"][0]) == ((2,), (800,), first + 400 + 20)
    with pytest.raises(pt.UnsupportedError, match="needs CuPy"):
        shown[0, 0] = 1


class CupyOnTheHost:
    """Stands in for CuPy: its arrays are NumPy's, over whatever address it is given."""

    def __init__(self):
        self.streams = []
        self.cuda = types.SimpleNamespace(
            UnownedMemory=lambda address, n_bytes, owner: (address, n_bytes, owner),
            MemoryPointer=lambda memory, offset: memory, ExternalStream=self.stream)

    @contextlib.contextmanager
    def stream(self, address):
        self.streams.append(address)
        yield

    def ndarray(self, shape, dtype, memory, strides):
        address, n_bytes, owner = memory
        there = (ctypes.c_char * n_bytes).from_address(address)
        there.owner = owner
        return np.ndarray(shape, dtype, there, 0, strides)


def call_on_gpu(kernel, stream, box, **arrays):
    """Call a launcher as a run on a GPU does, for a box of one index."""
    context = current()
    source = kernel.source.for_arrays(list(arrays.values()))
    called = launcher._Called(context, source)
    threads, views = ffi.new("polytile_domain *"), ffi.new("polytile_view[]", len(arrays))
    threads.n_dims = 1
    threads.range[0].lo, threads.range[0].hi, threads.range[0].step = *box, 1
    for view, array in zip(views, arrays.values()):
        view.origin = ffi.cast("void *", array.ctypes.data)
        view.stride_bytes[0] = array.strides[0]
        view.resident = threads[0]
    user = ffi.new_handle(called)
    status = launcher._call(ffi.new("polytile_sub_kernel *", {
        "threads": threads, "n_views": len(arrays), "views": views, "is_first": True,
        "stream": ffi.cast("void *", stream), "user": user}))
    raised, context.raised[:] = context.raised[:], []
    return status, raised


def test_launchers_on_a_gpu_get_cupys_arrays_and_stream(monkeypatch):
    cupy = CupyOnTheHost()
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    kept = []

    @pt.launcher("twice[i]: in x[i]; out y[i]")
    def twice(launch, x, y):
        assert launch.stream == 77 and launch.is_first
        y[launch.box] = 2 * x[launch.box]

    @pt.launcher("keep[i]: in x[i]; out y[i]")
    def keep(launch, x, y):
        kept.append(x[launch.box])

    x, y = np.arange(100.0), np.zeros(100)
    assert call_on_gpu(twice, 77, (10, 19), x=x, y=y) == (0, [])
    assert np.array_equal(y[10:20], 2 * x[10:20]) and (y[:10] == 0).all() and (y[20:] == 0).all()
    status, (error,) = call_on_gpu(keep, 78, (10, 19), x=x, y=y)
    assert status == 1 and "keeps an array over x" in str(error)
    assert cupy.streams == [77, 78]


def test_launchers_on_a_gpu_without_cupy_get_what_shows_memory(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    shown = []

    @pt.launcher("look[i]: in x[i]; out y[i]")
    def look(launch, x, y):
        shown.extend([x.__cuda_array_interface__, y[launch.box].__cuda_array_interface__])

    x, y = np.arange(100.0), np.zeros(100)
    assert call_on_gpu(look, 77, (10, 19), x=x, y=y) == (0, [])
    assert [one["data"] for one in shown] == [(a.ctypes.data + 80, False) for a in (x, y)]
    assert all(one["shape"] == (10,) and one["stream"] is None for one in shown)


def _cupy():
    cupy = pytest.importorskip("cupy")
    if not cupy.is_available():
        pytest.skip("no GPU here")
    return cupy


def _torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    return torch


def _expect_in_place(report):
    assert (report.h2d_bytes, report.d2h_bytes, report.peak_device_bytes) == (0, 0, 0)


def test_cupys_arrays_are_used_in_place():
    cupy = _cupy()
    a = cupy.asarray(np.random.default_rng(1).random((501, 300), "f4"))
    b = cupy.zeros_like(a)
    _expect_in_place(mean(a, b, domain=((1, 499), 300), device="cuda:0", limit="1KiB"))
    host = cupy.asnumpy(a)
    expected = (host[:-2] + host[1:-1] + host[2:]) / np.float32(4)
    assert np.array_equal(cupy.asnumpy(b)[1:-1], expected)
    assert (cupy.asnumpy(b)[[0, -1]] == 0).all()


def test_strides_and_parts_of_cupys_arrays():
    cupy = _cupy()
    a = cupy.asfortranarray(cupy.arange(600, dtype="f4").reshape(30, 20))
    b = cupy.zeros((60, 40), "f4")[::2, ::2]
    mean(a, b, domain=((1, 28), 20), device="cuda:0")
    host = cupy.asnumpy(a)
    assert np.array_equal(cupy.asnumpy(b)[1:-1], (host[:-2] + host[1:-1] + host[2:]) / 4)


def test_a_run_waits_for_cupys_stream():
    cupy = _cupy()
    with cupy.cuda.Stream(non_blocking=True):
        x = cupy.zeros(1 << 24, "f4")
        for _ in range(50):
            x += 1
        y = cupy.empty_like(x)
        scale(x, y, a=2, device="cuda:0")
    assert (y == 100).all()


def test_pytorchs_tensors_are_used_in_place():
    torch = _torch()
    with torch.cuda.stream(torch.cuda.Stream()):
        x = torch.zeros(1 << 24, device="cuda")
        for _ in range(50):
            x += 1
        y = torch.empty_like(x)
        _expect_in_place(scale(x, y, a=3, device="cuda:0"))
    assert (y == 150).all()
    assert np.array_equal(y[:5].cpu().numpy(), np.full(5, 150, "f4"))


def test_tensors_with_gradients_say_so():
    torch = _torch()
    x = torch.zeros(10, device="cuda", requires_grad=True)
    with pytest.raises(pt.UnsupportedError, match="grad"):
        scale(x, x.detach(), a=1, device="cuda:0")
    scale(x.detach(), torch.zeros(10, device="cuda"), a=1, device="cuda:0")


def test_tensors_on_the_host_are_the_hosts():
    torch = pytest.importorskip("torch")
    x, y = torch.ones(10), torch.zeros(10)
    scale(x, y, a=2)
    assert (y == 2).all()


def test_arrays_of_host_and_gpu_are_not_mixed():
    cupy = _cupy()
    x, y = cupy.ones(10, "f4"), np.zeros(10, "f4")
    with pytest.raises(pt.InvalidError, match="x lies in the memory of a GPU and array y on the"):
        scale(x, y, a=2, device="cuda:0")


def test_memory_that_is_no_gpus_is_named():
    _cupy()
    x = np.ones(10, "f4")
    with pytest.raises(pt.InvalidError, match="x was wrapped as memory of a GPU"):
        scale(Shown(x), Shown(x.copy()), a=2, device="cuda:0")


def test_launchers_multiply_by_cupy():
    cupy = _cupy()

    @pt.launcher("gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]")
    def gemm(launch, A, B, C):
        i, j, k = launch.box
        assert cupy.cuda.get_current_stream().ptr == launch.stream
        C[i, j] += A[i, k] @ B[k, j]

    A = np.random.default_rng(1).integers(0, 5, (700, 600)).astype("f4")
    B = np.random.default_rng(2).integers(0, 5, (600, 500)).astype("f4")
    C = np.empty((700, 500), "f4")
    pt.run(gemm, A, B, C, domain=(700, 500, 600), device="cuda:0", limit="2MiB")
    assert np.array_equal(C, A @ B)
