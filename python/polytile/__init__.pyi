"""Types of the package's names; what is not here is not for programs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, Optional, Protocol, Union, overload

import numpy as np
import numpy.typing as npt

from .errors import (
    CancelledError as CancelledError,
    ConflictError as ConflictError,
    DeclarationError as DeclarationError,
    DeviceError as DeviceError,
    Error as Error,
    FileError as FileError,
    InvalidError as InvalidError,
    MemoryShortError as MemoryShortError,
    NoFitError as NoFitError,
    UnsupportedError as UnsupportedError,
)

__all__ = [
    "Checked", "Described", "Internal", "Kernel", "Plan", "Queue", "Range", "Report", "Spread",
    "SubKernel", "View", "__version__", "body", "check", "described", "kernel", "launcher", "plan",
    "run", "Error", "InvalidError", "DeclarationError",
    "ConflictError", "NoFitError", "MemoryShortError", "FileError", "DeviceError",
    "UnsupportedError", "CancelledError",
]

__version__: str

# Of a domain an index has an extent, or what it runs from and to.
_Part = Union[int, slice, range, Sequence[int]]
_Domain = Union[_Part, Sequence[_Part]]
_Limit = Union[int, str]
_Number = Union[int, float, np.number[Any]]

# Whatever has the memory of an array: arrays of NumPy, CuPy and PyTorch, buffers, described() ones.
_Array = Any

class Described:
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    ndim: int
    def __init__(self, dtype: npt.DTypeLike, shape: Sequence[int]) -> None: ...

class Kernel:
    name: str
    n_indices: int
    arrays: tuple[str, ...]
    roles: tuple[str, ...]
    parameters: tuple[str, ...]
    @overload
    def __call__(self, function: Callable[..., Any], /) -> Kernel: ...
    @overload
    def __call__(self, *arrays: _Array, domain: Optional[_Domain] = ..., device: str = ...,
                 limit: Optional[_Limit] = ..., **params: _Number) -> Report: ...

class Report:
    n_launches: int
    n_kernels: int
    peak_device_bytes: int
    h2d_bytes: int
    d2h_bytes: int
    lower_bound_bytes: int
    plan_s: float
    run_s: float
    compute_s: float
    transfer_s: float

class Plan:
    text: str
    data: dict[str, Any]
    svg: str
    def _repr_svg_(self) -> str: ...
    def _repr_html_(self) -> str: ...

class Checked:
    text: str
    def _repr_html_(self) -> str: ...

class Range:
    start: int
    stop: int
    step: int
    def __init__(self, start: int, stop: int, step: int = 1) -> None: ...
    def __add__(self, offset: int) -> Range: ...
    def __radd__(self, offset: int) -> Range: ...
    def __sub__(self, offset: int) -> Range: ...
    def __mul__(self, factor: int) -> Range: ...
    def __rmul__(self, factor: int) -> Range: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[int]: ...
    def __array__(self, dtype: Optional[npt.DTypeLike] = None, copy: Optional[bool] = None
                  ) -> npt.NDArray[Any]: ...

_Subscript = Union[int, slice, Range]
_Subscripts = Union[_Subscript, tuple[_Subscript, ...]]

class View:
    name: str
    dtype: np.dtype[Any]
    box: tuple[Range, ...]
    @property
    def shape(self) -> tuple[int, ...]: ...
    def __getitem__(self, subscripts: _Subscripts) -> Any: ...
    def __setitem__(self, subscripts: _Subscripts, value: Any) -> None: ...
    def __array__(self, dtype: Optional[npt.DTypeLike] = None, copy: Optional[bool] = None
                  ) -> npt.NDArray[Any]: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

class SubKernel:
    box: tuple[Range, ...]
    parameters: Mapping[str, Any]
    is_first: bool
    stream: int

class Internal:
    name: str
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def shape(self) -> tuple[int, ...]: ...

class Spread(Internal):
    @property
    def boxes(self) -> list[tuple[slice, ...]]: ...
    def scatter(self, elements: Optional[npt.ArrayLike] = None, root: int = 0) -> None: ...
    def gather(self, root: int = 0) -> Optional[npt.NDArray[Any]]: ...
    def put(self, box: Optional[Sequence[slice]], elements: Optional[npt.ArrayLike]) -> None: ...
    def get(self, box: Optional[Sequence[slice]]) -> Optional[npt.NDArray[Any]]: ...
    def read(self, path: Union[str, PathLike[str]]) -> None: ...
    def write(self, path: Union[str, PathLike[str]]) -> None: ...

class Queue:
    def __init__(self, device: str = "host", comm: Any = None, *, layout: Optional[str] = None,
                 grid: Optional[str] = None, policy: Optional[str] = None) -> None: ...
    def __enter__(self) -> Queue: ...
    def __exit__(self, kind: Optional[type[BaseException]], *_: object) -> None: ...
    def attach(self, *arrays: _Array, names: Optional[Sequence[str]] = None) -> None: ...
    # An Internal array; over ranks a Spread one.
    def array(self, dtype: npt.DTypeLike, shape: Sequence[int], name: Optional[str] = None,
              layout: Optional[str] = None) -> Any: ...
    def launch(self, of: Kernel, *arrays: _Array, domain: Optional[_Domain] = None,
               **params: _Number) -> None: ...
    def wait(self) -> None: ...
    def test(self, given: Optional[_Array] = None) -> bool: ...
    def notify(self, given: _Array, function: Callable[..., object]) -> None: ...
    def progress(self) -> tuple[float, float]: ...
    def cancel(self) -> None: ...
    def detach(self, *arrays: _Array) -> None: ...
    def report(self) -> Report: ...
    def close(self) -> None: ...

def kernel(declaration: str, body: Optional[str] = None, contracts: bool = False) -> Kernel: ...
def launcher(declaration: str) -> Callable[[Callable[..., object]], Kernel]: ...
def body(declaration: str) -> Callable[[Callable[..., object]], Kernel]: ...
def described(dtype: npt.DTypeLike, shape: Sequence[int]) -> Described: ...
def run(of: Kernel, *arrays: _Array, domain: Optional[_Domain] = None, device: str = "host",
        limit: Optional[_Limit] = None, **params: _Number) -> Report: ...
def plan(of: Kernel, *arrays: _Array, domain: Optional[_Domain] = None,
         limit: Optional[_Limit] = None, block: Optional[Sequence[int]] = None,
         **params: _Number) -> Plan: ...
def check(of: Kernel, *arrays: _Array, domain: Optional[_Domain] = None, device: str = "host",
          limit: Optional[_Limit] = None, **params: _Number) -> Checked: ...
