"""Programs that do with a GPU what they should not. Each is a process of its own, which ends in
order."""

import pytest
from test_hostile import run_program

import polytile as pt
from polytile._context import current

START = """
scale = pt.kernel("scale[i](f32 a): in x[i]; out y[i]", "y(i) = a * x(i);")
gpu = "cuda:0"
"""
CUPY = "import cupy\n"

PROGRAMS = {
    "arrays are freed while a queue on a GPU has them": ("""
        with pt.Queue(gpu) as queue:
            internal = queue.array("f64", (100000,))
            queue.launch(add, x, x, internal)
            queue.launch(add, internal, x, z)
            del x, internal
            gc.collect()
        assert z[-1] == 3 * 99999
    """,),
    "a child uses the GPU of its parent": ("""
        pt.run(add, x, x, z, device=gpu)
        in_child(lambda: expect(pt.Error, lambda: pt.run(add, x, x, z, device=gpu)))
        in_child(lambda: pt.run(add, x, x, z))
        pt.run(add, x, x, z, device=gpu)
    """,),
    "threads share a GPU": ("""
        errors = []
        def work(k):
            try:
                own = np.zeros(100000)
                for _ in range(5):
                    pt.run(add, x, np.full(100000, float(k)), own, device="cuda:0(memory=64MiB)")
                    assert own[-1] == 99999 + k
            except BaseException as error:
                errors.append(error)
        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors, errors
    """,),
    "Ctrl-C comes while a GPU runs": ("""
        large = np.zeros(50_000_000)
        pt.run(slow, large[:1], device=gpu)
        n_interrupts = 0
        for _ in range(3):
            timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
            timer.start()
            try:
                for _ in range(100):
                    pt.run(slow, large, device="cuda:0(memory=32MiB)")
                    if not timer.is_alive():
                        break
                timer.join()
            except KeyboardInterrupt:
                n_interrupts += 1
        assert n_interrupts > 0
        pt.run(add, x, x, z, device=gpu)
        assert z[-1] == 2 * 99999
    """,),
    "the program ends while a queue on a GPU runs": ("""
        queue = pt.Queue(gpu)
        for _ in range(20):
            queue.launch(slow, x)
    """,),
    "a launcher on a GPU raises": ("""
        @pt.launcher("fail[i]: in x[i]; out z[i]")
        def fail(launch, x, z):
            raise KeyError("of the launcher")
        expect(pt.Error, lambda: pt.run(fail, x, z, device=gpu))
        pt.run(add, x, x, z, device=gpu)
    """,),
    "a device that is not there is asked for": ("""
        expect(pt.Error, lambda: pt.run(add, x, x, z, device="cuda:99"))
        expect(pt.Error, lambda: pt.Queue("cuda:0,cuda:99"))
    """,),
    "arrays of CuPy are freed": (CUPY, """
        for _ in range(20):
            y = cupy.empty(100000, "f4")
            scale(cupy.ones(200000, "f4")[::2], y, a=2, device=gpu)
            assert (y == 2).all()
        del y
        cupy.get_default_memory_pool().free_all_blocks()
        pt.run(add, x, x, z, device=gpu)
    """),
    "memory of CuPy is no more": (CUPY, """
        class Gone:
            pass
        there, gone = cupy.ones(1 << 24, "f4"), Gone()
        gone.__cuda_array_interface__ = dict(there.__cuda_array_interface__)
        y = cupy.empty(1 << 24, "f4")
        del there
        cupy.get_default_memory_pool().free_all_blocks()
        expect(pt.Error, lambda: scale(gone, y, a=2, device=gpu))
    """),
    "an array of another GPU is used": (CUPY, """
        if cupy.cuda.runtime.getDeviceCount() > 1:
            with cupy.cuda.Device(1):
                there = cupy.ones(1000, "f4")
            expect(pt.Error, lambda: scale(there, cupy.empty(1000, "f4"), a=2, device=gpu),
                   "cuda:")
            scale(there, there, a=2, device="cuda:1")
    """),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_program_with_a_gpu_crashes(name):
    try:
        current().device("cuda:0")
    except pt.Error as error:
        pytest.skip(str(error))
    if CUPY in PROGRAMS[name]:
        pytest.importorskip("cupy")
    ended = run_program(START, *PROGRAMS[name])
    assert (ended.returncode, ended.stdout) == (0, "in order\n"), ended.stderr
