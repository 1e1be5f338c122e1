"""The same Jacobi steps and the same product, over files larger than the memory that may be used,
by polytile and by its rivals: seconds and lines of each, in one run. polytile runs on the host
against rivals there, and on a GPU against those on one."""

import inspect
import pathlib
import tempfile

import numpy as np
from common import Figures, alternate, arguments, ratio

import polytile as pt


def open_files(place, mode="r+"):
    return [np.load(place / f"{name}.npy", mmap_mode=mode) for name in "ABC"]


# Jacobi: n steps from A, with B as the second field; returns the field that has the result.

SMOOTH = """smooth[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]
B(i, j) = (A(i-1, j) + A(i+1, j) + A(i, j-1) + A(i, j+1)) * 0.25f;"""
smooth = pt.kernel(*SMOOTH.splitlines())


def jacobi_by_polytile(A, B, steps, limit, device):
    with pt.Queue(f"{device}(memory={limit}B)") as queue:
        for _ in range(steps):
            queue.launch(smooth, A, B, domain=[slice(1, n - 1) for n in A.shape])
            A, B = B, A
    return A


def jacobi_by_memmap(A, B, steps, limit):
    rows = limit // (16 * A.shape[1])
    for _ in range(steps):
        for lo in range(1, len(A) - 1, rows):
            hi = min(lo + rows, len(A) - 1)
            part = np.array(A[lo - 1:hi + 1])
            B[lo:hi, 1:-1] = (part[:-2, 1:-1] + part[2:, 1:-1] + part[1:-1, :-2]
                              + part[1:-1, 2:]) * np.float32(0.25)
        A, B = B, A
    return A


def jacobi_by_dask(A, B, steps, limit):
    import dask.array as da

    def step(part):
        new = part.copy()
        new[1:-1, 1:-1] = (part[:-2, 1:-1] + part[2:, 1:-1] + part[1:-1, :-2]
                           + part[1:-1, 2:]) * np.float32(0.25)
        return new

    for _ in range(steps):
        rows = limit // (32 * A.shape[1])
        field = da.from_array(A, chunks=(rows, A.shape[1]))
        new = field.map_overlap(step, depth=(1, 0), boundary="none", dtype="f4")
        da.store(new, B, lock=False)
        A, B = B, A
    return A


def jacobi_by_cupy(A, B, steps, limit):
    import cupy
    rows = limit // (16 * A.shape[1])
    for _ in range(steps):
        for lo in range(1, len(A) - 1, rows):
            hi = min(lo + rows, len(A) - 1)
            part = cupy.asarray(A[lo - 1:hi + 1])
            new = (part[:-2, 1:-1] + part[2:, 1:-1] + part[1:-1, :-2] + part[1:-1, 2:])
            B[lo:hi, 1:-1] = cupy.asnumpy(new * np.float32(0.25))
        A, B = B, A
    return A


def jacobi_by_pytorch(A, B, steps, limit):
    import torch
    rows = limit // (16 * A.shape[1])
    for _ in range(steps):
        for lo in range(1, len(A) - 1, rows):
            hi = min(lo + rows, len(A) - 1)
            part = torch.from_numpy(A[lo - 1:hi + 1]).cuda()
            new = (part[:-2, 1:-1] + part[2:, 1:-1] + part[1:-1, :-2] + part[1:-1, 2:])
            B[lo:hi, 1:-1] = (new * 0.25).cpu().numpy()
        A, B = B, A
    return A


# Product: C = A @ B.

@pt.launcher("gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]")
def gemm(launch, A, B, C):
    i, j, k = launch.box
    C[i, j] += A[i, k] @ B[k, j]


def product_by_polytile(A, B, C, limit, device):
    pt.run(gemm, A, B, C, domain=(*C.shape, len(B)), device=device, limit=limit)


def product_by_memmap(A, B, C, limit):
    size = int((limit / 16) ** 0.5)
    for i in range(0, len(A), size):
        for j in range(0, B.shape[1], size):
            part = np.zeros(C[i:i + size, j:j + size].shape, C.dtype)
            for k in range(0, len(B), size):
                part += np.array(A[i:i + size, k:k + size]) @ np.array(B[k:k + size, j:j + size])
            C[i:i + size, j:j + size] = part


def product_by_dask(A, B, C, limit):
    import dask.array as da
    size = int((limit / 32) ** 0.5)
    a, b = (da.from_array(M, chunks=(size, size)) for M in (A, B))
    da.store(a @ b, C, lock=False)


def product_by_cupy(A, B, C, limit):
    import cupy
    size = int((limit / 16) ** 0.5)
    for i in range(0, len(A), size):
        for j in range(0, B.shape[1], size):
            part = cupy.zeros(C[i:i + size, j:j + size].shape, C.dtype)
            for k in range(0, len(B), size):
                part += (cupy.asarray(A[i:i + size, k:k + size])
                         @ cupy.asarray(B[k:k + size, j:j + size]))
            C[i:i + size, j:j + size] = cupy.asnumpy(part)


