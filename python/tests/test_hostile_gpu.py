"""Programs that do with a GPU what they should not. Each is a process of its own, which ends in
order."""

import concurrent.futures

import pytest
from test_hostile import run_program

import polytile as pt
from polytile._context import current

START = """
scale = pt.kernel("scale[i](f32 a): in x[i]; out y[i]", "y(i) = a * x(i);")
long = pt.kernel("long[i]: inout x[i]",
                    "double v = x(i); for (int k = 0; k < 400000; k++) v = v * 1.0000001 + 1e-9;"
                    "x(i) = v;")
gpu = "cuda:0"
"""
CUPY = "import cupy\n"
TORCH = "import torch\n"

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
    "Ctrl-C comes while one launch runs on a GPU": ("""
        large = np.zeros(20_000_000)
        pt.run(long, large[:1], device=gpu)
        for device in (gpu, "cuda:0(memory=1GiB)"):
            threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            expect(KeyboardInterrupt, lambda: pt.run(long, large, device=device))
        pt.run(add, x, x, z, device=gpu)
        assert z[-1] == 2 * 99999
    """,),
    "Ctrl-C comes while a queue on a GPU runs": ("""
        pt.run(slow, x[:1], device=gpu)
        large = np.zeros(20_000_000)
        def wait():
            with pt.Queue(gpu) as queue:
                for _ in range(300):
                    queue.launch(slow, large)
                threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
                queue.wait()
        expect(KeyboardInterrupt, wait)
        pt.run(add, x, x, z, device=gpu)
        assert z[-1] == 2 * 99999
    """,),
    "Ctrl-C comes while one launch over an array of CuPy runs": (CUPY, """
        large = cupy.zeros(20_000_000)
        pt.run(long, large[:1], device=gpu)
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        expect(KeyboardInterrupt, lambda: pt.run(long, large, device=gpu))
        pt.run(add, x, x, z, device=gpu)
        assert z[-1] == 2 * 99999
    """),
    "an array of CuPy has another shape, and read-only memory is written": (CUPY, """
        y = cupy.zeros(1000, "f4")
        own = cupy.ones(1000, "f4")
        expect(pt.Error, lambda: scale(own.reshape(10, 100), y, a=2, device=gpu))
        expect(pt.Error, lambda: scale(own[:10], y, a=2, device=gpu, domain=1000))
        expect(pt.Error, lambda: pt.Queue(gpu).launch(scale, y, y, a=2))
        class ReadOnly:
            pass
        only, shown = ReadOnly(), dict(y.__cuda_array_interface__)
        only.__cuda_array_interface__ = {**shown, "data": (shown["data"][0], True)}
        expect(pt.InvalidError, lambda: scale(y, only, a=2, device=gpu), "is written")
        expect(pt.Error, lambda: scale(x.astype("f4"), y, a=2, device=gpu))
        expect(pt.Error, lambda: scale(y, y.copy(), a=2, device="host"))
    """),
    "a run on a GPU is forked into": ("""
        import multiprocessing
        pt.run(add, x, x, z, device=gpu)
        def work(k):
            try:
                pt.run(add, x, x, z, device=gpu)
                return "ran"
            except pt.Error:
                return "refused"
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(work, range(4)) == ["refused"] * 4
        pt.run(add, x, x, z, device=gpu)
    """,),
    "the program ends with memory of PyTorch given and taken": (TORCH, """
        sys.modules["cupy"] = None
        there = torch.ones(100000, device="cuda")
        @pt.launcher("keep[i]: in x[i]; out y[i]")
        def keep(launch, x, y):
            with torch.cuda.stream(torch.cuda.ExternalStream(launch.stream)):
                kept.append(torch.from_dlpack(x[launch.box]))
                torch.from_dlpack(y[launch.box]).copy_(kept[-1])
        kept = []
        expect(pt.Error, lambda: pt.run(keep, there, torch.empty_like(there), device=gpu))
        expect(pt.Error, lambda: pt.run(keep, x, z, device=gpu))
    """),
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


@pytest.fixture(scope="module")
def started():
    """What becomes of each program, by its name; a few run at a time."""
    try:
        current().device("cuda:0")
    except pt.Error as error:
        pytest.skip(str(error))
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        yield {name: pool.submit(run_program, START, *parts) for name, parts in PROGRAMS.items()}


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_program_with_a_gpu_crashes(started, name):
    for line, module in ((CUPY, "cupy"), (TORCH, "torch")):
        if line in PROGRAMS[name]:
            pytest.importorskip(module)
    ended = started[name].result()
    assert (ended.returncode, ended.stdout) == (0, "in order\n"), ended.stderr
