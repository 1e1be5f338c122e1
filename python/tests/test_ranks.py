"""Queues over the ranks of mpi4py's communicators."""

import os
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import polytile as pt
from test_docs import program_of_the_page

START = """
import numpy as np, os, sys
from mpi4py import MPI
import polytile as pt
comm = MPI.COMM_WORLD
heat = pt.kernel("heat[i]: in u[i-1:i+1]; out v[i]",
                 "v(i) = u(i) + 0.1 * (u(i - 1) - 2 * u(i) + u(i + 1));")
start = np.sin(np.arange(4001) / 7)
def heat_by_numpy(u, n):
    for _ in range(n):
        u = np.concatenate([u[:1], u[1:-1] + 0.1 * (u[:-2] - 2 * u[1:-1] + u[2:]), u[-1:]])
    return u
"""


def need_mpi():
    try:
        from mpi4py import MPI as mpi
    except ImportError as error:  # also where its MPI is not found
        pytest.skip(str(error))
    if shutil.which("mpiexec") is None:
        pytest.skip("no mpiexec here")
    from polytile.ranks import _library_of
    try:
        _library_of(mpi)
    except pt.UnsupportedError as error:
        pytest.skip(str(error))


def run_on_two(program):
    need_mpi()
    text = textwrap.dedent(START) + textwrap.dedent(program)
    command = ["mpiexec", "-n", "2", sys.executable, "-m", "mpi4py", "-c", text]
    return subprocess.run(command, text=True, capture_output=True, timeout=90,
                          env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1",
                               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})


def test_ranks_compute_parts(tmp_path):
    ended = run_on_two(f"""
        with pt.Queue("host(threads=1,memory=64KiB)", comm=comm) as queue:
            u, v = (queue.array("f64", start.shape) for _ in range(2))
            for field in (u, v):
                field.scatter(start if comm.rank == 1 else None, root=1)
            for step in range(10):
                queue.launch(heat, *((u, v) if step % 2 == 0 else (v, u)), domain=(slice(1, 4000),))
            expected = heat_by_numpy(start, 10)
            found = u.gather()
            assert (found is None) == (comm.rank == 1)
            assert found is None or np.array_equal(found, expected)
            (box,) = u.boxes
            assert np.array_equal(u.get(box), expected[box])
            u.put(box, expected[box] + comm.rank)
            u.write({str(tmp_path / "u.npy")!r})
            v.read({str(tmp_path / "u.npy")!r})
            assert np.array_equal(v.get(box), expected[box] + comm.rank)
        assert np.load({str(tmp_path / "u.npy")!r}).shape == start.shape
    """)
    assert ended.returncode == 0, ended.stderr


def test_the_pages_program_steps(tmp_path):
    program = textwrap.dedent(f"""
        import os
        os.chdir({str(tmp_path)!r})
        start = np.zeros(100_000)
        start[50_000] = 1
        heat = pt.kernel("heat[i](f64 dt): in u[i-1:i+1]; out v[i]",
                         "v(i) = u(i) + dt * (u(i-1) - 2 * u(i) + u(i+1));")
    """) + program_of_the_page("from mpi4py import MPI")
    ended = run_on_two(program)
    assert ended.returncode == 0, ended.stderr
    u = np.load(tmp_path / "u.npy")
    assert u.shape == (100_000,) and abs(u.sum() - 1) < 1e-9 and u[50_001] > 0


def test_attached_arrays_are_whole_on_every_rank():
    ended = run_on_two("""
        u, v = start.copy(), np.zeros_like(start)
        with pt.Queue("host(threads=1)", comm=comm, layout="cyclic(100)") as queue:
            queue.launch(heat, u, v, domain=(slice(1, 4000),))
        assert np.array_equal(v[1:-1], heat_by_numpy(start, 1)[1:-1])
    """)
    assert ended.returncode == 0, ended.stderr


def test_a_rank_that_fails_ends_all():
    ended = run_on_two("""
        with pt.Queue("host(threads=1)", comm=comm) as queue:
            u, v = (queue.array("f64", start.shape) for _ in range(2))
            if comm.rank == 1:
                raise KeyError("of rank 1")
            queue.launch(heat, u, v, domain=(slice(1, 4000),))
            queue.wait()
    """)
    assert ended.returncode != 0 and "of rank 1" in ended.stderr


def test_wrong_calls_are_sentences():
    ended = run_on_two("""
        def expect(error, says, function):
            try:
                function()
            except error as raised:
                assert says in str(raised), raised
            else:
                raise AssertionError(says)
        expect(pt.InvalidError, "give a communicator of mpi4py", lambda: pt.Queue("host", comm=5))
        expect(pt.InvalidError, "give a communicator", lambda: pt.Queue("host", comm=MPI.COMM_NULL))
        expect(pt.InvalidError, "nothing", lambda: pt.Queue("host", comm=comm, layout="nothing"))
        with pt.Queue("host(threads=1)", comm=comm) as queue:
            u = queue.array("f64", start.shape)
            expect(pt.InvalidError, "elements of shape (3,)", lambda: u.scatter(np.zeros(3)))
            expect(pt.FileError, "no.npy", lambda: u.read("no.npy"))
    """)
    assert ended.returncode == 0, ended.stderr


def test_ranks_without_mpi4py_say_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(pt.UnsupportedError, match="pip install mpi4py"):
        pt.Queue("host", comm=1)


def test_devices_share_by_a_policy():
    twice = pt.kernel("twice[i]: in x[i]; out y[i]", "y(i) = 2 * x(i);")
    x, y = np.arange(1000.0), np.zeros(1000)
    with pt.Queue("host,host", policy="weighted(3,1)") as queue:
        queue.launch(twice, x, y)
        with pytest.raises(pt.InvalidError, match="needs a queue over ranks"):
            queue.array("f64", (9,), layout="block")
    assert np.array_equal(y, 2 * x)
    with pytest.raises(pt.InvalidError, match="nothing"):
        pt.Queue("host,host", policy="nothing")