def product_by_pytorch(A, B, C, limit):
    import torch
    size = int((limit / 16) ** 0.5)
    for i in range(0, len(A), size):
        for j in range(0, B.shape[1], size):
            part = torch.zeros(C[i:i + size, j:j + size].shape, device="cuda")
            for k in range(0, len(B), size):
                part += (torch.from_numpy(A[i:i + size, k:k + size]).cuda()
                         @ torch.from_numpy(B[k:k + size, j:j + size]).cuda())
            C[i:i + size, j:j + size] = part.cpu().numpy()


RIVALS = {"Dask": "dask.array", "NumPy memmap": None, "CuPy": "cupy", "PyTorch": "torch"}
ON_GPU = ("CuPy", "PyTorch")
FUNCTIONS = {"polytile": "polytile", "Dask": "dask", "NumPy memmap": "memmap", "CuPy": "cupy",
             "PyTorch": "pytorch"}


def why_not(module):
    """Why a rival cannot run here; nothing if it can."""
    if module is None:
        return ""
    try:
        found = __import__(module)
    except ImportError as error:
        return str(error)
    if module == "cupy" and not found.cuda.is_available():
        return "no GPU here"
    if module == "torch" and not found.cuda.is_available():
        return "no GPU here"
    return ""


def lines_of(what, rival):
    """Lines of a function, and of polytile's kernel, without empty ones and those that import."""
    texts = [inspect.getsource(globals()[f"{what}_by_{FUNCTIONS[rival]}"])]
    if rival == "polytile":
        texts.append(inspect.getsource(gemm.__wrapped__) if what == "product" else SMOOTH)
    lines = [line.strip() for text in texts for line in text.splitlines()]
    return len([line for line in lines if line and not line.startswith(("import ", "#"))])


def create(place, n, seed):
    """Files, and what A and B hold at first: the same, since steps leave the edges as they are."""
    for name in "ABC":
        np.lib.format.open_memmap(place / f"{name}.npy", "w+", "f4", (n, n))
    return np.random.default_rng(seed).integers(0, 3, (n, n), dtype="i1")


class Case:
    """What is done by each rival, over files as they were at first."""

    def __init__(self, what, place, n, seed, limit, *options):
        self.what = what
        self.first = create(place, n, seed)
        self.files = open_files(place)
        self.given = (*options, limit)
        self.results = {}

    def reset(self):
        for field, first in zip(self.files, (self.first, self.first, 0)):
            field[:] = first

    def run(self, by, *device):
        A, B, C = self.files
        function = globals()[f"{self.what}_by_{FUNCTIONS[by]}"]
        if self.what == "jacobi":
            return function(A, B, *self.given, *device)
        function(A, B, C, *self.given, *device)
        return C

    def keep(self, which, result):
        self.results[which] = np.array(result)

    def compare(self, figures, repeat):
        n_lines = lines_of(self.what, "polytile")
        figures.add(f"{self.what}: polytile", "lines", n_lines)
        for rival, module in RIVALS.items():
            subject = f"{self.what}: polytile over {rival}"
            if why_not(module):
                figures.left_out(subject, why_not(module))
                continue
            device = "cuda:0" if rival in ON_GPU else "host"
            ours, theirs = alternate(repeat, lambda device=device: self.run("polytile", device),
                                     lambda rival=rival: self.run(rival), before=self.reset,
                                     after=self.keep)
            assert np.array_equal(self.results[0], self.results[1]), f"{subject}: they differ"
            figures.add(subject, f"s on {device}", min(ours))
            figures.add(subject, "of its time", ratio(ours, theirs), 1)
            figures.add(subject, "of its lines", n_lines / lines_of(self.what, rival))


def main():
    given = arguments(__doc__, n=(8192, "rows and columns of a field"),
                      product=(3072, "rows and columns of a matrix"),
                      steps=(8, "of Jacobi"), seed=(1, "of the contents"),
                      directory=("/dev/shm", "where the files lie"))
    figures = Figures("polytile and its rivals over files", given.json)
    with tempfile.TemporaryDirectory(dir=given.directory) as directory:
        place, bytes_of = pathlib.Path(directory), np.dtype("f4").itemsize
        for rival in RIVALS:
            ours, theirs = (sum(lines_of(what, by) for what in ("jacobi", "product"))
                            for by in ("polytile", rival))
            figures.add(f"both: polytile over {rival}", "of its lines", ours / theirs, 1)
        Case("jacobi", place, given.n, given.seed, given.n**2 * bytes_of // 4,
             given.steps).compare(figures, given.repeat)
        Case("product", place, given.product, given.seed,
             given.product**2 * bytes_of * 3 // 4).compare(figures, given.repeat)
    figures.end()


if __name__ == "__main__":
    main()
