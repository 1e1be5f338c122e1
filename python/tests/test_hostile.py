"""Programs that do what they should not. Each is a process of its own, which ends in order."""

import concurrent.futures
import os
import subprocess
import sys
import textwrap

import pytest

START = """
import gc, os, signal, sys, threading, time
import numpy as np
import polytile as pt
add = pt.kernel("add[i]: in x[i], y[i]; out z[i]", "z(i) = x(i) + y(i);")
slow = pt.kernel("slow[i]: inout x[i]",
                 "double v = x(i); for (int k = 0; k < 2000; k++) v = v * 1.0000001 + 1e-9;"
                 "x(i) = v;")
x, z = np.arange(100000.0), np.zeros(100000)
def expect(error, function, says=""):
    try:
        function()
    except error as raised:
        assert says in str(raised), raised
        return
    raise AssertionError(f"no {error}")
def in_child(function):
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        try:
            function()
        except BaseException as error:
            print(error, file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
"""

PROGRAMS = {
    "arrays are freed while a queue has them": """
        with pt.Queue("host(memory=64KiB)") as queue:
            internal = queue.array("f64", (100000,))
            queue.launch(add, x, x, internal)
            queue.launch(add, internal, x, z)
            del x, internal
            gc.collect()
        assert z[-1] == 3 * 99999
    """,
    "arrays are resized while a queue has them": """
        own = np.zeros(1000)
        with pt.Queue("host") as queue:
            queue.launch(add, x, x, own, domain=1000)
            expect(ValueError, lambda: own.resize(10))
            expect(ValueError, lambda: own.resize(10, refcheck=False))
        own.resize(10, refcheck=False)
        buffer = bytearray(8000)
        with pt.Queue("host") as queue:
            queue.launch(pt.kernel("one[i]: out z[i]", "z(i) = 1;"), buffer)
            expect(BufferError, buffer.clear)
        buffer.clear()
    """,
    "files are closed while a queue has them": """
        import mmap, tempfile
        with tempfile.TemporaryFile() as file:
            file.truncate(800000)
            with mmap.mmap(file.fileno(), 0) as mapped, pt.Queue("host") as queue:
                there = np.frombuffer(mapped)
                queue.launch(add, x, x, there)
                expect(BufferError, mapped.close)
                queue.detach()
                del there
                queue.close()
                gc.collect()
    """,
    "shapes and types change while a queue has arrays": """
        with pt.Queue("host(memory=64KiB)") as queue:
            queue.launch(add, x, x, z)
            z.shape = (1000, 100)
            z.dtype = "i4"
            queue.launch(add, x, x, z, domain=100000)
        assert z.view("f8").ravel()[-1] == 2 * 99999
    """,
    "read-only memory is written": """
        import mmap
        only = np.frombuffer(mmap.mmap(-1, 800000, prot=mmap.PROT_READ))
        for wrong in (only, only.view(), np.broadcast_to(x, (2, 100000)), x.tobytes()):
            expect(pt.Error, lambda: pt.run(slow, wrong, domain=10))
        expect(pt.InvalidError, lambda: pt.check(slow, only))
        pt.run(add, only, only, z)
    """,
    "elements overlap": """
        overlapping = np.lib.stride_tricks.as_strided(z, (50000,), (4,))
        expect(pt.Error, lambda: pt.run(add, x, x, overlapping, domain=50000))
        inside = z[:99999], z[1:]
        try:
            pt.run(add, inside[0], inside[0], inside[1], domain=99999, device="host(memory=64KiB)")
        except pt.Error:
            pass
    """,
    "a child runs after its parent did": """
        for device in ("host", "host(threads=2)", "host(memory=64KiB)"):
            pt.run(add, x, x, z, device=device)
        def run():
            for device in ("host", "host(threads=2)", "host(memory=64KiB)"):
                z[:] = 0
                pt.run(add, x, x, z, device=device)
                assert z[-1] == 2 * 99999
        in_child(run)
        in_child(lambda: in_child(run))
        run()
    """,
    "a child runs while its parent's queue does": """
        other = np.zeros(100000)
        with pt.Queue("host(threads=2)") as queue:
            for _ in range(20):
                queue.launch(slow, x)
            def run():
                pt.run(add, np.ones(1000), np.ones(1000), other, domain=1000)
                with pt.Queue("host(memory=64KiB)") as own:
                    own.launch(add, z, z, other)
                for call in (queue.wait, queue.detach, queue.test, lambda: queue.launch(slow, x)):
                    expect(pt.Error, call, "before fork()")
                queue.close()
            in_child(run)
    """,
    "processes are forked by multiprocessing": """
        import multiprocessing
        pt.run(add, x, x, z)
        def work(k):
            found = np.empty(100000)
            pt.run(add, x, np.full(100000, k), found)
            return found[-1]
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(work, range(4)) == [99999.0 + k for k in range(4)]
    """,
    "threads share a queue, and end without closing theirs": """
        errors = []
        with pt.Queue("host(memory=1MiB)") as shared:
            def work():
                try:
                    own = np.zeros(100000)
                    queue = pt.Queue("host(threads=1)")
                    queue.launch(add, x, x, own)
                    for _ in range(5):
                        shared.launch(add, x, x, z)
                        shared.wait()
                        shared.progress()
                        pt.run(add, x, x, own, device="host(threads=1)")
                except BaseException as error:
                    errors.append(error)
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        gc.collect()
        assert not errors, errors
    """,
    "a queue ends in one thread while another waits": """
        queue = pt.Queue("host(threads=1)")
        for _ in range(50):
            queue.launch(slow, x)
        waiter = threading.Thread(target=lambda: expect(pt.Error, queue.wait))
        waiter.start()
        time.sleep(0.05)
        queue.cancel()
        waiter.join()
        queue.close()
        queue.close()
        expect(pt.InvalidError, queue.wait, "has ended")
    """,
    "Ctrl-C comes again and again": """
        def press():
            for _ in range(5):
                time.sleep(0.02)
                os.kill(os.getpid(), signal.SIGINT)
        n_interrupts = 0
        pt.run(slow, x[:1])
        presser = threading.Thread(target=press)
        presser.start()
        while presser.is_alive():
            try:
                pt.run(slow, x, device="host(threads=1,memory=64KiB)")
            except KeyboardInterrupt:
                n_interrupts += 1
        try:
            presser.join()
        except KeyboardInterrupt:
            n_interrupts += 1
        assert n_interrupts > 0
        pt.run(add, x, x, z)
    """,
    "the program ends while a queue runs": """
        queue = pt.Queue("host(threads=1)")
        for _ in range(20):
            queue.launch(slow, x)
        kept = pt.Queue("host(memory=64KiB)")
        kept.launch(add, x, x, z)
    """,
    "the program ends while a launcher in Python runs": """
        @pt.launcher("wait[i]: inout x[i]")
        def wait(launch, x):
            time.sleep(0.05)
        queue = pt.Queue("host")
        for _ in range(4):
            queue.launch(wait, x)
        queue.notify(x, lambda error=None: None)
    """,
    "a program's thread runs a launcher at its end": """
        @pt.launcher("wait[i]: inout x[i]")
        def wait(launch, x):
            time.sleep(0.05)
        threading.Thread(target=lambda: [pt.run(wait, x) for _ in range(4)], daemon=True).start()
        time.sleep(0.02)
    """,
    "functions that the library calls raise": """
        def fail(error=None):
            raise SystemExit("of the function")
        with pt.Queue("host") as queue:
            queue.launch(add, x, x, z)
            queue.notify(z, fail)
            queue.notify(z, lambda: None)
            queue.notify(z, lambda error=None: queue.wait())
            queue.wait()
        @pt.launcher("leave[i]: inout x[i]")
        def leave(launch, x):
            sys.exit("of the launcher")
        expect(SystemExit, lambda: pt.run(leave, x), "of the launcher")
    """,
    "a launcher frees what it runs on": """
        @pt.launcher("free[i]: in x[i]; out z[i]")
        def free(launch, x, z):
            global queue, held
            del queue, held
            gc.collect()
            z[launch.box] = x[launch.box]
        queue, held = pt.Queue("host"), np.arange(100000.0)
        kept = queue
        queue.launch(free, held, z)
        kept.detach()
        assert z[-1] == 99999
    """,
    "files of NumPy's are wrong": """
        import tempfile
        with tempfile.TemporaryDirectory() as place:
            def mapped(mode="r+"):
                return np.load(f"{place}/x.npy", mmap_mode=mode)
            np.save(f"{place}/x.npy", x.astype(">f8"))
            expect(pt.UnsupportedError, lambda: pt.run(add, mapped(), x, z), "byte order")
            np.save(f"{place}/x.npy", np.array([None, 1] * 50000))
            expect(Exception, lambda: pt.run(add, mapped(), x, z))
            np.save(f"{place}/x.npy", x.astype("f4"))
            expect(pt.Error, lambda: pt.run(add, x, x, mapped("r")), "is written")
            np.save(f"{place}/x.npy", np.asfortranarray(x.reshape(100, 1000)))
            twice = pt.kernel("twice[i, j]: inout A[i, j]", "A(i, j) = 2 * A(i, j);")
            pt.run(twice, mapped())
            assert np.array_equal(mapped("r"), 2 * x.reshape(100, 1000))
            expect(pt.InvalidError, lambda: pt.run(twice, mapped("r")),
                   "open its file with mode r+")
            expect(pt.Error, lambda: pt.run(add, mapped(), x, z))
            os.truncate(f"{place}/x.npy", 300000)
            expect(ValueError, lambda: mapped("r"))
            os.truncate(f"{place}/x.npy", 5)
            expect(Exception, lambda: mapped("r"))
        pt.run(add, x, x, z)
    """,
    "the cache and the compiler are not what they should be": """
        import tempfile
        def in_thread(function):
            errors = []
            def work():
                try:
                    function()
                except BaseException as error:
                    errors.append(error)
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            if errors:
                raise errors[0]
        def compile():
            pt.run(pt.kernel("k[i]: out z[i]", "z(i) = 4321;"), z)
        with tempfile.TemporaryDirectory() as place:
            os.environ["POLYTILE_CACHE"] = f"{place}/cache"
            in_thread(compile)
            os.chmod(f"{place}/cache/kernels", 0o777)
            expect(pt.FileError, lambda: in_thread(compile), "others may write")
            os.chmod(f"{place}/cache/kernels", 0o700)
            for name in os.listdir(f"{place}/cache/kernels"):
                path = f"{place}/cache/kernels/{name}"
                with open(path, "rb") as file:
                    kept = file.read()
                for changed in (kept[:100], kept.replace(b"polytile 0.", b"polytile 9."), b""):
                    assert changed != kept
                    with open(path, "wb") as file:
                        file.write(changed)
                    z[:] = 0
                    in_thread(compile)
                    assert (z == 4321).all()
            os.environ["POLYTILE_CACHE"] = f"{place}/none"
            os.environ["POLYTILE_CC"] = "no-such-cc"
            expect(pt.UnsupportedError, lambda: in_thread(compile), "no C compiler no-such-cc")
            os.environ["POLYTILE_CC"] = "/bin/true"
            expect(pt.UnsupportedError, lambda: in_thread(compile), "POLYTILE_CC")
        pt.run(add, x, x, z)
    """,
    "it is imported by a sub-interpreter": """
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        other = interpreters.create()
        said = ""
        try:
            said = str(interpreters.run_string(other, "import polytile"))
        except Exception as error:
            said = str(error)
        assert "does not run in sub-interpreters" in said or "does not support" in said, said
        pt.run(add, x, x, z)
    """,
}


def run_program(*parts):
    program = "".join(textwrap.dedent(part) for part in (START, *parts, "\nprint('in order')\n"))
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive"}
    return subprocess.run([sys.executable, "-X", "faulthandler", "-c", program], text=True,
                          capture_output=True, timeout=300, env=environment)


def run(name):
    return run_program(PROGRAMS[name])


@pytest.fixture(scope="module")
def finished():
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        yield dict(zip(PROGRAMS, pool.map(run, PROGRAMS)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork() here")
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_program_crashes(finished, name):
    ended = finished[name]
    assert (ended.returncode, ended.stdout) == (0, "in order\n"), ended.stderr
