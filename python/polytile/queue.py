"""Queues: many launches over arrays that stay on a device."""

import contextlib
import os

import numpy as np

from . import _nvrtc
from ._context import Called, borrow, give_back
from ._interrupt import Interruptible
from ._library import ffi, lib
from .arrays import Described, Wrapped, domain_of, type_of
from .errors import Error, InvalidError, encoded, error_of, is_invalid
from .kernel import Launch, Launches, Report, _check_arrays, ranges_of_domain, require_count
from .ranks import Ranks
from .view import ranges_of


class Internal:
    """An array of a queue's own: it is nowhere but on the device, and zero at first."""

    def __init__(self, queue, dtype, shape, name):
        self.memory = Described(dtype, shape)
        self.queue = queue
        self.name = name
        self.is_writable = True
        self.handle = self._make()

    def _make(self):
        made = ffi.new("polytile_array **")
        self.queue.context.require(lib.polytile_queue_create_array(
            self.queue.handle, *self._about(), made))
        return made[0]

    def _about(self):
        memory = self.memory
        return self.name.encode(), type_of(memory.dtype), memory.ndim, list(memory.shape)

    @property
    def dtype(self):
        return self.memory.dtype

    @property
    def shape(self):
        return self.memory.shape


class Spread(Internal):
    """An array of a queue over ranks, of which each rank has a part. All calls are collective."""

    def __init__(self, queue, ranks, dtype, shape, name, layout):
        self._ranks, self._layout = ranks, layout
        super().__init__(queue, dtype, shape, name)

    def _make(self):
        layout = ffi.NULL if self._layout is None else ffi.new("char[]", self._layout.encode())
        made = ffi.new("polytile_array **")
        self.queue.context.require(self._ranks.lib.polytile_mpi_array_create(
            self.queue.handle, *self._about(), layout, made))
        return made[0]

    def _do(self, call, *arguments):
        with self.queue.context.lock:
            self.queue.handle
            self.queue.context.require(getattr(self._ranks.lib, call)(self.handle, *arguments))

    @property
    def boxes(self):
        """What this rank owns: boxes, as a tuple of slices for each."""
        self.queue.handle
        count = self._ranks.lib.polytile_mpi_array_count_boxes(self.handle)
        return [tuple(slice(one.start, one.stop) for one in ranges_of(
            self._ranks.lib.polytile_mpi_array_get_box(self.handle, k))) for k in range(count)]

    def scatter(self, elements=None, root=0):
        """Set all elements from an array that one rank, the root, gives."""
        self._do("polytile_mpi_array_scatter", root, self._address(elements, self.shape))

    def gather(self, root=0):
        """All elements as an array on the root; None on other ranks."""
        is_root = self._ranks.comm.Get_rank() == root
        found = np.empty(self.shape, self.dtype) if is_root else None
        self._do("polytile_mpi_array_gather", root, self._address(found, self.shape))
        return found

    def put(self, box, elements):
        """Set elements that this rank owns; box: None, or a slice for each dimension."""
        domain, shape = _box_of(box)
        self._do("polytile_mpi_array_put", domain, self._address(elements, shape))

    def get(self, box):
        """An array of elements that this rank owns; box: None, or a slice for each dimension."""
        domain, shape = _box_of(box)
        found = None if box is None else np.empty(shape, self.dtype)
        self._do("polytile_mpi_array_get", domain, self._address(found, shape))
        return found

    def read(self, path):
        """Set all elements from a file that all ranks see."""
        self._do("polytile_mpi_array_read", os.fsencode(path))

    def write(self, path):
        """Write all elements to a file, NumPy's if its name ends in .npy."""
        self._do("polytile_mpi_array_write", os.fsencode(path))

    def _address(self, elements, shape):
        if elements is None:
            return ffi.NULL
        self._moved = np.ascontiguousarray(elements, self.dtype)
        if self._moved.shape != tuple(shape):
            raise InvalidError(
                f"{self.name}: elements of shape {self._moved.shape} are given for {tuple(shape)}")
        return ffi.cast("void *", self._moved.ctypes.data)


