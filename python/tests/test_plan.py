"""Plans and checks as notebooks show them."""

import xml.etree.ElementTree

import numpy as np
import pytest

import polytile as pt

gemm = pt.kernel("gemm[i, j, k]: in A[i, k], B[k, j]; sum C[i, j]")


def test_plans_of_any_size_allocate_nothing():
    n = 1 << 17
    A, B, C = (pt.described("f32", (n, n)) for _ in range(3))
    plan = pt.plan(gemm, A, B, C, domain=(n, n, n), limit="16GiB")
    assert plan.data["kernel"] == "gemm"
    assert plan.data["peak_device_bytes"] <= 16 << 30
    assert "lower bound" in str(plan)
    assert xml.etree.ElementTree.fromstring(plan._repr_svg_()).tag.endswith("svg")
    assert "<table>" in plan._repr_html_()
    assert "gemm" in repr(plan)


def test_blocks_are_kept_whole():
    x, y = pt.described("f32", (1000,)), pt.described("f32", (1000,))
    copy = pt.kernel("copy[i]: in x[i]; out y[i]")
    plan = pt.plan(copy, x, y, domain=1000, limit="2KiB", block=(100,))
    assert plan.data["block"] == [100]
    with pytest.raises(pt.NoFitError, match="the limit is 16 B"):
        pt.plan(copy, x, y, domain=1000, limit=16, block=(100,))


def test_checks_say_what_was_proved():
    x = np.arange(100.0)
    described = pt.described("f64", (100,))
    copy = pt.kernel("copy[i]: in x[i]; out y[i]", "y(i) = x(i);")
    assert "the body touches" in str(pt.check(copy, x, np.empty(100)))
    assert str(pt.check(copy, described, pt.described("f64", (100,)))).endswith("conflict")
    shown = pt.check(copy, x, np.empty(100))._repr_html_()
    assert "&#10003;" in shown and "<svg" in shown and "<table>" in shown


def test_checks_show_their_plan_where_one_can_be_made():
    copy = pt.kernel("copy[i]: in x[i]; out y[i]", "y(i) = x(i);")
    x, y = np.arange(100.0), np.empty(100)
    assert pt.check(copy, x, y)._repr_svg_() == pt.plan(copy, x, y).svg
    gather = pt.kernel("gather[i]: in c[i], x[c[i]]; out y[i]", "y(i) = x(c(i));")
    told = pt.check(gather, np.arange(100), x, y)
    assert told._repr_svg_() is None and "<svg" not in told._repr_html_()
    assert "the body touches" in told._repr_html_()
