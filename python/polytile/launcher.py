"""Launchers: Python functions that run the sub-kernels of a launch by any library."""

import contextlib
import gc
import traceback
from typing import Callable, NamedTuple, Optional, Tuple

import numpy as np

from ._context import Called
from ._library import ffi, lib, text_of
from .arrays import dtype_of_type
from .errors import InvalidError
from .kernel import Kernel
from .source import make
from .view import View, cupy_if_there, ranges_of


class SubKernel:
    """A part of a launch that a launcher runs.

    box: a Range for each index of the kernel. parameters: values by name. is_first: elements of
    roles such as "out sum" hold nothing but the identity yet, so that they may be overwritten.
    stream: the address of the CUDA stream to enqueue on; 0 on the host.
    """

    def __init__(self, box, parameters, is_first, stream):
        self.box, self.parameters = box, parameters
        self.is_first, self.stream = is_first, stream

    def __repr__(self):
        return f"<polytile.SubKernel of {list(self.box)}>"


class _Called:
    """A function with what is known of the launches that call it."""

    def __init__(self, context, source):
        self.function, self.name = source.function, source.declaration.split("[")[0].strip()
        self.lock, self.raised = context.lock, context.raised
        handle = make(context, source.declaration).handle
        dtypes = dict(zip(_names(handle, "array"), source.dtypes))
        self.views = [(k, name, dtypes[name]) for k, name in enumerate(_names(handle, "view"))
                      if name in dtypes]
        self.reads = {name for k, name in enumerate(_names(handle, "array"))
                      if lib.polytile_kernel_get_array_role(handle, k) == 0}
        self.parameters = [(name, dtype_of_type(lib.polytile_kernel_get_parameter_type(handle, k)))
                           for k, name in enumerate(_names(handle, "parameter"))]
        lib.polytile_kernel_destroy(handle)

    def call(self, launch):
        stream = int(ffi.cast("uintptr_t", launch.stream))
        views = [View(name, dtype, launch.views[k], stream, name in self.reads)
                 for k, name, dtype in self.views]
        parameters = {name: _value_of(launch.views[launch.n_views + k], dtype)
                      for k, (name, dtype) in enumerate(self.parameters)}
        sub_kernel = SubKernel(ranges_of(launch.threads), parameters, bool(launch.is_first), stream)
        with Called(self.lock), _on_stream(stream):
            self.function(sub_kernel, *views)
        self._require_let_go(views)

    def _require_let_go(self, views):
        """Arrays over memory that moves on would be read when other things are there."""
        if any([view._is_kept() for view in views]):
            gc.collect()
        for view in views:
            if view._is_kept():
                raise InvalidError(
                    f"{self.name}: the launcher keeps an array over {view.name} beyond its call; "
                    "keep a copy() of it")


def _names(handle, what):
    count = getattr(lib, f"polytile_kernel_get_n_{what}s")(handle)
    name = getattr(lib, f"polytile_kernel_get_{what}_name")
    return [text_of(name(handle, k)) for k in range(count)]


def _value_of(view, dtype):
    return np.frombuffer(bytes(ffi.buffer(view.origin, dtype.itemsize)), dtype)[0]


@contextlib.contextmanager
def _on_stream(stream):
    """CuPy enqueues on the stream of the launch."""
    cupy = cupy_if_there() if stream else None
    with cupy.cuda.ExternalStream(stream) if cupy else contextlib.nullcontext():
        yield


@ffi.callback("polytile_launcher", error=1)
def _call(launch):
    called = ffi.from_handle(launch.user)
    try:
        called.call(launch)
    except BaseException as error:  # noqa: B902: nothing may go through the library
        traceback.clear_frames(error.__traceback__)
        called.raised.append(error)
        return 1
    return 0


class Launched(NamedTuple):
    """A function that runs sub-kernels; dtypes: of a launch's arrays."""

    declaration: str
    function: Callable
    dtypes: Optional[Tuple[np.dtype, ...]] = None

    has_body = True

    def for_arrays(self, arrays):
        return self._replace(dtypes=tuple(array.dtype for array in arrays))

    def make(self, context):
        if self.dtypes is None:
            return make(context, self.declaration)
        user = ffi.new_handle(_Called(context, self))
        implementation = ffi.new("polytile_implementation *", {
            "host_launcher": _call, "cuda_launcher": _call, "user": user})
        return make(context, self.declaration, implementation, user)


def launcher(declaration):
    """Make a kernel of a function that runs sub-kernels by any library:

        @pt.launcher("gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]")
        def gemm(launch, A, B, C):
            i, j, k = launch.box
            C[i, j] += A[i, k] @ B[k, j]

    It gets a SubKernel, and a View of each array in the declaration's order. On a GPU it enqueues
    on launch.stream, which is CuPy's current one during the call, and does not wait. What it raises
    ends the run, as the cause of the run's exception.
    """
    def decorate(function):
        made = Kernel(Launched(declaration, function))
        return made._decorate(function)

    return decorate
