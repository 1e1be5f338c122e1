"""What of an array is there for a sub-kernel, with the array's own indices."""

import sys

import numpy as np

from . import _dlpack
from ._library import ffi
from .errors import InvalidError, UnsupportedError


class Range:
    """The indices of a box along one dimension. i - 1 and 2 * i are those of a subscript."""

    __slots__ = ("start", "stop", "step")

    def __init__(self, start, stop, step=1):
        self.start, self.stop, self.step = start, stop, step

    def __add__(self, offset):
        return Range(self.start + offset, self.stop + offset, self.step)

    __radd__ = __add__

    def __sub__(self, offset):
        return self + -offset

    def __mul__(self, factor):
        if factor < 1:
            raise ValueError(f"{self} * {factor}: the factor of a range is 1 or more")
        last = self.start + (len(self) - 1) * self.step
        return Range(self.start * factor, last * factor + 1, self.step * factor)

    __rmul__ = __mul__

    def __len__(self):
        return len(range(self.start, self.stop, self.step))

    def __iter__(self):
        return iter(range(self.start, self.stop, self.step))

    def __eq__(self, other):
        return isinstance(other, Range) and repr(self) == repr(other)

    def __hash__(self):
        return hash((self.start, self.stop, self.step))

    def __array__(self, dtype=None, copy=None):
        return np.arange(self.start, self.stop, self.step, dtype=dtype)

    def __repr__(self):
        return f"Range({self.start}, {self.stop}, {self.step})"


def ranges_of(domain):
    return tuple(Range(one.lo, one.hi + 1, one.step)
                 for one in (domain.range[d] for d in range(domain.n_dims)))


class CudaArray:
    """Memory of a GPU, as CuPy, PyTorch and Numba take it (__cuda_array_interface__, DLPack). It is
    never said to be read-only, which PyTorch refuses, nor of a stream, for which others would
    wait."""

    def __init__(self, address, shape, dtype, strides, stream, owner=None):
        self.address, self.shape, self.dtype, self.strides = address, shape, dtype, strides
        self.stream, self.owner = stream, owner

    @classmethod
    def of_view(cls, dtype, view, box, stream):
        address, shape, strides = _place_of(dtype, view, box)
        return cls(address, shape, dtype, strides, stream)

    def __dlpack_device__(self):
        return _dlpack.current_device()

    def __dlpack__(self, *, stream=None, copy=None, **_):
        if copy:
            raise BufferError("a launcher's memory is not copied; copy what is made of it")
        return _dlpack.give(self, stream, self.owner)

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.str, "version": 3,
                "strides": self.strides, "data": (self.address, False),
                "stream": None}

    def __getitem__(self, slices):
        steps = [one if isinstance(one, slice) else slice(one, one + 1) for one in slices]
        address = self.address + sum(one.start * s for one, s in zip(steps, self.strides))
        found = [(len(range(one.start, one.stop, one.step or 1)), s * (one.step or 1))
                 for one, s, given in zip(steps, self.strides, slices) if isinstance(given, slice)]
        return CudaArray(address, tuple(n for n, _ in found), self.dtype,
                         tuple(s for _, s in found), self.stream, self.owner)

    def __setitem__(self, slices, value):
        raise UnsupportedError(
            "assigning to an array on a GPU needs CuPy; without it, give what is there to a "
            "library, such as torch.from_dlpack(B[i, j])")


