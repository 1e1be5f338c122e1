"""polytile: kernels on arrays larger than the memory of a device.

    import numpy as np, polytile as pt
    add = pt.kernel("add[i]: in x[i], y[i]; out z[i]", "z(i) = x(i) + y(i);")
    pt.run(add, x, y, z, device="cuda:0", limit="8GiB")
"""

from . import _interpreter  # noqa: F401,I001: before NumPy is imported
from ._version import __version__
from .arrays import Described, described
from .errors import *  # noqa: F401,F403
from .errors import __all__ as _errors
from .kernel import Checked, Kernel, Plan, Report, check, kernel, plan, run
from .launcher import SubKernel, launcher
from .numba_body import body
from .queue import Internal, Queue, Spread
from .trace import Trace, report
from .view import Range, View

__all__ = ["Checked", "Described", "Internal", "Kernel", "Plan", "Queue", "Range", "Report",
           "Spread", "SubKernel", "Trace", "View", "__version__", "body", "check", "described",
           "kernel", "launcher", "plan", "report", "run", *_errors]