def _box_of(box):
    """A box of slices as a domain, and its shape; of None NULL."""
    if box is None:
        return ffi.NULL, ()
    ranges = [(one.start, one.stop - 1, 1) for one in box]
    return domain_of(ranges), [hi - lo + 1 for lo, hi, _ in ranges]


class _Notified:
    """A function that waits to be called."""

    def __init__(self, queue, function):
        self.queue = queue
        self.function = function


@ffi.callback("polytile_queue_callback")
def _call_back(status, key):
    notified = ffi.from_handle(key)
    notified.queue._notified.discard(key)
    with Called(notified.queue.context.lock):
        if status == 0:
            notified.function()
        else:
            notified.function(error_of(status))


class _Ended:
    """The context of a queue that has ended, which may be another queue's by now."""

    lock = contextlib.nullcontext()

    @property
    def handle(self):
        raise InvalidError("this queue has ended; make another one")


_left = []
"""Queues over ranks that an exception of this rank's own left. To end one takes all ranks, and the
others may do something else: it stays, so that the exception comes to what ends the job."""


class Queue:
    """An ordered stream of launches on a device; used by `with`.

    Arrays are attached when they are first launched with; between that and detach(), or the end of
    the with statement, only launches touch them.

    comm: a communicator of mpi4py, whose ranks run the launches together; every rank then makes the
    same calls. layout, grid and policy: how devices, or ranks, share arrays and launches.
    """

    def __init__(self, device="host", comm=None, *, layout=None, grid=None, policy=None):
        self._handle = None
        self._ranks = None if comm is None else Ranks(comm)
        text = encoded(device, "a device")
        self.context = borrow()
        given = {"layout": layout, "grid": grid, "policy": policy}
        texts = {key: ffi.new("char[]", text.encode()) for key, text in given.items() if text}
        options = ffi.new("polytile_share_options *", texts)
        create = lib.polytile_queue_create_shared if comm is None else self._ranks.create_queue
        made = ffi.new("polytile_queue **")
        _nvrtc.load_for(device)
        self.context.require(create(self.context.handle, text, options, made))
        self._handle = made[0]
        self._attached = {}
        self._n_internal = 0
        self._launches = Launches()
        self._notified = set()

    @property
    def handle(self):
        if self._handle is None:
            raise InvalidError("this queue has ended; make another one")
        self.context.handle
        return self._handle

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self._handle is None:
            return
        if self._ranks is not None and kind is not None and not issubclass(kind, Error):
            self.context.is_left = True
            _left.append(self)
            return
        try:
            if kind is None:
                self.detach()
            else:
                self.cancel()
        finally:
            self.close()

    def attach(self, *arrays, names=None):
        """Let launches use arrays; nothing moves yet."""
        with self.context.lock:
            for k, given in enumerate(arrays):
                name = names[k] if names else f"array{len(self._attached)}"
                self._attach(given, name)

    def _attach(self, given, name):
        handle = self.handle
        wrapped = Wrapped(self.context, given, name)
        try:
            self.context.require(lib.polytile_queue_attach(
                handle, 1, ffi.new("polytile_array *[]", [wrapped.handle])))
        except BaseException:
            wrapped.destroy()
            raise
        self._attached[id(given)] = (given, wrapped)
        return wrapped

    def array(self, dtype, shape, name=None, layout=None):
        """Make an array of the queue's own, such as a second field; over ranks a Spread one, of
        which each rank has a part."""
        with self.context.lock:
            self._n_internal += 1
            name = name or f"internal{self._n_internal}"
            if self._ranks is not None:
                return Spread(self, self._ranks, dtype, shape, name, layout)
            if layout is not None:
                raise InvalidError("a layout of one array needs a queue over ranks; give it comm=")
            return Internal(self, dtype, shape, name)

    def _find(self, given, name):
        if isinstance(given, Internal):
            if given.queue is not self:
                raise InvalidError(
                    f"array {given.name} is of another queue; make one by this queue's array()")
            return given
        found = self._attached.get(id(given))
        return self._attach(given, name) if found is None else found[1]

    def launch(self, of, *arrays, domain=None, **params):
        """Queue a launch and return; it runs when others before it are done."""
        with self.context.lock:
            handle = self.handle
            key = self._launches.key_of(of, arrays, domain, params)
            launch = self._launches.get(key) or self._prepare(key, of, arrays, domain, params)
            self.context.require(lib.polytile_queue_launch(
                handle, launch.kernel, launch.domain, launch.n_arrays, launch.arrays,
                launch.options))

    def _prepare(self, key, of, arrays, domain, params):
        require_count(of, arrays)
        wrapped = [self._find(given, name) for given, name in zip(arrays, of.arrays)]
        _check_arrays(of, wrapped)
        ranges = ranges_of_domain(of, wrapped, domain)
        launch = Launch(self.context, of, wrapped, ranges, None, params)
        if key is not None:
            self._launches.add(key, launch, arrays)
        return launch

    def _interruptible(self):
        return Interruptible(self.cancel, self.context)

    def wait(self):
        """Wait until all launches are done; raises what failed. Ctrl-C cancels them."""
        with self.context.lock:
            handle = self.handle
            with self._interruptible():
                status = lib.polytile_queue_wait(handle)
            self.context.require(status)

    def test(self, given=None):
        """Whether all launches are done, or those that use an array; does not wait."""
        with self.context.lock:
            if given is None:
                return lib.polytile_queue_test(self.handle, ffi.NULL)
            return lib.polytile_queue_test(self.handle, self._held(given))

    def _held(self, given):
        if isinstance(given, Internal):
            return given.handle
        if id(given) not in self._attached:
            raise InvalidError("an array is not attached to this queue")
        return self._attached[id(given)][1].handle

    def notify(self, given, function):
        """Have a function called once the launches so far that use an array are done and its memory
        has its elements: without arguments, or with an Error. It runs on a thread of the queue, may
        read the array, and call cancel() and nothing else of the queue."""
        with self.context.lock:
            handle = self.handle
            key = ffi.new_handle(_Notified(self, function))
            self._notified.add(key)
            status = lib.polytile_queue_notify(handle, self._held(given), _call_back, key)
            if status != 0:
                self._notified.discard(key)
            self.context.require(status)

    def progress(self):
        """How much of what was queued is done, 0 to 1, and about how many seconds are left."""
        progress = lib.polytile_queue_get_progress(self.handle)
        return progress.fraction, progress.left_s

    def cancel(self):
        """End what is queued; any thread may do this. The next wait raises CancelledError."""
        if self._handle is not None:
            lib.polytile_queue_cancel(self._handle)

    def detach(self, *arrays):
        """Wait for the launches that use arrays, and give them back with their results; all without
        arguments."""
        with self.context.lock:
            keys = [id(given) for given in arrays] or list(self._attached)
            for key in keys:
                if key not in self._attached:
                    raise InvalidError("an array is not attached to this queue")
            self._launches.clear()
            wrapped = [self._attached[key][1] for key in keys]
            if not wrapped:
                return self.wait()
            handle = self.handle
            with self._interruptible():
                status = lib.polytile_queue_detach(
                    handle, len(wrapped),
                    ffi.new("polytile_array *[]", [w.handle for w in wrapped]))
            try:
                self.context.require(status)
            finally:
                if not is_invalid(status):  # then nothing was detached
                    for key in keys:
                        self._attached.pop(key)[1].destroy()
        return None

    def trace(self, path):
        """Write what the devices do from now on to a file, for polytile.report(), Perfetto and
        chrome://tracing; None ends that. Waits for what is queued."""
        given = ffi.NULL if path is None else ffi.new("char[]", os.fsencode(path))
        with self.context.lock:
            self.context.require(lib.polytile_queue_trace(self.handle, given))

    def report(self):
        """What the queue did so far; waits for it."""
        report = ffi.new("polytile_report *")
        with self.context.lock:
            lib.polytile_queue_get_report(self.handle, False, report)
        return Report(report)

    def close(self):
        """End the queue; launches that failed are not reported any more."""
        with self.context.lock:
            if self._handle is None:
                return
            handle, self._handle = self._handle, None
            if self._ranks is not None or self.context.is_of_another_process:
                self.context.destroy()
                self._attached = {}
                return
            lib.polytile_queue_destroy(handle)
            for _, wrapped in self._attached.values():
                wrapped.destroy()
            self._attached = {}
        give_back(self.context)
        self.context = _Ended()


