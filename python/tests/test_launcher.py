"""Launchers written in Python."""

import os
import subprocess
import sys
import threading
import traceback

import numpy as np
import pytest

import polytile as pt

DEVICES = ["host", "host(threads=1)", "host(memory=64KiB)"]


@pt.launcher("gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]")
def gemm(launch, A, B, C):
    """Multiplies matrices."""
    i, j, k = launch.box
    if launch.is_first:
        C[i, j] = A[i, k] @ B[k, j]
    else:
        C[i, j] += A[i, k] @ B[k, j]


@pt.launcher("mean[i, j]: in A[i-1:i+1, j]; out B[i, j]")
def mean(launch, A, B):
    i, j = launch.box
    B[i, j] = (A[i - 1, j] + A[i, j] + A[i + 1, j]) / 4


@pytest.mark.parametrize("device", DEVICES)
def test_products_are_numpys(device):
    A, B = np.arange(90 * 70.0).reshape(90, 70) % 7, np.arange(70 * 80.0).reshape(70, 80) % 5
    C = np.full((90, 80), 99.0)
    report = pt.run(gemm, A, B, C, domain=(90, 80, 70), device=device)
    assert np.array_equal(C, A @ B)
    assert report.n_kernels > 1 or "memory" not in device
    assert (gemm.__name__, gemm.__doc__) == ("gemm", "Multiplies matrices.")


