"""NVRTC of pip's packages, nvidia-cuda-nvrtc and nvidia-cuda-nvrtc-cu12: the library takes one that
is loaded."""

import ctypes
import functools
import glob
import importlib.util
import os


def _find():
    """The newest one of a package, or None."""
    spec = importlib.util.find_spec("nvidia")
    found = [path for place in (spec and spec.submodule_search_locations) or ()
             for path in glob.glob(os.path.join(place, "*", "lib", "libnvrtc.so.[0-9]*"))]
    return max(found, key=lambda path: int(path.split(".so.")[1].split(".")[0]), default=None)


@functools.lru_cache(maxsize=None)
def load():
    """Load that of a package, once. A toolkit that CUDA_HOME or CUDA_PATH names goes before it."""
    path = _find()
    if path is None or os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH"):
        return
    try:
        ctypes.CDLL(path, os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError:
        return


def load_for(device):
    """Load it if a device may be a GPU."""
    if "cuda" in device:
        load()
