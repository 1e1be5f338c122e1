"""What the benchmarks share: alternating repetitions, medians, a table with targets, JSON."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = ["-O3", "-march=native", "-ffp-contract=off", "-fopenmp"]


def arguments(about, **options):
    """The options of a benchmark: NAME=(default, what it is)."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--json", help="write the figures there")
    parser.add_argument("--repeat", type=int, default=7, help="repetitions (7)")
    for name, (default, what) in options.items():
        parser.add_argument(f"--{name}", type=type(default), default=default,
                            help=f"{what} ({default})")
    return parser.parse_args()


def alternate(repeat, *actions, before=lambda: None, after=lambda k, result: None):
    """The seconds of each action, taken in turn, after one of each that does not count; what comes
    before and after each is not timed. Every other turn begins with the last action, so that none
    always comes after the same one."""
    times = [[] for _ in actions]
    turn = list(enumerate(actions))
    for k in range(repeat + 1):
        for which, action in reversed(turn) if k % 2 else turn:
            before()
            start = time.perf_counter()
            result = action()
            if k > 0:
                times[which].append(time.perf_counter() - start)
            after(which, result)
    return times


def ratio(ours, theirs):
    """The median over the pairs of one turn."""
    return statistics.median(one / other for one, other in zip(ours, theirs))


class Figures:
    """A table on standard output, and JSON."""

    def __init__(self, name, path):
        self.name, self.path, self.figures = name, path, []
        print(f"{name}: {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")

    def add(self, subject, figure, value, at_most=None):
        missed = "" if at_most is None or value <= at_most else "  MISSED"
        target = "" if at_most is None else f"<= {at_most}{missed}"
        print(f"  {subject:42} {figure:24} {value:10.4g}  {target}")
        self.figures.append(
            {"subject": subject, "name": figure, "value": value, "at_most": at_most})

    def left_out(self, subject, why):
        print(f"  {subject:42} left out: {why}")

    def end(self):
        if self.path:
            pathlib.Path(self.path).write_text(json.dumps({self.name: self.figures}, indent=1))


def build(source, target, *options):
    """Compile a C file that lies beside the benchmarks."""
    subprocess.run([os.environ.get("CC", "cc"), *FLAGS, f"-I{ROOT / 'include'}",
                    str(pathlib.Path(__file__).with_name(source)), "-o", str(target), *options],
                   check=True)
    return target
