"""The snippets of the pages about Python run, one after the other, as a reader would type them."""

import pathlib
import re
import textwrap

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "python.md"


def snippets_of(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)


def program_of_the_page(beginning):
    """The one indented program of docs/python.md that begins so: it needs more than NumPy."""
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", PAGE.read_text(), re.MULTILINE)
    programs = [textwrap.dedent(block).strip() + "\n" for block in blocks]
    (program,) = [text for text in programs if text.startswith(beginning)]
    return program


def test_the_readmes_program_smooths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    A = np.random.default_rng(1).random((300, 200)).astype("f4")
    np.save("a.npy", A)
    (snippet,) = snippets_of(ROOT / "README.md")
    names = {}
    exec(compile(snippet, "README.md", "exec"), names)
    expected = (A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:]) / np.float32(4)
    assert np.array_equal(names["B"][1:-1, 1:-1], expected)


@pytest.mark.parametrize("page, n_least", [(PAGE, 5), (ROOT / "docs" / "tutorial_python.md", 3)])
def test_snippets_run(page, n_least, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    snippets = snippets_of(page)
    assert len(snippets) >= n_least
    names = {}
    for snippet in snippets:
        exec(compile(snippet, str(page), "exec"), names)


def test_the_first_program_runs_within_its_limit(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = PAGE.read_text().split("venv/bin/python\n\n")[1].split("\n\n")[0].splitlines()
    assert len(lines) < 10 and all(line.startswith("    ") for line in lines)
    program = "\n".join(line[4:] for line in lines)
    assert "2**30" in program and "512MiB" in program
    program = program.replace("2**30", "2**20").replace("512MiB", "512KiB")
    exec(compile(program, str(PAGE), "exec"), {})
    peak, is_right = capsys.readouterr().out.split()
    assert 0 < int(peak) <= 512 << 10 and is_right == "True"
