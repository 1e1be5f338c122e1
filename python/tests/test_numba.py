"""Bodies in Python, compiled by Numba."""

import numpy as np
import pytest

import polytile as pt

from test_docs import program_of_the_page

pytest.importorskip("numba")

DEVICES = ["host", "host(memory=64KiB)"]


@pt.body("mean[i, j](f64 a): in A[i-1:i+1, j]; out B[i, j]")
def mean(i, j, A, B, a):
    B[i, j] = a * (A[i - 1, j] + A[i, j] + A[i + 1, j])


def mean_by_numpy(A, a):
    B = np.zeros_like(A)
    B[1:-1] = a * ((A[:-2] + A[1:-1]) + A[2:])
    return B


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_stencils_are_numpys(device, order):
    shown = np.random.default_rng(1).random((400, 100))
    A, B = {"C": lambda: (shown, np.zeros_like(shown)),
            "F": lambda: (np.asfortranarray(shown), np.zeros((100, 400)).T),
            "strided": lambda: (shown[::2, ::2], np.zeros((800, 200))[::4, ::4])}[order]()
    pt.run(mean, A, B, domain=((1, len(A) - 2), A.shape[1]), device=device, a=0.25)
    assert np.array_equal(B, mean_by_numpy(A, 0.25))


@pytest.mark.parametrize("device", DEVICES)
def test_three_dimensions_steps_and_types(device):
    @pt.body("skip[i, j, k]: in A[i, j, k], x[k]; out B[i, j, k]")
    def skip(i, j, k, A, x, B):
        B[i, j, k] = A[i, j, k] + x[k]

    for dtype in ("f4", "i4"):
        A = np.arange(20 * 30 * 40, dtype=dtype).reshape(20, 30, 40)
        x, B = np.arange(40, dtype="i8"), np.zeros_like(A)
        pt.run(skip, A, x, B, domain=((0, 19, 2), 30, (1, 39, 3)), device=device)
        expected = np.zeros_like(A)
        expected[::2, :, 1::3] = A[::2, :, 1::3] + x[1::3].astype(dtype)
        assert np.array_equal(B, expected)


def test_reductions_combine_and_queues_launch():
    @pt.body("count[i](i64 least): in x[i]; out sum s[0]")
    def count(i, x, s, least):
        if x[i] >= least:
            s[0] += x[i]

    x, s = np.arange(100000), np.zeros(1, "i8")
    with pt.Queue("host(memory=128KiB)") as queue:
        queue.launch(count, x, s, domain=len(x), least=500)
    assert s[0] == x[500:].sum()


def test_checks_try_the_body():
    A = np.random.default_rng(1).random((30, 20))
    told = pt.check(mean, A, np.zeros_like(A), domain=((1, 28), 20), a=1.0)
    assert "the body touches" in str(told)

    @pt.body("wrong[i]: in x[i]; out y[i]")
    def wrong(i, x, y):
        y[i] = x[i + 1]

    with pytest.raises(pt.InvalidError, match="not declared to be read"):
        pt.check(wrong, np.arange(100.0), np.zeros(100), domain=99)


def make(function, declaration="k[i](f64 a): in x[i]; out y[i]"):
    return pt.body(declaration)(function)


@pytest.mark.parametrize("wrong, error, says", [
    (lambda: make(lambda: 0), pt.DeclarationError, "takes 0 arguments; it takes 1 indices first"),
    (lambda: make(lambda i, z: 0), pt.DeclarationError, "takes z, and the declaration has x, y, a"),
    (lambda: make(lambda i, x: 0, "k[i]: in x[i]; out y[i]; scratch f32 w[i, 0:3]"),
     pt.UnsupportedError, "scratch is for bodies from text"),
    (lambda: make(lambda i, x: x.nothing)(np.ones(3), np.ones(3), a=1.0),
     pt.DeclarationError, "Numba does not compile the body"),
    (lambda: make(lambda i, y: None)(np.ones(3), np.ones(3), a=1.0, device="cuda:0"),
     pt.Error, "cuda"),
])
def test_wrong_functions(wrong, error, says):
    with pytest.raises(error, match=says):
        wrong()


def test_the_pages_program_scales():
    x, y = np.arange(100, dtype="f4"), np.zeros(100, "f4")
    program = compile(program_of_the_page("@pt.body("), "docs/python.md", "exec")
    exec(program, {"pt": pt, "x": x, "y": y})
    assert np.array_equal(y, 2 * x)
