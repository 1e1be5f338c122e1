"""Arrays in the memory of a GPU: of CuPy and PyTorch where they and a GPU are, and of anything that
shows such memory."""

import contextlib
import ctypes
import gc
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import types

import numpy as np
import pytest

import polytile as pt
from polytile import _dlpack
from polytile._context import current
from polytile._library import ffi
from polytile.arrays import as_memory
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
    shown = CudaArray.of_view(element, view, ranges_of(view.resident), 77)
    first = (1 << 40) + 4 * 200 + 3 * 4
    assert shown.__cuda_array_interface__ == {
        "shape": (4, 6), "typestr": "<f4", "version": 3, "strides": (400, 4),
        "data": (first, False), "stream": None}
    part = shown[slice(1, 4, 2), 5].__cuda_array_interface__
    assert (part["shape"], part["strides"], part["data"][0]) == ((2,), (800,), first + 400 + 20)
    with pytest.raises(pt.UnsupportedError, match="needs CuPy"):
        shown[0, 0] = 1


class Taker:
    """Takes memory as DLPack, as PyTorch does."""

    def __init__(self, given, stream):
        self.capsule = given.__dlpack__(stream=stream)
        self.tensor = _dlpack._ffi.cast("DLManagedTensor *", _dlpack._get_pointer(
            id(self.capsule), b"dltensor"))
        ctypes.pythonapi.PyCapsule_SetName(ctypes.py_object(self.capsule), b"used_dltensor")

    def end(self):
        self.tensor.deleter(self.tensor)


@pytest.fixture
def on_gpu_3(monkeypatch):
    monkeypatch.setattr(_dlpack, "current_device", lambda: (2, 3))


def test_views_on_a_gpu_are_given_as_dlpack(on_gpu_3):
    owner = object()
    array = CudaArray(1 << 40, (4, 6), np.dtype("f4"), (400, 4), 77, owner)
    assert array.__dlpack_device__() == (2, 3)
    taker = Taker(array[1:4:2, 5], 77)
    tensor = taker.tensor.tensor
    assert (tensor.device.type, tensor.device.id, tensor.ndim) == (2, 3, 1)
    assert (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes) == (2, 32, 1)
    assert (tensor.shape[0], tensor.strides[0], tensor.byte_offset) == (2, 200, 0)
    assert int(_dlpack._ffi.cast("intptr_t", tensor.data)) == (1 << 40) + 400 + 20
    unused = array.__dlpack__(stream=77)
    assert [kept[-1] for kept in _dlpack._given.values()] == [owner, owner]
    del unused
    assert len(_dlpack._given) == 1
    taker.end()
    assert not _dlpack._given


def test_memory_of_a_launcher_is_for_its_stream_alone(on_gpu_3):
    array = CudaArray(1 << 40, (4,), np.dtype("f4"), (4,), 77)
    array.__dlpack__(stream=-1)
    for stream in (None, 0, 1, 78):
        with pytest.raises(pt.InvalidError, match="used on its stream, 77"):
            array.__dlpack__(stream=stream)
    with pytest.raises(BufferError, match="no type"):
        CudaArray(1 << 40, (4,), np.dtype("V3"), (3,), 77).__dlpack__(stream=77)
    with pytest.raises(BufferError, match="not copied"):
        array.__dlpack__(stream=77, copy=True)
    assert not _dlpack._given


def test_nobody_calls_python_when_it_has_ended(on_gpu_3):
    array = CudaArray(1 << 40, (4,), np.dtype("f4"), (4,), 77)
    taker = Taker(array, 77)
    _dlpack._let_go_of_all()
    assert taker.tensor.deleter == _dlpack._ffi.NULL
    assert len(_dlpack._given) == 1
    _dlpack._given.clear()


class OnlyDlpack:
    """Says by DLPack alone that its memory is a GPU's."""

    def __init__(self, array):
        self.array = array
        self.streams = []

    def __dlpack_device__(self):
        return 2, 3

    def __dlpack__(self, stream):
        self.streams.append(stream)
        strides = self.array.strides
        return CudaArray(self.array.ctypes.data, self.array.shape, self.array.dtype, strides,
                         stream, self.array).__dlpack__(stream=stream)


def test_memory_of_a_gpu_is_taken_as_dlpack(on_gpu_3):
    given = OnlyDlpack(np.ones((30, 20), "f4")[::2, ::-1][:, ::-1])
    memory = as_memory(given, "x")
    assert (memory.address, memory.shape) == (given.array.ctypes.data, (15, 20))
    assert (memory.strides, memory.dtype) == ((160, 4), np.dtype("f4"))
    assert (memory.stream, given.streams) == (0, [1])
    x = OnlyDlpack(np.ones(10, "f4"))
    with pytest.raises(pt.InvalidError, match="x lies in the memory of a GPU, which host"):
        scale(x, x, a=2)
    del memory
    gc.collect()
    assert not _dlpack._given


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


