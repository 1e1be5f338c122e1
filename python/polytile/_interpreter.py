"""Refuses sub-interpreters: NumPy and the functions that the library calls know one interpreter."""

import sys


def _is_main():
    """Whether this is the process's first interpreter; where that cannot be asked, it is."""
    if sys.implementation.name != "cpython":
        return True
    try:
        import ctypes
    except ImportError:
        return False  # isolated interpreters cannot load it
    get = ctypes.pythonapi.PyInterpreterState_Get
    get_main = ctypes.pythonapi.PyInterpreterState_Main
    get.restype = get_main.restype = ctypes.c_void_p
    return get() == get_main()


if not _is_main():
    raise ImportError(
        "polytile does not run in sub-interpreters, since NumPy does not; import it in the main "
        "interpreter, and use threads or processes")
