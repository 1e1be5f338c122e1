"""Contexts. One thread at a time may use one, so each thread has its own, and each queue has."""

import os
import threading

from . import _interrupt, _nvrtc
from ._library import ffi, lib
from .errors import Error, InvalidError, encoded, require

_of_thread = threading.local()


def _called_for():
    """The locks of the contexts for which the calling thread runs functions."""
    if not hasattr(_of_thread, "called_for"):
        _of_thread.called_for = []
    return _of_thread.called_for


class _Lock:
    """A lock that refuses the thread that runs a function for the context's queue: whoever waits
    for the queue holds the lock, so that the thread would wait for itself."""

    def __init__(self):
        self._lock = threading.RLock()

    def acquire(self):
        if self in _of_thread.__dict__.get("called_for", ()):
            raise InvalidError(
                "this queue runs the launcher, or calls the function, that calls it; use another "
                "queue, or return first")
        self._lock.acquire()

    def release(self):
        self._lock.release()

    __enter__ = acquire

    def __exit__(self, *_):
        self._lock.release()


class Called:
    """Within a with statement the library calls a function of the program's."""

    def __init__(self, lock):
        self.lock = lock

    def __enter__(self):
        _called_for().append(self.lock)

    def __exit__(self, *_):
        _called_for().pop()


class Context:
    """Owns what is made in it, until it is destroyed with it."""

    is_left = True

    def __init__(self):
        made = ffi.new("polytile_context **")
        require(lib.polytile_context_create(made))
        self._handle = made[0]
        self._pid = os.getpid()
        self.is_left = False  # never to be destroyed
        self.lock = _Lock()
        self.raised = []
        self._kernels = {}
        self._devices = {}

    @property
    def is_of_another_process(self):
        return self._pid != os.getpid()

    @property
    def handle(self):
        """The library's context. A child process has none of the threads of its parent's."""
        if self.is_of_another_process:
            raise Error(
                "polytile: this belongs to the process before fork(); make it anew in the child, "
                "or start processes by spawn"
            )
        return self._handle

    def require(self, status):
        """Raise what a status means, and what a launcher raised as its cause."""
        try:
            require(status, self._handle)
        except Error as error:
            raised, self.raised[:] = self.raised[:1], []
            for cause in raised:
                if not isinstance(cause, Exception):
                    raise cause
                raise error from cause
            raise

    def kernel(self, source):
        """The kernel of a source, made once."""
        if source not in self._kernels:
            self._kernels[source] = source.make(self)
        return self._kernels[source].handle

    def device(self, text):
        """The device of a text, opened once."""
        if text not in self._devices:
            device = encoded(text, "a device")
            _nvrtc.load_for(text)
            made = ffi.new("polytile_device **")
            self.require(lib.polytile_device_open(self.handle, device, made))
            self._devices[text] = made[0]
        return self._devices[text]

    def destroy(self):
        if self._handle is not None and not self.is_of_another_process:
            _interrupt.forget(self)
            lib.polytile_context_destroy(self._handle)
        self._handle = None

    def __del__(self):
        if not self.is_left:
            self.destroy()


_idle = []
"""Contexts of queues that have ended, with the kernels that were compiled in them."""


def borrow():
    """A context for a queue: one whose queue has ended, or a new one."""
    while _idle:
        try:
            found = _idle.pop()
        except IndexError:
            break
        if not found.is_of_another_process:
            return found
    return Context()


def give_back(context):
    """Keep a context in which nothing is left but kernels, for the next queue."""
    context.raised.clear()
    _idle.append(context)


def current():
    """The calling thread's context; in a launcher another one, since that of the run is busy. A
    child process makes its own."""
    contexts = _of_thread.__dict__.setdefault("contexts", {})
    depth = len(_called_for())
    if depth not in contexts or contexts[depth].is_of_another_process:
        contexts[depth] = Context()
    return contexts[depth]
