"""Queues: many launches over arrays that stay on a device."""


from ._context import Called, Context
from ._interrupt import Interruptible
from ._library import ffi, lib
from .arrays import Described, Wrapped, type_of
from .errors import InvalidError, error_of, is_invalid
from .kernel import Launch, Report, _check_arrays


class Internal:
    """An array of a queue's own: it is nowhere but on the device, and zero at first."""

    def __init__(self, queue, dtype, shape, name):
        self.memory = Described(dtype, shape)
        self.queue = queue
        self.name = name
        self.is_writable = True
        made = ffi.new("polytile_array **")
        queue.context.require(lib.polytile_queue_create_array(
            queue.handle, name.encode(), type_of(self.memory.dtype), self.memory.ndim,
            list(self.memory.shape), made))
        self.handle = made[0]


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


class Queue:
    """An ordered stream of launches on a device; used by `with`.

    Arrays are attached when they are first launched with; between that and detach(), or the end of
    the with statement, only launches touch them.
    """

    def __init__(self, device="host"):
        self.context = Context()
        made = ffi.new("polytile_queue **")
        self.context.require(lib.polytile_queue_create(self.context.handle, device.encode(), made))
        self._handle = made[0]
        self._attached = {}
        self._n_internal = 0
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

    def array(self, dtype, shape, name=None):
        """Make an array of the queue's own, such as a second field."""
        with self.context.lock:
            self._n_internal += 1
            return Internal(self, dtype, shape, name or f"internal{self._n_internal}")

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
        if len(arrays) != len(of.arrays):
            raise InvalidError(
                f"{of.name}: {len(arrays)} arrays are given and the kernel has {len(of.arrays)}: "
                f"{', '.join(of.arrays)}")
        with self.context.lock:
            handle = self.handle
            wrapped = [self._find(given, name) for given, name in zip(arrays, of.arrays)]
            _check_arrays(of, wrapped)
            launch = Launch(self.context, of, wrapped, domain, None, params)
            self.context.require(lib.polytile_queue_launch(
                handle, launch.kernel, launch.domain, launch.n_arrays, launch.arrays,
                launch.options))

    def _interruptible(self):
        return Interruptible(self.cancel)

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

    def report(self):
        """What the queue did so far; waits for it."""
        report = ffi.new("polytile_report *")
        with self.context.lock:
            lib.polytile_queue_get_report(self.handle, False, report)
        return Report(report)

    def close(self):
        """End the queue; launches that failed are not reported any more."""
        with self.context.lock:
            if self._handle is not None:
                self._handle = None
                self.context.destroy()
                self._attached = {}


