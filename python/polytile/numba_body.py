"""Bodies in Python, which Numba compiles for the host."""

import inspect
from typing import Callable, NamedTuple, Optional, Tuple

import numpy as np

from ._library import ffi, lib, text_of
from .arrays import dtype_of_type
from .errors import DeclarationError, InvalidError, UnsupportedError
from .kernel import Kernel
from .source import make

_WORD = 8
_VIEW_WORDS = ffi.sizeof("polytile_view") // _WORD
_RANGE_WORDS = ffi.sizeof("polytile_range") // _WORD
_FIRST_RANGE = ffi.offsetof("polytile_domain", "range") // _WORD
_STRIDES = ffi.offsetof("polytile_view", "stride_bytes") // _WORD
_PARTS = [member for member, _ in ffi.typeof("polytile_range").fields]


class _Shape:
    """What a function takes: its indices first, then arrays and parameters by their names."""

    def __init__(self, context, source):
        handle = make(context, source.declaration).handle
        self.name = text_of(lib.polytile_kernel_get_name(handle))
        n_indices = lib.polytile_kernel_get_n_indices(handle)
        self.views = [text_of(lib.polytile_kernel_get_view_name(handle, k))
                      for k in range(lib.polytile_kernel_get_n_views(handle))]
        self.arrays = [text_of(lib.polytile_kernel_get_array_name(handle, k))
                       for k in range(lib.polytile_kernel_get_n_arrays(handle))]
        n_parameters = lib.polytile_kernel_get_n_parameters(handle)
        self.parameters = {
            text_of(lib.polytile_kernel_get_parameter_name(handle, k)):
                dtype_of_type(lib.polytile_kernel_get_parameter_type(handle, k))
            for k in range(n_parameters)}
        lib.polytile_kernel_destroy(handle)
        arguments = list(inspect.signature(source.function).parameters)
        self.indices, self.rest = arguments[:n_indices], arguments[n_indices:]
        self._check(n_indices)

    def _check(self, n_indices):
        if len(self.indices) < n_indices:
            raise DeclarationError(
                f"{self.name}: the function takes {len(self.indices)} arguments; it takes "
                f"{n_indices} indices first, then arrays and parameters by their names")
        if self.arrays != self.views:
            raise UnsupportedError(
                f"{self.name}: scratch is for bodies from text; a function has variables of its "
                "own")
        for name in self.rest:
            if name not in self.arrays and name not in self.parameters:
                known = ", ".join([*self.arrays, *self.parameters])
                raise DeclarationError(
                    f"{self.name}: the function takes {name}, and the declaration has {known}")


def _source_of(shape, dtypes):
    """The text of a function of a box: two loop nests, the first for contiguous rows."""
    lines = ["def box(threads, views, user):",
             f"    t = carray(threads, {_FIRST_RANGE + len(shape.indices) * _RANGE_WORDS})",
             f"    v = carray(views, {(len(shape.views) + len(shape.parameters)) * _VIEW_WORDS})"]
    for name in (name for name in shape.rest if name in shape.parameters):
        place = (len(shape.views) + list(shape.parameters).index(name)) * _VIEW_WORDS
        lines.append(f"    a_{name} = carray(pointer(v[{place}]), 1, dtype_{name})[0]")
    used = [(name, shape.arrays.index(name)) for name in shape.rest if name in shape.arrays]
    tests = [f"{_stride(k, dtypes[k].ndim - 1)} == {dtypes[k].itemsize}" for _, k in used]
    tests += [f"{_range(d, 'step')} == 1" for d in range(len(shape.indices))]
    for test, are_rows in ((f"if {' and '.join(tests)}:", True), ("else:", False)):
        lines.append("    " + test)
        lines += ["        " + _array(name, k, dtypes[k], are_rows) for name, k in used]
        lines += _loops(shape, are_rows)
    return "\n".join(lines) + "\n"


def _stride(array, d):
    return f"v[{array * _VIEW_WORDS + _STRIDES + d}]"


def _range(d, part):
    return f"t[{_FIRST_RANGE + d * _RANGE_WORDS + _PARTS.index(part)}]"