NVRTC = """
import glob, sys
from polytile import _nvrtc
from polytile import _dlpack
from polytile._context import current
from polytile._library import ffi, lib
from polytile.arrays import type_of
path = _nvrtc._find()
if path is None:
    sys.exit("none")
_nvrtc.load_for("cuda:0")
context = current()
headers = glob.glob(path + "/../../../*/include/cuda_fp16.h")
for dtype in ("f4", "f2")[:1 + bool(headers)]:
    types = ffi.new("polytile_type[]", [type_of(dtype)] * 2)
    options = ffi.new("polytile_compile_options *", {
        "n_types": 2, "types": types, "cuda_capability": 90})
    context.require(lib.polytile_kernel_compile(
        context.handle, b"k[i]: in x[i]; out y[i]", b"y(i) = x(i) + x(i);", options,
        ffi.new("polytile_kernel **")))
loaded = {line.split()[-1] for line in open("/proc/self/maps") if "libnvrtc.so" in line}
assert loaded == {path}, loaded
"""


def test_bodies_are_compiled_by_pips_nvrtc(tmp_path):
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("CUDA_HOME", "CUDA_PATH")}
    ended = subprocess.run([sys.executable, "-c", NVRTC], text=True, capture_output=True,
                           env={**environment, "POLYTILE_CACHE": str(tmp_path / "kept")})
    if ended.stderr.strip() == "none":
        pytest.skip("pip has no NVRTC here")
    assert ended.returncode == 0, ended.stderr


NO_NVRTC = """
import os, sys
from polytile._context import current
from polytile._library import ffi, lib
from polytile.arrays import type_of
context = current()
options = ffi.new("polytile_compile_options *", {
    "n_types": 2, "types": ffi.new("polytile_type[]", [type_of("f4")] * 2), "cuda_capability": 90})
try:
    context.require(lib.polytile_kernel_compile(
        context.handle, b"k[i]: in x[i]; out y[i]", b"y(i) = x(i);", options,
        ffi.new("polytile_kernel **")))
except Exception as error:
    print(type(error).__name__, error)
"""


def test_an_nvrtc_that_cannot_be_loaded_is_named(tmp_path):
    (tmp_path / "lib64").mkdir()
    (tmp_path / "lib64" / "libnvrtc.so.13").write_text("no library")
    ended = subprocess.run([sys.executable, "-c", NO_NVRTC], text=True, capture_output=True,
                           env={**os.environ, "CUDA_HOME": str(tmp_path),
                                "POLYTILE_CACHE": str(tmp_path / "kept")})
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("UnsupportedError k: ")
    assert "libnvrtc.so.13 cannot be loaded" in ended.stdout
    assert "set CUDA_HOME" in ended.stdout


def _cupy():
    cupy = pytest.importorskip("cupy")
    if not cupy.is_available():
        pytest.skip("no GPU here")
    return cupy


def _require_gpu():
    """Skips where the library finds no GPU; what else fails is a failure."""
    try:
        current().device("cuda:0")
    except pt.Error as error:
        pytest.skip(str(error))


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


@pytest.mark.parametrize("device", ["cuda:0", "cuda:0(memory=64MiB)"])
def test_arrays_of_the_host_pass_through_a_gpu(device):
    _require_gpu()
    a = np.random.default_rng(1).random((5000, 3000), "f4")
    b = np.zeros_like(a)
    report = mean(a, b, domain=((1, 4998), 3000), device=device)
    assert report.h2d_bytes >= a.nbytes and report.peak_device_bytes > 0
    assert np.array_equal(b[1:-1], (a[:-2] + a[1:-1] + a[2:]) / np.float32(4))


def test_queues_keep_arrays_on_a_gpu():
    _require_gpu()
    heat = pt.kernel("heat[i]: in u[i-1:i+1]; out v[i]",
                     "v(i) = u(i) + 0.25 * (u(i - 1) - 2 * u(i) + u(i + 1));")
    u = np.random.default_rng(1).random(1_000_000)
    expected, other = u.copy(), u.copy()
    v = u.copy()
    with pt.Queue("cuda:0(memory=64MiB)") as queue:
        for step in range(20):
            queue.launch(heat, *((u, v) if step % 2 == 0 else (v, u)), domain=((1, 999_998),))
            other[1:-1] = expected[1:-1] + 0.25 * (
                expected[:-2] - 2 * expected[1:-1] + expected[2:])
            expected, other = other, expected
        queue.wait()
        assert queue.test() and queue.progress()[0] == 1
    assert np.array_equal(u, expected)


def test_launches_that_alternate_give_the_bits_of_the_host():
    """On a GPU several of them run as one, in tiles."""
    _require_gpu()
    smooth = pt.kernel("smooth[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
                       "B(i, j) = (A(i-1, j) + A(i+1, j) + A(i, j-1) + A(i, j+1)) * 0.25f;")
    results = []
    for device in ("host", "cuda:0"):
        fields = [np.random.default_rng(1).random((2000, 3000), "f4") for _ in range(2)]
        with pt.Queue(device) as queue:
            for step in range(50):
                queue.launch(smooth, fields[step % 2], fields[1 - step % 2],
                             domain=((1, 1998), (1, 2998)))
        results.append(fields)
    assert all(np.array_equal(one, other) for one, other in zip(*results))


