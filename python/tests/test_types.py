"""Complex numbers, values with an index, and bfloat16."""

import numpy as np
import pytest

import polytile as pt
from polytile.arrays import dtype_of, type_name

DEVICES = ["host", "host(memory=64KiB)"]
INDEXED = np.dtype([("value", "f4"), ("index", "i8")], align=True)

ends = pt.kernel(
    "ends[i]: in x[i]; out argmax top[0]; out argmin low[0]",
    "PT_ARGMAX(top(0), x(i), i); PT_ARGMIN(low(0), x(i), i);",
)


@pytest.mark.parametrize("device", DEVICES)
def test_ends_are_numpys(device):
    x = np.random.default_rng(5).integers(-50, 50, 10007).astype("f4")
    top, low = np.zeros(1, INDEXED), np.zeros(1, dtype_of("f32_i64"))
    pt.run(ends, x, top, low, device=device, domain=x.shape)
    assert (top["value"][0], top["index"][0]) == (x.max(), x.argmax())
    assert (low["value"][0], low["index"][0]) == (x.min(), x.argmin())


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("device", DEVICES)
def test_complex_sums_are_numpys(device, dtype):
    squares = pt.kernel("squares[i]: in z[i]; out w[i]; out sum s[0]",
                        "w(i) = z(i) * z(i); PT_SUM(s(0), PT_CONJ(z(i)));")
    z = ((np.arange(5003) % 7) - 3 + 1j * (np.arange(5003) % 5)).astype(dtype)
    w, s = np.empty_like(z), np.empty(1, dtype)
    pt.run(squares, z, w, s, device=device)
    assert np.array_equal(w, z * z)
    assert s[0] == z.conj().sum()


def test_types_have_names_both_ways():
    for name in ("c64", "c128", "f32", "f32_i64", "u8_i64", "f16_i64"):
        assert type_name(dtype_of(name)) == name
    assert type_name(INDEXED) == "f32_i64"
    assert type_name(np.dtype([("value", "f4"), ("index", "i8")])) == "12"
    assert type_name(np.dtype([("value", "c8"), ("index", "i8")])) == "16"
    with pytest.raises(TypeError):
        dtype_of("c64_i64")


def test_bfloat16_is_that_of_ml_dtypes():
    try:
        import ml_dtypes
    except ImportError:
        with pytest.raises(pt.Error, match="install ml_dtypes"):
            dtype_of("bf16")
        return
    assert dtype_of("bf16") == ml_dtypes.bfloat16
    assert type_name(ml_dtypes.bfloat16) == "bf16"
    described = pt.described("bf16", (100,))
    copy = pt.kernel("copy[i]: in x[i]; out y[i]")
    plan = pt.plan(copy, described, pt.described("bf16", (100,)), domain=100, limit="4KiB")
    assert plan.data["h2d_bytes"] == 200


def test_roles_need_what_they_combine():
    largest = pt.kernel("largest[i]: in z[i]; out max s[0]", "PT_MAX(s(0), z(i));")
    z = np.zeros(4, "c8")
    with pytest.raises(pt.InvalidError, match="no order"):
        pt.run(largest, z, z[:1].copy(), domain=4)