class View:
    """What of an array is resident, reached with the array's own indices.

    B[i, j] = A[i - 1, j] takes ranges of a launch's box, slices and numbers. What is found is an
    array of NumPy on the host, and on a GPU one of CuPy if that is there, else a CudaArray. It
    belongs to the call; copy() what is kept.
    """

    def __init__(self, name, dtype, view, stream, is_read_only):
        self.name, self.dtype = name, dtype
        self.box = ranges_of(view.resident)
        self.array, self._owner = _array_of(dtype, view, self.box, stream, is_read_only)

    @property
    def shape(self):
        return tuple(len(one) for one in self.box)

    def __getitem__(self, subscripts):
        return self._resident()[self._within(subscripts)]

    def __setitem__(self, subscripts, value):
        found = self._within(subscripts)
        if not _is_same(self._resident()[found], value):
            self.array[found] = value

    def __array__(self, dtype=None, copy=None):
        array = self._resident()
        return array.astype(dtype or self.dtype, copy=bool(copy))

    @property
    def __cuda_array_interface__(self):
        return self._resident().__cuda_array_interface__

    def __dlpack_device__(self):
        return self._resident().__dlpack_device__()

    def __dlpack__(self, **options):
        return self._resident().__dlpack__(**options)

    def __repr__(self):
        return f"<polytile.View of {self.name}{list(self.box)}>"

    def _resident(self):
        if self.array is None:
            raise InvalidError(f"this view of {self.name} was for one call of a launcher")
        return self.array

    def _within(self, subscripts):
        """Subscripts into what is resident, of subscripts into the array."""
        given = subscripts if isinstance(subscripts, tuple) else (subscripts,)
        if given == (Ellipsis,):
            given = ()
        if len(given) > len(self.box):
            raise IndexError(f"{self.name} has {len(self.box)} dimensions, not {len(given)}")
        given += (slice(None),) * (len(self.box) - len(given))
        return tuple(self._along(d, one) for d, one in enumerate(given))

    def _along(self, d, given):
        there = self.box[d]
        if not isinstance(given, (slice, Range)):
            index = given.__index__()
            return self._place(d, index, index, given)
        start = there.start if given.start is None else given.start
        stop = there.stop if given.stop is None else given.stop
        step = (there.step if given.start is None else 1) if given.step is None else given.step
        if step < 1:
            raise IndexError(f"{self.name}, dimension {d}: the step of {given} is below 1")
        n = len(range(start, stop, step))
        if n == 0:
            return slice(0, 0)
        if n > 1 and step % there.step != 0:
            raise self._beyond(d, given)
        first = self._place(d, start, start + (n - 1) * step, given)
        apart = max(1, step // there.step)
        return slice(first, first + (n - 1) * apart + 1, apart)

    def _place(self, d, first, last, given):
        there = self.box[d]
        if first < there.start or last >= there.stop or (first - there.start) % there.step != 0:
            raise self._beyond(d, given)
        return (first - there.start) // there.step

    def _beyond(self, d, given):
        there = self.box[d]
        steps = f" by {there.step}" if there.step != 1 else ""
        return IndexError(
            f"{self.name}, dimension {d}: {given} is not all there; this sub-kernel has "
            f"{there.start} to {there.stop - 1}{steps}, as its declaration says")

    def _is_kept(self):
        """Whether anything but this view still has its memory."""
        self.array = None
        return sys.getrefcount(self._owner) > 2


def _is_same(one, other):
    """Whether B[i] = B[i] assigns, as B[i] += 1 does at its end."""
    return (type(one) is np.ndarray and type(other) is np.ndarray and one.shape == other.shape
            and one.strides == other.strides and one.ctypes.data == other.ctypes.data)


def _array_of(dtype, view, box, stream, is_read_only):
    """An array over what is resident, and what it keeps as its owner."""
    address, shape, strides = _place_of(dtype, view, box)
    n_bytes = sum((n - 1) * s for n, s in zip(shape, strides)) + dtype.itemsize
    if stream:
        return _on_gpu(CudaArray.of_view(dtype, view, box, stream), n_bytes)
    memory = ffi.buffer(ffi.cast("char *", address), n_bytes)
    array = np.ndarray(shape, dtype, memory, 0, strides)
    array.flags.writeable = not is_read_only
    return array, memory


def _place_of(dtype, view, box):
    """The address of the first resident element, and the shape and the strides of all."""
    address = int(ffi.cast("uintptr_t", view.origin)) + sum(
        one.start * view.stride_bytes[d] for d, one in enumerate(box))
    shape = tuple(len(one) for one in box)
    strides = tuple(view.stride_bytes[d] * one.step if len(one) > 1 else dtype.itemsize
                    for d, one in enumerate(box))
    return address % (1 << 64), shape, strides


class _Owner:
    """Lives as long as arrays over the memory of a view do."""


def _on_gpu(array, n_bytes):
    array.owner = owner = _Owner()
    cupy = cupy_if_there()
    if cupy is None:
        return array, owner
    memory = cupy.cuda.UnownedMemory(array.address, n_bytes, owner)
    return cupy.ndarray(array.shape, array.dtype, cupy.cuda.MemoryPointer(memory, 0),
                        array.strides), owner


def cupy_if_there():
    """CuPy, if the program or this machine has it."""
    try:
        import cupy
    except ImportError:
        return None
    return cupy
