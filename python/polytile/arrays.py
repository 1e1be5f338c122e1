"""Arrays of other packages as arrays of the library, without a copy."""

import functools
import sys
import weakref

import numpy as np

from . import _dlpack
from ._library import ffi, lib
from .errors import InvalidError, UnsupportedError

_TYPES = {
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float16": "f16", "float32": "f32", "float64": "f64",
    "bfloat16": "bf16", "complex64": "c64", "complex128": "c128",
}
_DTYPES = {name: dtype for dtype, name in _TYPES.items()}
_INDEX_SUFFIX = "_i64"
_AMBIGUOUS = {"i8": "int8 or int64", "u8": "uint8 or uint64", "f16": "float16 or longdouble"}


def _bfloat16():
    """NumPy has no bfloat16; the package ml_dtypes has."""
    try:
        import ml_dtypes
    except ImportError:
        raise UnsupportedError(
            "NumPy has no bf16; install ml_dtypes, which has, or give the bits as uint16") from None
    return np.dtype(ml_dtypes.bfloat16)


def _indexed(value):
    """The elements of argmin and argmax: a value, and at byte 8 an index."""
    return np.dtype({"names": ["value", "index"], "formats": [value, np.int64],
                     "offsets": [0, 8], "itemsize": 16})


def _value_of_indexed(dtype):
    """The type of the values of elements with an index; None: others."""
    if dtype.names is None or len(dtype.names) != 2 or dtype.itemsize != 16:
        return None
    (value, at), (index, index_at) = (dtype.fields[name][:2] for name in dtype.names)
    is_real = value.name in _TYPES and value.kind != "c"
    return value if is_real and at == 0 and index == np.int64 and index_at == 8 else None


def dtype_of(dtype):
    """A NumPy type of what NumPy takes, or of the library's name of a type."""
    if not isinstance(dtype, str):
        return np.dtype(dtype)
    value = dtype[:-len(_INDEX_SUFFIX)]
    if dtype.endswith(_INDEX_SUFFIX) and value in _DTYPES and value[0] != "c":
        return _indexed(_bfloat16() if value == "bf16" else np.dtype(_DTYPES[value]))
    if dtype == "bf16":
        return _bfloat16()
    if dtype in _AMBIGUOUS:
        raise InvalidError(
            f"{dtype!r} counts bits here and bytes in NumPy; write {_AMBIGUOUS[dtype]}")
    return np.dtype(_DTYPES.get(dtype, dtype))


class Described:
    """An array without memory, to plan with at any size."""

    def __init__(self, dtype, shape):
        self.dtype = dtype_of(dtype)
        self.shape = tuple(int(extent) for extent in shape)
        self.ndim = len(self.shape)

    def __repr__(self):
        return f"described({type_name(self.dtype)!r}, {self.shape})"


def described(dtype, shape):
    """Describe an array for plan() and check(): described("f32", (100000, 100000))."""
    return Described(dtype, shape)


def type_name(dtype):
    """The library's name of a type: f32, or its bytes."""
    dtype = np.dtype(dtype)
    if not dtype.isnative:
        raise UnsupportedError(
            f"elements of {dtype.str} are in foreign byte order; convert them with "
            "a.astype(a.dtype.newbyteorder('='))"
        )
    if dtype.hasobject:
        raise UnsupportedError(f"elements of {dtype} are Python objects; use an array of numbers")
    value = _value_of_indexed(dtype)
    if value is not None:
        return _TYPES[value.name] + _INDEX_SUFFIX
    return _TYPES.get(dtype.name, str(dtype.itemsize))


@functools.lru_cache(maxsize=256)
def type_of(dtype):
    """The library's number of a type."""
    found = ffi.new("polytile_type *")
    lib.polytile_type_parse(type_name(dtype).encode(), found)
    return found[0]


def dtype_of_type(number):
    """The NumPy type of the library's number of a type."""
    for dtype in _TYPES:
        if type_of(dtype) == number:
            return np.dtype(dtype)
    raise InvalidError(f"type {number} has no NumPy type")


class GpuMemory:
    """Memory of a GPU, as CuPy, Numba, PyTorch and JAX show it: by __cuda_array_interface__, or
    where that is not there or knows no type, as of bfloat16, by DLPack."""

    def __init__(self, given, name):
        try:
            shown = _cuda_array_interface(given)
            if _dlpack.is_on_gpu(given) and (shown is None or shown["typestr"][1] == "V"):
                given = _dlpack.Taken(given)
                shown = given.shown
                self.dtype = dtype_of(given.dtype)
            else:
                self.dtype = np.dtype(shown["typestr"])
            self.shape = tuple(int(extent) for extent in shown["shape"])
            self.address, self.is_read_only = int(shown["data"][0]), bool(shown["data"][1])
        except (AttributeError, BufferError, IndexError, KeyError, TypeError, ValueError,
                RuntimeError) as error:
            raise UnsupportedError(f"{name} shows no memory of a GPU: {error}") from None
        if shown.get("mask") is not None:
            raise UnsupportedError(f"{name} has a mask; give an array without one")
        self.given = given
        self.ndim = len(self.shape)
        self.strides = tuple(shown.get("strides") or _strides_in_c_order(self.shape, self.dtype))
        self.stream = _stream_of(given, shown)


