"""The types that the package tells are those that it has."""

import ast
import inspect
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import polytile as pt

PACKAGE = pathlib.Path(__file__).resolve().parents[1]
USED = '''
import numpy as np
import polytile as pt

add = pt.kernel("add[i](f32 a): in x[i], y[i]; out z[i]", "z(i) = a * x(i) + y(i);")
x, y, z = (np.zeros(100, "f4") for _ in range(3))
report: pt.Report = add(x, y, z, a=2, limit="1MiB")
seconds: float = pt.run(add, x, y, z, domain=(slice(1, 9),), a=np.float32(2)).run_s

@pt.launcher("mean[i, j]: in A[i-1:i+1, j]; out B[i, j]")
def mean(launch: pt.SubKernel, A: pt.View, B: pt.View) -> None:
    i, j = launch.box
    B[i, j] = A[i - 1, j] + A[2 * i, 3:5]

with pt.Queue("host", layout="block") as queue:
    queue.launch(mean, x, queue.array("f4", (3,)), domain=((1, 5), 10))
    done: bool = queue.test(x)
plan: pt.Plan = pt.plan(add, pt.described("f32", (10,)), x, y, limit=100, a=1.5)
text: str = plan._repr_html_() + pt.check(add, x, y, z, a=1).text
'''
WRONG = '''
import polytile as pt
pt.kernel(5)
pt.run("add")
report: int = pt.Queue("host").report()
'''


def mypy(directory, program):
    pytest.importorskip("mypy")
    (directory / "program.py").write_text(program)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", ".", "program.py"]
    return subprocess.run(command, text=True, capture_output=True, cwd=directory,
                          env={**os.environ, "MYPYPATH": str(PACKAGE)})


def test_programs_are_typed(tmp_path):
    told = mypy(tmp_path, USED)
    assert told.returncode == 0, told.stdout
    told = mypy(tmp_path, WRONG)
    assert [line.split(":")[1] for line in told.stdout.splitlines() if ": error:" in line] == [
        "3", "4", "5"]


def stubbed(body, prefix=""):
    """The functions of a stub by their names, with the names of their parameters."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from stubbed(node.body, node.name + ".")
        elif isinstance(node, ast.FunctionDef) and not any(
                isinstance(mark, ast.Name) and mark.id in ("overload", "property")
                for mark in node.decorator_list):
            every = [node.args.posonlyargs, node.args.args, node.args.kwonlyargs]
            yield prefix + node.name, sorted(one.arg for given in every for one in given)


def parameters_of(function):
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(function).parameters.values()
    return sorted(one.name for one in parameters if one.kind in named)


def test_stubs_are_those_of_the_package():
    tree = ast.parse((PACKAGE / "polytile" / "__init__.pyi").read_text())
    functions = dict(stubbed(tree.body))
    assert len(functions) > 40
    for name, parameters in functions.items():
        found = pt
        for part in name.split("."):
            found = getattr(found, part)
        assert parameters_of(found) == parameters, name
    for name in pt.__all__:
        public = vars(getattr(pt, name)) if inspect.isclass(getattr(pt, name)) else {}
        for member, value in public.items():
            if inspect.isfunction(value) and not member.startswith("_"):
                assert f"{name}.{member}" in functions


def test_stubs_have_every_name():
    for module in ("__init__", "errors"):
        tree = ast.parse((PACKAGE / "polytile" / f"{module}.pyi").read_text())
        (names,) = (ast.literal_eval(node.value) for node in tree.body
                    if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
        assert sorted(names) == sorted(pt.__all__ if module == "__init__" else pt.errors.__all__)


MADE_BY_THE_PACKAGE = ("Checked", "Internal", "Kernel", "Plan", "Report", "Spread", "SubKernel",
                       "Trace", "View")


def test_stubtest_finds_nothing(tmp_path):
    """But for constructors of what programs do not construct."""
    pytest.importorskip("mypy")
    stubs = tmp_path / "stubs" / "polytile"
    stubs.mkdir(parents=True)
    for name in ("__init__.pyi", "errors.pyi", "py.typed"):
        shutil.copy(PACKAGE / "polytile" / name, stubs)
    allowed = tmp_path / "allowed"
    allowed.write_text("".join(f"polytile\\.{name}\\.__init__\n" for name in MADE_BY_THE_PACKAGE))
    told = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "polytile", "--concise", "--ignore-missing-stub",
         "--allowlist", str(allowed)], text=True, capture_output=True, cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(stubs.parent),
             "PYTHONPATH": str(pathlib.Path(pt.__file__).parents[1])})
    assert told.returncode == 0, told.stdout + told.stderr
