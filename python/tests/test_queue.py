"""Many launches over arrays that stay."""

import numpy as np
import pytest

import polytile as pt

heat = pt.kernel(
    "heat[i](f64 dt): in u[i-1:i+1]; out v[i]",
    "v(i) = u(i) + dt * (u(i - 1) - 2 * u(i) + u(i + 1));",
)


@pytest.mark.parametrize("device", ["host", "host(memory=64KiB)", "host(memory=32KiB),host"])
def test_steps_are_numpys(device):
    u = np.sin(np.arange(4001) / 7)
    expected = u.copy()
    for _ in range(20):
        expected[1:-1] = expected[1:-1] + 0.1 * (
            expected[:-2] - 2 * expected[1:-1] + expected[2:])
    expected_edges = u[[0, -1]].copy()
    w = u.copy()
    with pt.Queue(device) as queue:
        fields = [u, w]
        for step in range(20):
            queue.launch(heat, fields[step % 2], fields[1 - step % 2], domain=(slice(1, 4000),),
                         dt=0.1)
    assert np.array_equal(u, expected)
    assert np.array_equal(u[[0, -1]], expected_edges)


def test_internal_arrays_stay_on_the_device():
    twice = pt.kernel("twice[i]: in x[i]; out y[i]", "y(i) = 2 * x(i);")
    x, z = np.arange(1000.0), np.zeros(1000)
    with pt.Queue("host(memory=1MiB)") as queue:
        middle = queue.array("f64", (1000,))
        queue.launch(twice, x, middle, domain=1000)
        queue.launch(twice, middle, z)
        queue.wait()
        report = queue.report()
        queue.detach(z)
        assert np.array_equal(z, 4 * x)
    assert report.n_launches == 2 and report.h2d_bytes == x.nbytes


def test_errors_come_from_launch_wait_and_detach():
    x, z = np.arange(10.0), np.zeros(10)
    wrong = pt.kernel("wrong[i]: in x[i]; out z[i]", "z(i) = nowhere(x(i));")
    with pt.Queue("host") as queue:
        with pytest.raises(pt.DeclarationError, match="nowhere is unknown"):
            queue.launch(wrong, x, z)
        with pytest.raises(pt.InvalidError, match="1 arrays are given and the kernel has 2"):
            queue.launch(wrong, x)
        with pytest.raises(pt.InvalidError, match="not attached"):
            queue.detach(np.zeros(3))
    with pytest.raises(pt.InvalidError, match="has ended"):
        queue.wait()


def test_an_exception_ends_the_queue():
    x, z = np.arange(10.0), np.zeros(10)
    with pytest.raises(KeyError):
        with pt.Queue("host") as queue:
            queue.launch(pt.kernel("copy[i]: in x[i]; out z[i]", "z(i) = x(i);"), x, z)
            raise KeyError("of the program")
    assert np.array_equal(z, x) or not z.any()


def test_arrays_of_another_queue_are_refused():
    twice = pt.kernel("twice[i]: in x[i]; out y[i]", "y(i) = 2 * x(i);")
    x = np.arange(10.0)
    with pt.Queue("host") as other:
        theirs = other.array("float64", (10,))
    with pt.Queue("host") as queue:
        with pytest.raises(pt.InvalidError, match="of another queue"):
            queue.launch(twice, x, theirs)
        queue.detach(x)


def test_domains_and_types_that_could_mean_something_else():
    twice = pt.kernel("twice[i]: in x[i]; out y[i]", "y(i) = 2 * x(i);")
    x, y = np.arange(10.0), np.zeros(10)
    pt.run(twice, x, y, domain=range(2, 5))
    assert np.array_equal(np.nonzero(y)[0], [2, 3, 4])
    for wrong in ([(1, 2, 3, 4)], [(0, 9, 0)], slice(0, 9, 0)):
        with pytest.raises(pt.InvalidError):
            pt.run(twice, x, y, domain=wrong)
    with pytest.raises(pt.InvalidError, match="int8 or int64"):
        pt.described("i8", (10,))
    unaligned = np.frombuffer(bytes(81), dtype=np.uint8)[1:].view(np.float64)
    with pytest.raises(pt.UnsupportedError, match="not aligned"):
        pt.run(twice, unaligned, y)


def test_launches_that_differ_are_not_taken_for_one():
    """A queue keeps what it was given for a launch, for launches that are alike."""
    scaled = pt.kernel("scaled[i](f64 a): in x[i]; out y[i]", "y(i) = a * x(i);")
    signs = pt.kernel("signs[i](f64 a): out y[i]", "y(i) = copysign(1.0, a);")
    x, y, z = np.ones(100), np.zeros(100), np.zeros(100)
    with pt.Queue("host") as queue:
        own = queue.array("f64", (100,))
        for a, to in ((2, y), (3, y), (2, z), (2.5, y), (np.float32(4), z)):
            queue.launch(scaled, x, to, a=a)
            queue.wait()
            assert (to == a * x).all()
        for a in (0.0, -0.0, 0, 0.0):
            queue.launch(signs, y, a=a)
            queue.wait()
            assert (y == np.copysign(1.0, a)).all()
        for extent in (10, 20, slice(5, 20)):
            queue.launch(signs, y, a=-1, domain=extent)
            queue.launch(signs, y, a=1, domain=extent)
        queue.launch(scaled, y, own, a=5)
        queue.launch(scaled, own, z, a=1)
        queue.detach(y, z)
        y, z = np.full(100, 7.0), np.zeros(100)
        queue.launch(scaled, y, z, a=2)
        queue.detach(y, z)
        assert (z == 14).all()
        with pytest.raises(pt.InvalidError, match="which is no number"):
            queue.launch(scaled, y, z, a=[1])
        for k in range(600):
            queue.launch(signs, y, a=k + 1)
    assert (y == 1).all()


def test_an_array_that_becomes_read_only_is_not_written():
    x, y = np.ones(100), np.zeros(100)
    copy = pt.kernel("copy[i]: in x[i]; out y[i]", "y(i) = x(i);")
    with pt.Queue("host") as queue:
        queue.launch(copy, x, y)
        y.flags.writeable = False
        with pytest.raises(pt.InvalidError, match="y is written .out., but is read-only"):
            queue.launch(copy, x, y)
