"""Finds and loads the library: the one that came with the package, else what the loader finds."""

import glob
import os

import cffi

from ._cdef import C_LIBRARY, FUNCTIONS_AND_TYPES
from ._version import __version__

ffi = cffi.FFI()
ffi.cdef(FUNCTIONS_AND_TYPES)
_c_ffi = cffi.FFI()
_c_ffi.cdef(C_LIBRARY)
_libc = _c_ffi.dlopen(None)


def _places(name):
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", name + ".so*")
    series = ".".join(__version__.split(".")[:2])
    return sorted(glob.glob(own)) + [f"{name}.so.{series}", name + ".so"]


def open_library(name, by=ffi):
    """One of the libraries; ImportError says where it is not."""
    reasons = []
    for place in _places(name):
        try:
            return by.dlopen(place)
        except OSError as error:
            reasons.append(str(error))
    raise ImportError(
        f"{name} {__version__} is not found: {'; '.join(reasons)}; "
        "install the package with pip, or let LD_LIBRARY_PATH name the library's directory"
    )


lib = open_library("libpolytile_compile")
"""All functions: libpolytile_compile brings libpolytile along."""


def text_of(chars):
    """A text of the library as str."""
    return "" if chars == ffi.NULL else ffi.string(chars).decode("utf-8", "replace")


def take_text(chars):
    """The same of one that has to be freed."""
    text = text_of(chars)
    _libc.free(_c_ffi.cast("void *", int(ffi.cast("uintptr_t", chars))))
    return text


def check_version():
    """The structs of another version may differ."""
    found = text_of(lib.polytile_version())
    if found != __version__:
        raise ImportError(
            f"the package polytile {__version__} found libpolytile {found}; install both of one "
            "version"
        )


check_version()


def _release_threads():
    """Before fork(): OpenMP's threads are not copied, and the child would wait for them. The next
    launch starts new ones."""
    try:
        lib.omp_pause_resource_all(_OMP_PAUSE_HARD)
    except AttributeError:
        return


_OMP_PAUSE_HARD = 2
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_release_threads)