def test_reductions_on_a_gpu():
    _require_gpu()
    total = pt.kernel("total[i]: in x[i]; out sum s[0]", "PT_SUM(s(0), x(i));")
    x, s = np.arange(1_000_000, dtype="i8"), np.zeros(1, "i8")
    total(x, s, domain=1_000_000, device="cuda:0", limit="64MiB")
    assert s[0] == x.sum()


def test_a_body_that_nvrtc_refuses_is_shown():
    _require_gpu()
    wrong = pt.kernel("wrong[i]: in x[i]; out y[i]", "y(i) = x(i) +* 2;")
    with pytest.raises(pt.DeclarationError, match=r"\n  y\(i\) = x\(i\) \+\* 2;\n *\^"):
        wrong(np.ones(10), np.ones(10), device="cuda:0")


def test_pytorchs_memory_is_taken_as_dlpack():
    torch = _torch()

    class ByDlpack:
        def __init__(self, tensor):
            self.__dlpack__, self.__dlpack_device__ = tensor.__dlpack__, tensor.__dlpack_device__

    with torch.cuda.stream(torch.cuda.Stream()):
        x = torch.zeros((2000, 1000), device="cuda")
        for _ in range(50):
            x += 1
        y = torch.empty_like(x)
        rows = pt.kernel("rows[i, j]: in x[i, j]; out y[i, j]", "y(i, j) = 2 * x(i, j);")
        _expect_in_place(rows(ByDlpack(x[::2]), ByDlpack(y[::2]), device="cuda:0"))
    assert (y[::2] == 100).all()


def test_bfloat16_of_pytorch_is_bf16():
    torch = _torch()
    pytest.importorskip("ml_dtypes")
    x = torch.arange(100, device="cuda", dtype=torch.bfloat16)
    y = torch.zeros_like(x)
    twice = pt.kernel("twice[i]: in x[i]; out y[i]", "y(i) = 2 * (float)x(i);")
    _expect_in_place(twice(x, y, device="cuda:0"))
    assert (y == 2 * x).all()


def test_launchers_multiply_by_pytorch(monkeypatch):
    torch = _torch()
    monkeypatch.setitem(sys.modules, "cupy", None)

    @pt.launcher("gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]")
    def gemm(launch, A, B, C):
        i, j, k = launch.box
        with torch.cuda.stream(torch.cuda.ExternalStream(launch.stream)):
            a, b, c = (torch.from_dlpack(part) for part in (A[i, k], B[k, j], C[i, j]))
            c += a @ b
            assert torch.as_tensor(C[i, j], device="cuda").data_ptr() == c.data_ptr()

    A = np.random.default_rng(1).integers(0, 5, (700, 600)).astype("f4")
    B = np.random.default_rng(2).integers(0, 5, (600, 500)).astype("f4")
    C = np.empty((700, 500), "f4")
    pt.run(gemm, A, B, C, domain=(700, 500, 600), device="cuda:0", limit="64MiB")
    assert np.array_equal(C, A @ B)
    kept = []

    @pt.launcher("keep[i]: in x[i]; out y[i]")
    def keep(launch, x, y):
        with torch.cuda.stream(torch.cuda.ExternalStream(launch.stream)):
            kept.append(torch.from_dlpack(x[launch.box]))

    with pytest.raises(pt.Error) as raised:
        pt.run(keep, A[0].copy(), C[0].copy(), domain=500, device="cuda:0")
    assert "keeps an array over x" in str(raised.value.__cause__)


def _programs_for_a_gpu():
    """The indented programs of docs/python.md, which need a GPU."""
    page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"
    return [textwrap.dedent(block) for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+",
                                                           page.read_text(), re.MULTILINE)]


def test_the_pages_programs_for_a_gpu_run():
    programs = _programs_for_a_gpu()
    (by_cupy,) = [text for text in programs if "import cupy" in text]
    (by_pytorch,) = [text for text in programs if "torch.from_dlpack" in text]
    compile(by_pytorch, "docs/python.md", "exec")
    names = {"cupy": _cupy(), "torch": _torch(), "pt": pt, "scale": scale}
    exec(compile(by_cupy, "docs/python.md", "exec"), names)
    assert names["cupy"].array_equal(names["y"], 2 * names["x"])
    exec(compile(by_pytorch, "docs/python.md", "exec"), names)
    A, B = (np.random.default_rng(k).integers(0, 5, (300, 300)).astype("f4") for k in (1, 2))
    C = np.empty_like(A)
    pt.run(names["gemm"], A, B, C, domain=(300, 300, 300), device="cuda:0", limit="64MiB")
    assert np.array_equal(C, A @ B)


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
