"""What Python costs over C: the same launches over the same memory, in turn."""

import pathlib
import tempfile

import cffi
import numpy as np
from common import Figures, alternate, arguments, build, ratio

import polytile as pt
from polytile import _library

HEAT = "heat[i]: in u[i-1:i+1]; out v[i]", "v(i) = u(i) + 0.1 * (u(i-1) - 2 * u(i) + u(i+1));"
ADD = "add[i]: in x[i], y[i]; out z[i]", "z(i) = x(i) + y(i);"
DECLARATIONS = """
int prepare(const char *, const char *, const char *, const char *, const char *);
int run_add(float *x, float *y, float *z, int64_t n);
int queue_heat(const char *device, double *u, double *v, int64_t n, int n_launches);
"""


def libraries():
    """The files of the library that the package has loaded."""
    maps = pathlib.Path("/proc/self/maps").read_text().split()
    return sorted({part for part in maps if "libpolytile" in part and ".so" in part})


def open_c(directory):
    ffi = cffi.FFI()
    ffi.cdef(DECLARATIONS)
    target = pathlib.Path(directory) / "over_c.so"
    built = build("over_c.c", target, "-shared", "-fPIC", *libraries())
    lib = ffi.dlopen(str(built))
    if lib.prepare(b"host", *(text.encode() for text in ADD + HEAT)) != 0:
        raise SystemExit(1)
    return ffi, lib


def compare(figures, repeat, subject, in_python, in_c, at_most):
    """Python over C, and beside it C over C, whose distance from 1 is chance."""
    ours, theirs = alternate(repeat, in_python, in_c)
    figures.add(subject, "over C", ratio(ours, theirs), at_most)
    figures.add(subject, "least over least", min(ours) / min(theirs))
    figures.add(subject, "C over C", ratio(*alternate(repeat, in_c, in_c)))
    figures.add(subject, "s", min(ours))
    return ours, theirs


def main():
    given = arguments(__doc__, n=(10**8, "elements of the vector add"),
                      field=(10**6, "elements of the queued launches"),
                      launches=(100, "queued launches"))
    assert _library.lib
    figures = Figures("python over C", given.json)
    with tempfile.TemporaryDirectory() as directory:
        ffi, c = open_c(directory)

        def of(array, kind):
            return ffi.from_buffer(kind, array)

        x, y, z = (np.ones(given.n, "f4") for _ in range(3))
        add, heat = pt.kernel(*ADD), pt.kernel(*HEAT)

        def in_c():
            c.run_add(of(x, "float[]"), of(y, "float[]"), of(z, "float[]"), given.n)

        subject = f"vector add, {given.n:.0e} floats"
        compare(figures, given.repeat, subject, lambda: pt.run(add, x, y, z), in_c, 1.02)
        assert (z == 2).all()
        del x, y, z

        for n in (given.field, 1000):
            u, v = np.sin(np.arange(n) / 7), np.zeros(n)

            def queued(u=u, v=v, n=n):
                with pt.Queue("host") as queue:
                    for k in range(given.launches):
                        queue.launch(heat, *((u, v) if k % 2 == 0 else (v, u)),
                                     domain=(slice(1, n - 1),))

            def queued_in_c(u=u, v=v, n=n):
                c.queue_heat(b"host", of(u, "double[]"), of(v, "double[]"), n, given.launches)

            subject = f"{given.launches} queued launches, {n:.0e} doubles"
            ours, theirs = compare(figures, given.repeat, subject, queued, queued_in_c,
                                   1.02 if n > 1000 else None)
            figures.add(subject, "us a launch more",
                        1e6 * (min(ours) - min(theirs)) / given.launches)
    figures.end()


if __name__ == "__main__":
    main()
