"""What is wrong is an exception with a sentence, and nothing ends the process."""

import os
import sys

import numpy as np
import pytest

import polytile as pt

x = np.arange(100, dtype="f4")
add = pt.kernel("add[i]: in x[i], y[i]; out z[i]", "z(i) = x(i) + y(i);")


@pytest.mark.parametrize("declaration, body, error, says", [
    ("add[i]: in x[i*i]; out z[i]", "z(i) = 1;", pt.DeclarationError, "affine"),
    ("add[i]: in x[i]; out z[i]", "x(i) = 1;", pt.DeclarationError, "x is assigned"),
    ("add[i]: in x[i]; out z[i]", "z(i) = (x(i);", pt.DeclarationError, "not closed"),
    ("add[i]: in x[i]; out z[i]", "", pt.DeclarationError, "the body is empty"),
    ("add[i]: in x[i]; out z[i]", "z(i) = 1;\0", pt.InvalidError, "a body has a NUL"),
    ("add[i]: in x[i]; out z[i]\0, y[i]", None, pt.InvalidError, "a declaration has a NUL"),
    (b"add[i]: in x[i]; out z[i]", None, pt.InvalidError, "a declaration is b'add.*is no text"),
    ("add[i]: in x[i]; out z[i]", ["z(i) = 1;"], pt.InvalidError, "a body is .*is no text"),
])
def test_wrong_texts(declaration, body, error, says):
    with pytest.raises(error, match=says):
        pt.kernel(declaration, body)


def test_a_body_that_does_not_compile_is_shown_with_a_caret():
    wrong = pt.kernel("add[i]: in x[i]; out z[i]", "z(i) = w(i);")
    with pytest.raises(pt.DeclarationError) as raised:
        wrong(x, np.empty_like(x))
    assert "w is unknown; the declaration has index i; array x, z" in str(raised.value)
    assert str(raised.value).endswith("\n  z(i) = w(i);\n         ^")


@pytest.mark.parametrize("arrays, options, error, says", [
    ((x, x), {}, pt.InvalidError, "2 arrays are given and the kernel has 3: x, y, z"),
    ((x, x, 5), {}, pt.InvalidError, "z is int, which has no array's memory"),
    ((x, x, np.empty(())), {}, pt.InvalidError, "z has no dimensions"),
    ((x, x, np.empty(0)), {}, pt.InvalidError, "z is empty"),
    ((x[::-1], x, x.copy()), {}, pt.UnsupportedError, "x is reversed or repeated"),
    ((x.astype(">f4"), x, x.copy()), {}, pt.UnsupportedError, "foreign byte order"),
    ((np.array([None] * 9), x, x.copy()), {}, pt.UnsupportedError, "Python objects"),
    ((x, x, np.empty((10, 10), "f4")), {}, pt.InvalidError, "domain is missing"),
    ((x, x, x.copy()), {"domain": 101}, pt.Error, "x"),
    ((x, x, x.copy()), {"domain": slice(None)}, pt.InvalidError, "needs both ends"),
    ((x, x, x.copy()), {"domain": 5.5}, pt.InvalidError, "5.5 is no range"),
    ((x, x, x.copy()), {"domain": "5"}, pt.InvalidError, "5 is no range"),
    ((x, x, x.copy()), {"domain": ((1, 2, 3, 4),)}, pt.InvalidError, "is no range"),
    ((x, x, x.copy()), {"domain": 2**70}, pt.InvalidError, "domain .* exceeds 64 bits"),
    ((x, x, x.copy()), {"limit": 2**80}, pt.InvalidError, "limit .* exceeds 64 bits"),
    ((x, x, x.copy()), {"n": 2**70}, pt.InvalidError, "n is .* exceeds 64 bits"),
    ((x, x, x.copy()), {"device": None}, pt.InvalidError, "a device is None"),
    ((x, x, x.copy()), {"limit": "8"}, pt.InvalidError, "it has no unit"),
    ((x, x, x.copy()), {"limit": 8}, pt.NoFitError, "the limit is 8 B"),
    ((x, x, x.copy()), {"device": "gpu"}, pt.InvalidError, "gpu"),
    ((x, x, x.copy()), {"n": 1}, pt.InvalidError, "n"),
    ((x, x, x), {}, pt.InvalidError, "x"),
])
def test_wrong_launches(arrays, options, error, says):
    with pytest.raises(error, match=says):
        pt.run(add, *arrays, **options)


def test_what_is_no_kernel_or_no_device_is_refused():
    for wrong in (lambda: pt.run(x, x, x), lambda: pt.plan(None, x), lambda: pt.Queue(0),
                  lambda: pt.Queue("host").launch("add", x, x, x)):
        with pytest.raises(pt.InvalidError, match="is no kernel|is no text"):
            wrong()
    with pytest.raises(pt.InvalidError, match="block has 2 extents, the kernel 1 indices"):
        pt.plan(add, x, x, x.copy(), block=(1, 2))


def test_no_compiler(monkeypatch):
    import threading
    said = []

    def work():
        try:
            pt.run(pt.kernel("k[i]: out z[i]", "z(i) = 12345;"), np.empty(3))
        except pt.UnsupportedError as error:
            said.append(str(error))

    monkeypatch.setenv("POLYTILE_CC", "no-such-cc")
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert said and "there is no C compiler no-such-cc here" in said[0]


def test_conflicts_have_their_witness():
    race = pt.kernel("race[i]: in x[i]; out z[0]", "z(0) = x(i);")
    with pytest.raises(pt.ConflictError, match="conflict on z.0."):
        pt.check(race, x, np.empty(1, "f4"), domain=100)
    wrong = pt.kernel("next[i]: in x[i]; out z[i]", "z(i) = x(i + 1);")
    z = np.full(100, -1, "f4")
    with pytest.raises(pt.InvalidError, match="it is not declared to be read"):
        pt.check(wrong, x, z, domain=99)
    assert (z == -1).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork() here")
def test_a_child_process_makes_its_own():
    add(x, x, np.empty_like(x), device="host(threads=1)")
    queue = pt.Queue("host(threads=1)")
    pid = os.fork()
    if pid == 0:
        try:
            z = np.empty_like(x)
            add(x, x, z, device="host(threads=1)")
            right = np.array_equal(z, 2 * x)
            try:
                queue.wait()
                right = False
            except pt.Error as error:
                right = right and "before fork()" in str(error)
        finally:
            os._exit(0 if right else 1)
    assert os.waitpid(pid, 0)[1] == 0
    queue.close()


def test_bodies_in_python_say_that_numba_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    copy = pt.body("copy[i]: in x[i]; out y[i]")(lambda i, x, y: None)
    with pytest.raises(pt.UnsupportedError, match="Numba, which is not here.*pip install numba"):
        copy(x, np.empty_like(x))
