"""The snippets of docs/python.md run, one after the other, as a reader would type them."""

import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


def test_snippets_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(snippets) > 4
    names = {}
    for snippet in snippets:
        exec(compile(snippet, str(PAGE), "exec"), names)
