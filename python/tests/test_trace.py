"""Reports of runs that were traced."""

import numpy as np
import pytest

import polytile as pt

add = pt.kernel("add[i]: in x[i], y[i]; out z[i]", "z(i) = x(i) + y(i);")


def test_a_traced_queue_is_reported(tmp_path):
    x, y, z = np.ones(5000, "f4"), np.ones(5000, "f4"), np.zeros(5000, "f4")
    with pt.Queue("host(memory=8KiB)") as queue:
        queue.trace(tmp_path / "run.json")
        queue.launch(add, x, y, z)
        queue.detach()
        queue.trace(None)
    assert (z == 2).all()
    report = pt.report(tmp_path / "run.json")
    (device,) = report.data["devices"]
    assert device["limit_bytes"] == 8192
    assert device["in_bytes"] == 40000 and device["out_bytes"] == 20000
    assert "host(memory=8KiB)" in str(report)
    assert report._repr_html_().startswith("<iframe")
    report.save(tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "http" not in page


def test_what_is_no_trace_is_refused(tmp_path):
    with pytest.raises(pt.Error, match="none.json: cannot open"):
        pt.report(tmp_path / "none.json")
    (tmp_path / "cut.json").write_text('{"traceEvents": [')
    with pytest.raises(pt.InvalidError, match="cut.json: the file ends before its first event"):
        pt.report(tmp_path / "cut.json")
