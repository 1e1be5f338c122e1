"""The ranks of an MPI communicator, of mpi4py."""

import cffi

from ._cdef import RANKS
from ._library import ffi, open_library, text_of
from .errors import InvalidError, UnsupportedError

_ranks_ffi = cffi.FFI()
_ranks_ffi.include(ffi)
_ranks_ffi.cdef(RANKS)


class Ranks:
    """A communicator, and the library for it."""

    def __init__(self, comm):
        mpi = _mpi4py()
        if not isinstance(comm, mpi.Comm) or comm == mpi.COMM_NULL:
            raise InvalidError(
                f"comm is {comm!r}; give a communicator of mpi4py, such as MPI.COMM_WORLD")
        self.comm = comm
        self.lib = _library_of(mpi)
        self._handle = _value_of(mpi, comm)

    def create_queue(self, context, device, options, made):
        return self.lib.polytile_mpi_queue_create(context, self._handle, device, options, made)


def _mpi4py():
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise UnsupportedError(
            f"queues over ranks need mpi4py, which is not here ({error}); pip install mpi4py"
        ) from None
    return MPI


def _library_of(mpi):
    """libpolytile_mpi, if it is there and has the MPI of mpi4py."""
    try:
        lib = open_library("libpolytile_mpi", _ranks_ffi)
    except ImportError as error:
        raise UnsupportedError(
            f"{error}; it is built where MPI is, from source: pip install . "
            "-C cmake.define.POLYTILE_MPI=ON") from None
    version, length = ffi.new("char[]", 1 << 14), ffi.new("int *")
    lib.MPI_Get_library_version(version, length)
    theirs, ours = mpi.Get_library_version().rstrip("\0"), text_of(version)
    if theirs != ours:
        raise UnsupportedError(
            f"mpi4py runs {_first_line(theirs)}, and libpolytile_mpi was built with "
            f"{_first_line(ours)}; build both with one MPI: pip install --no-binary mpi4py mpi4py")
    return lib


def _first_line(text):
    return " ".join(text.splitlines()[0].split())


def _value_of(mpi, comm):
    """What C has as a communicator, as an address is passed."""
    kind = "int *" if mpi._sizeof(mpi.Comm) == ffi.sizeof("int") else "intptr_t *"
    value = ffi.cast(kind, mpi._addressof(comm))[0]
    return ffi.cast("void *", ffi.cast("intptr_t", value))