def _array(name, k, typed, are_rows):
    """An array whose element 0 is the view's origin. Its extents are 0: compiled code does not look
    at them but to count negative indices from the end, which the sum with a constant 0 undoes.
    Where rows are contiguous that stride is a constant, so that compilers vectorise."""
    strides = [_stride(k, d) for d in range(typed.ndim)]
    if are_rows:
        strides[-1] = str(typed.itemsize)
    return (f"a_{name} = as_strided(carray(pointer(v[{k * _VIEW_WORDS}]), 1, dtype_{name}), "
            f"({'0, ' * typed.ndim}), ({', '.join(strides)},))")


def _loops(shape, are_rows):
    lines, indent = [], "        "
    for d, index in enumerate(shape.indices):
        step = "" if are_rows else f", {_range(d, 'step')}"
        ends = f"{_range(d, 'lo')}, {_range(d, 'hi')} + 1"
        lines.append(f"{indent}for i_{index} in range({ends}{step}):")
        indent += "    "
    given = [f"i_{index}" for index in shape.indices] + [f"a_{name}" for name in shape.rest]
    return lines + [f"{indent}thread({', '.join(given)})"]


class _Typed(NamedTuple):
    """Of an array what a function is compiled for."""

    dtype: np.dtype
    ndim: int

    @property
    def itemsize(self):
        return self.dtype.itemsize


def _numba():
    try:
        import numba
        import numba.extending
    except ImportError as error:
        raise UnsupportedError(
            f"bodies in Python are compiled by Numba, which is not here ({error}); pip install "
            "numba, or write the body as text") from None
    return numba


def _pointer_in(numba):
    """A function of compiled code: the pointer that is a number."""
    @numba.extending.intrinsic
    def pointer(_typing, _address):
        def generate(_context, builder, _signature, arguments):
            from numba.core import cgutils
            return builder.inttoptr(arguments[0], cgutils.voidptr_t)
        return numba.types.voidptr(numba.types.int64), generate
    return pointer


def _compile(function, shape, dtypes):
    numba = _numba()
    names = {"carray": numba.carray, "as_strided": np.lib.stride_tricks.as_strided,
             "pointer": _pointer_in(numba),
             "thread": numba.njit(function, error_model="numpy")}
    names.update({f"dtype_{name}": dtypes[k].dtype for k, name in enumerate(shape.arrays)})
    names.update({f"dtype_{name}": dtype for name, dtype in shape.parameters.items()})
    exec(compile(_source_of(shape, dtypes), f"<box of {shape.name}>", "exec"), names)
    words = numba.types.CPointer(numba.types.int64)
    signature = numba.types.void(words, words, numba.types.voidptr)
    try:
        return numba.cfunc(signature, error_model="numpy")(names["box"])
    except numba.core.errors.NumbaError as error:
        raise DeclarationError(f"{shape.name}: Numba does not compile the body: {error}") from error


class Compiled(NamedTuple):
    """A function of one thread; arrays: what a launch gives."""

    declaration: str
    function: Callable
    arrays: Optional[Tuple[_Typed, ...]] = None

    has_body = True

    def for_arrays(self, arrays):
        return self._replace(arrays=tuple(_Typed(a.dtype, a.ndim) for a in arrays))

    def make(self, context):
        shape = _Shape(context, self)
        if self.arrays is None:
            return make(context, self.declaration)
        compiled = _compile(self.function, shape, self.arrays)
        implementation = ffi.new("polytile_implementation *", {
            "host": ffi.cast("void *", compiled.address), "takes_steps": True})
        return make(context, self.declaration, implementation, compiled)


def body(declaration):
    """Make a kernel of a function of one thread, which Numba compiles for the host:

        @pt.body("scale[i](f32 a): in x[i]; out y[i]")
        def scale(i, x, y, a):
            y[i] = a * x[i]

    It takes the indices first, then arrays and parameters by their names. Arrays have their own
    indices and no shape, and of reducing ones s[0] += x[i] combines. It may touch only what is
    declared, and raises nothing.
    """
    def decorate(function):
        return Kernel(Compiled(declaration, function))._decorate(function)

    return decorate