@pytest.mark.parametrize("device", DEVICES + ["host(memory=32KiB),host"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_queues_call_launchers_from_their_threads(device, dtype):
    a = np.random.default_rng(3).random((200, 60)).astype(dtype)
    b, c = np.zeros_like(a), np.zeros_like(a)
    threads = set()

    @pt.launcher("twice[i, j]: in B[i, j]; out C[i, j]")
    def twice(launch, B, C):
        threads.add(threading.get_ident())
        assert C.dtype == np.dtype(dtype)
        C[launch.box] = 2 * B[launch.box]

    with pt.Queue(device) as queue:
        queue.launch(mean, a, b, domain=((1, 198), 60))
        queue.launch(twice, b, c)
    expected = np.zeros_like(a)
    expected[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 4
    assert np.array_equal(b, expected) and np.array_equal(c, 2 * expected)
    assert threads


def test_parameters_have_the_declared_types():
    seen = []

    @pt.launcher("axpy[i](f32 a, u8 n): in x[i]; inout y[i]")
    def axpy(launch, x, y):
        (i,) = launch.box
        seen.append(launch.parameters)
        y[i] += launch.parameters["a"] * x[i] + np.asarray(i)

    x, y = np.ones(100, "f4"), np.zeros(100, "f4")
    pt.run(axpy, x, y, a=2.5, n=200)
    assert np.array_equal(y, np.arange(100) + np.float32(2.5))
    assert type(seen[0]["a"]) is np.float32 and seen[0]["n"] == 200


def test_steps_of_subscripts_are_steps_of_views():
    @pt.launcher("even[i]: in x[2*i]; out y[i]")
    def even(launch, x, y):
        (i,) = launch.box
        y[i] = x[2 * i]
        assert y[i.start] == x[2 * i.start] and x[2 * i].shape == (len(i),)

    x, y = np.arange(2000.0), np.zeros(1000)
    for device in DEVICES[1:]:
        y[:] = 0
        pt.run(even, x, y, device=device)
        assert np.array_equal(y, x[::2])


def test_elements_of_any_type():
    x = (np.arange(10000) + 1j).astype("c8")
    y = np.zeros_like(x)

    @pt.launcher("turn[i]: in x[i]; out y[i]")
    def turn(launch, x, y):
        (i,) = launch.box
        y[i] = 1j * x[i]

    pt.run(turn, x, y, device="host(memory=16KiB)")
    assert np.array_equal(y, 1j * x)


def test_an_exception_ends_the_run_as_its_cause():
    @pt.launcher("wrong[i]: in x[i]; out y[i]")
    def wrong(launch, x, y):
        raise KeyError("of the launcher")

    x, y = np.arange(10.0), np.zeros(10)
    with pytest.raises(pt.DeviceError, match="wrong: the launcher returned 1 for the thr") as run:
        pt.run(wrong, x, y)
    assert isinstance(run.value.__cause__, KeyError)
    told = traceback.format_exception(type(run.value), run.value, run.tb)
    assert 'raise KeyError("of the launcher")' in "".join(told)
    with pt.Queue("host") as queue:
        queue.launch(wrong, x, y)
        with pytest.raises(pt.DeviceError) as waited:
            queue.wait()
        assert isinstance(waited.value.__cause__, KeyError)
    pt.run(mean, np.ones((5, 3)), np.zeros((5, 3)), domain=((1, 3), 3))


def test_an_interrupt_of_the_launcher_stays_one():
    @pt.launcher("stop[i]: out y[i]")
    def stop(launch, y):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pt.run(stop, np.zeros(10))


@pytest.mark.parametrize("touch, error, says", [
    (lambda i, x, y: x[i + 1], IndexError,
     "x, dimension 0: Range.* is not all there; this sub-kernel has"),
    (lambda i, x, y: x[-1], IndexError, "-1 is not all there"),
    (lambda i, x, y: x[i, i], IndexError, "x has 1 dimensions, not 2"),
    (lambda i, x, y: x[i.start:i.stop:-1], IndexError, "is below 1"),
    (lambda i, x, y: x.__setitem__(i, 1), ValueError, "read-only"),
    (lambda i, x, y: x["a"], AttributeError, "__index__"),
])
@pytest.mark.parametrize("device", ["host(memory=4KiB)"])
def test_what_is_not_there_is_not_touched(touch, error, says, device):
    @pt.launcher("touch[i]: in x[i]; out y[i]")
    def touching(launch, x, y):
        touch(launch.box[0], x, y)

    with pytest.raises(pt.DeviceError) as raised:
        pt.run(touching, np.arange(1000.0), np.zeros(1000), device=device)
    assert type(raised.value.__cause__) is error
    with pytest.raises(error, match=says):
        raise raised.value.__cause__


def test_views_end_with_their_call():
    kept = []

    @pt.launcher("keep[i]: in x[i]; out y[i]")
    def keep(launch, x, y):
        kept.append(x[launch.box][2:3])

    @pt.launcher("keep[i]: in x[i]; out y[i]")
    def keep_view(launch, x, y):
        kept.append(x)

    x, y = np.arange(10.0), np.zeros(10)
    with pytest.raises(pt.DeviceError) as raised:
        pt.run(keep, x, y)
    assert "keeps an array over x beyond its call" in str(raised.value.__cause__)
    pt.run(keep_view, x, y)
    with pytest.raises(pt.InvalidError, match="x was for one call"):
        kept[-1][:]


def test_launchers_do_not_wait_for_themselves():
    x, y = np.arange(10.0), np.zeros(10)
    with pt.Queue("host") as queue:
        @pt.launcher("again[i]: in x[i]; out y[i]")
        def again(launch, _x, _y):
            queue.wait()

        queue.launch(again, x, y)
        with pytest.raises(pt.DeviceError) as raised:
            queue.wait()
        assert "this queue runs the launcher" in str(raised.value.__cause__)


def test_launchers_may_run_kernels():
    @pt.launcher("nested[i, j]: in A[i, j]; out B[i, j]")
    def nested(launch, A, B):
        found = np.zeros_like(A[launch.box])
        pt.run(gemm, A[launch.box].copy(), np.eye(len(launch.box[1])), found,
               domain=(*found.shape, found.shape[1]))
        B[launch.box] = found

    a = np.random.default_rng(1).random((30, 20))
    b = np.zeros_like(a)
    pt.run(nested, a, b)
    assert np.array_equal(a, b)


def test_checks_try_launchers_on_copies():
    a = np.random.default_rng(3).random((20, 6))
    b = np.full_like(a, -1)
    assert "the body touches" in str(pt.check(mean, a, b, domain=((1, 18), 6)))
    assert (b == -1).all()

    @pt.launcher("less[i]: in x[i]; out y[i]")
    def less(launch, x, y):
        (i,) = launch.box
        y[i.start:i.stop - 1] = x[i.start:i.stop - 1]

    with pytest.raises(pt.InvalidError, match="y"):
        pt.check(less, np.arange(50.0), np.zeros(50))


def test_ranges_are_subscripts():
    i = pt.Range(3, 10)
    assert (i - 1, 1 + i, 2 * i) == (pt.Range(2, 9), pt.Range(4, 11), pt.Range(6, 19, 2))
    assert list(2 * i) == [2 * k for k in i] and len(2 * i) == 7
    assert np.array_equal(np.asarray(i, dtype="f4"), np.arange(3, 10)) and {i: 1}[pt.Range(3, 10)]
    with pytest.raises(ValueError, match="1 or more"):
        i * 0


CORES = """
import time
import numpy as np
import polytile as pt
taken = []

@pt.launcher("copy[i]: in x[i]; out y[i]")
def copy(launch, x, y):
    y[launch.box] = x[launch.box]
    before = time.process_time() - time.thread_time()
    time.sleep(0.02)
    taken.append(time.process_time() - time.thread_time() - before)

x = np.arange(4 << 20, dtype="f4")
y = np.zeros_like(x)
pt.run(copy, x, y, device="host(memory=8MiB,threads=2)")
assert np.array_equal(x, y) and len(taken) > 3
print(sum(taken) / len(taken) / 0.02)
"""


def test_launchers_have_the_cores_to_themselves():
    """Threads that copy sleep while a launcher runs, even where OpenMP's threads would spin."""
    ended = subprocess.run([sys.executable, "-c", CORES], text=True, capture_output=True,
                           env={**os.environ, "OMP_WAIT_POLICY": "active"})
    assert ended.returncode == 0, ended.stderr
    assert float(ended.stdout) < 0.1
