"""`polytile run` over a plain OpenMP loop over mapped files: z = x + y, by whole processes, in
turn."""

import pathlib
import subprocess
import tempfile

import numpy as np
from common import Figures, alternate, arguments, build, ratio


def create(path, n):
    """A file of n floats from 0 to 999."""
    np.lib.format.open_memmap(path, "w+", "f4", (n,))[:] = np.resize(
        np.arange(1000, dtype="f4"), n)


def is_same(one, other):
    """Whether two files have the same elements, on some of their pages and at their end."""
    z, w = (np.load(path, mmap_mode="r") for path in (one, other))
    return np.array_equal(z[::9973], w[::9973]) and np.array_equal(z[-1000:], w[-1000:])


def main():
    given = arguments(__doc__, n=(2 * 10**8, "elements of each of the three files"),
                      command=("polytile", "the command"),
                      directory=("/dev/shm", "where the files lie: in the page cache"))
    figures = Figures("polytile run over a loop over mmap", given.json)
    with tempfile.TemporaryDirectory(dir=given.directory) as directory:
        place = pathlib.Path(directory)
        loop = build("over_mmap.c", place / "over_mmap")
        for name in "xy":
            create(place / f"{name}.npy", given.n)
        by_polytile = [
            given.command, "run", "--kernel", "add[i]: in x[i], y[i]; out z[i]",
            "--body", "z(i) = x(i) + y(i);", "--domain", "x.0", "--array", f"x={place}/x.npy",
            "--array", f"y={place}/y.npy", "--output", f"z:f32:x.0={place}/z.npy"]
        by_loop = [loop, *(place / f"{name}.npy" for name in ("x", "y", "w"))]

        def timed(command, result):
            (place / result).unlink(missing_ok=True)
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

        ours, theirs = alternate(given.repeat, lambda: timed(by_polytile, "z.npy"),
                                 lambda: timed(by_loop, "w.npy"))
        assert is_same(place / "z.npy", place / "w.npy")
        subject = f"vector add, {given.n:.0e} floats, {given.directory}"
        figures.add(subject, "over the loop", ratio(ours, theirs), 1.05)
        figures.add(subject, "s", min(ours))
    figures.end()


if __name__ == "__main__":
    main()