def _strides_in_c_order(shape, dtype):
    strides, bytes_within = [], dtype.itemsize
    for extent in reversed(shape):
        strides.insert(0, bytes_within)
        bytes_within *= extent
    return strides


def _cuda_array_interface(given):
    """What shows the memory of a GPU; None where there is none, as of PyTorch's tensors on the
    host. PyTorch raises RuntimeError for tensors that gradients are kept of."""
    return getattr(given, "__cuda_array_interface__", None)


def _stream_of(given, shown):
    """The address of the stream on which the memory is written; 0 is CUDA's default stream. PyTorch
    does not show it: there it is the current one."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(given, torch.Tensor):
        return torch.cuda.current_stream(given.device).cuda_stream
    return int(shown.get("stream") or 0)


def _is_on_gpu(given):
    try:
        return _cuda_array_interface(given) is not None or _dlpack.is_on_gpu(given)
    except RuntimeError:
        return True


def as_memory(given, name):
    """A NumPy array over the memory of an object, or something described, or on a GPU."""
    if isinstance(given, (np.ndarray, Described, GpuMemory)):
        return given
    if _is_on_gpu(given):
        return GpuMemory(given, name)
    if hasattr(given, "__array_interface__"):
        return np.asarray(given)
    if hasattr(given, "__dlpack__"):
        return np.from_dlpack(given)
    try:
        return np.frombuffer(given, dtype=np.uint8) if isinstance(given, (bytes, bytearray)) \
            else np.asarray(memoryview(given))
    except TypeError:
        raise InvalidError(
            f"{name} is {type(given).__name__}, which has no array's memory; give a NumPy array, "
            "or an object with a buffer, __array_interface__ or __dlpack__"
        ) from None


_DOMAIN = ffi.typeof("polytile_domain *")
_ARRAY = ffi.typeof("polytile_array **")
_STRIDES = ffi.typeof("int64_t[]")
_ADDRESS = ffi.typeof("void *")


def domain_of(ranges):
    """A domain of inclusive ranges [(lo, hi, step), ...]."""
    return ffi.new(_DOMAIN, (len(ranges), [
        (lo, hi - (hi - lo) % step, step) for lo, hi, step in ranges]))


def _check_memory(array, name):
    if array.ndim == 0:
        raise InvalidError(f"{name} has no dimensions; give {name}.reshape(1)")
    if array.ndim > 8:
        raise InvalidError(f"{name} has {array.ndim} dimensions, and there may be 8")
    if 0 in array.shape:
        raise InvalidError(f"{name} is empty: its shape is {array.shape}")
    if isinstance(array, np.ndarray) and not array.flags.aligned:
        raise UnsupportedError(f"{name} is not aligned for {array.dtype}; give {name}.copy()")
    if isinstance(array, (np.ndarray, GpuMemory)) and any(
        stride <= 0 for stride, extent in zip(array.strides, array.shape) if extent > 1
    ):
        raise UnsupportedError(
            f"{name} is reversed or repeated (its strides are {array.strides}); give "
            "a contiguous copy"
        )


class Wrapped:
    """An array of the library over the memory of `memory`, which it keeps alive, and from which a
    reference keeps NumPy from moving it (a.resize(n, refcheck=False))."""

    def __init__(self, context, given, name):
        self.memory = as_memory(given, name)
        self._fixed = weakref.ref(self.memory)
        self.name = name
        _check_memory(self.memory, name)
        self.handle = self._make(context, name)

    def _make(self, context, name):
        array = self.memory
        made = ffi.new(_ARRAY)
        domain = domain_of([(0, extent - 1, 1) for extent in array.shape])
        about = (context.handle, name.encode(), type_of(array.dtype), domain)
        if isinstance(array, Described):
            status = lib.polytile_array_describe(*about, made)
        elif isinstance(array, GpuMemory):
            status = lib.polytile_array_wrap_device(*about, self._on_gpu(), made)
        else:
            data = ffi.cast(_ADDRESS, array.ctypes.data)
            status = lib.polytile_array_wrap_strides(*about, self._strides(), data, made)
        context.require(status)
        return made[0]

    def _strides(self):
        """Bytes from element to element; where an extent is 1 there may be any number."""
        array = self.memory
        return ffi.new(_STRIDES, [
            stride if extent > 1 else max(abs(stride), array.dtype.itemsize)
            for stride, extent in zip(array.strides, array.shape)])

    def _on_gpu(self):
        self._kept = self._strides()
        there = ffi.new("polytile_device_memory *")
        there.data = ffi.cast("void *", self.memory.address)
        there.stride_bytes = self._kept
        there.stream = ffi.cast("void *", self.memory.stream)
        there.read_only = self.memory.is_read_only
        return there

    @property
    def is_writable(self):
        if isinstance(self.memory, GpuMemory):
            return not self.memory.is_read_only
        return isinstance(self.memory, Described) or self.memory.flags.writeable

    def destroy(self):
        lib.polytile_array_destroy(self.handle)
        self.handle = ffi.NULL
