"""Memory of a GPU as DLPack has it: of what shows nothing else, and for what takes nothing else."""

import atexit
import ctypes

import cffi

from .errors import InvalidError, UnsupportedError

_ffi = cffi.FFI()
_ffi.cdef("""
typedef struct { int32_t type, id; } DLDevice;
typedef struct { uint8_t code, bits; uint16_t lanes; } DLDataType;
typedef struct {
    void *data; DLDevice device; int32_t ndim; DLDataType dtype; int64_t *shape, *strides;
    uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
    DLTensor tensor; void *context; void (*deleter)(struct DLManagedTensor *);
} DLManagedTensor;
typedef struct {
    uint32_t major, minor; void *context, *deleter; uint64_t flags; DLTensor tensor;
} DLManagedTensorVersioned;
""")
_NAME, _VERSIONED_NAME = b"dltensor", b"dltensor_versioned"
_CUDA, _CUDA_MANAGED, _READ_ONLY = 2, 13, 1
_LEGACY_DEFAULT_STREAM = 1
_KINDS = {"i": 0, "u": 1, "f": 2, "c": 5}
_BFLOAT = 4
_DTYPES = {(code, 8 * n): f"{kind}{n}" for kind, code in _KINDS.items() for n in (1, 2, 4, 8, 16)}


def _function_of_python(name, *kinds):
    return ctypes.PYFUNCTYPE(*kinds)((name, ctypes.pythonapi))


# Capsules are told by their addresses: at its end nothing refers to one any more.
_is_valid = _function_of_python("PyCapsule_IsValid", ctypes.c_int, ctypes.c_void_p,
                                ctypes.c_char_p)
_get_pointer = _function_of_python("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.c_void_p,
                                   ctypes.c_char_p)
_new_capsule = _function_of_python("PyCapsule_New", ctypes.py_object, ctypes.c_void_p,
                                   ctypes.c_char_p, ctypes.c_void_p)


def is_on_gpu(given):
    """Whether an object has memory of a GPU as DLPack."""
    device = getattr(given, "__dlpack_device__", None)
    return device is not None and int(device()[0]) in (_CUDA, _CUDA_MANAGED)


class Taken:
    """What an object gives, as __cuda_array_interface__ shows it. The capsule is not said to be
    used, so that it lets go of the memory when it ends."""

    def __init__(self, given):
        try:
            self.capsule = given.__dlpack__(stream=_LEGACY_DEFAULT_STREAM, max_version=(1, 0))
        except TypeError:
            self.capsule = given.__dlpack__(stream=_LEGACY_DEFAULT_STREAM)
        tensor, is_read_only = self._open()
        code, bits, lanes = tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes
        is_bfloat = (code, bits) == (_BFLOAT, 16)
        if lanes != 1 or not (is_bfloat or (code, bits) in _DTYPES):
            raise ValueError(
                f"DLPack's type {code} of {bits} bits, {lanes} at a time, is not known")
        self.dtype = "bf16" if is_bfloat else _DTYPES[code, bits]
        n = range(tensor.ndim)
        self.shown = {
            "shape": tuple(tensor.shape[d] for d in n),
            "strides": None if tensor.strides == _ffi.NULL else tuple(
                tensor.strides[d] * bits // 8 for d in n),
            "data": (int(_ffi.cast("uintptr_t", tensor.data)) + tensor.byte_offset, is_read_only)}

    def _open(self):
        capsule = id(self.capsule)
        if not _is_valid(capsule, _VERSIONED_NAME):
            return _ffi.cast("DLManagedTensor *", _get_pointer(capsule, _NAME)).tensor, False
        managed = _ffi.cast("DLManagedTensorVersioned *", _get_pointer(capsule, _VERSIONED_NAME))
        if managed.major != 1:
            raise ValueError(f"version {managed.major} of DLPack is not known")
        return managed.tensor, bool(managed.flags & _READ_ONLY)


_given = {}
"""What others have not let go of, by the address of its DLManagedTensor."""


@_ffi.callback("void(DLManagedTensor *)")
def _let_go(managed):
    _given.pop(int(_ffi.cast("uintptr_t", managed)), None)


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _end_capsule(capsule):
    """What was used has another name, and is let go of by its user."""
    if _is_valid(capsule, _NAME):
        _given.pop(_get_pointer(capsule, _NAME), None)


@atexit.register
def _let_go_of_all():
    """What others still have at the end of the program they let go of when no Python is left to
    hear of it. So they are told nothing, and what they look at stays."""
    for managed, *_ in _given.values():
        managed.deleter = _ffi.NULL
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_given))


def current_device():
    """The number of the GPU that the calling thread uses."""
    number = ctypes.c_int()
    error = ctypes.CDLL("libcuda.so.1").cuCtxGetDevice(ctypes.byref(number))
    if error != 0:
        raise UnsupportedError(f"the GPU of this launcher is not known: cuCtxGetDevice, {error}")
    return _CUDA, number.value


def give(array, stream, owner):
    """A capsule of memory that is written on a stream, and that keeps its owner alive."""
    if stream not in (array.stream, -1):
        raise InvalidError(
            f"memory of a launcher is used on its stream, {array.stream}, not on {stream}; with "
            "PyTorch call from_dlpack() within torch.cuda.stream(torch.cuda.ExternalStream("
            "launch.stream))")
    n, n_bytes = len(array.shape), array.dtype.itemsize
    code = _KINDS.get(array.dtype.kind, _BFLOAT if array.dtype.name == "bfloat16" else None)
    if code is None:
        raise BufferError(f"DLPack has no type for elements of {array.dtype}")
    shape = _ffi.new("int64_t[]", [*array.shape, *(s // n_bytes for s in array.strides)])
    managed = _ffi.new("DLManagedTensor *")
    address = int(_ffi.cast("uintptr_t", managed))
    managed.deleter = _let_go
    managed.tensor = {
        "data": _ffi.cast("void *", array.address), "ndim": n, "shape": shape,
        "strides": shape + n, "dtype": (code, 8 * n_bytes, 1),
        "device": array.__dlpack_device__()}
    _given[address] = managed, shape, owner
    return _new_capsule(address, _NAME, ctypes.cast(_end_capsule, ctypes.c_void_p))
