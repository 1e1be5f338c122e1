"""Launches, compared with NumPy."""

import threading

import numpy as np
import pytest

import polytile as pt

DEVICES = ["host", "host(threads=1)", "host(memory=64KiB)"]
TYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]

add = pt.kernel("add[i]: in x[i], y[i]; out z[i]", "z(i) = x(i) + y(i);")
mean = pt.kernel(
    "mean[i, j]: in A[i-1:i+1, j]; out B[i, j]",
    "B(i, j) = (A(i - 1, j) + A(i, j) + A(i + 1, j)) / 4;",
)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", TYPES)
def test_sums_are_numpys(device, dtype):
    x = (np.arange(10007) % 50).astype(dtype)
    y = (np.arange(10007) % 13).astype(dtype)
    z = np.zeros_like(x)
    report = pt.run(add, x, y, z, device=device)
    assert np.array_equal(z, x + y)
    assert report.n_launches == 1
    assert report.peak_device_bytes <= 64 * 1024


def test_a_limit_is_kept():
    x = np.arange(100000, dtype="f4")
    z = np.empty_like(x)
    for limit in ("40KiB", 40 * 1024):
        report = add(x, x, z, limit=limit)
        assert 0 < report.peak_device_bytes <= 40 * 1024
        assert np.array_equal(z, 2 * x)


def test_domains_are_extents_ranges_or_slices():
    a = np.arange(40 * 30, dtype="f8").reshape(40, 30)
    expected = (a[:-2] + a[1:-1] + a[2:]) / 4
    for domain in (((1, 38), (0, 29)), (slice(1, 39), 30), ((1, 38, 1), slice(0, 30))):
        b = np.full_like(a, -1)
        pt.run(mean, a, b, domain=domain, device="host(memory=4KiB)")
        assert np.array_equal(b[1:-1], expected)
        assert (b[[0, -1]] == -1).all()


def test_parameters_are_given_by_name():
    axpy = pt.kernel("axpy[i](f32 a, u64 n): in x[i]; inout y[i]", "y(i) += a * x(i) + (n > 1);")
    x, y = np.arange(1000, dtype="f4"), np.ones(1000, "f4")
    axpy(x, y, a=2.5, n=2**64 - 1)
    assert np.array_equal(y, 1 + (np.float32(2.5) * x + 1))
    with pytest.raises(pt.Error, match="a"):
        axpy(x, y, n=1)
    with pytest.raises(pt.InvalidError, match="parameter a is 'x', which is no number"):
        axpy(x, y, a="x", n=1)


def test_reductions_combine():
    dot = pt.kernel("dot[i]: in x[i], y[i]; out sum s[0]", "PT_SUM(s(0), x(i) * y(i));")
    x = np.arange(100000, dtype="i8")
    s = np.array([99])
    for device in DEVICES:
        pt.run(dot, x, x % 7, s, domain=len(x), device=device)
        assert s[0] == np.dot(x, x % 7)


def test_strided_arrays_and_fortran_order_need_no_copy():
    a = np.asfortranarray(np.arange(12.0).reshape(4, 3))
    b = np.zeros((8, 6))[::2, ::2]
    copy = pt.kernel("copy[i, j]: in A[i, j]; out B[i, j]", "B(i, j) = A(i, j);")
    copy(a, b)
    assert np.array_equal(a, b)
    c = np.zeros((3, 4)).T
    copy(b, c)
    assert np.array_equal(a, c)


def test_memory_of_other_kinds():
    twice = pt.kernel("twice[i]: in x[i]; out y[i]", "y(i) = 2 * x(i);")
    x, y = bytearray(range(100)), memoryview(bytearray(100))
    twice(x, y)
    assert list(y) == [2 * k for k in range(100)]


def test_mapped_files(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(5000, dtype="f4"))
    x = np.load(tmp_path / "x.npy", mmap_mode="r")
    z = np.lib.format.open_memmap(tmp_path / "z.npy", "w+", "f4", (5000,))
    pt.run(add, x, x, z, device="host(memory=4KiB)")
    z.flush()
    assert np.array_equal(np.load(tmp_path / "z.npy"), 2 * x)
    with pytest.raises(pt.InvalidError, match="array z is written .out., but is read-only"):
        pt.run(add, z, z, x)


def test_a_decorator_takes_name_and_documentation():
    @pt.kernel("add[i]: in x[i], y[i]; out z[i]", "z(i) = x(i) + y(i);")
    def plus(x, y, z):
        """Adds."""

    x, z = np.arange(10.0), np.empty(10)
    plus(x, x, z)
    assert np.array_equal(z, 2 * x)
    assert (plus.__name__, plus.__doc__) == ("plus", "Adds.")
    assert plus.arrays == ("x", "y", "z") and plus.roles == ("in", "in", "out")


def test_threads_have_contexts_of_their_own():
    results = {}

    def work(k):
        x = np.full(20000, k, "f4")
        z = np.empty_like(x)
        for _ in range(5):
            pt.run(add, x, x, z, device="host(memory=16KiB,threads=1)")
        results[k] = (z == 2 * k).all()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(results[k] for k in range(4))
